//! Calls that are kept beneath a folder, whatever moves meanwhile; with `openat2` and without.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{
    EditOutcome, FileSystem, FsCall, FsError, FsErrorCode, FsInfo, FsKind, FsPathKind, FsTarget, TargetKey,
    TextRead, WriteGuard, WriteOutcome,
};
use dsh_fs_local::{Durability, Fallbacks, LocalFileSystem, LocalFsConfig};
use rustix::fs::{CWD, Mode, RenameFlags, mkfifoat, renameat_with};

use crate::disk::{Disk, drain, refused};

/// `ws` is the folder that calls are kept beneath, `out` is beside it.
struct Kept {
    disk: Disk,
    fs: LocalFileSystem,
    call: FsCall,
}

impl Kept {
    fn new(openat2: bool) -> Self {
        let disk = Disk::new();
        disk.put("ws/a", "inside")
            .put("ws/sub/a", "inside")
            .put("out/a", "outside")
            .put("out/sub/a", "outside");
        let config = LocalFsConfig {
            cwd: Some(disk.at("ws")),
            durability: Durability::Rename,
            ..LocalFsConfig::default()
        };
        let without = Fallbacks { openat2: !openat2, ..Fallbacks::default() };
        let fs = LocalFileSystem::with_fallbacks(config, without).unwrap();
        let call = FsCall::new().beneath(disk.at("ws").into());
        Self { disk, fs, call }
    }

    /// One with `openat2` and one without.
    fn both() -> [Self; 2] {
        [Self::new(true), Self::new(false)]
    }

    fn at(&self, path: &str) -> PathBuf {
        self.disk.at("ws").join(path)
    }

    /// The target of a canonical path, as somebody resolved it earlier.
    fn target(&self, path: &str) -> FsTarget {
        let path = self.at(path);
        FsTarget::new(TargetKey::new(path.as_os_str().as_bytes()), path.to_str().unwrap())
    }

    async fn read(&self, path: &str) -> Result<TextRead, FsError> {
        self.fs.read_text(&self.target(path), &self.call).await
    }

    async fn text(&self, path: &str) -> String {
        self.read(path).await.unwrap().text
    }

    async fn write(&self, path: &str) -> Result<WriteOutcome, FsError> {
        self.fs.write_text(&self.target(path), "ours", None, &self.call).await
    }

    async fn edit(&self, path: &str) -> Result<EditOutcome, FsError> {
        let edit = LiteralEdit::new("side", "SIDE", false).unwrap();
        self.fs.edit_text(&self.target(path), &edit, None, &self.call).await
    }

    async fn stat(&self, path: &str) -> Result<Option<FsInfo>, FsError> {
        self.fs.stat(&self.target(path), &self.call).await
    }

    /// Every operation on a path that leads out, or through a link, refuses, and nothing was changed.
    async fn refuses(&self, path: &str) {
        let (target, call) = (self.target(path), &self.call);
        let before = (self.disk.tree(), self.disk.text("out/a"), self.disk.text("out/sub/a"));
        let said = |verb: &str| {
            format!(
                "cannot {verb} \"{}\": something on the way has moved or become a link",
                target.display_path()
            )
        };
        let code = FsErrorCode::SandboxDenied;
        refused(self.stat(path).await, code, said("stat"));
        refused(self.read(path).await, code, said("read"));
        refused(self.fs.read_bytes(&target, 100, call).await, code, said("read"));
        assert_eq!(self.fs.stream_text(&target, None, call).await.unwrap_err().code(), code);
        refused(self.fs.list_dir(&target, call).await, code, said("list"));
        let lstat = self.fs.lstat(&format!("{path}/"), None, call).await;
        assert!(lstat.is_err_and(|error| error.code() == code || path.contains("..")));
        assert_eq!(before, (self.disk.tree(), self.disk.text("out/a"), self.disk.text("out/sub/a")));
    }

    async fn refuses_mutations(&self, path: &str) {
        let before = (self.disk.tree(), self.disk.text("out/a"), self.disk.text("out/sub/a"));
        let said = |verb: &str| {
            let shown = self.target(path).display_path().to_owned();
            format!("cannot {verb} \"{shown}\": something on the way has moved or become a link")
        };
        refused(self.write(path).await, FsErrorCode::SandboxDenied, said("write"));
        refused(self.edit(path).await, FsErrorCode::SandboxDenied, said("edit"));
        assert_eq!(before, (self.disk.tree(), self.disk.text("out/a"), self.disk.text("out/sub/a")));
    }
}

