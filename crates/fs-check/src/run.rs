//! Running one rule: a runtime, fresh ground, a watchdog.

use std::panic;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::{Capability, Case, Ground};

/// How long a rule may take before it counts as hanging: a backend that blocks on a FIFO blocks for ever.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs one rule on fresh ground, or says that it is not applicable.
pub fn run<G: Ground>(
    name: &'static str,
    needs: &'static [Capability],
    rule: impl AsyncFnOnce(&Case) + Send + 'static,
) {
    if let Some(missing) = needs.iter().find(|need| !G::capabilities().contains(need)) {
        say(&format!("{name}: not applicable, the ground does not declare {missing:?}"));
        return;
    }
    bounded(name, async move || {
        let case = Case::on(G::lay().await);
        rule(&case).await;
    });
}

/// Holds what a ground declares against what it can do: a hand that fails, or that works without being declared, is
/// an error.
pub fn check_capabilities<G: Ground>() {
    bounded("declares_its_capabilities", async || {
        let ground = G::lay().await;
        let fs = ground.fs();
        ground.put("file", b"bytes").await;
        let call = dsh_fs::FsCall::new();
        let file = fs.resolve("file", Some(ground.root().as_ref()), &call).await;
        for (n, capability) in Capability::ALL.iter().enumerate() {
            let declared = G::capabilities().iter().filter(|declared| *declared == capability).count();
            assert!(declared <= 1, "{capability:?} is declared {declared} times");
            let able = match capability {
                Capability::EmptyFolders => ground.folder("folder").await.is_ok(),
                Capability::Links => {
                    let made = ground.link("link", "file").await.is_ok();
                    assert_eq!(
                        ground.is_link(if made { "link" } else { "file" }).await.is_ok(),
                        made,
                        "is_link"
                    );
                    made
                }
                Capability::SpecialFiles => ground.special("special").await.is_ok(),
                Capability::Metadata => ground.touch("file").await.is_ok(),
                Capability::Times => ground.put_with_old_times("file", b"other").await.is_ok(),
                Capability::ProcessPaths => file.as_ref().is_ok_and(|file| fs.process_path(file).is_some()),
                Capability::SharedGround => ground.another().await.is_ok(),
                Capability::RawNames => ground.put_raw("raw", b"caf\xE9", b"bytes").await.is_ok(),
                Capability::OutsideNames => ground.names(".").await.is_ok(),
                Capability::LooksAbove => {
                    fs.resolve("file/below", Some(ground.root().as_ref()), &call).await.is_err()
                }
                // No hand shows it: a backend that compares a stamp may happen to give the same one again.
                Capability::ContentGuards => declared == 1,
            };
            assert_eq!(declared == 1, able, "declared and able differ for {capability:?} (number {n})");
            say(&format!("{capability:?}: {}", if able { "yes" } else { "no" }));
        }
    });
}

/// Runs `body` on a runtime of its own and fails if it does not end.
fn bounded(name: &str, body: impl AsyncFnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel::<()>();
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Four workers, so that races are races. A rule itself runs on this thread.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
        match runtime {
            Ok(runtime) => runtime.block_on(body()),
            Err(error) => panic!("no runtime: {error}"),
        }
        drop(done);
    });
    let thread = thread.unwrap_or_else(|error| panic!("no thread: {error}"));
    let timed_out = ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout);
    assert!(!timed_out, "{name}: still running after {PATIENCE:?}");
    if let Err(failure) = thread.join() {
        panic::resume_unwind(failure);
    }
}

#[expect(clippy::print_stdout, reason = "the output of a test is where it says that it did not apply")]
fn say(line: &str) {
    println!("{line}");
}
