//! Any bytes as the lines of `dsh-fs run`: each has an answer, and nothing changes without a success that says so.
//!
//! Input: the lines. The files are in memory, the policy is mounted, and every input meets the same ones.

#![no_main]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use dsh_cli::JsonLines;
use dsh_fs::{FS, MemoryFileSystem};
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_harness::{HarnessConfig, HarnessPlugin, TOOLS};
use dsh_plugin::{Context, Failure, NoConfig};
use dsh_tool_fs::{ToolFsConfig, ToolFsPlugin};
use libfuzzer_sys::fuzz_target;
use serde_json::Value as Json;
use tokio::runtime::Runtime;

/// Below `/w`, where the sessions are.
const FILES: [(&str, &[u8]); 5] = [
    ("/w/a.txt", b"one\ntwo\nthree\n"),
    ("/w/crlf.txt", b"\xEF\xBB\xBFone\r\ntwo\r\n"),
    ("/w/empty", b""),
    ("/w/binary", b"\0\xFF"),
    ("/w/d/long", &[b'x'; 5000]),
];

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be built")
});

fuzz_target!(|input: &[u8]| {
    RUNTIME.block_on(async {
        let files = Arc::new(MemoryFileSystem::with_files(FILES));
        let ctx = mounted(files.clone()).await.expect("the composition can be mounted");
        let tools = ctx.service(TOOLS).expect("the harness provides the tools");
        let mut lines = JsonLines::new(tools, PathBuf::from("/w"), true);
        let mut may_have_changed = false;
        for line in input.split_inclusive(|&byte| byte == b'\n') {
            let answer = one_line(lines.answer(line).await.get());
            may_have_changed |= answers(&answer, line);
        }
        if !may_have_changed {
            for (path, bytes) in FILES {
                assert_eq!(files.bytes(path).as_deref(), Some(bytes), "nothing said that {path} changed");
            }
        }
        ctx.dispose().await;
    });
});

async fn mounted(files: Arc<MemoryFileSystem>) -> Result<Context, Failure> {
    let ctx = Context::root();
    ctx.plugin(HarnessPlugin, HarnessConfig::default()).await?;
    ctx.provide(FS, files)?;
    ctx.plugin(ObservationPolicyPlugin, NoConfig {}).await?;
    ctx.plugin(ToolFsPlugin, ToolFsConfig::default()).await?;
    Ok(ctx)
}

fn one_line(text: &str) -> Json {
    assert!(!text.contains(['\n', '\r']), "{text}");
    serde_json::from_str(text).expect("an answer is JSON")
}

/// Checks the answer to a line. Could it have changed a file?
fn answers(answer: &Json, line: &[u8]) -> bool {
    let request = request(line);
    assert_eq!(answer.get("id"), request.as_ref().and_then(|request| request.get("id")));
    let Some(request) = request else {
        is_result(answer);
        assert_eq!(answer["error"]["code"], "INVALID_REQUEST");
        return false;
    };
    if let Some(results) = answer.get("results") {
        let (results, calls) =
            (results.as_array().expect("a list"), request["calls"].as_array().expect("a list"));
        assert_eq!(results.len(), calls.len());
        return results
            .iter()
            .zip(calls)
            .map(|(result, call)| answers_call(result, call))
            .fold(false, |a, b| a | b);
    }
    if answer["error"]["code"] == "INVALID_REQUEST" {
        is_result(answer);
        return false;
    }
    answers_call(answer, &request)
}

/// The object on a line, if that is what is there.
fn request(line: &[u8]) -> Option<Json> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let value: Json = serde_json::from_slice(line).ok()?;
    value.is_object().then_some(value)
}

fn answers_call(result: &Json, call: &Json) -> bool {
    is_result(result);
    assert_eq!(result.get("id"), call.get("id"));
    let tool = call["tool"].as_str().expect("a call has a tool");
    let known = ["read", "write", "edit"].contains(&tool);
    match call.get("abort") {
        None => assert_eq!(result["error"]["code"] == "UNKNOWN_TOOL", !known),
        Some(abort) => {
            assert!(abort != "pre" || result["error"]["code"] == "ABORTED_BEFORE_DISPATCH", "{result}");
        }
    }
    result["isError"] == false && tool != "read"
}

fn is_result(result: &Json) {
    let content = result["content"].as_str().expect("a result has content");
    let is_error = result["isError"].as_bool().expect("a result is an error or not");
    assert_eq!(
        (result.get("error").is_some(), result.get("value").is_none()),
        (is_error, is_error),
        "{result}"
    );
    if is_error {
        let message = result["error"]["message"].as_str().expect("an error has a message");
        assert_eq!(content, format!("Error: {message}"));
        assert_ne!(result["error"]["code"], "INTERNAL_ERROR", "{message}");
    }
}