#[tokio::test]
async fn what_lies_beneath_works_as_ever() {
    for kept in Kept::both() {
        assert_eq!(kept.text("a").await, "inside");
        kept.edit("sub/a").await.unwrap();
        kept.write("new").await.unwrap();
        kept.write("x/y/z").await.unwrap();
        assert_eq!(kept.disk.text("ws/sub/a"), "inSIDE");
        assert_eq!((kept.disk.text("ws/new"), kept.disk.text("ws/x/y/z")), ("ours".into(), "ours".into()));
        let stream = kept.fs.stream_text(&kept.target("sub/a"), None, &kept.call).await.unwrap();
        assert_eq!(drain(stream).await.unwrap().0, "inSIDE");
        assert_eq!(&*kept.fs.read_bytes(&kept.target("a"), 9, &kept.call).await.unwrap().bytes, b"inside");
        assert_eq!(kept.stat("sub").await.unwrap().unwrap().kind, FsKind::Directory);
        assert_eq!(kept.stat("nothing/here").await.unwrap(), None);
        assert_eq!(kept.stat("a/b").await.unwrap(), None);
        let names = |list: Vec<dsh_fs::FsDirEntry>| list.into_iter().map(|it| it.name).collect::<Vec<_>>();
        let list = kept.fs.list_dir(&kept.target(""), &kept.call).await.unwrap();
        assert_eq!(names(list), ["a", "new", "sub", "x"]);
        for (path, code) in [
            ("nothing/a", FsErrorCode::NotFound),
            ("sub", FsErrorCode::NotRegularFile),
            ("a/b", FsErrorCode::NotFound),
        ] {
            assert_eq!(kept.read(path).await.unwrap_err().code(), code, "{path}");
        }
        assert_eq!(
            kept.fs.list_dir(&kept.target("a"), &kept.call).await.unwrap_err().code(),
            FsErrorCode::NotDirectory
        );
        assert_eq!(kept.write("a/b").await.unwrap_err().code(), FsErrorCode::NotFound);
        assert_eq!(kept.write("").await.unwrap_err().code(), FsErrorCode::NotRegularFile);
        assert_eq!(kept.write("sub").await.unwrap_err().code(), FsErrorCode::NotRegularFile);
    }
}

#[tokio::test]
async fn links_on_the_way_and_at_the_end_are_refused() {
    for kept in Kept::both() {
        kept.disk.link("ws/out", "../out").link("ws/far", kept.disk.at("out")).link("ws/in", "sub");
        kept.disk.link("ws/leaf", kept.disk.at("out/a")).link("ws/dangling", kept.disk.at("out/new"));
        for path in ["out/a", "out/sub/a", "far/a", "far/sub/a", "in/a"] {
            kept.refuses(path).await;
            kept.refuses_mutations(path).await;
        }
        for path in ["out/new", "far/new/x/y"] {
            kept.refuses_mutations(path).await;
        }
        for path in ["leaf", "dangling", "out", "far"] {
            kept.refuses(path).await;
        }
        // The name is not followed: what it is is not a file.
        for path in ["leaf", "dangling"] {
            assert_eq!(kept.write(path).await.unwrap_err().code(), FsErrorCode::NotRegularFile);
        }
        assert_eq!((kept.disk.text("out/a"), kept.disk.at("out/new").exists()), ("outside".into(), false));
        let link = kept.fs.lstat("leaf", None, &kept.call).await.unwrap().unwrap();
        assert_eq!(link.kind, FsPathKind::Symlink);
        assert_eq!(
            kept.fs.lstat("out/a", None, &kept.call).await.unwrap_err().code(),
            FsErrorCode::SandboxDenied
        );
    }
}

#[tokio::test]
async fn what_lies_elsewhere_and_what_goes_up_is_refused() {
    for kept in Kept::both() {
        for path in ["../out/a", "sub/../../out/a", "../ws-evil/a", "../ws/../out/a"] {
            kept.refuses(path).await;
            kept.refuses_mutations(path).await;
        }
        // Even where it would come back.
        kept.refuses("sub/../a").await;
        assert!(kept.write("gone/../../out/a").await.is_err());
        assert_eq!(kept.disk.text("out/a"), "outside");
        for elsewhere in ["/etc/passwd", "/"] {
            let target = FsTarget::new(TargetKey::new(elsewhere.as_bytes()), elsewhere);
            let read = kept.fs.read_text(&target, &kept.call).await;
            assert_eq!(read.unwrap_err().code(), FsErrorCode::SandboxDenied);
            let stat = kept.fs.stat(&target, &kept.call).await;
            assert_eq!(stat.unwrap_err().code(), FsErrorCode::SandboxDenied);
        }
    }
}

