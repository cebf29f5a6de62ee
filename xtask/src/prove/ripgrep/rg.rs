//! The real `rg`: asked, and understood.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value as Json;

/// What `rg` writes a path as.
pub(crate) type RawPath = Vec<u8>;

/// Matching lines by file: number and line.
pub(crate) type Matches = BTreeMap<RawPath, Vec<(u64, String)>>;

/// An answer, or why there is none.
pub(crate) type Asked<T> = Result<T, Refusal>;

/// `rg` found a fault with the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// With the pattern, or a glob.
    Pattern,
    /// With the path.
    Path,
}

const NOT_UTF8: &str = "(line is not valid UTF-8)";

/// Settings of the host's git must decide nothing.
pub(crate) fn isolate(command: &mut Command, home: &Path) {
    command.env("HOME", home).env("XDG_CONFIG_HOME", home).env("GIT_CONFIG_NOSYSTEM", "1");
}

/// Asks `rg` in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Rg<'a> {
    /// An empty folder in place of the user's.
    pub(crate) home: &'a Path,
    pub(crate) cwd: &'a Path,
}

impl Rg<'_> {
    /// Lines that match; `more` are further options.
    pub(crate) fn grep(
        &self,
        pattern: &str,
        include: Option<&str>,
        path: Option<&Path>,
        more: &[&str],
    ) -> anyhow::Result<Asked<Matches>> {
        let mut command = self.command(&["--json"]);
        command.args(more).arg(format!("--regexp={pattern}"));
        if let Some(include) = include {
            command.arg(format!("--glob={include}"));
        }
        let output = run(command, path)?;
        let mut matches = Matches::new();
        for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let record: Json = serde_json::from_slice(line).context("rg wrote what is not JSON")?;
            if record["type"] == "match" {
                let data = &record["data"];
                let number = data["line_number"].as_u64().context("a match of rg has no line number")?;
                let line = match data["lines"]["text"].as_str() {
                    Some(text) => chomp(text).to_owned(),
                    None => NOT_UTF8.to_owned(),
                };
                matches.entry(bytes(&data["path"])?).or_default().push((number, line));
            }
        }
        judge(&output, matches.is_empty()).map(|refusal| refusal.map_or(Ok(matches), Err))
    }

    /// Files whose paths match.
    pub(crate) fn glob(
        &self,
        pattern: &str,
        path: Option<&Path>,
    ) -> anyhow::Result<Asked<BTreeSet<RawPath>>> {
        let mut command = self.command(&["--files", "--null", "--sort=modified", "--no-ignore", "--hidden"]);
        command.arg(format!("--glob={pattern}"));
        for name in [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"] {
            command.arg(format!("--glob=!**/{name}")).arg(format!("--glob=!**/{name}/**"));
        }
        let output = run(command, path)?;
        let paths: BTreeSet<RawPath> = output
            .stdout
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(<[u8]>::to_vec)
            .collect();
        judge(&output, paths.is_empty()).map(|refusal| refusal.map_or(Ok(paths), Err))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("rg");
        // Not a pipe: it would be searched in place of the folder.
        command.arg("--no-config").args(arguments).current_dir(self.cwd).stdin(Stdio::null());
        isolate(&mut command, self.home);
        command
    }
}

fn run(mut command: Command, path: Option<&Path>) -> anyhow::Result<Output> {
    if let Some(path) = path {
        command.arg("--").arg(path);
    }
    command.output().context("cannot start rg")
}

/// Without results 2 means that it refused; with some it only met something on the way.
fn judge(output: &Output, empty: bool) -> anyhow::Result<Option<Refusal>> {
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0 | 1) => Ok(None),
        Some(2) => {
            // A `.git` that is a file, and names no repository, is no fault of the request, nor is nothing to search.
            let told = |line: &&str| !line.contains(".git: ") && !line.contains("--debug will show");
            let said: Vec<&str> = said.lines().filter(told).collect();
            let said = said.join("\n").to_lowercase();
            if said.is_empty() || said.starts_with("no files were searched") {
                return Ok(None);
            }
            ensure!(empty, "rg met something on the way: {said}");
            let pattern = ["regex parse error", "error parsing glob", "not allowed in a regex"];
            Ok(Some(if pattern.iter().any(|sign| said.contains(sign)) {
                Refusal::Pattern
            } else {
                Refusal::Path
            }))
        }
        _ => bail!("rg ended with {}: {}", output.status, said.trim()),
    }
}

fn chomp(line: &str) -> &str {
    line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
}

/// A text, or base64 of what is none.
fn bytes(json: &Json) -> anyhow::Result<RawPath> {
    if let Some(text) = json["text"].as_str() {
        return Ok(text.as_bytes().to_vec());
    }
    decoded(json["bytes"].as_str().context("a match of rg has no path")?)
}

fn decoded(base64: &str) -> anyhow::Result<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut rest, mut bits) = (Vec::new(), 0_u32, 0);
    for digit in base64.trim_end_matches('=').bytes() {
        let value = DIGITS.iter().position(|other| *other == digit).context("rg wrote no base64")?;
        rest = (rest << 6) | u32::try_from(value)?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((rest >> bits).to_le_bytes()[0]);
        }
    }
    Ok(bytes)
}

/// `path` in a folder that was named as `typed`.
pub(crate) fn below(typed: Option<&str>, path: &[u8]) -> RawPath {
    match typed {
        None => path.to_vec(),
        Some(typed) => [typed.trim_end_matches('/').as_bytes(), b"/", path].concat(),
    }
}

/// Which ripgrep this is, such as `ripgrep 13.0.0`.
pub(crate) fn version() -> anyhow::Result<String> {
    let output = Command::new("rg")
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .context("there is no rg; install Debian's package ripgrep (`./test` does)")?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or("an unknown ripgrep").to_owned())
}
