//! [`LocalFsConfig`]: the settings, and which values they may have.

use std::path::PathBuf;

use dsh_plugin::Coded;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

/// The largest [`LocalFsConfig::diff_basis_max_bytes`]: the longest string (2^29 − 24 units) of the runtime that the
/// setting comes from, kept so that one composition file means the same everywhere.
pub const MAX_DIFF_BASIS_BYTES: u64 = 536_870_888;

/// Settings of the host disk.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct LocalFsConfig {
    /// Where relative paths start when a call brings no folder of its own. Default: the working directory of the
    /// process. A base, not a fence.
    pub cwd: Option<PathBuf>,
    /// Texts of this many bytes or more are not kept for the diff of a whole-file write, and the byte order mark and
    /// CRLF of such a file are not carried over.
    #[serde(deserialize_with = "whole_number")]
    #[schemars(range(min = 1, max = 536_870_888))]
    pub diff_basis_max_bytes: u64,
    /// How much of a change is brought to the disk before a call answers.
    pub durability: Durability,
}

/// What a change survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A power cut: the new file is synced before it gets its name, and its folder after.
    #[default]
    Full,
    /// The end of the process at any moment, but not a power cut: nothing is synced. After one, a file that was just
    /// changed may be the old one, the new one, or on some file systems empty. Several times faster.
    Rename,
}

impl Default for LocalFsConfig {
    fn default() -> Self {
        Self { cwd: None, diff_basis_max_bytes: 10 * 1024 * 1024, durability: Durability::Full }
    }
}

impl LocalFsConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if (1..=MAX_DIFF_BASIS_BYTES).contains(&self.diff_basis_max_bytes) {
            Ok(())
        } else {
            Err(ConfigError::DiffBasisMaxBytes)
        }
    }
}

/// Settings with which the backend cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// `diffBasisMaxBytes` is out of range.
    #[error(
        "fs-local: diffBasisMaxBytes must be a positive safe integer no greater than {MAX_DIFF_BASIS_BYTES}"
    )]
    DiffBasisMaxBytes,
    /// A `cwd` that is absent or relative needs the working directory of the process, and that is gone or hidden.
    #[error("fs-local: the working directory of the process cannot be told; set an absolute cwd")]
    NoWorkingDirectory(#[source] std::io::Error),
    /// `cwd` is not there, or not a folder.
    #[error("fs-local: cwd \"{}\" is not a folder", .0.display())]
    NoFolder(PathBuf),
}

impl Coded for ConfigError {
    fn name(&self) -> &'static str {
        "Error"
    }

    fn code(&self) -> Option<&str> {
        None
    }
}

/// Reads any JSON number, so that one out of range gets our sentence and not the parser's.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    struct Number;

    impl de::Visitor<'_> for Number {
        type Value = u64;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a positive integer")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
            Ok(number)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
            u64::try_from(number).map_err(|_| E::custom(ConfigError::DiffBasisMaxBytes))
        }

        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "the range was checked, and every whole number in it is exact"
        )]
        fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
            let in_range = number >= 1.0 && number <= MAX_DIFF_BASIS_BYTES as f64;
            if in_range && number.fract() == 0.0 {
                Ok(number as u64)
            } else {
                Err(E::custom(ConfigError::DiffBasisMaxBytes))
            }
        }
    }

    deserializer.deserialize_any(Number)
}