#[tokio::test]
async fn magic_links_are_refused_also_where_everything_lies_beneath() {
    for mut kept in Kept::both() {
        kept.call = FsCall::new().beneath(Path::new("/").into());
        assert_eq!(kept.text("a").await, "inside");
        let held = fs::File::open(kept.disk.at("out")).unwrap();
        let by_descriptor =
            format!("/proc/{}/fd/{}/a", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&held));
        let root = format!("/proc/{}/root{}", std::process::id(), kept.disk.shown("out/a"));
        for path in [by_descriptor, root, format!("/proc/self/root{}", kept.disk.shown("out/a"))] {
            let target = FsTarget::new(TargetKey::new(path.as_bytes()), path.as_str());
            let code = FsErrorCode::SandboxDenied;
            assert_eq!(kept.fs.read_text(&target, &kept.call).await.unwrap_err().code(), code, "{path}");
            let written = kept.fs.write_text(&target, "x", None, &kept.call).await;
            assert_eq!(written.unwrap_err().code(), code, "{path}");
        }
        assert_eq!(kept.disk.text("out/a"), "outside");
    }
}

const NO_FOLDER: &str = "the folder that it must lie in cannot be opened";
const ANOTHER: &str = "the workspace is another folder now";

#[tokio::test]
async fn where_the_name_is_a_link_or_nothing_the_folder_that_had_it_is_not_touched() {
    for kept in Kept::both() {
        assert_eq!(kept.text("a").await, "inside");
        fs::rename(kept.disk.at("ws"), kept.disk.at("moved")).unwrap();
        let code = FsErrorCode::SandboxDenied;
        let said = |verb: &str| format!("cannot {verb} \"{}\": {NO_FOLDER}", kept.at("a").display());
        refused(kept.write("a").await, code, said("write"));
        for to in ["out", "moved"] {
            symlink(kept.disk.at(to), kept.disk.at("ws")).unwrap();
            refused(kept.read("a").await, code, said("read"));
            refused(kept.edit("a").await, code, said("edit"));
            refused(kept.write("a").await, code, said("write"));
            fs::remove_file(kept.disk.at("ws")).unwrap();
        }
        assert_eq!((kept.disk.text("moved/a"), kept.disk.text("out/a")), ("inside".into(), "outside".into()));
        // Back again, it is what it was.
        fs::rename(kept.disk.at("moved"), kept.disk.at("ws")).unwrap();
        assert_eq!(kept.text("a").await, "inside");
    }
}

#[tokio::test]
async fn another_folder_of_the_name_becomes_the_one_that_is_meant() {
    for kept in Kept::both() {
        let guard = kept.read("a").await.unwrap().version;
        fs::rename(kept.disk.at("ws"), kept.disk.at("ws.bak")).unwrap();
        kept.disk.put("ws/a", "side by side").put("ws/sub/a", "cloned");
        let old = || (kept.disk.text("ws.bak/a"), kept.disk.text("ws.bak/sub/a"));
        let before = (kept.disk.tree(), kept.disk.text("ws/a"), old());

        // What was judged in the old one is refused once, and nothing is touched.
        let said = format!("cannot edit \"{}\": {ANOTHER}", kept.at("a").display());
        refused(kept.edit("a").await, FsErrorCode::SandboxDenied, said);
        assert_eq!((kept.disk.tree(), kept.disk.text("ws/a"), old()), before);

        // From then on everything is as in any other folder, guards too.
        let edit = LiteralEdit::new("side by", "by", false).unwrap();
        let stale = kept.fs.edit_text(&kept.target("a"), &edit, Some(&guard), &kept.call).await;
        assert_eq!(stale.unwrap_err().code(), FsErrorCode::StaleVersion);
        let absent = Some(&WriteGuard::CreateIfAbsent);
        let exists = kept.fs.write_text(&kept.target("sub/a"), "ours", absent, &kept.call).await;
        assert_eq!(exists.unwrap_err().code(), FsErrorCode::NotObserved);
        assert_eq!((kept.disk.tree(), kept.disk.text("ws/a"), old()), before);
        let now = kept.read("a").await.unwrap();
        assert_eq!(&*now.text, "side by side");
        kept.fs.edit_text(&kept.target("a"), &edit, Some(&now.version), &kept.call).await.unwrap();
        kept.write("new/a").await.unwrap();
        assert_eq!((kept.disk.text("ws/a"), kept.disk.text("ws/new/a")), ("by side".into(), "ours".into()));
        assert_eq!((old(), kept.disk.at("ws.bak/new").exists()), (before.2, false));
    }
}

