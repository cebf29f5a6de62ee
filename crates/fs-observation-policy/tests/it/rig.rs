//! A context with the policy, and the events by which it is asked and told.

use std::sync::Arc;

use dsh_fs::{
    Actor, EditIntent, FsObservation, FsTarget, FsVersion, Intent, Observation, Observed, Owner, TargetKey,
    WriteGuard, WriteIntent,
};
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_plugin::{Context, Failure, Mounted, NoConfig};

/// A session: an object, whatever is in it.
pub(crate) type Session = Arc<&'static str>;

pub(crate) fn session(id: &'static str) -> Session {
    Arc::new(id)
}

/// A call on behalf of a session.
struct Caller(Session);

impl Actor for Caller {
    fn owner(&self) -> Option<Owner> {
        Some(Owner::of(&self.0))
    }
}

/// A call outside any session.
struct Nobody;

impl Actor for Nobody {
    fn owner(&self) -> Option<Owner> {
        None
    }
}

fn actor(session: Option<&Session>) -> Arc<dyn Actor> {
    match session {
        Some(session) => Arc::new(Caller(session.clone())),
        None => Arc::new(Nobody),
    }
}

fn target(path: &str) -> FsTarget {
    FsTarget::new(TargetKey::new(path.as_bytes()), path)
}

/// A version.
pub(crate) fn v(token: &str) -> FsVersion {
    FsVersion::new(token)
}

pub(crate) struct Rig {
    pub(crate) ctx: Context,
    pub(crate) policy: Mounted,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        let ctx = Context::root();
        let policy = ctx.plugin(ObservationPolicyPlugin, NoConfig {}).await.unwrap();
        Self { ctx, policy }
    }

    pub(crate) fn present(&self, session: Option<&Session>, path: &str, version: &str) {
        self.observed(session, path, FsObservation::Present(v(version)));
    }

    pub(crate) fn absent(&self, session: Option<&Session>, path: &str) {
        self.observed(session, path, FsObservation::Absent);
    }

    fn observed(&self, session: Option<&Session>, path: &str, observation: FsObservation) {
        let seen = Observation { target: target(path), observation, actor: Some(actor(session)) };
        self.ctx.emit::<Observed>(&seen).unwrap();
    }

    /// The decision about a whole-file write; `None` if it fell through.
    pub(crate) async fn write(&self, session: Option<&Session>, path: &str) -> Option<WriteGuard> {
        let intent = Intent { target: target(path), actor: Some(actor(session)) };
        self.ctx.waterfall::<WriteIntent, _, _>(intent, async |_| Ok(None)).await.unwrap()
    }

    /// The decision about an edit; `Ok(None)` if it fell through.
    pub(crate) async fn edit(
        &self,
        session: Option<&Session>,
        path: &str,
    ) -> Result<Option<FsVersion>, Failure> {
        let intent = Intent { target: target(path), actor: Some(actor(session)) };
        self.ctx.waterfall::<EditIntent, _, _>(intent, async |_| Ok(None)).await
    }

    /// Asserts that an edit is refused, with this code and message.
    #[track_caller]
    pub(crate) fn assert_refused(decision: Result<Option<FsVersion>, Failure>, code: &str, message: &str) {
        let refused = decision.unwrap_err();
        assert_eq!((refused.code(), refused.to_string().as_str()), (Some(code), message));
    }
}
