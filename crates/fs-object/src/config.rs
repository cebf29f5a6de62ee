//! [`ObjectFsConfig`]: the settings. No credentials among them.

use std::fmt;

use dsh_plugin::Coded;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

/// Settings of an object store.
///
/// Credentials come from where the tools of the service look for them: the environment (`AWS_ACCESS_KEY_ID`,
/// `AZURE_STORAGE_ACCOUNT_KEY`, `GOOGLE_SERVICE_ACCOUNT`, …), or the identity that the machine, the container or the
/// workload has. They are neither taken from a URL nor logged.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectFsConfig {
    /// The workspace: `s3://BUCKET/PREFIX`, `az://CONTAINER/PREFIX` or `gs://BUCKET/PREFIX`. The prefix is `/` for the tools,
    /// and no path leads out of it.
    pub url: String,
    /// The region of the service, where the environment does not say.
    #[serde(default)]
    pub region: Option<String>,
    /// Where the service answers, for one that speaks S3 or Azure Blob elsewhere.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// Permit an endpoint without TLS.
    #[serde(default)]
    pub allow_http: bool,
    /// Try out at the start, with a hidden object that is removed again, whether the store keeps the conditions of writes. Only
    /// for credentials that may not write, and for a store that is known to keep them, is `false` of use.
    #[serde(default = "yes")]
    pub probe: bool,
    /// Texts of this many bytes or more are not kept for the diff of a whole-file write, and the byte order mark and
    /// CRLF of such a file are not carried over.
    #[serde(default = "diff_basis_max_bytes")]
    #[schemars(range(min = 1, max = 536_870_888))]
    pub diff_basis_max_bytes: u64,
    /// The largest file that is edited, and the longest text that is written: a change is held whole, and sent whole.
    #[serde(default = "max_edit_bytes")]
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub max_edit_bytes: u64,
    /// How long one request may take, its answer included, before it is made again.
    #[serde(default = "request_timeout_ms")]
    #[schemars(range(min = 1))]
    pub request_timeout_ms: u64,
    /// How long requests that fail are made again, with growing waits between them.
    #[serde(default = "retry_timeout_ms")]
    pub retry_timeout_ms: u64,
}

impl ObjectFsConfig {
    /// The settings for a URL, all others as they are where nothing is said.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            region: None,
            endpoint: None,
            allow_http: false,
            probe: yes(),
            diff_basis_max_bytes: diff_basis_max_bytes(),
            max_edit_bytes: max_edit_bytes(),
            request_timeout_ms: request_timeout_ms(),
            retry_timeout_ms: retry_timeout_ms(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if let Some(endpoint) = &self.endpoint {
            let shown = || without_secrets(endpoint);
            let url = Url::parse(endpoint).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            let url = url.ok_or_else(|| ConfigError::Endpoint(shown()))?;
            if holds_secrets(&url) {
                return Err(ConfigError::Secrets(shown()));
            }
        }
        let in_range = |setting, value: u64, most: u64| {
            let right = (1..=most).contains(&value);
            if right { Ok(()) } else { Err(ConfigError::Range { setting, most }) }
        };
        in_range("diffBasisMaxBytes", self.diff_basis_max_bytes, 536_870_888)?;
        in_range("maxEditBytes", self.max_edit_bytes, 1 << 30)?;
        in_range("requestTimeoutMs", self.request_timeout_ms, 24 * 3600 * 1000)
    }
}

/// A URL may hold what it should not.
impl fmt::Debug for ObjectFsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, region, endpoint, allow_http, probe, .. } = self;
        f.debug_struct("ObjectFsConfig")
            .field("url", &without_secrets(url))
            .field("region", region)
            .field("endpoint", &endpoint.as_deref().map(without_secrets))
            .field("allow_http", allow_http)
            .field("probe", probe)
            .field("diff_basis_max_bytes", &self.diff_basis_max_bytes)
            .field("max_edit_bytes", &self.max_edit_bytes)
            .field("request_timeout_ms", &self.request_timeout_ms)
            .field("retry_timeout_ms", &self.retry_timeout_ms)
            .finish()
    }
}

/// A user name (which for Azure's `abfs` is the container), a password, a query or a fragment. A password with a `/` ends the
/// host too soon: then its first digits are the port, and the `@` is in the path.
pub(crate) fn holds_secrets(url: &Url) -> bool {
    let has_user = !url.username().is_empty() && !url.scheme().starts_with("abfs");
    let has_password = url.password().is_some() || (url.port().is_some() && url.path().contains('@'));
    has_user || has_password || url.query().is_some() || url.fragment().is_some()
}

/// A URL as it is where it has no secrets; else up to its query, and behind the last `@` of all. Only the scheme where it is not
/// a URL, or where that `@` stands in the query.
pub(crate) fn without_secrets(url: &str) -> String {
    // A word, such as a folder's name that was given by mistake.
    if !url.contains([':', '@', '?', '#']) {
        return url.to_owned();
    }
    let Some((scheme, rest)) = url.split_once("://") else { return "\u{2026}".to_owned() };
    let (before, after) = rest.rsplit_once('@').unwrap_or(("", rest));
    match Url::parse(url) {
        Ok(parsed) if !holds_secrets(&parsed) => url.to_owned(),
        Ok(_) if !before.contains(['?', '#']) => {
            let shown = after.split(['?', '#']).next().unwrap_or_default();
            format!("{scheme}://{shown}")
        }
        _ => format!("{scheme}://\u{2026}"),
    }
}

/// Settings with which the backend cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Not a URL, or one of another kind.
    #[error(
        "fs-object: \"{0}\" is not a workspace: use s3://BUCKET/PREFIX, az://CONTAINER/PREFIX or gs://BUCKET/PREFIX"
    )]
    Url(String),
    /// An endpoint that is not a URL of HTTP.
    #[error("fs-object: \"{0}\" is not an endpoint: use https://HOST or https://HOST:PORT")]
    Endpoint(String),
    /// A URL or an endpoint with a user name, a password, a query or a fragment.
    #[error("fs-object: \"{0}\": credentials and options do not belong in the url")]
    Secrets(String),
    /// A number that is out of range.
    #[error("fs-object: {setting} must be a positive integer no greater than {most}")]
    Range {
        /// The setting.
        setting: &'static str,
        /// Its largest value.
        most: u64,
    },
    /// The client of the store cannot be made of these settings and the environment.
    #[error("fs-object: {url}: {source}")]
    Client {
        /// The workspace.
        url: String,
        /// Why.
        source: object_store::Error,
    },
}

impl Coded for ConfigError {
    fn name(&self) -> &'static str {
        "Error"
    }

    fn code(&self) -> Option<&str> {
        None
    }
}

fn yes() -> bool {
    true
}

fn diff_basis_max_bytes() -> u64 {
    10 * 1024 * 1024
}

fn max_edit_bytes() -> u64 {
    64 * 1024 * 1024
}

fn request_timeout_ms() -> u64 {
    60_000
}

fn retry_timeout_ms() -> u64 {
    60_000
}
