use dsh_fs::WriteGuard;
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_plugin::NoConfig;

use crate::rig::{Rig, session};

#[tokio::test]
async fn without_the_policy_nobody_decides() {
    let (rig, me) = (Rig::new().await, session("s1"));
    rig.present(Some(&me), "/w/a", "1");
    rig.policy.dispose().await;
    assert_eq!(rig.write(Some(&me), "/w/a").await, None);
    assert_eq!(rig.edit(Some(&me), "/w/a").await.unwrap(), None);
}

#[tokio::test]
async fn a_policy_mounted_again_has_seen_nothing() {
    let (rig, me) = (Rig::new().await, session("s1"));
    rig.present(Some(&me), "/w/a", "1");
    rig.policy.dispose().await;
    rig.ctx.plugin(ObservationPolicyPlugin, NoConfig {}).await.unwrap();
    assert_eq!(rig.write(Some(&me), "/w/a").await, Some(WriteGuard::CreateIfAbsent));
}

#[tokio::test]
async fn what_a_session_saw_ends_with_it() {
    let (rig, me) = (Rig::new().await, session("s1"));
    rig.present(Some(&me), "/w/a", "1");
    let weak = std::sync::Arc::downgrade(&me);
    drop(me);
    // The policy keeps no session alive.
    assert!(weak.upgrade().is_none());
    let again = session("s1");
    assert_eq!(rig.write(Some(&again), "/w/a").await, Some(WriteGuard::CreateIfAbsent));
}

#[tokio::test]
async fn two_policies_in_two_trees_know_nothing_of_each_other() {
    let (one, two, me) = (Rig::new().await, Rig::new().await, session("s1"));
    one.present(Some(&me), "/w/a", "1");
    assert_eq!(two.write(Some(&me), "/w/a").await, Some(WriteGuard::CreateIfAbsent));
}
