//! What a search finds and says, the same on the host's disk and on a backend that is not there.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dsh_fs::{CallPolicy, FS, FileSystem, MemoryFileSystem, Owner, SandboxMode, SandboxPolicy};
use dsh_fs_local::{LocalFileSystem, LocalFsConfig};
use dsh_fs_sandbox::{Fence, PathRules};
use dsh_harness::{
    CanonicalValue, HarnessConfig, HarnessPlugin, Outcome, Session, SessionHeader, TOOLS, ToolCall,
    ToolRegistry, ToolResult,
};
use dsh_plugin::Context;
use dsh_tool_fs_search::{GlobValue, GrepValue, SearchConfig, SearchPlugin};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::spill::Log;

/// A backend with files in a workspace.
struct Place {
    tools: Arc<ToolRegistry>,
    cwd: PathBuf,
    /// Removes the files at the end.
    _folder: Option<TempDir>,
}

impl Place {
    async fn memory(files: &[(&str, &[u8])]) -> Self {
        let fs =
            MemoryFileSystem::with_files(files.iter().map(|(path, bytes)| (format!("/w/{path}"), bytes)));
        fs.put_folder("/w");
        Self::with(Arc::new(fs), PathBuf::from("/w"), None).await
    }

    async fn disk(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        for (path, bytes) in files {
            let path = cwd.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let fs = LocalFileSystem::new(LocalFsConfig::default()).unwrap();
        Self::with(Arc::new(fs), cwd, Some(folder)).await
    }

    async fn both(files: &[(&str, &[u8])]) -> [Self; 2] {
        [Self::disk(files).await, Self::memory(files).await]
    }

    async fn with(fs: Arc<dyn FileSystem>, cwd: PathBuf, folder: Option<TempDir>) -> Self {
        let ctx = Context::root();
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        ctx.provide(FS, fs).unwrap();
        ctx.plugin(SearchPlugin, SearchConfig::new(false)).await.unwrap();
        Self { tools: ctx.service(TOOLS).unwrap(), cwd, _folder: folder }
    }

    async fn call(&self, tool: &str, arguments: Json) -> ToolResult {
        let session = Some(Session::new(SessionHeader { id: "s".to_owned(), cwd: self.cwd.clone() }));
        let (id, tool, cancel) = ("1".to_owned(), tool.to_owned(), CancellationToken::new());
        self.tools.execute(ToolCall { id, tool, arguments, session, cancel }).await
    }

    async fn value<V: CanonicalValue + Clone + 'static>(&self, tool: &str, arguments: Json) -> V {
        let result = self.call(tool, arguments).await;
        let Outcome::Success(value) = &result.outcome else { panic!("{result:?}") };
        value.as_any().downcast_ref::<V>().unwrap().clone()
    }

    async fn refused(&self, tool: &str, arguments: Json) -> (String, String) {
        let result = self.call(tool, arguments).await;
        let error = result.error().unwrap();
        (error.message.clone(), error.code.clone().unwrap())
    }

    async fn grep_at(&self, pattern: &str, path: Option<&str>, include: Option<&str>) -> GrepValue {
        self.value("grep", arguments(pattern, path, include)).await
    }

    async fn grep(&self, pattern: &str) -> GrepValue {
        self.grep_at(pattern, None, None).await
    }

    async fn glob_at(&self, pattern: &str, path: Option<&str>) -> Vec<String> {
        let value: GlobValue = self.value("glob", arguments(pattern, path, None)).await;
        assert_eq!(value.notices, [""; 0]);
        let mut paths = value.paths;
        paths.sort_unstable();
        paths
    }

    async fn glob(&self, pattern: &str) -> Vec<String> {
        self.glob_at(pattern, None).await
    }
}

fn arguments(pattern: &str, path: Option<&str>, include: Option<&str>) -> Json {
    let mut arguments = json!({ "pattern": pattern });
    for (key, value) in [("path", path), ("include", include)] {
        if let Some(value) = value {
            arguments[key] = value.into();
        }
    }
    arguments
}

