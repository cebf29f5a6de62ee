//! Results that are too long to show, and where all of them is kept.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use dsh_harness::{
    Content, PostExecute, SPILL_STORE, SpillRequest, SpillStore, Spilled, ToolCall, ToolResult, Verdict,
};
use dsh_plugin::{Failure, Next, PlainError};
use dsh_tool_fs_search::{GlobValue, GrepMatch, GrepValue, SearchConfig};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;
use tracing::Level;

use crate::rig::{Rig, config};

/// Keeps what it is given, or fails.
#[derive(Default)]
struct Store {
    saved: Mutex<Vec<SpillRequest>>,
    failure: Mutex<Option<&'static str>>,
}

impl SpillStore for Store {
    fn save_text(
        &self,
        request: SpillRequest,
    ) -> Pin<Box<dyn Future<Output = Result<Spilled, Failure>> + Send + '_>> {
        Box::pin(async move {
            if let Some(failure) = *self.failure.lock().unwrap() {
                return Err(PlainError::new(failure).into());
            }
            let bytes = request.content.len() as u64;
            self.saved.lock().unwrap().push(request);
            Ok(Spilled { locator: "/spill/1".to_owned(), bytes, retrieval_hint: "Read it.".to_owned() })
        })
    }
}

impl Store {
    fn mount(rig: &Rig) -> Arc<Self> {
        let store = Arc::new(Self::default());
        rig.ctx.provide(SPILL_STORE, store.clone() as Arc<dyn SpillStore>).unwrap();
        store
    }

    fn contents(&self) -> Vec<String> {
        self.saved.lock().unwrap().iter().map(|request| request.content.clone()).collect()
    }
}

const GLOB_PAGE: &str = "b/1\na/1\n\n(Showing 2 of 3 paths. The complete result could not be saved; narrow pattern or \
                         path to see more.)";
const GREP_PAGE: &str = "Found 2 of 3 matches\n\nb\nLine 1: x\nLine 2: longer (line truncated)\n\n(The complete result \
                         could not be saved; narrow pattern, path, or include to see more.)";

fn two_at_most() -> SearchConfig {
    config(json!({ "globMaxResults": 2, "grepMaxMatches": 2, "grepMaxLineBytes": 6 }))
}

fn three_paths() -> GlobValue {
    let paths = ["b/1", "a/1", "b/2"].map(str::to_owned).to_vec();
    GlobValue { root: ".".to_owned(), paths, ..GlobValue::default() }
}

fn three_matches() -> GrepValue {
    let found = [("b", 1, "x"), ("b", 2, "longer line"), ("a", 7, "x")];
    let matches = found.map(|(path, line_number, line)| GrepMatch {
        path: path.into(),
        line_number,
        line: line.into(),
    });
    GrepValue { matches: matches.to_vec(), ..GrepValue::default() }
}

async fn glob(rig: &Rig) -> ToolResult {
    rig.call("glob", json!({ "pattern": "x" })).await
}

async fn grep(rig: &Rig) -> ToolResult {
    rig.call("grep", json!({ "pattern": "x" })).await
}

#[tokio::test]
async fn all_of_a_long_list_is_kept_and_the_page_says_where() {
    let rig = Rig::new(two_at_most()).await;
    let store = Store::mount(&rig);
    rig.answer(GLOB_PAGE, three_paths());
    let result = glob(&rig).await;
    assert_eq!(
        result.text(),
        "b/1\na/1\n\n(Showing 2 of 3 paths. Full sorted result stored at: /spill/1. Read it.)"
    );
    assert_eq!(result.value(), Some(json!({ "root": ".", "paths": ["b/1", "a/1", "b/2"] })));
    let saved = store.saved.lock().unwrap();
    let [SpillRequest { owner, tool, call_id, label, suggested_name, content }] = saved.as_slice() else {
        panic!("{saved:?}")
    };
    assert!(Arc::ptr_eq(owner, &rig.session));
    assert_eq!(
        [tool, call_id, label, suggested_name, content],
        ["glob", "c1", "result", "glob-results.txt", "b/1\na/1\nb/2"]
    );
}

