//! Strangers who act exactly between two steps of a replacement.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dsh_fs::leftovers::{is_conflict_name, is_stage_name};
use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{EditOutcome, FileSystem, FsCall, FsError, FsErrorCode, WriteGuard, WriteOutcome};
use dsh_fs_local::Step;
use rustix::fs::{XattrFlags, setxattr};

use crate::disk::{Disk, is_rerun, refused, rerun};

type Act = fn(&Path);

/// Puts another file with these bytes in the place of `f`.
fn replace(root: &Path, bytes: &str) {
    fs::write(root.join("g"), bytes).unwrap();
    fs::rename(root.join("g"), root.join("f")).unwrap();
}

const RENAMES_OVER: Act = |root| replace(root, "start again");
const REWRITES: Act = |root| fs::write(root.join("f"), "start again").unwrap();
/// As many bytes as before, and the time of the last change as it was.
const HIDES: Act = |root| {
    let file = File::options().write(true).open(root.join("f")).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    fs::write(root.join("f"), "START").unwrap();
    file.set_modified(modified).unwrap();
};
const IDENTICAL: Act = |root| replace(root, "start");
const REMOVES: Act = |root| fs::remove_file(root.join("f")).unwrap();

/// A disk with a file `f` that says `start`; `acts` are done, each once, when their step is over.
fn disk(acts: Vec<(Step, Act)>) -> Disk {
    let left = Mutex::new(acts);
    let disk = Disk::observed(move |root, step| {
        let mut left = left.lock().unwrap();
        if left.first().is_some_and(|(when, _)| *when == step) {
            left.remove(0).1(root);
        }
    });
    disk.put("f", "start");
    disk
}

async fn edit(acts: Vec<(Step, Act)>, guarded: bool) -> (Disk, Result<EditOutcome, FsError>) {
    let disk = disk(acts);
    let version = disk.version("f").await;
    let edited = disk.edit_if("f", "start", "edited", guarded.then_some(&version)).await;
    (disk, edited)
}

async fn write(acts: Vec<(Step, Act)>, guarded: bool) -> (Disk, Result<WriteOutcome, FsError>) {
    let disk = disk(acts);
    let guard = WriteGuard::ReplaceIfVersion(disk.version("f").await);
    let written = disk.write_if("f", "written", guarded.then_some(guard)).await;
    (disk, written)
}

const BEFORE_PUBLICATION: [Step; 3] = [Step::Judged, Step::Staged, Step::Rechecked];

#[tokio::test]
async fn whenever_a_stranger_changes_the_bytes_a_guarded_mutation_is_stale_and_theirs_stay() {
    for step in BEFORE_PUBLICATION {
        for (act, bytes) in [(RENAMES_OVER, "start again"), (REWRITES, "start again"), (HIDES, "START")] {
            let (disk, edited) = edit(vec![(step, act)], true).await;
            let stale = format!("\"{}\": file changed since it was read", disk.shown("f"));
            refused(edited, FsErrorCode::StaleVersion, format!("cannot edit {stale}"));
            assert_eq!((disk.text("f"), disk.tree()), (bytes.into(), vec!["f".into()]), "{step:?}");
            let (disk, written) = write(vec![(step, act)], true).await;
            let stale = format!("\"{}\": file changed since it was read", disk.shown("f"));
            refused(written, FsErrorCode::StaleVersion, format!("cannot write {stale}"));
            assert_eq!((disk.text("f"), disk.tree()), (bytes.into(), vec!["f".into()]), "{step:?}");
        }
    }
}

