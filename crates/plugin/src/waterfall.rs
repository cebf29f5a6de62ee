//! Waterfalls: a question that each listener answers, passes on, or changes on its way in or out.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::coded::Failure;
use crate::context::Context;
use crate::effect::EffectHandle;
use crate::error::PluginError;
use crate::listeners::{Listener, Place};
use crate::panics::{BoxFuture, catch_async};

/// A question put to listeners around an innermost answer. The type is its identity; it has no values.
///
/// A listener gets the arguments and [`Next`]. It may answer itself (nobody further in is asked), pass the arguments
/// on, changed or not, and return what came back, changed or not, or fail.
///
/// ```
/// use dsh_plugin::{Context, Failure, Next, Waterfall};
///
/// pub struct Greeting;
/// impl Waterfall for Greeting {
///     const NAME: &'static str = "greeting";
///     type Args = String;
///     type Answer = String;
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Failure> {
/// let root = Context::root();
/// root.intercept::<Greeting, _, _>(|name, next: Next<Greeting>| async move {
///     let answer = next.run(name.to_uppercase()).await?;
///     Ok(format!("{answer}!"))
/// })?;
/// let answer = root.waterfall::<Greeting, _, _>("ada".to_owned(), |name| async move { Ok(format!("Hello {name}")) }).await?;
/// assert_eq!(answer, "Hello ADA!");
/// # Ok(())
/// # }
/// ```
pub trait Waterfall: Sized + 'static {
    /// The name in messages.
    const NAME: &'static str;
    /// What is asked.
    type Args: Send + 'static;
    /// What is answered.
    type Answer: Send + 'static;
    /// Is this a slot for one decider, who answers without asking the next? Then a second listener is most likely a
    /// mistake in the composition, and is reported in the log when it registers.
    const ONE_DECIDES: bool = false;
}

/// The rest of a waterfall, for the listener that was given it.
///
/// It is consumed by [`run`](Next::run), so nobody can ask the rest twice:
///
/// ```compile_fail,E0382
/// # use dsh_plugin::{Failure, Next, Waterfall};
/// # struct Twice;
/// # impl Waterfall for Twice { const NAME: &'static str = "twice"; type Args = (); type Answer = (); }
/// async fn listener(args: (), next: Next<Twice>) -> Result<(), Failure> {
///     next.run(()).await?;
///     next.run(()).await
/// }
/// ```
pub struct Next<W: Waterfall> {
    listeners: Arc<Vec<Listener>>,
    /// Of the listener that comes next.
    index: usize,
    dispatcher: &'static str,
    innermost: Innermost<W>,
}

type Answering<W> = BoxFuture<'static, Result<<W as Waterfall>::Answer, Failure>>;
type Innermost<W> = Box<dyn FnOnce(<W as Waterfall>::Args) -> Answering<W> + Send>;

impl<W: Waterfall> Next<W> {
    /// Asks the next listener, or the innermost step if there is none, with exactly these arguments.
    pub async fn run(mut self, args: W::Args) -> Result<W::Answer, Failure> {
        while let Some(listener) = self.listeners.get(self.index) {
            let (call, plugin) = (Arc::clone(&listener.call), listener.plugin);
            self.index += 1;
            if let Some(call) = call.downcast_ref::<Erased<W>>() {
                return catch_async(|| call.0.ask(args, self)).await.unwrap_or_else(|message| {
                    Err(PluginError::ListenerPanicked { event: W::NAME, plugin, message }.into())
                });
            }
        }
        let Self { innermost, dispatcher, .. } = self;
        catch_async(|| innermost(args)).await.unwrap_or_else(|message| {
            Err(PluginError::InnermostPanicked { event: W::NAME, plugin: dispatcher, message }.into())
        })
    }
}

