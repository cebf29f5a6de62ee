//! Mutations of one backend that run at the same time. (New files: `creations`; two backends: `rivals`.)

use std::collections::HashMap;
use std::sync::Arc;

use dsh_fs::FsErrorCode::StaleVersion;
use dsh_fs::{EditOutcome, FileSystem, FsCall, FsError, FsTarget, FsVersion, WriteGuard};

use crate::case::edit;
use crate::race::Racer;
use crate::{Case, race, refused};

/// How many mutations race.
pub(super) const RACERS: usize = 8;

/// How often a race is run.
pub(super) const ROUNDS: usize = 20;

pub(super) fn write(
    fs: &Arc<dyn FileSystem>,
    target: &FsTarget,
    content: String,
    guard: Option<WriteGuard>,
) -> impl Future<Output = Result<FsVersion, FsError>> + Send + use<> {
    let (fs, target, call) = (fs.clone(), target.clone(), FsCall::new());
    async move { Ok(fs.write_text(&target, &content, guard.as_ref(), &call).await?.version) }
}

pub(super) fn edit_one(
    fs: &Arc<dyn FileSystem>,
    target: &FsTarget,
    old: &str,
    new: &str,
    guard: Option<FsVersion>,
) -> impl Future<Output = Result<EditOutcome, FsError>> + Send + use<> {
    let (fs, target, edit, call) = (fs.clone(), target.clone(), edit(old, new), FsCall::new());
    async move { fs.edit_text(&target, &edit, guard.as_ref(), &call).await }
}

/// A text with a place for each racer: `<0><1>…`.
pub(super) fn places() -> String {
    (0..RACERS).flat_map(|n| ["<".to_owned(), n.to_string(), ">".to_owned()]).collect()
}

/// Asserts that one racer won and the others failed with a code; gives the winner's number and what it got.
pub(super) fn one_winner<T: std::fmt::Debug>(
    results: Vec<Result<T, FsError>>,
    code: dsh_fs::FsErrorCode,
) -> (usize, T) {
    let mut winner = None;
    for (number, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => assert!(winner.replace((number, value)).is_none(), "two racers won"),
            lost @ Err(_) => drop(refused(lost, code)),
        }
    }
    winner.unwrap_or_else(|| panic!("nobody won"))
}

/// Of writes under one version exactly one wins; the file holds the winner's text, and its version goes on.
pub async fn one_write_wins_under_one_version(case: &Case) {
    for _ in 0..ROUNDS {
        let target = case.file("a.txt", "start").await;
        let guard = WriteGuard::ReplaceIfVersion(case.read(&target).await.version);
        let racers = (0..RACERS).map(|n| write(&case.fs, &target, format!("racer {n}"), Some(guard.clone())));
        let (winner, version) = one_winner(race(racers).await, StaleVersion);
        case.holds("a.txt", format!("racer {winner}")).await;
        case.replace(&target, "next", &version).await.unwrap();
    }
}

/// Of edits under one version exactly one wins, even where they touch different places.
pub async fn one_edit_wins_under_one_version(case: &Case) {
    let start = places();
    for _ in 0..ROUNDS {
        let target = case.file("a.txt", &start).await;
        let version = case.read(&target).await.version;
        let racers = (0..RACERS).map(|n| {
            edit_one(&case.fs, &target, &format!("<{n}>"), &format!("[{n}]"), Some(version.clone()))
        });
        let (winner, outcome) = one_winner(race(racers).await, StaleVersion);
        case.holds("a.txt", start.replace(&format!("<{winner}>"), &format!("[{winner}]"))).await;
        case.replace(&target, "next", &outcome.version).await.unwrap();
    }
}

/// Of a write and an edit under one version exactly one wins.
pub async fn a_write_or_an_edit_wins_under_one_version(case: &Case) {
    for _ in 0..ROUNDS {
        let target = case.file("a.txt", "start").await;
        let version = case.read(&target).await.version;
        let write =
            write(&case.fs, &target, "written".into(), Some(WriteGuard::ReplaceIfVersion(version.clone())));
        let edit = edit_one(&case.fs, &target, "start", "edited", Some(version));
        let racers: [Racer<_>; 2] = [Box::pin(write), Box::pin(async move { Ok(edit.await?.version) })];
        let (winner, _) = one_winner(race(racers).await, StaleVersion);
        case.holds("a.txt", ["written", "edited"][winner]).await;
    }
}