#[tokio::test]
async fn an_unguarded_edit_that_loses_is_made_again_on_what_is_there() {
    for step in BEFORE_PUBLICATION {
        for act in [RENAMES_OVER, REWRITES] {
            let (disk, edited) = edit(vec![(step, act)], false).await;
            let outcome = edited.unwrap();
            assert_eq!(
                (&*outcome.texts.before, &*outcome.texts.after),
                ("start again", "edited again"),
                "{step:?}"
            );
            assert_eq!((disk.text("f"), disk.tree()), ("edited again".into(), vec!["f".into()]));
        }
        let (disk, edited) = edit(vec![(step, HIDES)], false).await;
        assert_eq!(edited.unwrap_err().code(), FsErrorCode::EditNotFound);
        assert_eq!((disk.text("f"), disk.tree()), ("START".into(), vec!["f".into()]));
    }
}

#[tokio::test]
async fn equal_bytes_in_another_file_are_no_change() {
    for step in BEFORE_PUBLICATION {
        let (disk, edited) = edit(vec![(step, IDENTICAL)], true).await;
        edited.unwrap();
        assert_eq!((disk.text("f"), disk.tree()), ("edited".into(), vec!["f".into()]), "{step:?}");
        let (disk, written) = write(vec![(step, IDENTICAL)], true).await;
        written.unwrap();
        assert_eq!((disk.text("f"), disk.tree()), ("written".into(), vec!["f".into()]), "{step:?}");
    }
}

#[tokio::test]
async fn a_file_removed_in_the_last_moment_is_not_made_again() {
    for step in BEFORE_PUBLICATION {
        let (disk, edited) = edit(vec![(step, REMOVES)], true).await;
        assert_eq!(edited.unwrap_err().code(), FsErrorCode::StaleVersion, "{step:?}");
        assert!(disk.tree().is_empty());
        let (disk, written) = write(vec![(step, REMOVES)], true).await;
        refused(
            written,
            FsErrorCode::StaleVersion,
            format!("cannot write \"{}\": file no longer exists", disk.shown("f")),
        );
        assert!(disk.tree().is_empty());
    }
}

#[tokio::test]
async fn what_is_no_file_is_given_back_untouched() {
    let folder: Act = |root| {
        REMOVES(root);
        fs::create_dir(root.join("f")).unwrap();
        fs::write(root.join("f/child"), "theirs").unwrap();
    };
    let link: Act = |root| {
        REMOVES(root);
        symlink("elsewhere", root.join("f")).unwrap();
    };
    for (act, tree) in [(folder, vec!["f", "f/child"]), (link, vec!["f"])] {
        for guarded in [true, false] {
            let (disk, edited) = edit(vec![(Step::Rechecked, act)], guarded).await;
            assert_eq!(edited.unwrap_err().code(), FsErrorCode::NotRegularFile);
            assert_eq!(disk.tree(), tree);
        }
    }
}