fn lines(value: &GrepValue) -> Vec<String> {
    value.matches.iter().map(|it| format!("{}:{}:{}", it.path, it.line_number, it.line)).collect()
}

/// A bit of everything that a walk has to decide about.
const TREE: &[(&str, &[u8])] = &[
    ("a.txt", b"needle one\nx\nneedle two"),
    ("b/c.rs", b"fn needle() {}\r\n"),
    ("b/d/e.rs", b"needle\n"),
    ("b-side.rs", b"needle\n"),
    ("binary", b"needle\0\n"),
    ("utf16", b"\xFF\xFEn\0e\0e\0d\0l\0e\0\n\0"),
    ("bom.txt", b"\xEF\xBB\xBFneedle\n"),
    ("bad.txt", b"needle \xFF\n"),
    (".hidden", b"needle\n"),
    (".cfg/x.rs", b"needle\n"),
    (".ignore", b"*.log\n/out\n!keep.log\n"),
    ("x.log", b"needle\n"),
    ("keep.log", b"needle\n"),
    ("out/y.rs", b"needle\n"),
    ("b/out/y.rs", b"needle\n"),
    (".git/config", b"needle\n"),
    (".git/info/exclude", b"secret\n"),
    (".gitignore", b"*.tmp\n"),
    ("z.tmp", b"needle\n"),
    ("secret", b"needle\n"),
    (".dsh-0123456789av", b"needle\n"),
    ("a.txt.dsh-conflict-1", b"needle\n"),
    ("sub/.git/HEAD", b"x\n"),
    ("sub/z.tmp", b"needle\n"),
    ("sub/.rgignore", b"q\n"),
    ("sub/q", b"needle\n"),
    ("e\u{301}.txt", b"needle\n"),
    ("line\nbreak", b"needle\n"),
];

#[tokio::test]
async fn a_walk_takes_what_it_should_on_any_backend() {
    for place in Place::both(TREE).await {
        assert_eq!(
            lines(&place.grep("needle").await),
            [
                "a.txt:1:needle one",
                "a.txt:3:needle two",
                "b/c.rs:1:fn needle() {}",
                "b/d/e.rs:1:needle",
                "b/out/y.rs:1:needle",
                "b-side.rs:1:needle",
                "bad.txt:1:(line is not valid UTF-8)",
                "bom.txt:1:needle",
                "e\u{301}.txt:1:needle",
                "keep.log:1:needle",
                "line\\nbreak (name escaped):1:needle",
                "sub/z.tmp:1:needle",
                "utf16:1:needle",
            ]
        );
        assert_eq!(
            lines(&place.grep_at("needle", None, Some("*.rs")).await),
            ["b/c.rs:1:fn needle() {}", "b/d/e.rs:1:needle", "b/out/y.rs:1:needle", "b-side.rs:1:needle"]
        );
        assert_eq!(
            lines(&place.grep_at("needle", None, Some("*.log")).await),
            ["keep.log:1:needle", "x.log:1:needle"]
        );
        assert_eq!(
            lines(&place.grep_at("needle", Some("b"), Some("b/*.rs")).await),
            ["b/c.rs:1:fn needle() {}"]
        );
        for (path, expected) in [
            ("x.log", "x.log:1:needle"),
            ("./.hidden", "./.hidden:1:needle"),
            (".cfg", ".cfg/x.rs:1:needle"),
            (".cfg/", ".cfg/x.rs:1:needle"),
            ("b/../z.tmp", "b/../z.tmp:1:needle"),
            ("binary", "binary:1:needle\0"),
            (".git/config", ".git/config:1:needle"),
        ] {
            assert_eq!(lines(&place.grep_at("needle", Some(path), None).await), [expected], "{path}");
        }
        let absolute = place.cwd.join("b/d");
        assert_eq!(lines(&place.grep_at("needle", absolute.to_str(), None).await), ["b/d/e.rs:1:needle"]);
        assert_eq!(place.grep("needle").await.notices, [""; 0]);

        assert_eq!(
            place.glob("*.rs").await,
            [".cfg/x.rs", "b-side.rs", "b/c.rs", "b/d/e.rs", "b/out/y.rs", "out/y.rs"]
        );
        assert_eq!(place.glob("b/*.rs").await, ["b/c.rs"]);
        assert_eq!(place.glob_at("d/*.rs", Some("b")).await, ["b/d/e.rs"]);
        assert_eq!(place.glob_at("b/d/*.rs", Some("b")).await, ["b/d/e.rs"], "from the workspace");
        assert_eq!(place.glob_at("*.rs", Some("b/c.rs")).await, ["b/c.rs"]);
        assert_eq!(place.glob_at("b/*.rs", Some("b/c.rs")).await, ["b/c.rs"], "from the workspace");
        assert_eq!(place.glob_at("*/*", Some("b-side.rs")).await, [""; 0]);
        assert_eq!(place.glob("./b/*.rs").await, ["b/c.rs"]);
        assert_eq!(place.glob_at("*.txt", Some("b/c.rs")).await, [""; 0]);
        let pattern = format!("{}/b/**/*.rs", place.cwd.display());
        assert_eq!(place.glob(&pattern).await, ["b/c.rs", "b/d/e.rs", "b/out/y.rs"]);
        for none in ["config", "HEAD", "*.dsh-*", ".dsh-*", "**/.git/**"] {
            assert_eq!(place.glob(none).await, [""; 0], "{none}");
        }
        assert_eq!(place.glob_at("*", Some(".git")).await, [""; 0]);
        assert_eq!(place.glob("line*").await, ["line\\nbreak (name escaped)"]);
    }
}

