//! Mutations that are cancelled or dropped at every point: each is whole or it never was.

use std::time::{Duration, Instant};

use dsh_fs::FsErrorCode::Aborted;
use dsh_fs::{FsCall, FsError, FsTarget, FsVersion, WriteGuard};

use crate::Case;
use crate::case::edit;
use crate::race::{Moment, Racer, cancelled, dropped};

const OLD: &str = "old\n";
const NEW: &str = "new\nand more\n";

/// No call takes more steps than that.
pub(super) const MOST_POLLS: usize = 1000;

/// At how many moments of its time a mutation is stopped.
const MOMENTS: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutation {
    Write,
    WriteIf,
    Create,
    CreateInNewFolders,
    Edit,
    EditIf,
}

impl Mutation {
    const ALL: [Self; 6] =
        [Self::Write, Self::WriteIf, Self::Create, Self::CreateInNewFolders, Self::Edit, Self::EditIf];

    fn creates(self) -> bool {
        matches!(self, Self::Create | Self::CreateInNewFolders)
    }
}

/// One mutation with a folder of its own.
struct Trial {
    mutation: Mutation,
    folder: String,
    name: String,
    target: FsTarget,
    version: Option<FsVersion>,
}

impl Trial {
    async fn lay(case: &Case, mutation: Mutation, number: usize) -> Self {
        let folder = format!("{mutation:?} {number}");
        let name = match mutation {
            Mutation::CreateInNewFolders => format!("{folder}/new/deep/a.txt"),
            _ => format!("{folder}/a.txt"),
        };
        case.put(&format!("{folder}/neighbour"), "x").await;
        if !mutation.creates() {
            case.put(&name, OLD).await;
        }
        let target = case.target(&name).await;
        let version = match mutation {
            Mutation::WriteIf | Mutation::EditIf => Some(case.read(&target).await.version),
            _ => None,
        };
        Self { mutation, folder, name, target, version }
    }

    /// The mutation itself.
    fn run(&self, case: &Case, call: &FsCall) -> Racer<Result<FsVersion, FsError>> {
        let (fs, target, call) = (case.fs.clone(), self.target.clone(), call.clone());
        let (version, creates) = (self.version.clone(), self.mutation.creates());
        match self.mutation {
            Mutation::Edit | Mutation::EditIf => Box::pin(async move {
                let edit = edit(OLD, NEW);
                Ok(fs.edit_text(&target, &edit, version.as_ref(), &call).await?.version)
            }),
            _ => Box::pin(async move {
                let guard = version.map(WriteGuard::ReplaceIfVersion);
                let guard = if creates { Some(WriteGuard::CreateIfAbsent) } else { guard };
                Ok(fs.write_text(&target, NEW, guard.as_ref(), &call).await?.version)
            }),
        }
    }

    /// Did it happen? Asserts that it did so wholly or not at all.
    async fn happened(&self, case: &Case) -> bool {
        let bytes = case.ground.bytes(&self.name).await;
        let happened = bytes.as_deref() == Some(NEW.as_bytes());
        if !happened {
            let before = (!self.mutation.creates()).then_some(OLD.as_bytes());
            assert_eq!(bytes.as_deref(), before, "{:?} is neither old nor new", self.name);
        }
        happened
    }