#[tokio::test]
async fn a_folder_that_is_a_link_or_missing_when_it_is_named_is_refused() {
    for kept in Kept::both() {
        kept.disk.link("out-link", kept.disk.at("out"));
        for root in ["out-link", "nothing", "out/a"] {
            let call = FsCall::new().beneath(kept.disk.at(root).into());
            let target = FsTarget::new(TargetKey::new(kept.disk.shown(root).as_bytes()), "/shown");
            refused(
                kept.fs.read_text(&target, &call).await,
                FsErrorCode::SandboxDenied,
                format!("cannot read \"/shown\": {NO_FOLDER}"),
            );
        }
        assert!(!kept.disk.at("nothing").exists());
    }
}

#[tokio::test]
async fn a_folder_that_was_removed_and_made_again_is_another_one() {
    for kept in Kept::both() {
        assert_eq!(kept.text("a").await, "inside");
        fs::remove_dir_all(kept.disk.at("ws")).unwrap();
        let said = |why| format!("cannot read \"{}\": {why}", kept.at("a").display());
        refused(kept.read("a").await, FsErrorCode::SandboxDenied, said(NO_FOLDER));
        kept.disk.put("ws/a", "again");
        refused(kept.read("a").await, FsErrorCode::SandboxDenied, said(ANOTHER));
        assert_eq!(kept.text("a").await, "again");
    }
}

#[tokio::test]
async fn as_many_folders_as_one_likes_can_be_named() {
    let kept = Kept::new(true);
    for number in 0..300 {
        kept.disk.put(&format!("many/{number}/a"), number.to_string());
        let folder = kept.disk.at("many").join(number.to_string());
        let target = FsTarget::new(TargetKey::new(folder.join("a").as_os_str().as_bytes()), "/shown");
        let call = FsCall::new().beneath(folder.into());
        assert_eq!(&*kept.fs.read_text(&target, &call).await.unwrap().text, number.to_string());
    }
    let open = fs::read_dir("/proc/self/fd")
        .unwrap()
        .flatten()
        .filter(|link| fs::read_link(link.path()).is_ok_and(|path| path.starts_with(kept.disk.at("many"))));
    assert_eq!(open.count(), 128);
    assert_eq!(kept.text("a").await, "inside");
}

#[tokio::test]
async fn a_hard_link_is_never_written_through() {
    for kept in Kept::both() {
        fs::hard_link(kept.disk.at("out/a"), kept.at("hard")).unwrap();
        kept.edit("hard").await.unwrap();
        assert_eq!(
            (kept.disk.text("ws/hard"), kept.disk.text("out/a")),
            ("outSIDE".into(), "outside".into())
        );
        fs::remove_file(kept.at("hard")).unwrap();
        fs::hard_link(kept.disk.at("out/a"), kept.at("hard")).unwrap();
        kept.write("hard").await.unwrap();
        assert_eq!((kept.disk.text("ws/hard"), kept.disk.text("out/a")), ("ours".into(), "outside".into()));
        assert_eq!(fs::metadata(kept.disk.at("out/a")).unwrap().nlink(), 1);
    }
}

#[tokio::test]
async fn special_files_are_refused_by_type_and_not_waited_for() {
    for kept in Kept::both() {
        mkfifoat(CWD, kept.at("p"), Mode::from_raw_mode(0o644)).unwrap();
        let everything = async {
            let code = FsErrorCode::NotRegularFile;
            assert_eq!(kept.read("p").await.unwrap_err().code(), code);
            assert_eq!(kept.write("p").await.unwrap_err().code(), code);
            assert_eq!(kept.edit("p").await.unwrap_err().code(), code);
            assert_eq!(kept.stat("p").await.unwrap().unwrap().kind, FsKind::Other);
        };
        tokio::time::timeout(Duration::from_secs(5), everything).await.expect("it blocks");
    }
}

#[tokio::test]
async fn a_file_that_somebody_has_a_lease_on_has_not_moved() {
    for kept in Kept::both() {
        let holder = fs::OpenOptions::new().read(true).write(true).open(kept.at("a")).unwrap();
        lease(&holder, libc::F_WRLCK);
        refused(
            kept.read("a").await,
            FsErrorCode::IoError,
            format!(
                "cannot read \"{}\": the file has nothing to read now, or is locked by another process",
                kept.at("a").display()
            ),
        );
        lease(&holder, libc::F_UNLCK);
        assert_eq!(kept.text("a").await, "inside");
    }
}

