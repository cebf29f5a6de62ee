//! Logs, on standard error.

use std::io::{IsTerminal as _, Write as _};

use tracing_subscriber::EnvFilter;

/// What is logged unless `DSH_LOG` says otherwise. The protocol's library warns of every error that it answers with.
const DEFAULT: &str = "warn,rmcp=error";

/// Starts logging. A filter that cannot be read is said and replaced: it must not keep a server from starting.
pub(crate) fn start() {
    let wanted = std::env::var("DSH_LOG").unwrap_or_default();
    let wanted = if wanted.trim().is_empty() { DEFAULT } else { &wanted };
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|error| {
        let _ = writeln!(
            std::io::stderr(),
            "dsh-fs: DSH_LOG=\"{wanted}\" is no filter ({error}); logging warnings"
        );
        EnvFilter::new(DEFAULT)
    });
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(!no_color && std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
}
