use std::pin::pin;
use std::task::{Context, Poll, Waker};

use dsh_fs::{TargetKey, Turns};

fn key(name: &str) -> TargetKey {
    TargetKey::new(name.as_bytes())
}

#[test]
fn one_at_a_time_has_a_target_and_targets_are_apart() {
    let (turns, mut nobody) = (Turns::default(), Context::from_waker(Waker::noop()));
    let (a, b) = (key("a"), key("b"));
    let Poll::Ready(first) = pin!(turns.of(&a)).poll(&mut nobody) else { panic!("nobody has it") };
    let mut second = pin!(turns.of(&a));
    assert!(second.as_mut().poll(&mut nobody).is_pending());
    assert!(pin!(turns.of(&b)).poll(&mut nobody).is_ready());
    drop(first);
    assert!(second.as_mut().poll(&mut nobody).is_ready());
}

#[test]
fn a_place_in_the_line_that_is_given_up_keeps_nobody_waiting() {
    let (turns, mut nobody) = (Turns::default(), Context::from_waker(Waker::noop()));
    let a = key("a");
    let first = pin!(turns.of(&a)).poll(&mut nobody);
    let mut third = {
        let mut second = Box::pin(turns.of(&a));
        assert!(second.as_mut().poll(&mut nobody).is_pending());
        let mut third = Box::pin(turns.of(&a));
        assert!(third.as_mut().poll(&mut nobody).is_pending());
        third
    };
    drop(first);
    assert!(third.as_mut().poll(&mut nobody).is_ready());
}

#[test]
fn what_nobody_wants_any_more_is_cleared_away_and_what_is_held_stays() {
    let (turns, mut nobody) = (Turns::default(), Context::from_waker(Waker::noop()));
    let held = key("held");
    let _turn = pin!(turns.of(&held)).poll(&mut nobody);
    for n in 0..1000 {
        assert!(pin!(turns.of(&key(&n.to_string()))).poll(&mut nobody).is_ready());
    }
    assert!(pin!(turns.of(&held)).poll(&mut nobody).is_pending());
}
