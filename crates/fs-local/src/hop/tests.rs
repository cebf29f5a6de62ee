#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that panics has failed")]

use std::panic::AssertUnwindSafe;
use std::thread::{self, ThreadId};

use dsh_plugin::panics::catch;
use tokio::runtime::{Builder, Runtime};

use super::*;

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// The thread on which an operation is done.
async fn done_on() -> ThreadId {
    blocking(FsOp::Stat, "/a", &FsCall::new(), |_| Ok(thread::current().id())).await.unwrap()
}

#[test]
fn an_operation_is_done_elsewhere_unless_nothing_else_waits_for_the_thread() {
    let here = thread::current().id();
    runtime().block_on(async {
        assert_ne!(done_on().await, here);
        let both = async {
            let first = done_on().await;
            // Also after the future has waited for something.
            tokio::task::yield_now().await;
            (first, done_on().await)
        };
        assert_eq!(on_the_spot(both).await, (here, here));
        assert_ne!(done_on().await, here);
    });
}

#[test]
fn what_reads_ahead_is_elsewhere_in_any_case() {
    let here = thread::current().id();
    let ahead = runtime().block_on(on_the_spot(async { start(|| thread::current().id()).await })).unwrap();
    assert_ne!(ahead, here);
}

#[test]
fn without_a_runtime_everything_is_done_on_the_spot() {
    let here = thread::current().id();
    let start = start(|| thread::current().id());
    assert_eq!(Builder::new_current_thread().build().unwrap().block_on(start).unwrap(), here);
}

#[test]
fn a_panic_leaves_the_thread_as_it_was() {
    let runtime = runtime();
    let panics = on_the_spot(async {
        tokio::task::yield_now().await;
        panic!("boom")
    });
    let result: Result<(), _> = catch(AssertUnwindSafe(|| runtime.block_on(panics)));
    assert_eq!(result, Err("boom".to_owned()));
    assert!(!MAY_BLOCK.get());
}

#[test]
fn a_cancelled_call_is_not_begun_on_the_spot_either() {
    let call = FsCall::new();
    call.cancel.cancel();
    let operation =
        blocking(FsOp::Stat, "/a", &call, |_| -> Result<(), _> { unreachable!("it is cancelled") });
    let error = runtime().block_on(on_the_spot(operation)).unwrap_err();
    assert_eq!(error.code(), dsh_fs::FsErrorCode::Aborted);
}
