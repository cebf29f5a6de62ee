//! The suite notices what it is there to notice.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsh_fs::{FileSystem, MemoryFileSystem};
use dsh_fs_check::{Capability, Case, Ground, Unsupported, async_trait, check_capabilities, run};

/// Memory with a hand for folders and none for links, whatever `D` declares.
struct Memory<D>(Arc<MemoryFileSystem>, PhantomData<D>);

trait Declares: Send + Sync + 'static {
    const CAPABILITIES: &'static [Capability];
}

#[async_trait]
impl<D: Declares> Ground for Memory<D> {
    fn capabilities() -> &'static [Capability] {
        D::CAPABILITIES
    }

    async fn lay() -> Self {
        Self(Arc::default(), PhantomData)
    }

    fn fs(&self) -> Arc<dyn FileSystem> {
        self.0.clone()
    }

    fn root(&self) -> String {
        "/".to_owned()
    }

    async fn put(&self, name: &str, bytes: &[u8]) {
        self.0.put(name, bytes);
    }

    async fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.0.bytes(name).map(|bytes| bytes.to_vec())
    }

    async fn remove(&self, name: &str) {
        self.0.remove(name);
    }

    async fn folder(&self, name: &str) -> Result<(), Unsupported> {
        self.0.put_folder(name);
        Ok(())
    }
}

struct Honest;
impl Declares for Honest {
    const CAPABILITIES: &'static [Capability] = &[Capability::EmptyFolders, Capability::LooksAbove];
}

struct Boaster;
impl Declares for Boaster {
    const CAPABILITIES: &'static [Capability] = &[Capability::EmptyFolders, Capability::Links];
}

struct Modest;
impl Declares for Modest {
    const CAPABILITIES: &'static [Capability] = &[];
}

struct Stutterer;
impl Declares for Stutterer {
    const CAPABILITIES: &'static [Capability] = &[Capability::EmptyFolders, Capability::EmptyFolders];
}

#[test]
fn an_honest_declaration_passes() {
    check_capabilities::<Memory<Honest>>();
}

#[test]
#[should_panic(expected = "declared and able differ for Links")]
fn a_capability_without_its_hand_fails() {
    check_capabilities::<Memory<Boaster>>();
}

#[test]
#[should_panic(expected = "declared and able differ for EmptyFolders")]
fn a_hand_that_is_not_declared_fails() {
    check_capabilities::<Memory<Modest>>();
}

#[test]
#[should_panic(expected = "EmptyFolders is declared 2 times")]
fn a_capability_declared_twice_fails() {
    check_capabilities::<Memory<Stutterer>>();
}

#[test]
fn a_rule_runs_where_its_needs_are_met() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    async fn count(_: &Case) {
        RUNS.fetch_add(1, Ordering::Relaxed);
    }
    run::<Memory<Honest>>("rule", &[], count);
    run::<Memory<Honest>>("rule", &[Capability::EmptyFolders], count);
    run::<Memory<Honest>>("rule", &[Capability::EmptyFolders, Capability::Links], count);
    run::<Memory<Modest>>("rule", &[Capability::EmptyFolders], count);
    assert_eq!(RUNS.load(Ordering::Relaxed), 2);
}

#[test]
#[should_panic(expected = r#""a" holds"#)]
fn a_broken_rule_fails_its_test() {
    run::<Memory<Modest>>("rule", &[], async |case: &Case| {
        case.put("a", "one").await;
        case.holds("a", "two").await;
    });
}

#[test]
fn every_rule_has_ground_of_its_own() {
    async fn put(case: &Case) {
        case.absent("a").await;
        case.put("a", "x").await;
    }
    run::<Memory<Modest>>("first", &[], put);
    run::<Memory<Modest>>("second", &[], put);
}
