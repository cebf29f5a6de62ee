//! Guards: what a version licenses, what it survives, when it is judged.

use dsh_fs::FsErrorCode::{NotObserved, StaleVersion};
use dsh_fs::{FsTarget, FsVersion};

use crate::{Case, refused};

/// Every call that shows or writes bytes, and the version it gives for a file that then holds `now`.
async fn versions(case: &Case, target: &FsTarget, now: &str) -> Vec<(&'static str, FsVersion)> {
    let read = case.read(target).await;
    assert_eq!(read.text, now);
    let bytes = case.fs.read_bytes(target, 1000, &case.call).await.unwrap();
    let stream = case.stream(target).await.unwrap();
    vec![("read_text", read.version), ("read_bytes", bytes.version), ("stream_text", stream.version)]
}

/// `CreateIfAbsent` creates where nothing is.
pub async fn create_if_absent_creates(case: &Case) {
    let target = case.target("a.txt").await;
    case.create(&target, "x").await.unwrap();
    case.holds("a.txt", "x").await;
}

/// `CreateIfAbsent` refuses whatever is there, an empty file too, and leaves it.
pub async fn create_if_absent_refuses_what_is_there(case: &Case) {
    let target = case.target("a.txt").await;
    for bytes in [&b"other"[..], b"", b"\0"] {
        case.put("a.txt", bytes).await;
        refused(case.create(&target, "mine").await, NotObserved);
        case.holds("a.txt", bytes).await;
    }
}

/// Every version of the present bytes licenses a replace.
pub async fn what_was_read_may_be_replaced(case: &Case) {
    for number in 0..3 {
        let name = format!("{number}.txt");
        let target = case.file(&name, "one\n").await;
        let (from, version) = versions(case, &target, "one\n").await.swap_remove(number);
        let outcome = case.replace(&target, "two\n", &version).await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{from}: {error}"));
        assert_eq!(outcome.before.as_deref(), Some("one\n"), "{from}");
        case.holds(&name, "two\n").await;
    }
}

/// Every version of the present bytes licenses an edit.
pub async fn what_was_read_may_be_edited(case: &Case) {
    for number in 0..3 {
        let name = format!("{number}.txt");
        let target = case.file(&name, "one\n").await;
        let (from, version) = versions(case, &target, "one\n").await.swap_remove(number);
        case.edit_if(&target, "one", "two", &version).await.unwrap_or_else(|error| panic!("{from}: {error}"));
        case.holds(&name, "two\n").await;
    }
}

/// What was written may be replaced and edited on, without a read between.
pub async fn what_was_written_may_be_changed_on(case: &Case) {
    let target = case.target("a.txt").await;
    let version = case.create(&target, "one").await.unwrap().version;
    let version = case.edit_if(&target, "one", "two", &version).await.unwrap().version;
    let version = case.edit_if(&target, "two", "three", &version).await.unwrap().version;
    let version = case.replace(&target, "four", &version).await.unwrap().version;
    let version = case.replace(&target, "five", &version).await.unwrap().version;
    case.edit_if(&target, "five", "six", &version).await.unwrap();
    case.holds("a.txt", "six").await;
}

/// The version of a write is that of the bytes on disk, dress included.
pub async fn a_write_in_old_dress_knows_its_version(case: &Case) {
    let target = case.file("a.txt", "\u{feff}a\r\n").await;
    let version = case.write(&target, "b\nc\n").await.unwrap().version;
    let version = case.edit_if(&target, "b\nc", "d\ne", &version).await.unwrap().version;
    case.replace(&target, "f\n", &version).await.unwrap();
    case.holds("a.txt", "\u{feff}f\r\n").await;
}

/// Every changed byte makes a version stale, for a replace and for an edit; the file stays.
pub async fn every_change_is_stale(case: &Case) {
    for (old, new) in [
        ("one\n", "two\n"),
        ("one\n", "one"),
        ("one\n", "one\r\n"),
        ("one\n", "\u{feff}one\n"),
        ("one\n", "one\n\0"),
        ("one\n", "one \n"),
        ("one\n", ""),
        ("", "\n"),
        ("\u{e9}", "e\u{301}"),
    ] {
        let target = case.file("a.txt", old).await;
        let read = versions(case, &target, old).await;
        case.put("a.txt", new).await;
        for (from, version) in read {
            refused(case.replace(&target, "mine", &version).await, StaleVersion);
            refused(case.edit_if(&target, "o", "0", &version).await, StaleVersion);
            assert_eq!(case.ground.bytes("a.txt").await.as_deref(), Some(new.as_bytes()), "{from}");
        }
    }
}

