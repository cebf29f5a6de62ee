//! A plugin made of a closure, and a log of what happened.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use dsh_plugin::{Context, Event, Failure, NoConfig, Plugin, ServiceKey};

/// Two services whose value is a word.
pub(crate) const A: ServiceKey<str> = ServiceKey::new("a");
pub(crate) const B: ServiceKey<str> = ServiceKey::new("b");

/// An event at which whoever listens says who he is.
pub(crate) struct Roll;

impl Event for Roll {
    const NAME: &'static str = "roll";
    type Args = ();
}

type Started = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

#[derive(Clone)]
pub(crate) struct Probe {
    name: &'static str,
    inject: &'static [&'static str],
    apply: Arc<dyn Fn(Context) -> Started + Send + Sync>,
}

/// A plugin named `name` that does `apply`.
pub(crate) fn probe<Fut>(name: &'static str, apply: impl Fn(Context) -> Fut + Send + Sync + 'static) -> Probe
where
    Fut: Future<Output = Result<(), Failure>> + Send + 'static,
{
    Probe { name, inject: &[], apply: Arc::new(move |ctx| Box::pin(apply(ctx))) }
}

/// A plugin that logs `+name` when it starts and `-name` when it is unloaded.
pub(crate) fn logging(name: &'static str, log: &Log) -> Probe {
    providing(name, None, log)
}

/// [`logging`], and it provides its name under `key`.
pub(crate) fn providing(name: &'static str, key: Option<ServiceKey<str>>, log: &Log) -> Probe {
    let log = log.clone();
    probe(name, move |ctx| {
        let log = log.clone();
        async move {
            log.add(format!("+{name}"));
            ctx.effect("log", move || log.add(format!("-{name}")))?;
            if let Some(key) = key {
                ctx.provide(key, Arc::from(name))?;
            }
            Ok(())
        }
    })
}

impl Probe {
    pub(crate) fn injecting(self, inject: &'static [&'static str]) -> Self {
        Self { inject, ..self }
    }
}

impl Plugin for Probe {
    type Config = NoConfig;

    fn name(&self) -> &'static str {
        self.name
    }

    fn inject(&self) -> &'static [&'static str] {
        self.inject
    }

    async fn apply(&self, ctx: Context, _config: NoConfig) -> Result<(), Failure> {
        (self.apply)(ctx).await
    }
}

#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    /// What happened since it was last asked, separated by spaces.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap()).join(" ")
    }
}
