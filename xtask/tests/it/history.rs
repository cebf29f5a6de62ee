use std::path::PathBuf;
use std::time::Duration;

use xtask::prove::{Call, History, Outcome, Write};

fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn write(text: &str, seen: &str, start: u64) -> Write {
    Write { text: text.to_owned(), seen: seen.to_owned(), start: at(start), end: at(start + 1), landed: true }
}

fn call(start: u64, candidate: &str, outcome: Outcome) -> Call {
    let candidate = candidate.to_owned();
    Call { read_start: at(start - 1), start: at(start), end: at(start + 5), candidate, outcome }
}

fn applied(start: u64, before: &str, after: &str) -> Call {
    call(start, after, Outcome::Applied { before: before.to_owned(), after: after.to_owned() })
}

fn refused(start: u64, candidate: &str, message: &str) -> Call {
    let (code, message) = ("FS_STALE_VERSION".to_owned(), message.to_owned());
    call(start, candidate, Outcome::Refused { code, message })
}

fn failures(writes: Vec<Write>, calls: Vec<Call>, end: &str, kept: &[(&str, &str)]) -> Vec<String> {
    let kept = kept.iter().map(|(name, text)| (PathBuf::from(name), (*text).to_owned())).collect();
    History { initial: "start".to_owned(), writes, calls, end: end.to_owned(), kept }.judge().failures
}

#[test]
fn changes_in_turn_add_up() {
    let writes = vec![write("w1", "start", 10), write("w2", "e2", 40)];
    let calls = vec![applied(20, "w1", "e1"), applied(30, "e1", "e2"), refused(38, "e3", "stale")];
    assert_eq!(failures(writes, calls, "w2", &[]), Vec::<String>::new());
}

#[test]
fn an_edit_that_is_written_over_at_once_is_no_loss() {
    let writes = vec![write("w1", "start", 10), write("w2", "w1", 22)];
    assert_eq!(failures(writes, vec![applied(20, "w1", "e1")], "w2", &[]), Vec::<String>::new());
}

#[test]
fn a_write_that_an_edit_of_an_older_text_replaced_is_lost() {
    let writes = vec![write("w1", "start", 10), write("w2", "w1", 22), write("w3", "e1", 40)];
    assert_eq!(
        failures(writes, vec![applied(20, "w1", "e1")], "w3", &[]),
        ["w2: lost without an error; then there was e1"]
    );
}

#[test]
fn a_write_that_never_had_the_name_may_be_lost() {
    let mut displaced = write("w2", "w1", 22);
    displaced.landed = false;
    let writes = vec![write("w1", "start", 10), displaced.clone(), write("w3", "e1", 40)];
    assert_eq!(failures(writes, vec![applied(20, "w1", "e1")], "w3", &[]), Vec::<String>::new());
    let writes = vec![write("w1", "start", 10), displaced, write("w3", "e1", 40)];
    assert_eq!(failures(writes, vec![applied(20, "w2", "e1")], "w3", &[]), Vec::<String>::new());
}

#[test]
fn two_edits_of_one_text_are_one_too_many() {
    let calls = vec![applied(10, "start", "e1"), applied(11, "start", "e2")];
    let told = failures(Vec::new(), calls, "e2", &[]);
    assert_eq!(told, ["start: replaced twice, so a change was lost"]);
}

#[test]
fn a_text_that_was_long_gone_cannot_be_replaced() {
    let writes = vec![write("w1", "start", 10)];
    assert_eq!(
        failures(writes, vec![applied(20, "start", "e1")], "e1", &[]),
        ["start: was replaced, but w1 had been there since", "w1: lost without an error; then there was e1"]
    );
    let told = failures(Vec::new(), vec![applied(20, "half of start", "e1")], "start", &[]);
    assert_eq!(told, ["half of start: replaced, but nobody wrote that"]);
}

#[test]
fn a_refusal_needs_somebody_elses_write() {
    let calls = || vec![refused(20, "e1", "stale")];
    assert_eq!(failures(Vec::new(), calls(), "start", &[]), ["refused though nobody wrote: stale"]);
    assert_eq!(failures(vec![write("w1", "start", 18)], calls(), "w1", &[]), Vec::<String>::new());
    // It was over before the read began.
    let told = failures(vec![write("w1", "start", 10)], calls(), "w1", &[]);
    assert_eq!(told, ["refused though nobody wrote: stale"]);
}

#[test]
fn what_is_kept_beside_the_file_is_no_loss_if_an_error_names_it() {
    let writes = || vec![write("w1", "start", 22), write("w2", "e1", 40)];
    let kept = [("a.txt.dsh-conflict-1", "w1")];
    let calls = vec![applied(20, "start", "e1"), refused(39, "e2", "kept as a.txt.dsh-conflict-1")];
    assert_eq!(failures(writes(), calls, "w2", &kept), Vec::<String>::new());
    let told = failures(writes(), vec![applied(20, "start", "e1")], "w2", &kept);
    assert_eq!(told, ["a.txt.dsh-conflict-1: left behind, and no error names it"]);
}

#[test]
fn a_candidate_that_is_seen_for_a_moment_is_no_loss() {
    let writes = vec![write("w1", "start", 10), write("w2", "e1", 22)];
    let calls = vec![refused(20, "e1", "stale")];
    assert_eq!(failures(writes, calls, "w2", &[]), Vec::<String>::new());
}