/// A change of the same size whose times were put back is a change.
pub async fn a_change_with_old_times_is_stale(case: &Case) {
    let target = case.file("a.txt", "one\n").await;
    let version = case.read(&target).await.version;
    case.able(case.ground.put_with_old_times("a.txt", b"two\n").await);
    refused(case.replace(&target, "mine", &version).await, StaleVersion);
    refused(case.edit_if(&target, "two", "mine", &version).await, StaleVersion);
    case.holds("a.txt", "two\n").await;
}

/// A mutation of one's own makes older versions stale too.
pub async fn own_mutations_make_older_versions_stale(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let first = case.read(&target).await.version;
    let second = case.edit(&target, "one", "two").await.unwrap().version;
    refused(case.replace(&target, "mine", &first).await, StaleVersion);
    case.write(&target, "three").await.unwrap();
    refused(case.edit_if(&target, "three", "mine", &second).await, StaleVersion);
    case.holds("a.txt", "three").await;
}

/// A file that has gone is stale for every version, and is not created again.
pub async fn a_missing_file_is_stale(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let version = case.read(&target).await.version;
    case.ground.remove("a.txt").await;
    refused(case.replace(&target, "two", &version).await, StaleVersion);
    refused(case.edit_if(&target, "one", "two", &version).await, StaleVersion);
    case.absent("a.txt").await;
}

/// A token that this backend did not make is stale, not a failure of another kind.
pub async fn a_strange_token_is_stale(case: &Case) {
    let target = case.file("a.txt", "one").await;
    for token in ["", "strange", ";", "+", ":::::", "0", "\u{e9}\0", "00000000000000000000000000000000+3;1"] {
        let version = FsVersion::new(token);
        refused(case.replace(&target, "two", &version).await, StaleVersion);
        refused(case.edit_if(&target, "one", "two", &version).await, StaleVersion);
    }
    case.holds("a.txt", "one").await;
}

/// The guard is judged before the content: stale comes before not found, ambiguous and not text.
pub async fn the_guard_is_judged_before_the_content(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let version = case.read(&target).await.version;
    for bytes in [&b"x x"[..], b"nothing of it", b"\0", b"\xff"] {
        case.put("a.txt", bytes).await;
        refused(case.edit_if(&target, "x", "y", &version).await, StaleVersion);
        case.holds("a.txt", bytes).await;
    }
}

/// A change of metadata alone costs no version.
pub async fn metadata_changes_cost_nothing(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let version = case.read(&target).await.version;
    case.able(case.ground.touch("a.txt").await);
    let version = case.edit_if(&target, "one", "two", &version).await.unwrap().version;
    case.able(case.ground.touch("a.txt").await);
    case.replace(&target, "three", &version).await.unwrap();
    case.holds("a.txt", "three").await;
}

/// The same bytes written again, in place or as a new file, cost no version.
pub async fn identical_rewrites_cost_nothing(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let version = case.read(&target).await.version;
    case.put("a.txt", "one").await;
    let version = case.edit_if(&target, "one", "two", &version).await.unwrap().version;
    case.ground.remove("a.txt").await;
    case.put("a.txt", "two").await;
    let version = case.replace(&target, "three", &version).await.unwrap().version;
    case.put("a.txt", "other").await;
    case.put("a.txt", "three").await;
    case.replace(&target, "four", &version).await.unwrap();
    case.holds("a.txt", "four").await;
}

/// A version from `stat` never licenses bytes that changed since.
pub async fn a_look_licenses_no_change(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let version = case.fs.stat(&target, &case.call).await.unwrap().unwrap().version;
    case.put("a.txt", "two").await;
    refused(case.replace(&target, "mine", &version).await, StaleVersion);
    refused(case.edit_if(&target, "two", "mine", &version).await, StaleVersion);
    case.holds("a.txt", "two").await;
}

/// Nor does one that the backend may take for proof: a change whose times were put back is a change.
pub async fn a_settled_look_licenses_no_change(case: &Case) {
    let target = case.file("a.txt", "one").await;
    case.ground.settle().await;
    let version = case.fs.stat(&target, &case.call).await.unwrap().unwrap().version;
    case.able(case.ground.put_with_old_times("a.txt", b"two").await);
    refused(case.replace(&target, "mine", &version).await, StaleVersion);
    refused(case.edit_if(&target, "two", "mine", &version).await, StaleVersion);
    case.holds("a.txt", "two").await;
}

/// What was read through a link may be changed through the file, and the other way round.
pub async fn versions_are_the_same_through_links(case: &Case) {
    let file = case.file("a.txt", "one").await;
    case.able(case.ground.link("link", "a.txt").await);
    let link = case.target("link").await;
    let version = case.read(&link).await.version;
    let version = case.edit_if(&file, "one", "two", &version).await.unwrap().version;
    case.replace(&link, "three", &version).await.unwrap();
    refused(case.replace(&file, "four", &version).await, StaleVersion);
    case.holds("a.txt", "three").await;
}