/// Guarded edits of distinct lines, each tried again when it was stale, are all applied.
pub async fn guarded_edits_that_try_again_are_all_applied(case: &Case) {
    let start: String =
        (0..RACERS).flat_map(|n| ["line ".to_owned(), n.to_string(), "\r\n".to_owned()]).collect();
    for _ in 0..ROUNDS / 4 {
        let target = case.file("a.txt", &start).await;
        let racers = (0..RACERS).map(|n| {
            let (fs, target, call) = (case.fs.clone(), target.clone(), FsCall::new());
            async move {
                for tries in 1.. {
                    let version = fs.read_text(&target, &call).await.unwrap().version;
                    let (old, new) = (format!("line {n}\n"), format!("edited {n}\n"));
                    match edit_one(&fs, &target, &old, &new, Some(version)).await {
                        Ok(_) => return tries,
                        stale => drop(refused(stale, StaleVersion)),
                    }
                }
                0
            }
        });
        race(racers).await;
        case.holds("a.txt", start.replace("line", "edited")).await;
    }
}

/// Unguarded edits that race are all applied, and their outcomes tell one history.
pub async fn racing_unguarded_edits_are_all_applied(case: &Case) {
    let start = places();
    for _ in 0..ROUNDS {
        let target = case.file("a.txt", &start).await;
        let racers =
            (0..RACERS).map(|n| edit_one(&case.fs, &target, &format!("<{n}>"), &format!("[{n}]"), None));
        let outcomes: Vec<_> = race(racers).await.into_iter().map(Result::unwrap).collect();
        case.holds("a.txt", start.replace('<', "[").replace('>', "]")).await;
        let steps: HashMap<_, _> =
            outcomes.iter().map(|step| (step.texts.before.clone(), step.texts.after.clone())).collect();
        let mut text = &*start;
        for _ in 0..RACERS {
            text = steps.get(text).unwrap_or_else(|| panic!("no outcome goes on from {text:?}"));
        }
        case.holds("a.txt", text).await;
    }
}

/// Unguarded edits that change the same place one after the other lose nothing.
pub async fn racing_increments_lose_nothing(case: &Case) {
    let target = case.file("a.txt", "end").await;
    for _ in 0..ROUNDS {
        let racers = (0..RACERS).map(|_| edit_one(&case.fs, &target, "end", "x end", None));
        race(racers).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    }
    case.holds("a.txt", format!("{}end", "x ".repeat(ROUNDS * RACERS))).await;
}

/// A reader sees one text or the other, never a part, while writes go on.
pub async fn readers_see_whole_texts(case: &Case) {
    let texts = ["a\n".repeat(40_000), "b\n".repeat(60_000)];
    let target = case.file("a.txt", &texts[0]).await;
    let writes: Vec<_> = (0..ROUNDS).map(|n| write(&case.fs, &target, texts[n % 2].clone(), None)).collect();
    let writing = async move {
        for write in writes {
            write.await.unwrap();
        }
    };
    let reader = || {
        let (fs, target, texts, call) = (case.fs.clone(), target.clone(), texts.clone(), FsCall::new());
        async move {
            for _ in 0..ROUNDS * 2 {
                let text = fs.read_text(&target, &call).await.unwrap().text;
                assert!(texts.contains(&text), "a reader saw {} bytes that are neither text", text.len());
                tokio::task::yield_now().await;
            }
        }
    };
    let racers: [Racer<()>; 3] = [Box::pin(writing), Box::pin(reader()), Box::pin(reader())];
    race(racers).await;
}

/// Mutations of different files do not disturb each other.
pub async fn different_files_do_not_race(case: &Case) {
    let mut targets = Vec::new();
    for n in 0..RACERS {
        targets.push(case.file(&format!("{n}.txt"), "start").await);
    }
    for round in 0..ROUNDS {
        let mut racers = Vec::new();
        for target in &targets {
            let version = case.read(target).await.version;
            racers.push(write(
                &case.fs,
                target,
                round.to_string(),
                Some(WriteGuard::ReplaceIfVersion(version)),
            ));
        }
        race(racers).await.into_iter().for_each(|version| drop(version.unwrap()));
        for n in 0..RACERS {
            case.holds(&format!("{n}.txt"), round.to_string()).await;
        }
    }
}
