//! `list_dir`: the direct children of a folder.

use dsh_fs::FsErrorCode::{NotDirectory, NotFound, StaleVersion};
use dsh_fs::{FsDirEntry, FsKind};

use crate::race::{Rivalry, beside};
use crate::{Case, refused};

async fn list(case: &Case, folder: &str) -> Vec<FsDirEntry> {
    let target = case.target(folder).await;
    case.fs.list_dir(&target, &case.call).await.unwrap_or_else(|error| panic!("list {folder:?}: {error}"))
}

/// Children come in byte order of their names, whatever they are and in whatever order they were made.
pub async fn children_come_in_byte_order(case: &Case) {
    let mut names =
        ["b", "a", "a.b", "a b", "B", "_", "-x", "\u{e9}", "e\u{301}", "10", "9", "\u{1F600}", "\u{ff5e}"];
    for name in names {
        case.put(&format!("d/{name}"), "x").await;
    }
    case.put("d/ab/below", "x").await;
    let mut expected: Vec<&str> = names.iter().copied().chain(["ab"]).collect();
    expected.sort_unstable();
    assert_eq!(case.names("d").await, expected);
    names.reverse();
    for name in names {
        case.put(&format!("e/{name}"), "x").await;
    }
    expected.retain(|name| *name != "ab");
    assert_eq!(case.names("e").await, expected);
}

/// Only direct children are listed, a folder once, and nothing of a neighbour that begins like the folder.
pub async fn only_direct_children_are_listed(case: &Case) {
    for name in ["d/a.txt", "d/e/one", "d/e/two", "d/e/f/three", "dd/other", "d.txt"] {
        case.put(name, "x").await;
    }
    assert_eq!(case.names("d").await, ["a.txt", "e"]);
    assert_eq!(case.names(".").await, ["d", "d.txt", "dd"]);
}

/// An entry says what its child is; files have their size and the time of their last change where these are known.
pub async fn entries_have_kind_and_size(case: &Case) {
    case.put("d/a.txt", "four").await;
    case.put("d/e/b.txt", "x").await;
    let entries = list(case, "d").await;
    assert_eq!(entries.iter().map(|entry| entry.kind).collect::<Vec<_>>(), [FsKind::File, FsKind::Directory]);
    assert_eq!(entries[0].size.unwrap_or(4), 4);
    assert_eq!(entries[1].size, None, "a folder has no size");
    assert!(entries[0].version.is_some(), "a file has a version");
    assert!(entries.iter().all(|entry| !entry.is_link), "neither is a link");
    if let Some(before) = entries[0].modified {
        case.put("d/a.txt", "five!").await;
        let after = list(case, "d").await[0].modified;
        assert!(after.is_some_and(|after| after >= before), "{after:?} is before {before:?}");
    }
}

/// An entry's target is what its path resolves to.
pub async fn entries_are_targets(case: &Case) {
    case.put("d/a.txt", "x").await;
    case.put("d/e/b.txt", "x").await;
    for entry in list(case, "d").await {
        let path = format!("d/{}", entry.name);
        assert_eq!(entry.target, case.target(&path).await, "{path}");
    }
    let entry = list(case, "d").await.swap_remove(0);
    assert_eq!(case.read(&entry.target).await.text, "x");
}

/// An entry's version licenses nothing once the bytes have changed.
pub async fn entry_versions_go_stale(case: &Case) {
    case.put("d/a.txt", "one").await;
    let entry = list(case, "d").await.swap_remove(0);
    case.put("d/a.txt", "two").await;
    refused(case.replace(&entry.target, "three", &entry.version.unwrap()).await, StaleVersion);
}

/// An empty folder lists nothing.
pub async fn an_empty_folder_lists_nothing(case: &Case) {
    case.able(case.ground.folder("d").await);
    assert_eq!(case.names("d").await, [""; 0]);
}

/// What is absent cannot be listed, a file neither.
pub async fn only_folders_are_listed(case: &Case) {
    let file = case.file("a.txt", "x").await;
    refused(case.fs.list_dir(&file, &case.call).await, NotDirectory);
    refused(case.fs.list_dir(&case.target("d").await, &case.call).await, NotFound);
}

/// Nothing but the files is listed after mutations that succeeded and mutations that failed.
pub async fn mutations_leave_nothing_else_behind(case: &Case) {
    let target = case.target("d/a.txt").await;
    case.create(&target, "one").await.unwrap();
    case.write(&target, "two").await.unwrap();
    case.edit(&target, "two", "three").await.unwrap();
    case.create(&target, "four").await.unwrap_err();
    case.edit(&target, "absent", "x").await.unwrap_err();
    case.write(&case.target("d").await, "x").await.unwrap_err();
    assert_eq!(case.names("d").await, ["a.txt"]);
    assert_eq!(case.names(".").await, ["d"]);
}