#[tokio::test]
async fn all_matches_are_kept_as_they_would_be_shown() {
    let rig = Rig::new(two_at_most()).await;
    let store = Store::mount(&rig);
    rig.answer(GREP_PAGE, three_matches());
    assert_eq!(
        grep(&rig).await.text(),
        "Found 2 of 3 matches\n\nb\nLine 1: x\nLine 2: longer (line truncated)\n\n(Full grep result stored at: \
         /spill/1. Read it.)"
    );
    let saved = store.saved.lock().unwrap();
    assert_eq!((saved[0].tool.as_str(), saved[0].suggested_name.as_str()), ("grep", "grep-results.txt"));
    assert_eq!(
        saved[0].content,
        "Found 3 matches\n\nb\nLine 1: x\nLine 2: longer (line truncated)\n\na\nLine 7: x"
    );
}

#[tokio::test]
async fn notices_stay_behind_the_place() {
    let rig = Rig::new(two_at_most()).await;
    let store = Store::mount(&rig);
    let value = GlobValue { notices: vec!["(One.)".to_owned()], ..three_paths() };
    rig.answer(&format!("{GLOB_PAGE}\n\n(One.)"), value);
    assert_eq!(
        glob(&rig).await.text(),
        "b/1\na/1\n\n(Showing 2 of 3 paths. Full sorted result stored at: /spill/1. Read it.)\n\n(One.)"
    );
    assert_eq!(store.contents(), ["b/1\na/1\nb/2"]);
}

#[tokio::test]
async fn what_fits_is_not_kept() {
    let rig = Rig::new(config(json!({ "globMaxResults": 3 }))).await;
    let store = Store::mount(&rig);
    rig.answer("b/1\na/1\nb/2", three_paths());
    assert_eq!(glob(&rig).await.text(), "b/1\na/1\nb/2");
    assert!(store.contents().is_empty());
}

/// A store that is given up on before it is done.
struct Endless(CancellationToken);