    fn names(&self, happened: bool) -> &'static [&'static str] {
        match self.mutation {
            Mutation::CreateInNewFolders if happened => &["neighbour", "new/", "new/deep/", "new/deep/a.txt"],
            mutation if mutation.creates() && !happened => &["neighbour"],
            _ => &["a.txt", "neighbour"],
        }
    }

    /// Cancels it at a moment and looks at what came of it. Was it still running then?
    async fn cancel(case: &Case, mutation: Mutation, number: usize, at: Moment) -> bool {
        let (trial, call) = (Self::lay(case, mutation, number).await, FsCall::new());
        let (result, in_time) = cancelled(at, &call, trial.run(case, &call)).await;
        assert_eq!(trial.happened(case).await, result.is_ok(), "{mutation:?} at {at:?} gave {result:?}");
        assert_eq!(
            case.all_names(&trial.folder).await,
            trial.names(result.is_ok()),
            "{mutation:?} at {at:?} left something behind"
        );
        match result {
            Ok(version) => drop(case.replace(&trial.target, "next", &version).await.unwrap()),
            Err(error) => assert_eq!(error.code(), Aborted, "{error}"),
        }
        in_time
    }

    /// Drops it at a moment; gives the trial, how it ended, and whether it was still running then.
    async fn drop(case: &Case, mutation: Mutation, number: usize, at: Moment) -> (Self, bool, bool) {
        let trial = Self::lay(case, mutation, number).await;
        let result = dropped(at, trial.run(case, &FsCall::new())).await;
        // A mutation that begins now finds it published, or it never will be. (This one changes nothing.)
        case.edit(&trial.target, "\u{1}never there", "x").await.unwrap_err();
        let happened = trial.happened(case).await;
        assert!(happened || result.is_none(), "{mutation:?} at {at:?} gave {result:?}");
        let patience = Instant::now();
        loop {
            let names = case.all_names(&trial.folder).await;
            if names == trial.names(happened) {
                return (trial, happened, result.is_none());
            }
            assert!(
                patience.elapsed() < Duration::from_secs(5),
                "{mutation:?} at {at:?} left {names:?} behind"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// How long a mutation takes, undisturbed.
async fn duration(case: &Case, mutation: Mutation) -> Duration {
    let mut longest = Duration::ZERO;
    for number in 0..3 {
        let trial = Trial::lay(case, mutation, MOST_POLLS + number).await;
        let start = Instant::now();
        trial.run(case, &FsCall::new()).await.unwrap();
        longest = longest.max(start.elapsed());
    }
    longest.min(Duration::from_millis(100))
}

/// Cancelled at any step a mutation is refused and was never there, or it is whole and its version holds.
pub async fn a_mutation_cancelled_at_any_step_is_whole_or_nothing(case: &Case) {
    for mutation in Mutation::ALL {
        let mut poll = 0;
        while Trial::cancel(case, mutation, poll, Moment::Poll(poll)).await {
            poll += 1;
            assert!(poll < MOST_POLLS, "{mutation:?} takes more than {MOST_POLLS} steps");
        }
    }
}

/// So it is when it is cancelled from another thread at any moment of its time.
pub async fn a_mutation_cancelled_at_any_moment_is_whole_or_nothing(case: &Case) {
    for mutation in Mutation::ALL {
        let whole = duration(case, mutation).await;
        for n in 0..MOMENTS {
            let at = Moment::After(whole * n / (MOMENTS - 3));
            Trial::cancel(case, mutation, n as usize, at).await;
        }
    }
}

/// Dropped at any step a mutation is whole or was never there, leaves nothing behind, and does not come later.
pub async fn a_mutation_dropped_at_any_step_is_whole_or_nothing(case: &Case) {
    let mut trials = Vec::new();
    for mutation in Mutation::ALL {
        for poll in 0.. {
            assert!(poll < MOST_POLLS, "{mutation:?} takes more than {MOST_POLLS} steps");
            let (trial, happened, in_time) = Trial::drop(case, mutation, poll, Moment::Poll(poll)).await;
            trials.push((trial, happened));
            if !in_time {
                break;
            }
        }
    }
    nothing_comes_later(case, &trials).await;
}

/// So it is when it is dropped at any moment of its time.
pub async fn a_mutation_dropped_at_any_moment_is_whole_or_nothing(case: &Case) {
    let mut trials = Vec::new();
    for mutation in Mutation::ALL {
        let whole = duration(case, mutation).await;
        for n in 0..MOMENTS {
            let at = Moment::After(whole * n / (MOMENTS - 3));
            let (trial, happened, _) = Trial::drop(case, mutation, n as usize, at).await;
            trials.push((trial, happened));
        }
    }
    nothing_comes_later(case, &trials).await;
}

async fn nothing_comes_later(case: &Case, trials: &[(Trial, bool)]) {
    tokio::time::sleep(Duration::from_millis(50)).await;
    for (trial, happened) in trials {
        assert_eq!(trial.happened(case).await, *happened, "{:?} changed later", trial.name);
        assert_eq!(case.all_names(&trial.folder).await, trial.names(*happened));
    }
}