/// Links are shown as what they lead to; one that leads nowhere is of another kind and has no version.
pub async fn links_are_shown_as_what_they_lead_to(case: &Case) {
    case.put("far/a.txt", "four").await;
    case.put("d/z.txt", "x").await;
    case.able(case.ground.link("d/dangling", "nowhere").await);
    case.able(case.ground.link("d/file", "far/a.txt").await);
    case.able(case.ground.link("d/folder", "far").await);
    let entries = list(case, "d").await;
    let shown: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    assert_eq!(
        shown,
        [
            ("dangling", FsKind::Other),
            ("file", FsKind::File),
            ("folder", FsKind::Directory),
            ("z.txt", FsKind::File)
        ]
    );
    assert_eq!(entries.iter().map(|entry| entry.is_link).collect::<Vec<_>>(), [true, true, true, false]);
    assert_eq!(entries[0].version, None);
    assert_eq!(entries[1].target.key(), case.target("far/a.txt").await.key());
    assert_eq!(entries[1].target.display_path(), case.target("d/file").await.display_path());
    assert_eq!(entries[1].size.unwrap_or(4), 4);
}

/// FIFOs, sockets and devices are listed as of another kind.
pub async fn special_files_are_listed_as_other(case: &Case) {
    case.put("d/a.txt", "x").await;
    case.able(case.ground.special("d/special").await);
    let entries = list(case, "d").await;
    assert_eq!(entries.iter().map(|entry| entry.kind).collect::<Vec<_>>(), [FsKind::File, FsKind::Other]);
}

/// A folder behind a link is listed; what a person sees lies below the link.
pub async fn a_linked_folder_is_listed(case: &Case) {
    case.put("far/a.txt", "x").await;
    case.able(case.ground.link("link", "far").await);
    let entries = list(case, "link").await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].target.key(), case.target("far/a.txt").await.key());
    assert_eq!(entries[0].target.display_path(), case.target("link/a.txt").await.display_path());
}

/// What stays in the folder while others come and go.
const STAY: [&str; 3] = ["-stays", "m stays", "z stays"];

/// Lists again and again beside a rival: in order, nothing twice, what stays is there, nothing that never was.
async fn lists_beside(case: &Case, rival: &Rivalry, comes_and_goes: impl Fn(&FsDirEntry)) {
    let folder = case.target("d").await;
    for round in 0.. {
        if round >= 40 && rival.rounds() >= 40 {
            break;
        }
        let entries = case.fs.list_dir(&folder, &case.call).await.unwrap();
        assert!(entries.is_sorted_by(|one, two| one.name < two.name), "out of order, or twice");
        let (stay, others): (Vec<_>, Vec<_>) =
            entries.iter().partition(|entry| STAY.contains(&entry.name.as_str()));
        assert_eq!(stay.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), STAY);
        for entry in stay {
            assert_eq!(entry.kind, FsKind::File, "{:?}", entry.name);
            assert!(entry.version.is_some(), "{:?} has no version", entry.name);
        }
        others.into_iter().for_each(&comes_and_goes);
        tokio::task::yield_now().await;
    }
}

async fn lay(case: &Case) {
    for name in STAY {
        case.put(&format!("d/{name}"), "x").await;
    }
}

/// Children that come and go by other hands cost the listing nothing.
pub async fn children_come_and_go_while_listing(case: &Case) {
    lay(case).await;
    let ground = case.ground.clone();
    let rival = async move |rivalry: Rivalry| {
        while rivalry.goes_on().await {
            for n in 0..8 {
                ground.put(&format!("d/{n} goes"), b"four").await;
            }
            for n in 0..8 {
                ground.remove(&format!("d/{n} goes")).await;
            }
        }
    };
    let ((), ()) = beside(rival, async |rival| {
        lists_beside(case, rival, |entry| {
            assert!(entry.name.ends_with(" goes"), "{:?} never was", entry.name);
            match entry.kind {
                FsKind::File => assert!(entry.version.is_some(), "{:?} has no version", entry.name),
                kind => assert_eq!((kind, &entry.version), (FsKind::Other, &None), "{:?}", entry.name),
            }
        })
        .await;
    })
    .await;
}

/// Links that come and go, and lead now here, now there, cost the listing nothing.
pub async fn links_come_and_go_while_listing(case: &Case) {
    lay(case).await;
    case.put("far/a.txt", "x").await;
    let ground = case.ground.clone();
    let rival = async move |rivalry: Rivalry| {
        while rivalry.goes_on().await {
            for to in ["far/a.txt", "far", "nowhere"] {
                assert_eq!(ground.link("d/link", to).await, Ok(()));
                ground.remove("d/link").await;
            }
        }
    };
    let ((), ()) = beside(rival, async |rival| {
        lists_beside(case, rival, |entry| assert_eq!(entry.name, "link")).await;
    })
    .await;
}

/// While the backend itself overwrites, edits and creates, a listing shows the files and nothing of its own; one that
/// is being replaced is never gone.
pub async fn mutations_do_not_show_in_listings(case: &Case) {
    lay(case).await;
    let (fs, stays, call) = (case.fs.clone(), case.target("d/m stays").await, case.call.clone());
    let (ground, comes) = (case.ground.clone(), case.target("d/comes").await);
    let rival = async move |rivalry: Rivalry| {
        while rivalry.goes_on().await {
            fs.write_text(&stays, "xx", None, &call).await.unwrap();
            fs.edit_text(&stays, &crate::case::edit("xx", "x"), None, &call).await.unwrap();
            fs.write_text(&comes, "x", None, &call).await.unwrap();
            ground.remove("d/comes").await;
        }
    };
    let ((), ()) = beside(rival, async |rival| {
        lists_beside(case, rival, |entry| assert_eq!(entry.name, "comes")).await;
    })
    .await;
}
