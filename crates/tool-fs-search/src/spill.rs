//! A result that is too long to show: kept whole in the spill store, and the model told where.

use dsh_fs::shown_name::shown;
use dsh_harness::{
    Content, Execution, Outcome, PostExecute, SPILL_STORE, SpillRequest, Spilled, ToolResult, Verdict,
};
use dsh_plugin::{Context, Next, PluginError};
use tokio::runtime::Handle;

use crate::config::SearchConfig;

/// A value of which a page is shown.
pub(crate) trait Spillable: Sync + Sized + 'static {
    /// The tool whose value it is.
    const TOOL: &'static str;
    /// What a file with all of it is called.
    const FILE_NAME: &'static str;

    /// What the model sees: the page, and where the rest is, if it is `saved`.
    fn rendered(&self, config: &SearchConfig, saved: Option<&Spilled>) -> String;

    /// All of it, where the page is not. `None` too where the value itself is not complete.
    fn complete_text(&self, config: &SearchConfig) -> Option<String>;
}

/// Listens to what becomes of results, and lets the other listeners speak first: what they change is left as it is.
pub(crate) fn listen<V: Spillable>(ctx: &Context, config: SearchConfig) -> Result<(), PluginError> {
    let services = ctx.clone();
    ctx.intercept::<PostExecute, _, _>(move |asked, next: Next<PostExecute>| {
        let services = services.clone();
        async move {
            match next.run(asked.clone()).await? {
                Verdict::Accept { content: None, value: None, contexts } => {
                    let content = spilled::<V>(&services, &config, &asked).await;
                    Ok(Verdict::Accept { content, value: None, contexts })
                }
                verdict => Ok(verdict),
            }
        }
    })?;
    Ok(())
}

/// The content that tells where all of the result is; `None` if that is not told.
async fn spilled<V: Spillable>(
    services: &Context,
    config: &SearchConfig,
    asked: &PostExecute,
) -> Option<Vec<Content>> {
    // Of the results of other tools not even a thread is asked for.
    value_of::<V>(asked)?;
    let (asked, settings) = (asked.clone(), *config);
    let exec = asked.exec.clone();
    // Whoever has given up reads nothing of it any more.
    let made = exec.cancel.run_until_cancelled(blocking(move || {
        let value = value_of::<V>(&asked)?;
        let complete = value.complete_text(&settings)?;
        // Content that is not the tool's own was put there by somebody who may have taken something away.
        let is_own = asked.result.content == [Content::Text(value.rendered(&settings, None))];
        is_own.then_some((asked, complete))
    }));
    let (asked, complete) = made.await??;
    let saved = exec.cancel.run_until_cancelled(save::<V>(services, &exec, complete)).await??;
    let value = value_of::<V>(&asked)?;
    Some(vec![Content::Text(value.rendered(config, Some(&saved)))])
}

/// A long list takes its time; outside a tokio runtime it is made on the spot. `None` too where that died.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await.ok().flatten(),
        Err(_) => work(),
    }
}

/// The value, if it is a success of this tool.
fn value_of<V: Spillable>(PostExecute { exec, result }: &PostExecute) -> Option<&V> {
    let ToolResult { outcome: Outcome::Success(value), .. } = &**result else { return None };
    if exec.tool != V::TOOL {
        return None;
    }
    value.as_any().downcast_ref()
}

/// Nothing here fails the call: a page without the rest is still an answer.
async fn save<V: Spillable>(services: &Context, exec: &Execution, content: String) -> Option<Spilled> {
    let tool = V::TOOL;
    let Some(owner) = exec.session.clone() else {
        tracing::warn!("tool-fs-search: no session owner for {tool} result; complete result not saved");
        return None;
    };
    let Some(store) = services.try_service(SPILL_STORE) else {
        tracing::warn!("tool-fs-search: no ctx.spillStore backend loaded; complete {tool} result not saved");
        return None;
    };
    let request = SpillRequest {
        owner,
        tool: tool.to_owned(),
        call_id: exec.call_id.clone(),
        label: "result".to_owned(),
        suggested_name: V::FILE_NAME.to_owned(),
        content,
    };
    store
        .save_text(request)
        .await
        .inspect_err(|error| {
            let error = error.to_string();
            let error = shown(error.as_bytes());
            tracing::warn!("tool-fs-search: saveText failed for {tool}: {error}; complete result not saved");
        })
        .ok()
}
