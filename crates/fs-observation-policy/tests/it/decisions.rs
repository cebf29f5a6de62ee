use dsh_fs::{EditIntent, FsVersion, WriteGuard, WriteIntent};

use crate::rig::{Rig, session, v};

const UNREAD: (&str, &str) = ("FS_NOT_OBSERVED", "edit requires reading \"/w/a\" first");

const CREATE: Option<WriteGuard> = Some(WriteGuard::CreateIfAbsent);

fn replace(version: &str) -> WriteGuard {
    WriteGuard::ReplaceIfVersion(v(version))
}

#[tokio::test]
async fn an_unseen_file_may_only_be_created() {
    let (rig, me) = (Rig::new().await, session("s1"));
    assert_eq!(rig.write(Some(&me), "/w/a").await, CREATE);
    Rig::assert_refused(rig.edit(Some(&me), "/w/a").await, UNREAD.0, UNREAD.1);
}

#[tokio::test]
async fn a_seen_file_may_be_changed_in_the_version_last_seen() {
    let (rig, me) = (Rig::new().await, session("s1"));
    rig.present(Some(&me), "/w/a", "1");
    assert_eq!(rig.write(Some(&me), "/w/a").await, Some(replace("1")));
    assert_eq!(rig.edit(Some(&me), "/w/a").await.unwrap(), Some(v("1")));
    rig.present(Some(&me), "/w/a", "2");
    assert_eq!(rig.write(Some(&me), "/w/a").await, Some(replace("2")));
    assert_eq!(rig.edit(Some(&me), "/w/a").await.unwrap(), Some(v("2")));
    // Another file is as unseen as before.
    assert_eq!(rig.write(Some(&me), "/w/b").await, CREATE);
}

#[tokio::test]
async fn a_file_seen_absent_may_be_created_and_not_edited() {
    let (rig, me) = (Rig::new().await, session("s1"));
    rig.present(Some(&me), "/w/a", "1");
    rig.absent(Some(&me), "/w/a");
    assert_eq!(rig.write(Some(&me), "/w/a").await, CREATE);
    Rig::assert_refused(rig.edit(Some(&me), "/w/a").await, "FS_NOT_FOUND", "cannot edit \"/w/a\": not found");
    rig.present(Some(&me), "/w/a", "3");
    assert_eq!(rig.edit(Some(&me), "/w/a").await.unwrap(), Some(v("3")));
}

#[tokio::test]
async fn a_call_outside_any_session_is_told_nothing_and_remembers_nothing() {
    let (rig, me) = (Rig::new().await, session("s1"));
    rig.present(None, "/w/a", "1");
    rig.present(Some(&me), "/w/a", "1");
    assert_eq!(rig.write(None, "/w/a").await, CREATE);
    Rig::assert_refused(rig.edit(None, "/w/a").await, UNREAD.0, UNREAD.1);
}

#[tokio::test]
async fn sessions_see_for_themselves() {
    let (rig, a, b) = (Rig::new().await, session("s1"), session("s1"));
    rig.present(Some(&a), "/w/a", "1");
    assert_eq!(rig.write(Some(&b), "/w/a").await, CREATE);
    rig.present(Some(&b), "/w/a", "2");
    assert_eq!(rig.write(Some(&a), "/w/a").await, Some(replace("1")));
    assert_eq!(rig.write(Some(&b), "/w/a").await, Some(replace("2")));
}

#[tokio::test]
async fn deciders_mounted_later_are_not_asked() {
    let rig = Rig::new().await;
    rig.ctx.intercept::<WriteIntent, _, _>(|_, _| async { Ok(None) }).unwrap();
    rig.ctx.intercept::<EditIntent, _, _>(|_, _| async { Ok(Some(FsVersion::new("any"))) }).unwrap();
    assert_eq!(rig.write(Some(&session("s1")), "/w/a").await, CREATE);
    Rig::assert_refused(rig.edit(Some(&session("s1")), "/w/a").await, UNREAD.0, UNREAD.1);
}