impl<W: Waterfall> fmt::Debug for Next<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.listeners.len().saturating_sub(self.index);
        f.debug_struct("Next")
            .field("waterfall", &W::NAME)
            .field("listeners_left", &left)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Registers a listener of `W` further in than those that are there, as an effect of this context's plugin.
    ///
    /// The order is that of registration across all plugins: the first registered is asked first.
    /// [`PluginError::InactiveContext`] if the plugin is not running.
    pub fn intercept<W: Waterfall, F, Fut>(&self, listener: F) -> Result<EffectHandle, PluginError>
    where
        F: Fn(W::Args, Next<W>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<W::Answer, Failure>> + Send + 'static,
    {
        self.intercept_at(Place::Last, listener)
    }

    /// [`intercept`](Context::intercept) in front of those that are there: of several, the latest is asked first.
    pub fn intercept_first<W: Waterfall, F, Fut>(&self, listener: F) -> Result<EffectHandle, PluginError>
    where
        F: Fn(W::Args, Next<W>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<W::Answer, Failure>> + Send + 'static,
    {
        self.intercept_at(Place::First, listener)
    }

    fn intercept_at<W: Waterfall, F, Fut>(
        &self,
        place: Place,
        listener: F,
    ) -> Result<EffectHandle, PluginError>
    where
        F: Fn(W::Args, Next<W>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<W::Answer, Failure>> + Send + 'static,
    {
        let registered = self.listen::<W>(format!("intercept {}", W::NAME), place, erase(listener))?;
        let deciders = self.interceptors::<W>();
        if let [first, _, ..] = deciders.as_slice()
            && W::ONE_DECIDES
        {
            tracing::warn!(
                "{} plugins decide on {}: {}; \"{first}\" is asked first, and where it answers the others are not asked",
                deciders.len(),
                W::NAME,
                deciders.join(", "),
            );
        }
        Ok(registered)
    }

    /// Asks the listeners of `W` around `innermost`, and returns what the first of them answers.
    ///
    /// The listeners are those of this moment. Failures pass outwards through the listeners that were asked before,
    /// which may handle them. A panic, of a listener or of `innermost`, is a failure too:
    /// [`PluginError::ListenerPanicked`], [`PluginError::InnermostPanicked`].
    pub async fn waterfall<W: Waterfall, F, Fut>(
        &self,
        args: W::Args,
        innermost: F,
    ) -> Result<W::Answer, Failure>
    where
        F: FnOnce(W::Args) -> Fut + Send + 'static,
        Fut: Future<Output = Result<W::Answer, Failure>> + Send + 'static,
    {
        let next: Next<W> = Next {
            listeners: self.listeners_of::<W>(),
            index: 0,
            dispatcher: self.plugin_name(),
            innermost: Box::new(move |args| Box::pin(innermost(args))),
        };
        next.run(args).await
    }

    /// The names of the plugins that listen to `W`, in the order in which they are asked; one that registered twice
    /// is there twice.
    ///
    /// For a waterfall that has room for one decider, so that a second one can be reported.
    pub fn interceptors<W: Waterfall>(&self) -> Vec<String> {
        self.listeners_of::<W>().iter().map(|listener| listener.plugin.to_owned()).collect()
    }
}

trait Ask<W: Waterfall>: Send + Sync {
    fn ask(&self, args: W::Args, next: Next<W>) -> Answering<W>;
}

impl<W: Waterfall, F, Fut> Ask<W> for F
where
    F: Fn(W::Args, Next<W>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<W::Answer, Failure>> + Send + 'static,
{
    fn ask(&self, args: W::Args, next: Next<W>) -> Answering<W> {
        Box::pin(self(args, next))
    }
}

struct Erased<W: Waterfall>(Box<dyn Ask<W>>);

fn erase<W: Waterfall, F, Fut>(listener: F) -> Arc<dyn Any + Send + Sync>
where
    F: Fn(W::Args, Next<W>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<W::Answer, Failure>> + Send + 'static,
{
    Arc::new(Erased::<W>(Box::new(listener)))
}
