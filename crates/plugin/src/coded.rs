//! What any failure says of itself: a name for people who read logs, a code for programs.

use std::error::Error;
use std::fmt;

/// An error with a name and a code.
///
/// The message is [`Display`](fmt::Display), the cause is [`Error::source`]; this trait adds what a caller of a tool
/// or a listener sees of a failure without knowing its type.
///
/// ```
/// use dsh_plugin::{Coded, Failure};
///
/// #[derive(Debug)]
/// struct DoorError;
///
/// impl std::fmt::Display for DoorError {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str("the door is locked")
///     }
/// }
/// impl std::error::Error for DoorError {}
/// impl Coded for DoorError {
///     fn name(&self) -> &str {
///         "DoorError"
///     }
///     fn code(&self) -> Option<&str> {
///         Some("DOOR_LOCKED")
///     }
/// }
///
/// fn open() -> Result<(), Failure> {
///     Err(DoorError)?
/// }
///
/// let failure = open().unwrap_err();
/// assert_eq!(failure.to_string(), "the door is locked");
/// assert_eq!(failure.code(), Some("DOOR_LOCKED"));
/// assert!(failure.downcast_ref::<DoorError>().is_some());
/// ```
pub trait Coded: Error + Send + Sync + 'static {
    /// The family of the error, such as `FsError`; `Error` for one that belongs to none.
    fn name(&self) -> &str;

    /// The stable code within the family, such as `FS_NOT_FOUND`, if it has one.
    fn code(&self) -> Option<&str>;
}

/// Any failure, whatever its type. `?` turns every [`Coded`] error into one.
pub type Failure = Box<dyn Coded>;

impl<E: Coded> From<E> for Failure {
    fn from(error: E) -> Self {
        Box::new(error)
    }
}

impl dyn Coded {
    /// The failure as a `T`, if it is one.
    pub fn downcast_ref<T: Coded>(&self) -> Option<&T> {
        let error: &(dyn Error + 'static) = self;
        error.downcast_ref::<T>()
    }

    /// Whether the failure is a `T`.
    pub fn is<T: Coded>(&self) -> bool {
        self.downcast_ref::<T>().is_some()
    }
}

/// A failure that is only a message: its name is `Error` and it has no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainError(String);

impl PlainError {
    /// An error that displays as `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for PlainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PlainError {}

impl Coded for PlainError {
    fn name(&self) -> &'static str {
        "Error"
    }

    fn code(&self) -> Option<&str> {
        None
    }
}
