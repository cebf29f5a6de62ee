//! Odd names: whatever a file may be called, it is that file and no other.

use dsh_fs::FsKind;

use crate::Case;

/// Names that something between a model and a disk may take for something else.
const ODD: &[&str] = &[
    "a\nb",
    "a\n",
    "\t",
    "-rf",
    "--",
    "...",
    "..a",
    ".hidden",
    "a.",
    "a..b",
    " a",
    "a ",
    "~",
    "$(a)",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "a\\b",
    "C:",
    "%41",
    "a#b?c",
    "'a'",
    "\"a\"",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}\u{2028}",
    "\u{202e}a",
    "\u{feff}a",
    "\u{e9}",
    "e\u{301}",
    "\u{1F600}",
];

/// The longest names that disks have, in characters of one byte and of three.
fn longest() -> [String; 2] {
    ["x".repeat(255), "\u{20ac}".repeat(85)]
}

/// Creates, reads, edits and replaces a file, and asserts that it is this one, seen from outside.
async fn works(case: &Case, name: &str) {
    let path = format!("d/{name}");
    let target = case.target(&path).await;
    assert!(target.display_path().ends_with(&path), "{:?} is shown for {name:?}", target.display_path());
    let version =
        case.create(&target, "one").await.unwrap_or_else(|error| panic!("{name:?}: {error}")).version;
    case.holds(&path, "one").await;
    let version = case.edit_if(&target, "one", "two", &version).await.unwrap().version;
    case.replace(&target, name, &version).await.unwrap();
    assert_eq!(case.read(&target).await.text, name.trim_start_matches('\u{feff}'));
    assert_eq!(case.target(&path).await, target, "{name:?} before and after");
}

/// Files with odd names are created, read, edited, replaced and listed like any other; none is taken for another.
pub async fn odd_names_are_names(case: &Case) {
    for name in ODD {
        works(case, name).await;
    }
    let mut expected = ODD.to_vec();
    expected.sort_unstable();
    assert_eq!(case.all_names("d").await, expected);
    for name in ODD {
        case.holds(&format!("d/{name}"), name).await;
    }
}

/// The targets in a listing are those of the odd names, and lead to their files.
pub async fn odd_names_are_listed_with_their_targets(case: &Case) {
    for name in ODD {
        case.put(&format!("d/{name}"), format!("in {name}")).await;
        case.put(&format!("d/ folder {name}/x"), "x").await;
    }
    let entries = case.fs.list_dir(&case.target("d").await, &case.call).await.unwrap();
    assert_eq!(entries.len(), ODD.len() * 2);
    for entry in entries {
        assert_eq!(entry.target, case.target(&format!("d/{}", entry.name)).await, "{:?}", entry.name);
        if entry.name.starts_with(" folder") {
            assert_eq!(entry.kind, FsKind::Directory, "{:?}", entry.name);
            let inside = case.fs.list_dir(&entry.target, &case.call).await.unwrap();
            assert_eq!(inside.len(), 1, "{:?}", entry.name);
        } else {
            assert_eq!(case.read(&entry.target).await.text, format!("in {}", entry.name));
        }
    }
}

/// The URIs of odd names are ASCII without blanks and control characters, and differ.
pub async fn odd_names_have_urls(case: &Case) {
    let mut urls = Vec::new();
    for name in ODD {
        let url = case.fs.file_url(&case.target(&format!("d/{name}")).await);
        assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url:?}");
        assert!(!urls.contains(&url), "{url:?} stands for two files");
        urls.push(url);
    }
}

/// Names of 255 bytes are names: whatever a backend puts beside a file while it works must not be longer.
pub async fn the_longest_names_are_names(case: &Case) {
    for name in longest() {
        works(case, &name).await;
    }
    assert_eq!(case.all_names("d").await, longest());
}

/// A name that is not UTF-8 is listed with replacement characters, in byte order of the true names; its target is
/// exact, and no other file is meant by it.
pub async fn names_that_are_no_text_have_exact_targets(case: &Case) {
    const NAMES: [&[u8]; 5] = [b"a\x80", b"a\xC3\xA9", b"a\xE9", b"a\xE9\n", b"\xFF"];
    case.put("d/a\u{fffd}", "the replacement character itself").await;
    for name in NAMES {
        case.able(case.ground.put_raw("d", name, name.escape_ascii().to_string().as_bytes()).await);
    }
    let folder = case.target("d").await;
    let entries = case.fs.list_dir(&folder, &case.call).await.unwrap();
    let shown: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(shown, ["a\u{fffd}", "a\u{e9}", "a\u{fffd}", "a\u{fffd}\n", "a\u{fffd}", "\u{fffd}"]);
    let contents =
        ["a\\x80", "a\\xc3\\xa9", "a\\xe9", "a\\xe9\\n", "the replacement character itself", "\\xff"];
    // Byte order: 0xE9 comes before the 0xEF of the replacement character.
    for (entry, content) in entries.iter().zip(contents) {
        let read = case.read(&entry.target).await;
        assert_eq!(read.text, content);
        assert!(case.fs.contains(&folder, &entry.target));
        case.edit_if(&entry.target, content, "edited", &read.version).await.unwrap();
        assert_eq!(case.read(&entry.target).await.text, "edited");
        case.write(&entry.target, "written").await.unwrap();
        case.edit(&entry.target, "never there", "x").await.unwrap_err();
    }
    let again = case.fs.list_dir(&folder, &case.call).await.unwrap();
    assert_eq!(again.len(), entries.len());
    for (entry, before) in again.iter().zip(&entries) {
        assert_eq!(entry.target.key(), before.target.key());
        assert_eq!(case.read(&entry.target).await.text, "written");
    }
    let urls: std::collections::HashSet<_> =
        again.iter().map(|entry| case.fs.file_url(&entry.target)).collect();
    assert_eq!(urls.len(), again.len(), "two files share a URI");
}
