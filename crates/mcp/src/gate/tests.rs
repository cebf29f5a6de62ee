use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Waker};

use dsh_harness::Concurrency::{Exclusive, Parallel};

use super::*;

fn gate(max: usize) -> Arc<Gate> {
    Gate::new(NonZeroUsize::new(max).unwrap())
}

fn may_run(ticket: &Ticket) -> bool {
    pin!(ticket.turn()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn parallel_neighbours_overlap_up_to_the_limit() {
    let gate = gate(2);
    let [a, b, c] = [(); 3].map(|()| gate.enter(Parallel));
    assert!(may_run(&a) && may_run(&b));
    assert!(!may_run(&c));
    drop(b);
    assert!(may_run(&c));
}

#[test]
fn an_exclusive_call_waits_for_all_before_it_and_holds_up_all_after_it() {
    let gate = gate(10);
    let [read, write, later] = [Parallel, Exclusive, Parallel].map(|class| gate.enter(class));
    assert!(may_run(&read));
    assert!(!may_run(&write) && !may_run(&later));
    drop(read);
    assert!(may_run(&write));
    assert!(!may_run(&later));
    drop(write);
    assert!(may_run(&later));
}

#[test]
fn exclusive_calls_run_in_the_order_of_arrival() {
    let gate = gate(10);
    let [first, second, third] = [(); 3].map(|()| gate.enter(Exclusive));
    assert!(may_run(&first) && !may_run(&second) && !may_run(&third));
    drop(first);
    assert!(may_run(&second) && !may_run(&third));
}

#[test]
fn a_call_that_gives_up_its_place_holds_up_nobody() {
    let gate = gate(10);
    let [read, write, later] = [Parallel, Exclusive, Parallel].map(|class| gate.enter(class));
    assert!(may_run(&read));
    drop(write);
    assert!(may_run(&later));
}

#[test]
fn the_gate_is_empty_when_the_last_call_has_gone() {
    let gate = gate(10);
    let ticket = gate.enter(Parallel);
    let mut empty = pin!(gate.empty());
    let mut context = Context::from_waker(Waker::noop());
    assert!(empty.as_mut().poll(&mut context).is_pending());
    drop(ticket);
    assert!(empty.poll(&mut context).is_ready());
}

#[test]
fn who_steps_aside_lets_the_others_go_and_queues_up_behind_them() {
    let gate = gate(10);
    let [asking, read, write] = [Exclusive, Parallel, Exclusive].map(|class| gate.enter(class));
    assert!(may_run(&asking));
    let aside = asking.step_aside();
    assert!(!may_run(&asking) && may_run(&read) && !may_run(&write));
    drop(read);
    assert!(may_run(&write));
    let mut back = Box::pin(aside.back());
    let mut context = Context::from_waker(Waker::noop());
    assert!(back.as_mut().poll(&mut context).is_pending());
    let later = gate.enter(Parallel);
    drop(write);
    assert!(back.as_mut().poll(&mut context).is_ready());
    drop(back);
    assert!(may_run(&asking) && !may_run(&later));
    drop(asking);
    assert!(may_run(&later));
}

#[test]
fn two_questions_of_one_call_are_one_place() {
    let gate = gate(10);
    let asking = gate.enter(Exclusive);
    let [one, two] = [asking.step_aside(), asking.step_aside()];
    let other = gate.enter(Exclusive);
    let mut backs = [Box::pin(one.back()), Box::pin(two.back())];
    let mut context = Context::from_waker(Waker::noop());
    assert!(backs.iter_mut().all(|back| back.as_mut().poll(&mut context).is_pending()));
    drop(other);
    assert!(backs.iter_mut().all(|back| back.as_mut().poll(&mut context).is_ready()));
    drop(backs);
    drop(asking);
    assert!(may_run(&gate.enter(Exclusive)));
}

#[test]
fn the_gate_is_not_empty_while_somebody_stands_aside() {
    let gate = gate(10);
    let ticket = gate.enter(Exclusive);
    let aside = ticket.step_aside();
    let mut empty = pin!(gate.empty());
    let mut context = Context::from_waker(Waker::noop());
    assert!(empty.as_mut().poll(&mut context).is_pending());
    drop(aside);
    assert!(empty.as_mut().poll(&mut context).is_pending());
    drop(ticket);
    assert!(empty.poll(&mut context).is_ready());
}
