//! Panics of foreign code, turned into values: for everything that calls what others have written.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// A future behind a pointer, as every erased callback here returns it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs `call`; a panic becomes its message.
///
/// ```
/// assert_eq!(dsh_plugin::panics::catch(|| 7), Ok(7));
/// assert_eq!(dsh_plugin::panics::catch(|| -> u8 { panic!("boom") }), Err("boom".to_owned()));
/// ```
///
/// Unwind safety is asserted because nothing here looks at what a panicking callback left half done: its value is
/// dropped, or it is a listener that owns its own consistency.
pub fn catch<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| message_of(payload.as_ref()))
}

/// Builds a future with `make` and awaits it; a panic while building, polling or dropping it becomes its message.
pub async fn catch_async<'a, T>(make: impl FnOnce() -> BoxFuture<'a, T>) -> Result<T, String> {
    let mut future = catch(make)?;
    let outcome = catch_poll(&mut future).await;
    // A future that has panicked may panic again in its destructor.
    let dropped = catch(move || drop(future));
    outcome.and_then(|value| dropped.map(|()| value))
}

/// Awaits `future` where it is; a panic becomes its message, and the future must not be polled again.
pub(crate) async fn catch_poll<T>(future: &mut BoxFuture<'_, T>) -> Result<T, String> {
    poll_fn(|cx| match catch(|| future.as_mut().poll(cx)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(message) => Poll::Ready(Err(message)),
    })
    .await
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a value that is not text".to_owned()
    }
}