impl SpillStore for Endless {
    fn save_text(
        &self,
        _request: SpillRequest,
    ) -> Pin<Box<dyn Future<Output = Result<Spilled, Failure>> + Send + '_>> {
        self.0.cancel();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn who_gives_up_does_not_wait_for_the_store() {
    let rig = Rig::new(two_at_most()).await;
    let cancel = CancellationToken::new();
    rig.ctx.provide(SPILL_STORE, Arc::new(Endless(cancel.clone())) as Arc<dyn SpillStore>).unwrap();
    rig.answer(GLOB_PAGE, three_paths());
    let (id, tool, session) = ("c1".to_owned(), "glob".to_owned(), Some(rig.session.clone()));
    let call = ToolCall { id, tool, arguments: json!({ "pattern": "x" }), session, cancel };
    let result = rig.tools.execute(call).await;
    // The rig answers in the body's place, so no body ran.
    assert_eq!(result.error().unwrap().code.as_deref(), Some("ABORTED_BEFORE_DISPATCH"));
}

#[tokio::test]
async fn what_a_search_had_to_leave_undone_is_never_called_full() {
    let rig = Rig::new(two_at_most()).await;
    let store = Store::mount(&rig);
    rig.answer(GLOB_PAGE, GlobValue { incomplete: true, ..three_paths() });
    assert_eq!(glob(&rig).await.text(), GLOB_PAGE);
    let rig = Rig::new(two_at_most()).await;
    let other = Store::mount(&rig);
    rig.answer(GREP_PAGE, GrepValue { incomplete: true, ..three_matches() });
    assert_eq!(grep(&rig).await.text(), GREP_PAGE);
    assert!(store.contents().is_empty() && other.contents().is_empty());
}

#[tokio::test]
async fn what_was_only_counted_is_never_called_full() {
    let rig = Rig::new(two_at_most()).await;
    let store = Store::mount(&rig);
    let page = GREP_PAGE.replace("of 3", "of 9");
    rig.answer(&page, GrepValue { total: Some(9), ..three_matches() });
    assert_eq!(grep(&rig).await.text(), page);
    assert!(store.contents().is_empty());
}

#[tokio::test]
async fn another_listeners_word_is_kept() {
    let accept = |content: Option<&str>, value: Option<Json>| Verdict::Accept {
        content: content.map(|text| vec![Content::text(text)]),
        value,
        contexts: vec!["context".to_owned()],
    };
    let other = json!({ "root": ".", "paths": ["1", "2", "3"] });
    for (verdict, text) in [
        (accept(Some("mine"), None), "mine"),
        (accept(None, Some(other)), &GLOB_PAGE.replace("b/1\na/1", "1\n2")),
        (Verdict::Block { feedback: vec![Content::text("no")], contexts: vec!["context".to_owned()] }, "no"),
    ] {
        let rig = Rig::new(two_at_most()).await;
        let store = Store::mount(&rig);
        rig.answer(GLOB_PAGE, three_paths());
        rig.ctx
            .intercept::<PostExecute, _, _>(move |_, _: Next<PostExecute>| {
                let verdict = verdict.clone();
                async move { Ok(verdict) }
            })
            .unwrap();
        let result = glob(&rig).await;
        assert_eq!((result.text().as_str(), result.contexts), (text, vec!["context".to_owned()]));
        assert!(store.contents().is_empty());
    }
}

#[tokio::test]
async fn contexts_ride_along() {
    let rig = Rig::new(two_at_most()).await;
    let store = Store::mount(&rig);
    rig.answer(GLOB_PAGE, three_paths());
    rig.ctx
        .intercept::<PostExecute, _, _>(|_, _: Next<PostExecute>| async {
            Ok(Verdict::Accept { content: None, value: None, contexts: vec!["context".to_owned()] })
        })
        .unwrap();
    assert_eq!(glob(&rig).await.contexts, ["context"]);
    assert_eq!(store.contents().len(), 1);
}

#[tokio::test]
async fn content_that_a_wrapper_changed_is_left_alone() {
    let rig = Rig::new(two_at_most()).await;
    let store = Store::mount(&rig);
    rig.answer("(withheld)", three_paths());
    assert_eq!(glob(&rig).await.text(), "(withheld)");
    // Nor is the value of one tool kept for another.
    assert_eq!(grep(&rig).await.text(), "(withheld)");
    assert!(store.contents().is_empty());
}

#[tokio::test]
async fn what_cannot_be_kept_is_an_answer_all_the_same() {
    let logged = Log::default();
    let _guard = logged.listen(Level::INFO);

    let rig = Rig::new(two_at_most()).await;
    rig.answer(GREP_PAGE, three_matches());
    assert_eq!(grep(&rig).await.text(), GREP_PAGE);
    assert_eq!(
        logged.take(),
        ["tool-fs-search: no ctx.spillStore backend loaded; complete grep result not saved"]
    );

    let store = Store::mount(&rig);
    for (failure, logged_as) in
        [("no room", "no room"), ("no \n\u{7}room", "no \\n\\u{7}room (name escaped)")]
    {
        *store.failure.lock().unwrap() = Some(failure);
        assert_eq!(grep(&rig).await.text(), GREP_PAGE);
        assert_eq!(
            logged.take(),
            [format!("tool-fs-search: saveText failed for grep: {logged_as}; complete result not saved")]
        );
    }

    assert_eq!(rig.call_in(None, "grep", json!({ "pattern": "x" })).await.text(), GREP_PAGE);
    assert_eq!(
        logged.take(),
        ["tool-fs-search: no session owner for grep result; complete result not saved"]
    );
}

/// What this thread logs.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn listen(&self, most: Level) -> tracing::subscriber::DefaultGuard {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || log.clone())
            .without_time()
            .with_level(false)
            .with_max_level(most)
            .with_target(false)
            .with_ansi(false)
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    pub(crate) fn take(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
