//! What bounds the tools: the backend, its fence, and the kernel.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dsh_fs::SandboxMode;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use serde_json::{Value as Json, json};

use super::shown;
use crate::args::Setup;
use crate::compose::Composed;
use crate::confine;

/// Found out without starting anything of the composition.
pub(super) struct Bounds {
    backend: &'static str,
    fence: Option<Fence>,
    kernel: Kernel,
}

struct Fence {
    mode: SandboxMode,
    writable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    read_roots: Vec<PathBuf>,
    deny: Vec<String>,
}

struct Kernel {
    release: String,
    openat2: bool,
    landlock: Option<String>,
}

impl Bounds {
    pub(super) fn of(setup: &Setup, composed: &Composed) -> Self {
        let fence = composed.fence().map(|config| Fence {
            mode: config.mode,
            writable: match config.mode {
                SandboxMode::WorkspaceWrite => {
                    // Calls outside any session work where the backend does.
                    let workspaces = std::iter::once(&setup.cwd).chain(&config.inner.cwd);
                    canonical(workspaces.chain(&composed.place.writable))
                }
                SandboxMode::ReadOnly | SandboxMode::DangerFullAccess => Vec::new(),
            },
            protected: composed.place.protected.clone(),
            read_roots: canonical(&config.read_roots),
            deny: config.deny.clone(),
        });
        Self { backend: composed.backend().unwrap_or("none"), fence, kernel: Kernel::this() }
    }

    /// The lines for a person; `file_system` among them, as it is about the backend too.
    pub(super) fn text(&self, workspace: &Path) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let backend = match &self.fence {
            Some(_) => format!("{} (a fence over dsh-fs-local)", self.backend),
            None => self.backend.to_owned(),
        };
        let mut text = format!("dsh-fs {version}, backend {backend}\nworkspace {}\n", shown(workspace));
        match &self.fence {
            None => text.push_str("no fence: the tools can read and write what you can\n"),
            Some(fence) => fence.tell(&mut text),
        }
        let Kernel { release, openat2, landlock } = &self.kernel;
        let landlock = landlock
            .as_ref()
            .map_or("no (--confine needs it)".to_owned(), |version| format!("version {version}"));
        let openat2 = if *openat2 { "yes" } else { "no (paths are walked one folder at a time)" };
        let _ = writeln!(
            text,
            "kernel: Linux {}, openat2 {openat2}, Landlock {landlock}",
            shown(Path::new(release))
        );
        text
    }

    pub(super) fn add_to(&self, report: &mut serde_json::Map<String, Json>) {
        let Kernel { release, openat2, landlock } = &self.kernel;
        let landlock = landlock.as_ref().and_then(|version| version.parse::<u32>().ok());
        report.insert("backend".to_owned(), self.backend.into());
        report.insert("sandbox".to_owned(), self.fence.as_ref().map_or(Json::Null, Fence::json));
        report.insert(
            "kernel".to_owned(),
            json!({"release": release, "openat2": openat2, "landlock": landlock}),
        );
    }
}

impl Fence {
    fn tell(&self, text: &mut String) {
        let written = match self.mode {
            SandboxMode::ReadOnly => "nothing can be written".to_owned(),
            SandboxMode::WorkspaceWrite => format!("can be written: {}", paths(&self.writable)),
            SandboxMode::DangerFullAccess => "everything that you can write can be written".to_owned(),
        };
        let _ = writeln!(text, "mode {}\n  {written}", self.mode.as_str());
        if self.mode == SandboxMode::WorkspaceWrite {
            text.push_str(
                "  but for what Git runs: hooks, config, config.worktree and commondir of any .git",
            );
            if !self.protected.is_empty() {
                let _ = write!(text, "; and {}", paths(&self.protected));
            }
            text.push('\n');
        }
        let readable =
            if self.read_roots.is_empty() { "everything".to_owned() } else { paths(&self.read_roots) };
        let _ = write!(text, "  can be read: {readable}");
        if !self.deny.is_empty() {
            let deny: Vec<String> = self.deny.iter().map(|pattern| shown(Path::new(pattern))).collect();
            let _ = write!(text, "; but not {}", deny.join(", "));
        }
        text.push('\n');
    }

    fn json(&self) -> Json {
        json!({
            "mode": self.mode.as_str(),
            "writable": strings(&self.writable),
            "protected": strings(&self.protected),
            "readRoots": strings(&self.read_roots),
            "deny": self.deny,
        })
    }
}

impl Kernel {
    fn this() -> Self {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let openat2 = openat2(CWD, c"/", flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).is_ok();
        Self { release: release.trim().to_owned(), openat2, landlock: confine::version() }
    }
}

/// Links followed, and each once.
fn canonical<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ")
}

fn strings(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}
