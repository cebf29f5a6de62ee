//! Two backends over the same files, as two processes have them.

use std::sync::Arc;

use dsh_fs::FsErrorCode::{NotObserved, StaleVersion};
use dsh_fs::{FileSystem, FsTarget, FsVersion, WriteGuard};

use super::races::{RACERS, ROUNDS, edit_one, one_winner, places, write};
use crate::race::{Racer, Rivalry, beside};
use crate::{Case, race, refused};

/// A backend, and what it means by a path.
struct Side {
    fs: Arc<dyn FileSystem>,
    target: FsTarget,
}

impl Side {
    async fn of(case: &Case, fs: Arc<dyn FileSystem>, name: &str) -> Self {
        let target = fs.resolve(name, Some(&case.cwd()), &case.call).await.unwrap();
        Self { fs, target }
    }

    async fn both(case: &Case, name: &str) -> [Self; 2] {
        let Ok(another) = case.ground.another().await else { panic!("the ground declares another backend") };
        [Self::of(case, case.fs.clone(), name).await, Self::of(case, another, name).await]
    }

    async fn version(&self, case: &Case) -> FsVersion {
        self.fs.read_text(&self.target, &case.call).await.unwrap().version
    }

    fn write(
        &self,
        content: &str,
        guard: Option<WriteGuard>,
    ) -> impl Future<Output = Result<FsVersion, dsh_fs::FsError>> + Send + use<> {
        write(&self.fs, &self.target, content.to_owned(), guard)
    }
}

/// Both mean the same by a path, there or not.
pub async fn two_backends_agree_on_keys(case: &Case) {
    case.put("here.txt", "x").await;
    for name in ["here.txt", "new.txt", "no/such/folder/new.txt"] {
        let [one, two] = Side::both(case, name).await;
        assert_eq!(one.target, two.target, "{name}");
    }
}

/// What one has changed the other sees at once, and its version of what was there before is stale.
pub async fn what_one_changes_the_other_sees(case: &Case) {
    let [one, two] = Side::both(case, "d/a.txt").await;
    one.write("zero", Some(WriteGuard::CreateIfAbsent)).await.unwrap();
    refused(two.write("mine", Some(WriteGuard::CreateIfAbsent)).await, NotObserved);
    for round in 0..ROUNDS {
        let (here, there) = if round % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let old = there.version(case).await;
        here.write(&round.to_string(), Some(WriteGuard::ReplaceIfVersion(here.version(case).await)))
            .await
            .unwrap();
        let read = there.fs.read_text(&there.target, &case.call).await.unwrap();
        assert_eq!(read.text, round.to_string());
        refused(there.write("mine", Some(WriteGuard::ReplaceIfVersion(old))).await, StaleVersion);
    }
}

/// Of writes and edits through both, each under its backend's version of the same bytes, exactly one wins.
pub async fn one_mutation_wins_between_two_backends(case: &Case) {
    let sides = Side::both(case, "a.txt").await;
    for round in 0..ROUNDS {
        case.put("a.txt", format!("start {round}")).await;
        let mut racers: Vec<Racer<_>> = Vec::new();
        for n in 0..RACERS {
            let side = &sides[n % 2];
            let (version, new) = (side.version(case).await, format!("racer {n}"));
            if n < RACERS / 2 {
                racers.push(Box::pin(side.write(&new, Some(WriteGuard::ReplaceIfVersion(version)))));
            } else {
                let edit = edit_one(&side.fs, &side.target, &format!("start {round}"), &new, Some(version));
                racers.push(Box::pin(async move { Ok(edit.await?.version) }));
            }
        }
        let (winner, version) = one_winner(race(racers).await, StaleVersion);
        case.holds("a.txt", format!("racer {winner}")).await;
        sides[winner % 2].write("next", Some(WriteGuard::ReplaceIfVersion(version))).await.unwrap();
    }
    assert_eq!(case.all_names(".").await, ["a.txt"]);
}

/// Of creations through both exactly one wins, in a folder that is there and in one that is made.
pub async fn one_creation_wins_between_two_backends(case: &Case) {
    for round in 0..ROUNDS {
        case.put(&format!("{round}/neighbour"), "x").await;
        let name = [format!("{round}/a.txt"), format!("{round}/new/deep/a.txt")][round % 2].clone();
        let sides = Side::both(case, &name).await;
        let racers =
            (0..RACERS).map(|n| sides[n % 2].write(&format!("racer {n}"), Some(WriteGuard::CreateIfAbsent)));
        let (winner, _) = one_winner(race(racers).await, NotObserved);
        case.holds(&name, format!("racer {winner}")).await;
    }
}

/// Unguarded edits through both are all applied.
pub async fn edits_through_two_backends_are_all_applied(case: &Case) {
    let (start, sides) = (places(), Side::both(case, "a.txt").await);
    for _ in 0..ROUNDS {
        case.put("a.txt", &start).await;
        let racers = (0..RACERS).map(|n| {
            let side = &sides[n % 2];
            edit_one(&side.fs, &side.target, &format!("<{n}>"), &format!("[{n}]"), None)
        });
        race(racers).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
        case.holds("a.txt", start.replace('<', "[").replace('>', "]")).await;
    }
    assert_eq!(case.all_names(".").await, ["a.txt"]);
}

/// Edits under guards through both, each tried again when it was stale, are all applied.
pub async fn guarded_edits_through_two_backends_lose_nothing(case: &Case) {
    case.put("a.txt", "end").await;
    let sides = Side::both(case, "a.txt").await;
    let racers = sides.map(|side| async move {
        let call = dsh_fs::FsCall::new();
        let mut applied = 0;
        while applied < ROUNDS {
            let version = side.fs.read_text(&side.target, &call).await.unwrap().version;
            match edit_one(&side.fs, &side.target, "end", "x end", Some(version)).await {
                Ok(_) => applied += 1,
                stale => drop(refused(stale, StaleVersion)),
            }
        }
    });
    race(racers).await;
    case.holds("a.txt", format!("{}end", "x ".repeat(ROUNDS * 2))).await;
}

/// A reader of one sees whole texts while the other writes.
pub async fn readers_see_whole_texts_of_another_backend(case: &Case) {
    let texts = ["a\n".repeat(40_000), "b\n".repeat(60_000)];
    case.put("a.txt", &texts[0]).await;
    let [one, two] = Side::both(case, "a.txt").await;
    let ours = texts.clone();
    let writing = async move |rivalry: Rivalry| {
        while rivalry.goes_on().await {
            two.write(&ours[rivalry.rounds() % 2], None).await.unwrap();
        }
    };
    let ((), ()) = beside(writing, async |rival| {
        while rival.rounds() < ROUNDS {
            let text = one.fs.read_text(&one.target, &case.call).await.unwrap().text;
            assert!(texts.contains(&text), "a reader saw {} bytes that are neither text", text.len());
            tokio::task::yield_now().await;
        }
    })
    .await;
}
