//! Asserting that a call was refused, and how.

use std::fmt::Debug;

use dsh_fs::{FsError, FsErrorCode};

/// Asserts that a call failed with this code, and gives the error for a closer look.
#[track_caller]
pub fn refused<T: Debug>(result: Result<T, FsError>, code: FsErrorCode) -> FsError {
    match result {
        Err(error) if error.code() == code => error,
        Err(error) => panic!("refused with {} ({error}), expected {}", error.code().as_str(), code.as_str()),
        Ok(value) => panic!("not refused ({value:?}), expected {}", code.as_str()),
    }
}

/// Asserts that a call failed with the code and, to the letter, the sentence of `expected`.
#[track_caller]
pub fn refused_saying<T: Debug>(result: Result<T, FsError>, expected: &FsError) {
    let error = refused(result, expected.code());
    assert_eq!(error.to_string(), expected.to_string());
}