/// Of Linux; `libc` has it for some of its targets only.
const F_SETSIG: libc::c_int = 10;

/// Who reads the file then makes the kernel send a signal, one that does nothing here.
#[expect(unsafe_code, reason = "no safe wrapper of leases is at hand")]
fn lease(file: &fs::File, kind: libc::c_int) {
    let file = std::os::fd::AsRawFd::as_raw_fd(file);
    // SAFETY: both commands take a descriptor, which is open, and a number.
    let done = unsafe {
        libc::fcntl(file, F_SETSIG, libc::SIGURG) == 0 && libc::fcntl(file, libc::F_SETLEASE, kind) == 0
    };
    assert!(done);
}

#[tokio::test]
async fn a_listing_does_not_tell_of_what_its_links_lead_out_to() {
    for kept in Kept::both() {
        kept.disk.link("ws/in", "sub/a").link("ws/leaf", "../out/a");
        let list = kept.fs.list_dir(&kept.target(""), &kept.call).await.unwrap();
        let told: Vec<_> = list
            .iter()
            .map(|it| (it.name.as_str(), it.kind, it.size, it.version.is_some(), it.is_link))
            .collect();
        assert_eq!(
            told,
            [
                ("a", FsKind::File, Some(6), true, false),
                ("in", FsKind::File, Some(6), true, true),
                ("leaf", FsKind::Other, None, false, true),
                ("sub", FsKind::Directory, None, true, false),
            ]
        );
    }
}

/// How long an attack lasts, if the calls are not over before.
const LONG_ENOUGH: Duration = Duration::from_secs(4);
const CALLS: usize = 2000;

/// Swaps a folder for a link to the one outside, and a file for a link to the one outside, until told to stop.
fn attack(disk: &Disk, over: &Arc<AtomicBool>) -> std::thread::JoinHandle<usize> {
    disk.link("folder-link", disk.at("out/sub")).link("file-link", disk.at("out/a"));
    let swaps = [(disk.at("ws/sub"), disk.at("folder-link")), (disk.at("ws/a"), disk.at("file-link"))];
    let over = over.clone();
    std::thread::spawn(move || {
        let mut swapped = 0;
        while !over.load(Ordering::Relaxed) {
            for (one, two) in &swaps {
                swapped += usize::from(renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).is_ok());
            }
        }
        swapped
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_of_swaps_gets_nothing_out_and_nothing_in() {
    for kept in Kept::both() {
        let over = Arc::new(AtomicBool::new(false));
        let attacker = attack(&kept.disk, &over);
        let (began, mut done, mut denied) = (Instant::now(), 0, 0);
        let mut count = |error: Option<&FsError>| match error.map(FsError::code) {
            None => done += 1,
            Some(FsErrorCode::SandboxDenied) => denied += 1,
            Some(_) => {}
        };
        for number in 0..CALLS {
            if began.elapsed() > LONG_ENOUGH {
                break;
            }
            let path = if number % 2 == 0 { "sub/a" } else { "a" };
            let read = kept.read(path).await;
            if let Ok(read) = &read {
                assert_ne!(&*read.text, "outside", "{number}: read from outside");
            }
            count(read.as_ref().err());
            let written = kept.write(path).await;
            count(written.as_ref().err());
            kept.write("sub/new/file").await.ok();
        }
        over.store(true, Ordering::Relaxed);
        let swapped = attacker.join().unwrap();
        assert!(swapped > 100 && done > 0 && denied > 0, "{swapped} swaps, {done} done, {denied} denied");
        assert_eq!(
            (kept.disk.text("out/a"), kept.disk.text("out/sub/a")),
            ("outside".into(), "outside".into())
        );
        let outside: Vec<_> = kept.disk.tree().into_iter().filter(|path| path.starts_with("out")).collect();
        assert_eq!(outside, ["out", "out/a", "out/sub", "out/sub/a"]);
    }
}

/// The same attack on calls without bounds gets through, so it is one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_race_is_won_against_calls_without_bounds() {
    let mut kept = Kept::new(true);
    kept.call = FsCall::new();
    let over = Arc::new(AtomicBool::new(false));
    let attacker = attack(&kept.disk, &over);
    let began = Instant::now();
    let mut escaped = false;
    while !escaped && began.elapsed() < Duration::from_secs(60) {
        escaped = kept.read("sub/a").await.is_ok_and(|read| &*read.text == "outside");
    }
    over.store(true, Ordering::Relaxed);
    attacker.join().unwrap();
    assert!(escaped);
}
