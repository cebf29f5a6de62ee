use dsh_harness::{HarnessConfig, SYSTEM_PROMPT, Session, SessionHeader, SystemPrompt, SystemPromptChanged};
use dsh_plugin::{Context, Failure, NoConfig, PlainError, Plugin};
use std::sync::Arc;

use crate::toys::{Log, harness_with};

const IDENTITY: &str = "You are an AI agent powered by DeepSeek Harness.";

async fn prompt_with(config: HarnessConfig) -> (Context, Arc<SystemPrompt>) {
    let (root, _) = harness_with(config).await;
    let prompt = root.service(SYSTEM_PROMPT).unwrap();
    (root, prompt)
}

async fn prompt() -> (Context, Arc<SystemPrompt>) {
    prompt_with(HarnessConfig::default()).await
}

/// Adds a section for as long as it is mounted.
struct Guidance;

impl Plugin for Guidance {
    type Config = NoConfig;

    fn name(&self) -> &'static str {
        "guidance"
    }

    fn inject(&self) -> &'static [&'static str] {
        &["systemPrompt"]
    }

    async fn apply(&self, ctx: Context, _: NoConfig) -> Result<(), Failure> {
        ctx.service(SYSTEM_PROMPT)?.section(&ctx, "tool:read", 100, "Read first.".to_owned())
    }
}

#[tokio::test]
async fn begins_with_the_identity() {
    let (_root, prompt) = prompt().await;
    assert_eq!(prompt.render(), IDENTITY);
    assert_eq!(
        prompt.sections(),
        [
            ("harness:identity".to_owned(), -100, IDENTITY.to_owned()),
            ("deployment:persona".to_owned(), 0, String::new())
        ]
    );
}

#[tokio::test]
async fn the_persona_follows_the_identity() {
    let config = HarnessConfig { persona: "You write Rust.".to_owned(), ..HarnessConfig::default() };
    assert_eq!(prompt_with(config).await.1.render(), format!("{IDENTITY}\n\nYou write Rust."));
}

#[tokio::test]
async fn the_identity_can_be_left_out() {
    let config = HarnessConfig { include_harness_identity: false, ..HarnessConfig::default() };
    assert_eq!(prompt_with(config).await.1.render(), "");
}

#[tokio::test]
async fn sections_are_sorted_by_order_then_by_registration() {
    let (root, prompt) = prompt().await;
    for (name, order) in [("d", 102), ("b", 101), ("c", 101), ("empty", 50), ("a", -200)] {
        let text = if name == "empty" { String::new() } else { format!("{name} {{{{x}}}}\n") };
        prompt.section(&root, name, order, text).unwrap();
    }
    let expected = format!("a {{{{x}}}}\n\n\n{IDENTITY}\n\nb {{{{x}}}}\n\n\nc {{{{x}}}}\n\n\nd {{{{x}}}}\n");
    assert_eq!(prompt.render(), expected);
    assert_eq!(prompt.render(), expected, "the same to the byte");
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let (root, prompt) = prompt().await;
    for name in ["harness:identity", "deployment:persona"] {
        assert_eq!(
            prompt.section(&root, name, 1, "Me too.".to_owned()).unwrap_err().to_string(),
            format!(
                "prompt section \"{name}\" is already registered (for a per-agent override, register through that agent's `agent.ctx` instead)"
            )
        );
    }
    assert_eq!(prompt.render(), IDENTITY);
}

#[tokio::test]
async fn a_section_lives_as_long_as_its_plugin() {
    let (root, prompt) = prompt().await;
    let log = Log::default();
    let seen = log.clone();
    root.on::<SystemPromptChanged>(move |()| {
        seen.add("change");
        Ok(())
    })
    .unwrap();
    let mounted = root.plugin(Guidance, NoConfig {}).await.unwrap();
    assert_eq!(prompt.render(), format!("{IDENTITY}\n\nRead first."));
    assert_eq!(log.take(), ["change"]);
    mounted.dispose().await;
    assert_eq!(prompt.render(), IDENTITY);
    assert_eq!(log.take(), ["change"]);
}

#[tokio::test]
async fn a_failing_change_listener_takes_the_section_out_again() {
    let (root, prompt) = prompt().await;
    let listener = root.on::<SystemPromptChanged>(|()| Err(PlainError::new("not now").into())).unwrap();
    let section = || prompt.section(&root, "late", 1, "Late.".to_owned());
    assert_eq!(section().unwrap_err().to_string(), "not now");
    assert_eq!(prompt.render(), IDENTITY);
    listener.undo().await;
    section().unwrap();
}

const CONTEXT: &str = "Current runtime context. This snapshot supersedes earlier runtime-context snapshots.";

/// Without the harness, whose approval service has a word to say.
fn bare() -> (Context, SystemPrompt) {
    let root = Context::root();
    let prompt = SystemPrompt::new(&root);
    (root, prompt)
}

#[tokio::test]
async fn the_runtime_context_is_empty_where_nobody_contributes() {
    let (root, prompt) = bare();
    assert_eq!(prompt.render_context(None), "");
    prompt.context(&root, "quiet", 1, |_| String::new()).unwrap();
    assert_eq!((prompt.render_context(None), prompt.render_with_context(None)), Default::default());
}

#[tokio::test]
async fn contexts_are_told_in_their_order_as_they_are_now() {
    let (root, prompt) = bare();
    prompt.section(&root, "guidance", 100, "Read first.".to_owned()).unwrap();
    prompt
        .context(&root, "second", 115, |session| {
            session.map_or_else(|| "no session".to_owned(), |session| session.header().id.clone())
        })
        .unwrap();
    prompt
        .context(&root, "first", 110, |session| {
            session
                .and_then(|session| session.log().last("mode"))
                .map_or_else(String::new, |mode| mode.to_string())
        })
        .unwrap();
    let session = Session::new(SessionHeader { id: "s1".to_owned(), cwd: "/w".into() });
    assert_eq!(prompt.render_context(None), format!("{CONTEXT}\n\nno session"));
    assert_eq!(prompt.render_context(Some(&session)), format!("{CONTEXT}\n\ns1"));
    session.log().append("mode", 7.into());
    assert_eq!(prompt.render_context(Some(&session)), format!("{CONTEXT}\n\n7\n\ns1"));
    assert_eq!(prompt.render_with_context(Some(&session)), format!("Read first.\n\n{CONTEXT}\n\n7\n\ns1"));
    assert_eq!(prompt.render(), "Read first.", "the sections do not change");
    assert_eq!(prompt.sections().len(), 1);
}

#[tokio::test]
async fn a_context_has_its_name_to_itself_among_contexts() {
    let (root, prompt) = bare();
    prompt.section(&root, "policy", 1, String::new()).unwrap();
    prompt.context(&root, "policy", 1, |_| String::new()).unwrap();
    assert_eq!(
        prompt.context(&root, "policy", 2, |_| String::new()).unwrap_err().to_string(),
        "prompt context \"policy\" is already registered (for a per-agent override, register through that agent's `agent.ctx` instead)"
    );
}

#[tokio::test]
async fn a_context_that_panics_says_nothing() {
    let (root, prompt) = bare();
    prompt.context(&root, "broken", 1, |_| panic!("lost my mind")).unwrap();
    prompt.context(&root, "sound", 2, |_| "Sound.".to_owned()).unwrap();
    assert_eq!(prompt.render_context(None), format!("{CONTEXT}\n\nSound."));
}
