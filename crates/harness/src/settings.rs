//! Numbers in the settings of plugins.

use std::num::NonZeroU64;

use serde_json::Value as Json;

/// The value if it is a JSON number that is an integer from 1, however it is written: `2.0` is 2.
///
/// Beyond the range of `u64` it is the largest of its numbers. The caller says which setting is wrong: it alone knows the
/// sentence.
pub fn positive_integer(value: &Json) -> Option<NonZeroU64> {
    if let Some(whole) = value.as_u64() {
        return NonZeroU64::new(whole);
    }
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates at both ends"
    )]
    NonZeroU64::new(number as u64)
}
