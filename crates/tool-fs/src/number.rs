//! JSON numbers where an integer is meant: `2` and `2.0` are the same number.

use std::num::NonZeroU64;

/// The value if it is an integer from 1; beyond the range of `u64` its largest number, which no file reaches.
pub(crate) fn positive_integer(value: f64) -> Option<NonZeroU64> {
    if value.fract() != 0.0 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates at both ends"
    )]
    NonZeroU64::new(value as u64)
}

/// The number as JavaScript prints it: `9007199254740992`, `1e+308`.
pub(crate) fn as_javascript(value: f64) -> String {
    ryu_js::Buffer::new().format(value).to_owned()
}