#[tokio::test]
async fn a_change_of_mode_or_attributes_in_the_last_moment_is_kept() {
    let chmod: Act = |root| {
        fs::set_permissions(root.join("f"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        // Where there are attributes at all.
        let _ = setxattr(root.join("f"), "user.mark", b"theirs", XattrFlags::empty());
    };
    let mark = |disk: &Disk| {
        let mut value = [0; 16];
        rustix::fs::getxattr(disk.at("f"), "user.mark", &mut value).map(|length| value[..length].to_vec())
    };
    for step in [Step::Judged, Step::Staged, Step::Rechecked, Step::Exchanged, Step::Looked, Step::Published]
    {
        let (disk, edited) = edit(vec![(step, chmod)], true).await;
        edited.unwrap();
        let mode = fs::metadata(disk.at("f")).unwrap().mode() & 0o7777;
        assert_eq!((disk.text("f"), mode), ("edited".into(), 0o600), "{step:?}");
        assert_ne!(mark(&disk), Err(rustix::io::Errno::NODATA), "{step:?}");
        if !matches!(step, Step::Exchanged | Step::Looked) {
            let (disk, written) = write(vec![(step, chmod)], false).await;
            written.unwrap();
            let mode = fs::metadata(disk.at("f")).unwrap().mode() & 0o7777;
            assert_eq!((disk.text("f"), mode), ("written".into(), 0o600), "{step:?}");
            assert_ne!(mark(&disk), Err(rustix::io::Errno::NODATA), "{step:?}");
        }
    }
}

#[tokio::test]
async fn a_stranger_after_the_exchange_replaces_our_file_and_that_is_no_failure() {
    for step in [Step::Exchanged, Step::Looked, Step::Published] {
        let (disk, edited) = edit(vec![(step, RENAMES_OVER)], true).await;
        // The version is that of our bytes, so the stranger's are not taken for seen.
        let version = edited.unwrap().version;
        assert_eq!((disk.text("f"), disk.tree()), ("start again".into(), vec!["f".into()]), "{step:?}");
        let again = disk.edit_if("f", "start", "x", Some(&version)).await;
        assert_eq!(again.unwrap_err().code(), FsErrorCode::StaleVersion);
        let (disk, edited) = edit(vec![(step, REMOVES)], true).await;
        edited.unwrap();
        assert!(disk.tree().is_empty(), "{step:?}");
    }
}

fn overtaken(disk: &Disk, verb: &str, kept: &str) -> String {
    format!(
        "cannot {verb} \"{}\": file changed since it was read, and again meanwhile; a version that another program \
         wrote is kept as \"{}\"",
        disk.shown("f"),
        disk.shown(kept)
    )
}

#[tokio::test]
async fn of_two_strangers_the_newer_has_the_name_and_the_older_is_kept_beside_it() {
    for second in [Step::Exchanged, Step::Looked] {
        for guarded in [true, false] {
            let acts: Vec<(Step, Act)> = vec![
                (Step::Rechecked, |root| replace(root, "first")),
                (second, |root| replace(root, "second")),
            ];
            let (disk, edited) = edit(acts, guarded).await;
            refused(edited, FsErrorCode::StaleVersion, overtaken(&disk, "edit", "f.dsh-conflict-1"));
            assert_eq!(disk.tree(), ["f", "f.dsh-conflict-1"]);
            assert_eq!((disk.text("f"), disk.text("f.dsh-conflict-1")), ("second".into(), "first".into()));
            // Our tools do not list it.
            let listed = disk.fs.list_dir(&disk.target(".").await, &FsCall::new()).await.unwrap();
            assert_eq!(listed.len(), 1);
            assert!(disk.read("f.dsh-conflict-1").await.is_ok(), "and who was told of it can read it");
        }
    }
}

#[tokio::test]
async fn a_stranger_who_is_newer_still_goes_back_in() {
    // The third comes when the first is being given back: then the second came out, and goes back over the third.
    let acts: Vec<(Step, Act)> = vec![
        (Step::Rechecked, |root| replace(root, "first")),
        (Step::Exchanged, |root| replace(root, "second")),
        (Step::GivenBack, |root| replace(root, "third")),
    ];
    let (disk, edited) = edit(acts, true).await;
    refused(edited, FsErrorCode::StaleVersion, overtaken(&disk, "edit", "f.dsh-conflict-1"));
    assert_eq!((disk.text("f"), disk.text("f.dsh-conflict-1")), ("third".into(), "second".into()));
    assert_eq!(disk.tree(), ["f", "f.dsh-conflict-1"]);
}

#[tokio::test]
async fn who_writes_the_candidate_in_place_has_made_it_theirs() {
    // While it has the name, for microseconds, until the first stranger's file is given back.
    let acts: Vec<(Step, Act)> = vec![
        (Step::Rechecked, |root| replace(root, "first")),
        (Step::Looked, |root| fs::write(root.join("f"), "second").unwrap()),
    ];
    let (disk, edited) = edit(acts, true).await;
    refused(edited, FsErrorCode::StaleVersion, overtaken(&disk, "edit", "f.dsh-conflict-1"));
    assert_eq!((disk.text("f"), disk.text("f.dsh-conflict-1")), ("second".into(), "first".into()));
    assert_eq!(disk.tree(), ["f", "f.dsh-conflict-1"]);
}

#[tokio::test]
async fn a_chmod_of_the_candidate_is_one_of_the_file_that_is_given_back() {
    let acts: Vec<(Step, Act)> = vec![
        (Step::Rechecked, RENAMES_OVER),
        (Step::Exchanged, |root| {
            fs::set_permissions(root.join("f"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }),
    ];
    let (disk, edited) = edit(acts, true).await;
    assert_eq!(edited.unwrap_err().code(), FsErrorCode::StaleVersion);
    assert_eq!((disk.text("f"), disk.tree()), ("start again".into(), vec!["f".into()]));
    assert_eq!(fs::metadata(disk.at("f")).unwrap().mode() & 0o7777, 0o600);
}

#[tokio::test]
async fn a_writer_who_is_not_done_is_waited_for() {
    // On a busy machine the writer may take longer than it is waited for; then the round is played again.
    for _ in 0..20 {
        let (disk, edited, took) = edit_while_somebody_writes().await;
        if took < Duration::from_millis(25) {
            assert_eq!(edited.unwrap_err().code(), FsErrorCode::StaleVersion);
            assert_eq!((disk.text("f"), disk.tree()), ("START".into(), vec!["f".into()]));
            return;
        }
    }
    panic!("the writer was never in time");
}

/// It opens the file before the exchange, writes it after, and then closes it. How long did it have it open?
async fn edit_while_somebody_writes() -> (Disk, Result<EditOutcome, FsError>, Duration) {
    let opened = Mutex::new(None);
    let writer = Arc::new(Mutex::new(None));
    let disk = Disk::observed({
        let writer = writer.clone();
        move |root, step| match step {
            Step::Rechecked => {
                let file = File::options().write(true).open(root.join("f")).unwrap();
                *opened.lock().unwrap() = Some((file, Instant::now()));
            }
            Step::Exchanged => {
                let (mut file, start) = opened.lock().unwrap().take().unwrap();
                *writer.lock().unwrap() = Some(std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(5));
                    std::io::Write::write_all(&mut file, b"START").unwrap();
                    drop(file);
                    start.elapsed()
                }));
            }
            _ => {}
        }
    });
    disk.put("f", "start");
    let version = disk.version("f").await;
    let edited = disk.edit_if("f", "start", "edited", Some(&version)).await;
    let writer = writer.lock().unwrap().take().unwrap();
    (disk, edited, writer.join().unwrap())
}

#[tokio::test]
async fn we_are_never_the_writer_who_is_waited_for() {
    // Once it is complete, the stage is held for reading only.
    let held = Arc::new(AtomicU32::new(0));
    let disk = Disk::observed({
        let held = held.clone();
        move |root, step| {
            if step != Step::Staged {
                return;
            }
            for descriptor in fs::read_dir("/proc/self/fd").unwrap().flatten() {
                let path = fs::read_link(descriptor.path()).unwrap_or_default();
                if path.parent() == Some(root) && is_stage_name(path.file_name().unwrap().as_encoded_bytes())
                {
                    let number = descriptor.file_name().into_string().unwrap();
                    let info = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap();
                    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
                    assert_eq!(u32::from_str_radix(flags, 8).unwrap() & 3, 0, "{info}");
                    held.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    });
    disk.put("f", "start");
    disk.edit("f", "start", "edited").await.unwrap();
    assert_eq!(held.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_file_that_somebody_keeps_open_can_be_edited() {
    let disk = Disk::new();
    disk.put("f", "start");
    let _log = File::options().append(true).open(disk.at("f")).unwrap();
    disk.edit("f", "start", "edited").await.unwrap();
    assert_eq!((disk.text("f"), disk.tree()), ("edited".into(), vec!["f".into()]));
}

#[tokio::test]
async fn after_eight_exchanges_the_last_stranger_is_kept_beside() {
    let rounds = AtomicU32::new(0);
    let disk = Disk::observed(move |root, step| match step {
        Step::Rechecked => replace(root, "stranger 0"),
        Step::Exchanged => replace(root, "stranger 1"),
        Step::GivenBack => {
            let round = rounds.fetch_add(1, Ordering::Relaxed) + 1;
            assert!(round <= 8);
            replace(root, &format!("stranger {}", round + 1));
        }
        _ => {}
    });
    disk.put("f", "start").put("f.dsh-conflict-1", "an older one");
    let edited = disk.edit("f", "start", "edited").await;
    refused(edited, FsErrorCode::StaleVersion, overtaken(&disk, "edit", "f.dsh-conflict-2"));
    assert_eq!((disk.text("f"), disk.text("f.dsh-conflict-2")), ("stranger 9".into(), "stranger 8".into()));
    assert_eq!(disk.tree(), ["f", "f.dsh-conflict-1", "f.dsh-conflict-2"]);
}

#[tokio::test]
async fn a_strangers_file_whose_name_was_removed_meanwhile_is_kept_beside() {
    let acts: Vec<(Step, Act)> =
        vec![(Step::Rechecked, |root| replace(root, "theirs")), (Step::Exchanged, REMOVES)];
    let (disk, written) = write(acts, true).await;
    refused(written, FsErrorCode::StaleVersion, overtaken(&disk, "write", "f.dsh-conflict-1"));
    assert_eq!(
        (disk.text("f.dsh-conflict-1"), disk.tree()),
        ("theirs".into(), vec!["f.dsh-conflict-1".into()])
    );
}

#[tokio::test]
async fn the_longest_name_can_be_kept_beside_too() {
    let name = "n".repeat(255);
    let disk = Disk::observed({
        let name = name.clone();
        move |root, step| {
            let act = |bytes| {
                fs::write(root.join("g"), bytes).unwrap();
                fs::rename(root.join("g"), root.join(&name)).unwrap();
            };
            match step {
                Step::Rechecked => act("first"),
                Step::Exchanged => act("second"),
                _ => {}
            }
        }
    });
    disk.put(&name, "start");
    let kept = format!("{}.dsh-conflict-1", "n".repeat(240));
    assert!(is_conflict_name(kept.as_bytes()));
    let failed = disk.edit(&name, "start", "edited").await.unwrap_err();
    assert!(failed.to_string().ends_with(&format!("is kept as \"{}\"", disk.shown(&kept))), "{failed}");
    assert_eq!((disk.text(&name), disk.text(&kept)), ("second".into(), "first".into()));
}

#[tokio::test]
async fn what_the_system_does_not_let_us_give_back_is_never_removed() {
    let chattr = |flag: &str, path: &Path| {
        Command::new("chattr").arg(flag).arg(path).status().is_ok_and(|status| status.success())
    };
    let disk = Disk::observed(move |root, step| match step {
        Step::Rechecked => replace(root, "theirs"),
        Step::Looked => _ = chattr("+i", root),
        _ => {}
    });
    disk.put("f", "start");
    if !chattr("+i", &disk.at("f")) {
        return;
    }
    assert!(chattr("-i", &disk.at("f")));
    let edited = disk.edit("f", "start", "edited").await;
    assert!(chattr("-i", disk.root()));
    let tree = disk.tree();
    assert_eq!(tree.len(), 2);
    assert!(is_stage_name(tree[0].as_bytes()));
    refused(
        edited,
        FsErrorCode::IoError,
        format!(
            "cannot edit \"{}\": the new text is in place, but it may have replaced what was never read; what it replaced \
             is kept as \"{}\"",
            disk.shown("f"),
            disk.shown(&tree[0])
        ),
    );
    assert_eq!((disk.text("f"), disk.text(&tree[0])), ("edited".into(), "theirs".into()));
}

#[tokio::test]
async fn what_can_neither_be_given_back_nor_renamed_stays_under_its_hidden_name() {
    if is_rerun() {
        let disk = disk(vec![(Step::Rechecked, |root| replace(root, "theirs"))]);
        let failed = disk.edit("f", "start", "edited").await.unwrap_err();
        let tree = disk.tree();
        assert!(tree.len() == 2 && is_stage_name(tree[0].as_bytes()), "{tree:?}");
        assert!(
            failed.to_string().ends_with(&format!("is kept as \"{}\"", disk.shown(&tree[0]))),
            "{failed}"
        );
        assert_eq!((failed.code(), disk.text(&tree[0])), (FsErrorCode::IoError, "theirs".into()));
        return;
    }
    if Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success())
    {
        rerun(
            &["strace", "-f", "-o", "/dev/null", "-e", "inject=renameat2:error=EIO:when=2+"],
            "exchange::what_can_neither_be_given_back_nor_renamed_stays_under_its_hidden_name",
            &[],
        );
    }
}

#[tokio::test]
async fn the_new_text_is_never_seen_by_those_whom_a_chmod_has_shut_out() {
    let disk = Disk::observed(|root, step| match step {
        Step::Staged => {
            fs::set_permissions(root.join("f"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }
        Step::Exchanged | Step::Published => {
            assert_eq!(fs::metadata(root.join("f")).unwrap().mode() & 0o7777, 0o600);
        }
        _ => {}
    });
    disk.put("f", "start");
    disk.edit("f", "start", "edited").await.unwrap();
}

#[tokio::test]
async fn cancelling_has_no_effect_once_the_exchange_has_begun() {
    for (step, applied) in [
        (Step::Judged, false),
        (Step::Staged, false),
        (Step::Rechecked, true),
        (Step::Exchanged, true),
        (Step::Looked, true),
        (Step::Published, true),
    ] {
        let call = FsCall::new();
        let cancel = call.cancel.clone();
        let disk = Disk::observed(move |_, now| {
            if now == step {
                cancel.cancel();
            }
        });
        disk.put("f", "start");
        let target = disk.target("f").await;
        let edit = LiteralEdit::new("start", "edited", false).unwrap();
        let edited = disk.fs.edit_text(&target, &edit, None, &call).await;
        if applied {
            assert!(edited.unwrap().durable, "{step:?}");
        } else {
            refused(edited, FsErrorCode::Aborted, "edit aborted");
        }
        let text = if applied { "edited" } else { "start" };
        assert_eq!((disk.text("f"), disk.tree()), (text.into(), vec!["f".into()]), "{step:?}");
    }
}

#[tokio::test]
async fn cancelled_while_it_is_withdrawn_it_is_withdrawn_all_the_same() {
    let call = FsCall::new();
    let cancel = call.cancel.clone();
    let disk = Disk::observed(move |root, step| match step {
        Step::Rechecked => replace(root, "theirs"),
        Step::Exchanged => cancel.cancel(),
        _ => {}
    });
    disk.put("f", "start");
    let target = disk.target("f").await;
    let edit = LiteralEdit::new("start", "edited", false).unwrap();
    refused(disk.fs.edit_text(&target, &edit, None, &call).await, FsErrorCode::Aborted, "edit aborted");
    assert_eq!((disk.text("f"), disk.tree()), ("theirs".into(), vec!["f".into()]));
}

#[tokio::test]
async fn without_exchange_a_stranger_before_the_last_look_is_found_out() {
    let without = dsh_fs_local::Fallbacks { exchange: true, ..Default::default() };
    for (step, times) in [(Step::Judged, 1), (Step::Staged, 1), (Step::Rechecked, 1)] {
        let seen = AtomicU32::new(0);
        let disk = Disk::observed_without(without, move |root, now| {
            if now == step && seen.fetch_add(1, Ordering::Relaxed) + 1 == times {
                HIDES(root);
            }
        });
        disk.put("f", "start");
        let version = disk.version("f").await;
        let edited = disk.edit_if("f", "start", "edited", Some(&version)).await;
        assert_eq!(edited.unwrap_err().code(), FsErrorCode::StaleVersion, "{step:?}");
        assert_eq!((disk.text("f"), disk.tree()), ("START".into(), vec!["f".into()]));
    }
}
