use dsh_fs::FsErrorCode;
use dsh_tool_fs::ToolFsConfig;
use serde_json::json;

use crate::rig::{Rig, assert_error, session};

const LINES: u64 = 30_000;

fn text() -> String {
    (1..=LINES).map(|n| format!("line {n}\r\n")).collect::<Vec<_>>().concat()
}

/// A file with a byte order mark that is streamed.
async fn rig(policy: bool) -> Rig {
    let config = ToolFsConfig { read_stream_min_size: 1.try_into().unwrap(), ..ToolFsConfig::default() };
    Rig::build([("a.txt", format!("\u{feff}{}", text()).as_str())], policy, config).await
}

async fn page(rig: &Rig, offset: u64) -> String {
    rig.call("read", json!({ "file_path": "a.txt", "offset": offset, "limit": 2 })).await.text()
}

fn shown(offset: u64, of: u64) -> String {
    let end = (offset + 1).min(of);
    let lines = (offset..=end).map(|n| format!("{n}: line {n}\n")).collect::<Vec<_>>().concat();
    let footer = if end < of {
        format!("(Showing lines {offset}-{end} of {of}. Use offset={} to continue.)", end + 1)
    } else {
        format!("(End of file - total {of} lines)")
    };
    format!("<path>/w/a.txt</path>\n<type>file</type>\n<content>\n{lines}\n{footer}\n</content>")
}

#[tokio::test]
async fn a_later_page_is_read_from_the_last_mark_before_it() {
    let rig = rig(false).await;
    assert_eq!(page(&rig, 1).await, shown(1, LINES));
    assert_eq!(rig.files.streams(), [None]);
    for offset in [25_000, 29_999, LINES, 2, 1] {
        assert_eq!(page(&rig, offset).await, shown(offset, LINES));
        let [Some(from)] = rig.files.streams()[..] else { panic!("one stream, from a mark") };
        let before: u64 = (1..offset).map(|n| format!("line {n}\r\n").len() as u64).sum();
        // The first mark is the start of the file; from the others on it is 64 KiB and a line at most.
        assert!(from <= before + 3 && before + 3 - from <= 65_536 + 12, "line {offset} from byte {from}");
    }
}

#[tokio::test]
async fn an_offset_behind_the_end_of_a_known_file_is_refused_without_a_scan() {
    let rig = rig(false).await;
    page(&rig, 1).await;
    rig.files.streams();
    let refused = rig.call("read", json!({ "file_path": "a.txt", "offset": 30_001 })).await;
    let message = "Error: offset 30001 is out of range for \"/w/a.txt\" (30000 lines)";
    assert_error(&refused, FsErrorCode::NotFound.as_str(), message);
    assert!(
        matches!(rig.files.streams()[..], [Some(from)] if from > 300_000),
        "only to see that it is the same file"
    );
}

#[tokio::test]
async fn a_changed_file_is_read_from_its_start() {
    let rig = rig(false).await;
    page(&rig, 1).await;
    rig.files.streams();
    rig.put("a.txt", format!("line 1\r\n{}", text().replace("line 1\r\n", "")));
    assert_eq!(page(&rig, 20_000).await, shown(20_000, LINES));
    assert!(matches!(rig.files.streams()[..], [Some(_), None]));
    // And is known again from then on.
    page(&rig, 20_002).await;
    assert!(matches!(rig.files.streams()[..], [Some(_)]));

    rig.put("a.txt", "line 1\nline 2\nline 3\n");
    assert_eq!(page(&rig, 2).await, shown(2, 3));
    rig.remove("a.txt");
    assert!(page(&rig, 2).await.ends_with("not found"));
}

#[tokio::test]
async fn sessions_share_what_is_known_of_a_file_and_nothing_else() {
    let rig = rig(true).await;
    page(&rig, 1).await;
    rig.files.streams();
    let edit = json!({ "file_path": "a.txt", "old_string": "line 29000\n", "new_string": "changed\n" });
    let other = session("other");
    let refused = rig.call_in(Some(other.clone()), "edit", edit.clone()).await;
    assert_eq!(refused.error().unwrap().code.as_deref(), Some("FS_NOT_OBSERVED"), "it has read nothing yet");

    rig.call_in(Some(other.clone()), "read", json!({ "file_path": "a.txt", "offset": 29_000 })).await;
    assert!(matches!(rig.files.streams()[..], [Some(_)]), "it need not scan the file");
    assert!(!rig.call_in(Some(other), "edit", edit).await.is_error(), "and has seen this very version");
}

#[tokio::test]
async fn of_many_who_ask_for_one_file_at_once_one_scans_it() {
    let rig = rig(false).await;
    let pages = futures_util::future::join_all([1, 29_000, 15_000, 1].map(|offset| page(&rig, offset))).await;
    assert_eq!(pages, [1, 29_000, 15_000, 1].map(|offset| shown(offset, LINES)));
    let streams = rig.files.streams();
    assert_eq!((streams.len(), streams.iter().filter(|from| from.is_none()).count()), (4, 1), "{streams:?}");
}
