//! [`SandboxConfig`]: the settings of the fence, beside those of the backend inside it.

use std::path::PathBuf;

use dsh_fs::SandboxMode;
use dsh_plugin::Coded;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::RuleError;

/// Settings of a fence around a backend whose own settings are `C`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "C: DeserializeOwned"))]
pub struct SandboxConfig<C> {
    /// How far mutations may go where a session has no mode of its own: `read-only` (nowhere), `workspace-write` (the
    /// session's workspace and the temporary folders) or `danger-full-access` (anywhere). Reads are not its business.
    #[serde(default = "default_mode", deserialize_with = "mode")]
    #[schemars(schema_with = "mode_schema")]
    pub mode: SandboxMode,
    /// The folders where files may be read and written; nothing outside them is, in any mode. Empty: everywhere.
    #[serde(default)]
    pub read_roots: Vec<PathBuf>,
    /// What must not be read or written, in any mode: patterns as in `.gitignore`, matched on absolute paths, as written and
    /// with links followed. One that begins with `/` is matched on the whole path, every other one at any depth.
    #[serde(default)]
    pub deny: Vec<String>,
    /// The settings of the backend.
    #[serde(flatten)]
    pub inner: C,
}

impl<C: Default> Default for SandboxConfig<C> {
    fn default() -> Self {
        Self { mode: default_mode(), read_roots: Vec::new(), deny: Vec::new(), inner: C::default() }
    }
}

/// Settings with which a fence cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A read root that is not there, or not a folder.
    #[error("fs-sandbox: readRoots \"{}\" is not a folder", .0.display())]
    ReadRoot(PathBuf),
    /// A `deny` pattern that cannot be a rule.
    #[error("fs-sandbox: {0}")]
    Deny(#[from] RuleError),
}

impl Coded for ConfigError {
    fn name(&self) -> &'static str {
        "Error"
    }

    fn code(&self) -> Option<&str> {
        None
    }
}

fn default_mode() -> SandboxMode {
    SandboxMode::WorkspaceWrite
}

fn mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SandboxMode, D::Error> {
    let given = serde_json::Value::deserialize(deserializer)?;
    given.as_str().and_then(SandboxMode::parse).ok_or_else(|| {
        let [a, b, c] = SandboxMode::ALL.map(SandboxMode::as_str);
        D::Error::custom(format_args!("fs-sandbox: mode must be one of \"{a}\", \"{b}\" or \"{c}\""))
    })
}

fn mode_schema(_: &mut SchemaGenerator) -> Schema {
    let modes = SandboxMode::ALL.map(SandboxMode::as_str);
    json_schema!({ "type": "string", "enum": modes, "default": default_mode().as_str() })
}
