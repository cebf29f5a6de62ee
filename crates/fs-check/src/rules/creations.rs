//! New files that are created at the same time.

use std::collections::HashMap;

use dsh_fs::FsErrorCode::NotObserved;
use dsh_fs::{FsCall, WriteGuard, WriteOperation};

use super::races::{RACERS, ROUNDS, one_winner, write};
use crate::race::Racer;
use crate::{Case, race, refused};

/// Of creations exactly one wins; the others see that the file is there.
pub async fn one_creation_wins(case: &Case) {
    for round in 0..ROUNDS {
        let name = format!("new {round}/a.txt");
        let target = case.target(&name).await;
        let racers = (0..RACERS)
            .map(|n| write(&case.fs, &target, format!("racer {n}"), Some(WriteGuard::CreateIfAbsent)));
        let (winner, _) = one_winner(race(racers).await, NotObserved);
        case.holds(&name, format!("racer {winner}")).await;
    }
}

/// Of writes without a guard one says that it created the file, each other one which text it replaced.
pub async fn one_racing_write_says_that_it_created(case: &Case) {
    for round in 0..ROUNDS {
        let name = format!("new {round}.txt");
        let target = case.target(&name).await;
        let racers = (0..RACERS).map(|n| {
            let (fs, target, call) = (case.fs.clone(), target.clone(), FsCall::new());
            async move { fs.write_text(&target, &format!("racer {n}"), None, &call).await.unwrap() }
        });
        let outcomes = race(racers).await;
        let mut creation = None;
        let mut next = HashMap::new();
        for outcome in outcomes {
            match outcome.before {
                None => {
                    assert_eq!(outcome.operation, WriteOperation::Create);
                    assert!(creation.replace(outcome.after).is_none(), "two writes created one file");
                }
                Some(before) => {
                    assert_eq!(outcome.operation, WriteOperation::Update);
                    assert_eq!(next.insert(before, outcome.after), None, "two writes replaced one text");
                }
            }
        }
        let mut last = creation.unwrap();
        while let Some(after) = next.remove(&last) {
            last = after;
        }
        assert_eq!(next, HashMap::new(), "what these replaced was never there");
        case.holds(&name, &*last).await;
    }
}

/// A creation that races with a write comes first, or is refused; what it created is not lost on the way.
pub async fn a_creation_comes_first_or_is_refused(case: &Case) {
    for round in 0..ROUNDS {
        let name = format!("{round}/a.txt");
        let target = case.target(&name).await;
        let mut racers: Vec<Racer<_>> = Vec::new();
        for (content, guard) in [("created", Some(WriteGuard::CreateIfAbsent)), ("written", None)] {
            let (fs, target, call) = (case.fs.clone(), target.clone(), FsCall::new());
            racers
                .push(Box::pin(async move { fs.write_text(&target, content, guard.as_ref(), &call).await }));
        }
        let mut outcomes = race(racers).await;
        let (written, created) = (outcomes.pop().unwrap().unwrap(), outcomes.pop().unwrap());
        if created.is_ok() {
            assert_eq!(written.before.as_deref(), Some("created"));
        } else {
            refused(created, NotObserved);
            assert_eq!(written.before, None);
        }
        case.holds(&name, "written").await;
    }
}

/// New files in one missing folder, written at the same time, are all there.
pub async fn racing_writes_share_a_new_folder(case: &Case) {
    for round in 0..ROUNDS {
        let folder = format!("new {round}/deep");
        let mut targets = Vec::new();
        for n in 0..RACERS {
            targets.push(case.target(&format!("{folder}/{n}.txt")).await);
        }
        let racers =
            targets.iter().enumerate().map(|(n, target)| write(&case.fs, target, n.to_string(), None));
        race(racers).await.into_iter().for_each(|version| drop(version.unwrap()));
        let expected: Vec<_> = (0..RACERS).map(|n| format!("{n}.txt")).collect();
        assert_eq!(case.names(&folder).await, expected);
    }
}
