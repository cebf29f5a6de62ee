//! Any path, from any folder: where it leads on a disk with links, loops and holes.
//!
//! Input: the folder that relative paths start at, `0xFF`, the path. In both a `~` at the start stands for the
//! prepared tree.

#![no_main]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use dsh_fs::{FileSystem as _, FsCall, FsErrorCode, FsTarget};
use dsh_fs_local::{LocalFileSystem, LocalFsConfig};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The tree and the backend; made once, and never changed by a resolve.
struct Ground {
    _folder: TempDir,
    /// Canonical.
    root: PathBuf,
    backend: LocalFileSystem,
    runtime: Runtime,
}

static GROUND: LazyLock<Ground> =
    LazyLock::new(|| Ground::prepare().expect("a temporary folder can be filled"));

impl Ground {
    fn prepare() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        fs::create_dir_all(root.join("d/e/f"))?;
        for file in ["a", "d/b", "d/e/c", "\u{e9}", "back\\slash", " "] {
            fs::write(root.join(file), file)?;
        }
        for (link, to) in [
            ("l", "a"),
            ("d/up", ".."),
            ("d/e/l", "../../l"),
            ("folder", "d/e/"),
            ("file-slash", "a/"),
            ("dot", "d/."),
            ("nowhere", "none"),
            ("far", "none/../d/e"),
            ("deep", "d/e/f/../../up/d/new"),
            ("self", "self"),
            ("ping", "pong"),
            ("pong", "ping"),
            ("below", "a/x"),
            ("through", "a/../d"),
            ("root", "/"),
        ] {
            symlink(to, root.join(link))?;
        }
        symlink(root.join("d"), root.join("absolute"))?;
        // 41 links, one more than a path may go through; 40 from the second on.
        for n in 0..41 {
            let to = if n == 40 { "a".to_owned() } else { format!("chain{}", n + 1) };
            symlink(to, root.join(format!("chain{n}")))?;
        }
        let config = LocalFsConfig { cwd: Some(root.clone()), ..LocalFsConfig::default() };
        let backend = LocalFileSystem::new(config).map_err(io::Error::other)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(Self { _folder: folder, root, backend, runtime })
    }

    fn with_root(&self, path: &str) -> String {
        match path.strip_prefix('~') {
            Some(rest) => format!("{}{rest}", self.root.display()),
            None => path.to_owned(),
        }
    }

    fn resolve(&self, path: &str, cwd: Option<&Path>) -> Result<FsTarget, dsh_fs::FsError> {
        self.runtime.block_on(self.backend.resolve(path, cwd, &FsCall::new()))
    }
}

fuzz_target!(|input: &[u8]| {
    let ground = &*GROUND;
    let [cwd, path] = dsh_fuzz::texts(input).map(|text| ground.with_root(&text));
    let cwd = (!cwd.is_empty()).then(|| Path::new(&cwd));
    let base = cwd.map_or_else(|| ground.root.clone(), |cwd| ground.root.join(cwd));
    let absolute = base.join(&path);
    if moves_by_itself(&absolute) {
        return;
    }

    let first = ground.resolve(&path, cwd);
    let again = ground.resolve(&path, cwd);
    match (first, again) {
        (Ok(target), Ok(again)) => {
            assert_eq!(target, again, "the same path, the same target");
            leads_there(ground, &target, &path, &absolute);
        }
        (Err(error), Err(again)) => {
            assert_eq!((error.code(), error.to_string()), (again.code(), again.to_string()));
            is_refused_rightly(&error, &path, &base);
        }
        (first, again) => panic!("{first:?} and then {again:?}"),
    }
});

/// Parts of the system that look different from one moment to the next, links into them included.
fn moves_by_itself(absolute: &Path) -> bool {
    let below = absolute.strip_prefix(&GROUND.root).unwrap_or(absolute);
    below.components().any(|part| ["proc", "dev", "tmp", "run"].map(OsStr::new).contains(&part.as_os_str()))
}

fn leads_there(ground: &Ground, target: &FsTarget, path: &str, absolute: &Path) {
    let key = Path::new(OsStr::from_bytes(target.key().as_bytes()));
    is_folded(key);
    let display = Path::new(target.display_path());
    is_folded(display);
    if !has_dot_dot(absolute) {
        // Without `..` nothing but slashes and dots goes, whatever the links are.
        let same: PathBuf = absolute.components().collect();
        assert_eq!(display, same, "the display path is the folded path");
    }

    // No link is left in the key, and what is there of it is what the system says.
    let mut there = key;
    while fs::symlink_metadata(there).is_err() {
        there = there.parent().expect("the root is there");
    }
    assert_eq!(there.canonicalize().expect("it is there"), there, "{key:?} is canonical");
    match display.canonicalize() {
        Ok(real) => assert_eq!(key, real, "{display:?} leads there"),
        Err(error) => {
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{display:?}");
            // The system gives up at a folder that is not there; a resolve takes `..` back from it. One link does this.
            let through_a_hole = display.components().any(|part| part.as_os_str() == "far");
            assert!(key != there || through_a_hole, "{display:?} is not there, so its target is not either");
        }
    }
    if path.ends_with('/') || path.ends_with("/.") {
        assert!(key.is_dir(), "{path:?} names a folder");
    }

    // A target's own path means the target.
    if let Some(key) = key.to_str() {
        let again = ground.resolve(key, None).expect("a key can be resolved");
        assert_eq!((again.key(), again.display_path()), (target.key(), key));
    }
}

fn is_refused_rightly(error: &dsh_fs::FsError, path: &str, base: &Path) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains("os error"), "{text}");
    let bytes = [path.as_bytes(), base.as_os_str().as_bytes()].concat();
    let is_no_path = path.trim().is_empty() || bytes.contains(&0);
    match error.code() {
        FsErrorCode::NotFound => {}
        FsErrorCode::IoError | FsErrorCode::PermissionDenied => assert!(!is_no_path, "{text}"),
        other => panic!("{other:?}: {text}"),
    }
    // What the system finds, a plain path must find too.
    if !is_no_path && !has_dot_dot(Path::new(path)) && !has_dot_dot(base) {
        assert!(base.join(path).canonicalize().is_err(), "{path:?} from {base:?} is there, but: {text}");
    }
}

fn has_dot_dot(path: &Path) -> bool {
    // A backslash separates folders for this rule.
    path.as_os_str().as_bytes().split(|&byte| byte == b'/' || byte == b'\\').any(|part| part == b"..")
}

fn is_folded(path: &Path) {
    assert!(path.is_absolute(), "{path:?}");
    let parts = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let same: PathBuf = path.components().collect();
    assert!(parts && same.as_os_str() == path.as_os_str(), "{path:?} is folded");
}
