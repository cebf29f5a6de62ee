//! Who decides about a mutation, and what happens when nobody does.

use dsh_fs::{EditIntent, FsVersion, WriteGuard, WriteIntent};
use dsh_plugin::PlainError;
use dsh_tool_fs::ToolFsConfig;

use crate::rig::{Rig, assert_error};

#[tokio::test]
async fn without_a_policy_mutations_are_unconditional() {
    let rig = Rig::bare([("a.txt", "one\n")]).await;
    assert!(!rig.write("a.txt", "two\n").await.is_error());
    assert!(!rig.edit("a.txt", "two", "2").await.is_error());
}

#[tokio::test]
async fn a_required_guard_that_nobody_gives_refuses_the_mutation() {
    let config = ToolFsConfig { require_guard: true, ..ToolFsConfig::default() };
    let rig = Rig::build([("a.txt", "one\n")], false, config).await;
    let text = "Error: mutation requires a guard, but no policy answered";
    assert_error(&rig.write("a.txt", "two\n").await, "FS_NOT_OBSERVED", text);
    assert_error(&rig.write("new.txt", "two\n").await, "FS_NOT_OBSERVED", text);
    assert_error(&rig.edit("a.txt", "one", "1").await, "FS_NOT_OBSERVED", text);
    assert_eq!((rig.text("a.txt").unwrap().as_str(), rig.text("new.txt")), ("one\n", None));
}

#[tokio::test]
async fn the_first_decider_wins() {
    let rig = Rig::bare([("a.txt", "one\n")]).await;
    rig.ctx.intercept::<WriteIntent, _, _>(|_, _| async { Ok(Some(WriteGuard::CreateIfAbsent)) }).unwrap();
    rig.ctx.intercept::<WriteIntent, _, _>(|_, _| async { Ok(None) }).unwrap();
    assert!(rig.write("a.txt", "two\n").await.is_error());
}

#[tokio::test]
async fn a_deciders_refusal_is_the_result() {
    let rig = Rig::bare([("a.txt", "one\n")]).await;
    rig.ctx
        .intercept::<WriteIntent, _, _>(|intent, _| async move {
            Err(PlainError::new(format!("{} is frozen", intent.target.display_path())).into())
        })
        .unwrap();
    rig.ctx
        .intercept::<EditIntent, _, _>(|_, _| async { Ok(Some(FsVersion::new("nothing of ours"))) })
        .unwrap();
    let refused = rig.write("a.txt", "two\n").await;
    assert_eq!(refused.text(), "Error: /w/a.txt is frozen");
    assert_eq!(refused.error().unwrap().code, None);
    assert_error(
        &rig.edit("a.txt", "one", "1").await,
        "FS_STALE_VERSION",
        "Error: cannot edit \"/w/a.txt\": file changed since it was read — re-read the file, then retry",
    );
    assert_eq!(rig.text("a.txt").unwrap(), "one\n");
}
