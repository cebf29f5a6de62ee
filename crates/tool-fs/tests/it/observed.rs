//! What the tools tell after they have done their work.

use std::sync::{Arc, Mutex};

use dsh_fs::{FsObservation, Observed};
use dsh_harness::{ErrorInfo, Execute, PostExecute, ToolCall, ToolResult, Verdict};
use dsh_plugin::PlainError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::rig::{Rig, assert_error};

#[tokio::test]
async fn every_success_and_every_absence_is_told_once() {
    let rig = Rig::bare([("a.txt", "one\n")]).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = told.clone();
    rig.ctx
        .on::<Observed>(move |seen| {
            let what = match &seen.observation {
                FsObservation::Present(_) => "present",
                FsObservation::Absent => "absent",
            };
            log.lock().unwrap().push(format!("{} {what}", seen.target.display_path()));
            Ok(())
        })
        .unwrap();
    rig.read("a.txt").await;
    rig.read("nope").await;
    rig.write("n.txt", "x\n").await;
    rig.edit("a.txt", "one", "1").await;
    rig.edit("a.txt", "absent", "1").await;
    rig.call("read", json!({ "file_path": "a.txt", "offset": 7 })).await;
    assert_eq!(
        *told.lock().unwrap(),
        ["/w/a.txt present", "/w/nope absent", "/w/n.txt present", "/w/a.txt present"]
    );
}

#[tokio::test]
async fn a_failing_listener_fails_the_call_but_the_commit_is_said() {
    let rig = Rig::bare([("a.txt", "one\n")]).await;
    rig.ctx.on::<Observed>(|_| Err(PlainError::new("recorder is full").into())).unwrap();

    let edited = rig.edit("a.txt", "one", "1").await;
    assert_eq!(edited.text(), "Error: recorder is full");
    assert_eq!(edited.meta(), Some(json!({ "committed": true, "path": "/w/a.txt" })));
    assert_eq!(rig.text("a.txt").unwrap(), "1\n");

    let written = rig.write("n.txt", "x\n").await;
    assert_eq!(written.meta(), Some(json!({ "committed": true, "path": "/w/n.txt" })));
    assert_eq!(rig.text("n.txt").unwrap(), "x\n");

    let read = rig.read("a.txt").await;
    assert_eq!((read.text().as_str(), &read.meta), ("Error: recorder is full", &None));
}

#[tokio::test]
async fn a_panicking_listener_is_an_error_and_the_next_call_works() {
    let rig = Rig::bare([("a.txt", "one\n")]).await;
    let listener = rig.ctx.on::<Observed>(|_| panic!("boom")).unwrap();
    let result = rig.edit("a.txt", "one", "1").await;
    assert_eq!(result.error().unwrap().code.as_deref(), Some("LISTENER_PANICKED"));
    assert_eq!(result.meta(), Some(json!({ "committed": true, "path": "/w/a.txt" })));
    listener.undo().await;
    assert!(!rig.edit("a.txt", "1", "one").await.is_error());
    assert_error(
        &rig.edit("a.txt", "1", "one").await,
        "FS_EDIT_NOT_FOUND",
        "Error: old_string was not found in \"/w/a.txt\"",
    );
}

#[tokio::test]
async fn a_commit_that_is_cancelled_too_late_or_blocked_afterwards_is_still_said() {
    let committed = Some(json!({ "committed": true, "path": "/w/a.txt" }));
    let edit = json!({ "file_path": "a.txt", "old_string": "one", "new_string": "1" });

    let rig = Rig::bare([("a.txt", "one\n")]).await;
    let cancel = CancellationToken::new();
    let late = cancel.clone();
    rig.ctx
        .on::<Observed>(move |_| {
            late.cancel();
            Ok(())
        })
        .unwrap();
    let (id, tool, session) = ("c1".to_owned(), "edit".to_owned(), Some(rig.session.clone()));
    let aborted = rig.tools.execute(ToolCall { id, tool, arguments: edit.clone(), session, cancel }).await;
    assert_error(&aborted, "ABORTED", "Error: tool call aborted");
    assert_eq!((aborted.meta(), rig.text("a.txt").unwrap().as_str()), (committed.clone(), "1\n"));

    let rig = Rig::bare([("a.txt", "one\n")]).await;
    rig.ctx
        .intercept::<PostExecute, _, _>(|_, _| async {
            Ok(Verdict::Block { feedback: vec!["not like this".into()], contexts: Vec::new() })
        })
        .unwrap();
    let blocked = rig.call("edit", edit).await;
    assert_eq!(blocked.error().unwrap().message, "not like this");
    assert_eq!((blocked.meta(), rig.text("a.txt").unwrap().as_str()), (committed, "1\n"));
}

#[tokio::test]
async fn a_wrapper_that_fails_after_the_commit_does_not_unsay_it() {
    let committed = Some(json!({ "committed": true, "path": "/w/a.txt" }));
    let edit = json!({ "file_path": "a.txt", "old_string": "one", "new_string": "1" });
    for how in ["err", "panic", "failure"] {
        let rig = Rig::bare([("a.txt", "one\n")]).await;
        rig.ctx
            .intercept::<Execute, _, _>(move |exec, next| async move {
                next.run(exec).await?;
                match how {
                    "err" => Err(PlainError::new("too late").into()),
                    "panic" => panic!("too late"),
                    _ => Ok(ToolResult::failure(ErrorInfo::named(
                        "too late",
                        "ToolTimeoutError",
                        "TOOL_TIMEOUT",
                    ))),
                }
            })
            .unwrap();
        let result = rig.call("edit", edit.clone()).await;
        assert!(result.is_error() && result.text().contains("too late"), "{how}: {}", result.text());
        assert_eq!((result.meta(), rig.text("a.txt").unwrap().as_str()), (committed.clone(), "1\n"), "{how}");
        // A call that changed nothing says nothing of the kind.
        assert_eq!(rig.call("edit", edit.clone()).await.meta, None, "{how}");
    }
}