#[tokio::test]
async fn a_search_without_result_says_what_it_passed_over() {
    let tree: &[(&str, &[u8])] = &[
        (".git/x", b"zzz"),
        (".ignore", b"/out\n*.log\n"),
        ("a.log", b"zzz"),
        ("out/b", b"zzz"),
        ("out/c/d", b"zzz"),
        ("out/.git/d", b"zzz"),
        (".cfg/e", b"zzz"),
        ("f", b"zzz\0"),
        ("g.txt", b"x"),
    ];
    for place in Place::both(tree).await {
        let value = place.grep("zzz").await;
        assert_eq!(lines(&value), [""; 0]);
        assert_eq!(
            value.notices,
            [
                "(6 files were passed over: 3 ignored, 2 hidden, 1 binary. To search such a file, name it as path.)"
            ]
        );
        let value = place.grep_at("zzz", Some("g.txt"), None).await;
        assert_eq!(value.notices, [""; 0]);
        let value = place.grep_at("y", None, Some("g.*")).await;
        assert!(value.notices[0].contains(" not matched by include."), "{value:?}");
    }
}

#[tokio::test]
async fn what_is_larger_than_a_piece_is_searched_whole() {
    let mut text = "filler line\n".repeat(200_000).into_bytes();
    text.extend_from_slice(b"needle\nmore\n");
    let tree: &[(&str, &[u8])] = &[("big.txt", &text), ("a.txt", b"needle\n")];
    for place in Place::both(tree).await {
        assert_eq!(lines(&place.grep("needle").await), ["a.txt:1:needle", "big.txt:200001:needle"]);
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_costs_its_own_file() {
    let long = "x".repeat((64 << 20) + 1) + "needle\n";
    let tree: &[(&str, &[u8])] = &[("a.txt", b"needle\n"), ("long.txt", long.as_bytes())];
    let value = Place::disk(tree).await.grep("needle").await;
    assert_eq!(lines(&value), ["a.txt:1:needle"]);
    assert_eq!(
        value.notices,
        [
            "(1 entry could not be read: long.txt: a line is longer than 64 MiB; nothing is searched from there on)"
        ]
    );
}

#[tokio::test]
async fn links_are_not_followed_and_special_files_not_waited_for() {
    let place = Place::disk(&[("sub/a.txt", b"needle\n"), ("far/b.txt", b"needle\n")]).await;
    symlink(".", place.cwd.join("sub/loop")).unwrap();
    symlink("../far/b.txt", place.cwd.join("sub/file")).unwrap();
    symlink("nowhere", place.cwd.join("dangling")).unwrap();
    symlink("far", place.cwd.join("folder")).unwrap();
    let fifo = place.cwd.join("sub/fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert_eq!(lines(&place.grep("needle").await), ["far/b.txt:1:needle", "sub/a.txt:1:needle"]);
    assert_eq!(lines(&place.grep_at("needle", Some("folder"), None).await), ["folder/b.txt:1:needle"]);
    assert_eq!(lines(&place.grep_at("needle", Some("sub/file"), None).await), ["sub/file:1:needle"]);
    assert_eq!(place.glob("**/*").await, ["far/b.txt", "sub/a.txt"]);
    assert_eq!(place.glob_at("*", Some("folder")).await, ["folder/b.txt"]);
    let (message, _) = place.refused("grep", arguments("needle", Some("sub/fifo"), None)).await;
    assert_eq!(message, "grep search failed: sub/fifo: Not a file or a folder");
}

#[tokio::test]
async fn names_that_are_not_utf8_are_escaped() {
    let place = Place::disk(&[("good.txt", b"needle\n")]).await;
    let name = std::ffi::OsStr::from_bytes(b"bad-\xFF");
    std::fs::write(place.cwd.join(name), "needle\n").unwrap();
    assert_eq!(
        lines(&place.grep("needle").await),
        ["bad-\\xff (name escaped):1:needle", "good.txt:1:needle"]
    );
    assert_eq!(place.glob("*").await, ["bad-\\xff (name escaped)", "good.txt"]);
}

#[tokio::test]
async fn many_files_in_one_folder_are_shared_and_none_is_lost() {
    let names: Vec<_> = (0..1000).map(|n| format!("f{n:04}")).collect();
    let tree: Vec<_> = names.iter().map(|name| (name.as_str(), &b"needle\n"[..])).collect();
    let place = Place::disk(&tree).await;
    let expected: Vec<_> = names.iter().map(|name| format!("{name}:1:needle")).collect();
    assert_eq!(lines(&place.grep("needle").await), expected);
    assert_eq!(place.glob("*").await, names);
}

#[tokio::test]
async fn what_cannot_be_searched_is_an_error() {
    for place in Place::both(TREE).await {
        let refused =
            async |pattern, path, include| place.refused("grep", arguments(pattern, path, include)).await;
        assert_eq!(
            refused("x", Some("nope"), None).await,
            ("grep search failed: nope: No such file or directory".to_owned(), "SEARCH_FAILED".to_owned())
        );
        let (message, code) = refused("(", None, None).await;
        assert_eq!(code, "SEARCH_INVALID_PATTERN");
        assert!(message.starts_with("grep pattern rejected by ripgrep: regex parse error:\n"), "{message}");
        let (message, code) = refused("x", None, Some("{a")).await;
        assert_eq!(code, "SEARCH_INVALID_PATTERN");
        assert!(
            message.starts_with("grep pattern rejected by ripgrep: error parsing glob '{a'"),
            "{message}"
        );
        let (_, code) = place.refused("glob", arguments("a[", None, None)).await;
        assert_eq!(code, "SEARCH_INVALID_PATTERN");
    }
    let mut place = Place::disk(TREE).await;
    place.cwd.push("gone");
    assert_eq!(place.refused("glob", arguments("*", None, None)).await.1, "SEARCH_FAILED");
}

/// Mutations are not what these tests are about.
struct Standing;

impl SandboxPolicy for Standing {
    fn standing(&self, _owner: Option<&Owner>) -> CallPolicy {
        CallPolicy { mode: SandboxMode::ReadOnly, workspace_root: PathBuf::from("/") }
    }

    fn can_escalate(&self) -> bool {
        false
    }
}

/// What may be read below these folders of a workspace (nothing: everywhere), without what the patterns deny.
fn ruled(fs: impl FileSystem, workspace: &Path, read_roots: &[&str], deny: &[&str]) -> Arc<dyn FileSystem> {
    let roots = read_roots.iter().map(|root| workspace.join(root));
    let deny: Vec<_> = deny.iter().map(|&pattern| pattern.to_owned()).collect();
    let rules = PathRules::new(roots, &deny).unwrap();
    Arc::new(Fence::new(fs, Arc::new(Standing), Vec::new()).reading_by(rules))
}

impl Place {
    async fn ruled_disk(files: &[(&str, &[u8])], read_roots: &[&str], deny: &[&str]) -> Self {
        let Self { cwd, _folder: folder, .. } = Self::disk(files).await;
        let fs = LocalFileSystem::new(LocalFsConfig::default()).unwrap();
        Self::with(ruled(fs, &cwd, read_roots, deny), cwd, folder).await
    }

    async fn ruled(files: &[(&str, &[u8])], read_roots: &[&str], deny: &[&str]) -> [Self; 2] {
        let memory =
            MemoryFileSystem::with_files(files.iter().map(|(path, bytes)| (format!("/w/{path}"), bytes)));
        let cwd = PathBuf::from("/w");
        let memory = Self::with(ruled(memory, &cwd, read_roots, deny), cwd, None).await;
        [Self::ruled_disk(files, read_roots, deny).await, memory]
    }
}

#[tokio::test]
async fn what_is_no_rule_is_logged_on_one_line() {
    let place = Place::memory(&[(".ignore", b"{a\x07\r.txt\n"), ("a.txt", b"needle\n")]).await;
    let logged = Log::default();
    let _guard = logged.listen(tracing::Level::DEBUG);
    assert_eq!(lines(&place.grep("needle").await), ["a.txt:1:needle"]);
    let said = "a line of an ignore file is no rule line=\"{a\\u{7}\\r.txt\" error=\"error parsing glob \
                '{a\\u{7}\\r.txt': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)\"";
    assert_eq!(logged.take(), [said]);
}

/// Where it leads to may be read; the name may not.
#[tokio::test]
async fn a_denied_name_is_denied_also_where_it_is_a_link() {
    let tree: &[(&str, &[u8])] = &[("open/a.txt", b"needle\n"), ("open/b.txt", b"needle\n")];
    let deny = ["private/", ".env", "shown/b.txt"];
    let place = Place::ruled_disk(tree, &[], &deny).await;
    for (to, link) in [("open", "private"), ("open", "shown"), ("open/a.txt", ".env"), ("open", "plain")] {
        symlink(to, place.cwd.join(link)).unwrap();
    }
    for path in ["private", "private/a.txt", ".env", "./shown/../private"] {
        for (tool, pattern) in [("grep", "needle"), ("glob", "*")] {
            let (message, code) = place.refused(tool, arguments(pattern, Some(path), None)).await;
            let name = place.cwd.join(path.trim_start_matches("./shown/../"));
            let said = format!("cannot read \"{}\": file access denied by the read rules", name.display());
            assert_eq!((message, code.as_str()), (said, "FS_SANDBOX_DENIED"), "{tool} {path}");
        }
    }
    assert_eq!(place.glob_at("*", Some("plain")).await, ["plain/a.txt", "plain/b.txt"]);
    assert_eq!(place.glob_at("*", Some("shown")).await, ["shown/a.txt"]);
    let found = place.grep_at("needle", Some("shown"), None).await;
    assert_eq!(lines(&found), ["shown/a.txt:1:needle"]);
}

/// Read roots bound where things are: a link from elsewhere is a way like any other.
#[tokio::test]
async fn a_link_from_outside_the_read_roots_into_them_is_followed() {
    let place =
        Place::ruled_disk(&[("in/a.txt", b"needle\n"), ("in/k.pem", b"needle\n")], &["in"], &["*.pem"]).await;
    symlink("in", place.cwd.join("link")).unwrap();
    assert_eq!(place.glob_at("*", Some("link")).await, ["link/a.txt"]);
}

#[tokio::test]
async fn what_may_not_be_read_is_as_if_it_were_not_there() {
    let tree: &[(&str, &[u8])] = &[
        ("a.txt", b"needle\n"),
        ("b/.env", b"needle\n"),
        ("b/key.pem", b"needle\n"),
        ("b/c.txt", b"needle\n"),
        ("b/secrets/d.txt", b"needle\n"),
        ("secrets/e/f.txt", b"needle\n"),
        ("secrets.txt", b"needle\n"),
    ];
    for place in Place::ruled(tree, &[], &["secrets/", ".env", "*.pem"]).await {
        let value = place.grep("needle").await;
        assert_eq!(lines(&value), ["a.txt:1:needle", "b/c.txt:1:needle", "secrets.txt:1:needle"]);
        assert_eq!(value.notices, [""; 0]);
        assert_eq!(place.glob("**/*").await, ["a.txt", "b/c.txt", "secrets.txt"]);
        for none in ["**/.env", "*.pem", "secrets/**", "e/*"] {
            assert_eq!(place.glob(none).await, [""; 0], "{none}");
            assert_eq!(lines(&place.grep_at("needle", None, Some(none)).await), [""; 0], "{none}");
        }
        assert_eq!(place.grep("nothing").await.notices, [""; 0], "nor is it counted");
    }
}

#[tokio::test]
async fn a_search_in_what_may_not_be_read_is_denied() {
    let tree: &[(&str, &[u8])] =
        &[("in/a.txt", b"needle\n"), ("in/deep/.env", b"needle\n"), ("out/b.txt", b"needle\n")];
    for place in Place::ruled(tree, &["in"], &[".env"]).await {
        for path in ["out", "out/b.txt", "in/deep/.env", "."] {
            let shown = if path == "." { place.cwd.clone() } else { place.cwd.join(path) };
            let message =
                format!("cannot read \"{}\": file access denied by the read rules", shown.display());
            for tool in ["glob", "grep"] {
                let refused = place.refused(tool, arguments("needle", Some(path), None)).await;
                assert_eq!(refused, (message.clone(), "FS_SANDBOX_DENIED".to_owned()), "{tool} {path}");
            }
        }
        assert_eq!(lines(&place.grep_at("needle", Some("in"), None).await), ["in/a.txt:1:needle"]);
        assert_eq!(lines(&place.grep_at("needle", Some("in/a.txt"), None).await), ["in/a.txt:1:needle"]);
    }
}

#[tokio::test]
async fn links_lead_into_what_may_be_read_and_into_nothing_else() {
    let tree: &[(&str, &[u8])] = &[("in/a.txt", b"needle\n"), ("out/b.txt", b"needle\n")];
    let place = Place::ruled_disk(tree, &["in"], &[]).await;
    symlink("in", place.cwd.join("good")).unwrap();
    symlink("../out", place.cwd.join("in/bad")).unwrap();
    symlink("../out/b.txt", place.cwd.join("in/file")).unwrap();
    assert_eq!(lines(&place.grep_at("needle", Some("good"), None).await), ["good/a.txt:1:needle"]);
    assert_eq!(place.glob_at("*.txt", Some("good/a.txt")).await, ["good/a.txt"]);
    assert_eq!(place.glob_at("**/*", Some("in")).await, ["in/a.txt"]);
    for path in ["in/bad", "in/file"] {
        let (_, code) = place.refused("grep", arguments("needle", Some(path), None)).await;
        assert_eq!(code, "FS_SANDBOX_DENIED", "{path}");
    }
}

#[tokio::test]
async fn ignore_files_that_may_not_be_read_are_not_heeded() {
    let tree: &[(&str, &[u8])] = &[
        (".ignore", b"*.txt\n"),
        ("in/.rgignore", b"a.txt\n"),
        ("in/a.txt", b"needle\n"),
        ("in/b.txt", b"needle\n"),
        ("in/sub/.ignore", b"d.rs\n"),
        ("in/sub/c.rs", b"needle\n"),
        ("in/sub/d.rs", b"needle\n"),
    ];
    for place in Place::ruled(tree, &["in"], &[".rgignore"]).await {
        let value = place.grep_at("needle", Some("in"), None).await;
        assert_eq!(lines(&value), ["in/a.txt:1:needle", "in/b.txt:1:needle", "in/sub/c.rs:1:needle"]);
    }
    let place = Place::ruled_disk(tree, &["in"], &[]).await;
    std::fs::remove_file(place.cwd.join("in/sub/.ignore")).unwrap();
    symlink(place.cwd.join(".ignore"), place.cwd.join("in/.ignore")).unwrap();
    symlink("../.rgignore", place.cwd.join("in/sub/.ignore")).unwrap();
    let value = place.grep_at("needle", Some("in"), None).await;
    assert_eq!(lines(&value), ["in/b.txt:1:needle", "in/sub/c.rs:1:needle", "in/sub/d.rs:1:needle"]);
}

#[tokio::test]
async fn a_denied_name_outside_the_read_roots_is_denied_wherever_it_leads() {
    let tree: &[(&str, &[u8])] = &[("in/a.txt", b"needle\n"), ("in/b.txt", b"needle\n")];
    let place = Place::ruled_disk(tree, &["in"], &["secret", "open/b.txt"]).await;
    symlink("in", place.cwd.join("secret")).unwrap();
    symlink("in", place.cwd.join("open")).unwrap();
    let (_, code) = place.refused("grep", arguments("needle", Some("secret"), None)).await;
    assert_eq!(code, "FS_SANDBOX_DENIED");
    assert_eq!(lines(&place.grep_at("needle", Some("open"), None).await), ["open/a.txt:1:needle"]);
    assert_eq!(place.glob_at("*", Some("open")).await, ["open/a.txt"]);
}

/// A folder of the walk is swapped for a link to one outside as fast as can be.
#[tokio::test]
async fn a_folder_that_is_swapped_for_a_link_leads_nobody_out() {
    let tree: &[(&str, &[u8])] =
        &[("in/a/b/x.txt", b"inside\n"), ("in/z.txt", b"inside\n"), ("out/b/x.txt", b"outside\n")];
    let place = Place::ruled_disk(tree, &["in"], &[]).await;
    let (folder, link) = (place.cwd.join("in/a"), place.cwd.join("link"));
    symlink(place.cwd.join("out"), &link).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let attacker = std::thread::spawn({
        let (over, cwd) = (over.clone(), rustix::fs::CWD);
        move || {
            while !over.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(cwd, &folder, cwd, &link, exchange).unwrap();
            }
        }
    });
    let began = Instant::now();
    let mut found = 0;
    for _ in 0..500 {
        let value = place.grep_at("side", Some("in"), None).await;
        assert!(lines(&value).iter().all(|line| line.ends_with(":inside")), "{value:?}");
        found += value.matches.len();
        if began.elapsed() > Duration::from_secs(4) {
            break;
        }
    }
    over.store(true, Ordering::Relaxed);
    attacker.join().unwrap();
    assert!(found > 0);
}

#[tokio::test]
async fn a_large_file_that_is_not_utf8_is_told_where_it_cannot_be_held() {
    let text = ["needle\n".repeat(1 << 20).as_bytes(), b"..........\n".repeat(1 << 20).as_slice()].concat();
    let bad = [&text[..], b"\xFF\n"].concat();
    let binary = [b"\0", &text[..]].concat();
    let tree: &[(&str, &[u8])] = &[("a.txt", b"needle\n"), ("bad.txt", &bad), ("binary", &binary)];
    let value = Place::memory(tree).await.grep("needle$").await;
    assert_eq!(lines(&value), ["a.txt:1:needle"]);
    assert_eq!(value.notices, ["(1 entry could not be read: bad.txt: it is large and not UTF-8 text)"]);
}

#[tokio::test]
async fn what_is_no_file_is_no_ignore_file() {
    let place = Place::disk(&[("a.txt", b"needle\n")]).await;
    let fifo = |name| {
        let path = place.cwd.join(name);
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
    };
    fifo(".ignore");
    std::fs::create_dir(place.cwd.join(".gitignore")).unwrap();
    assert_eq!(lines(&place.grep("needle").await), ["a.txt:1:needle"]);
}
