//! [`Session`]: one agent's share of the load, and what each of its answers has to be.
//!
//! It keeps book of what it has seen. So for every call it is known beforehand whether it may succeed: a change of what
//! this session has not read is refused, whoever else has read it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::dice::Dice;
use crate::prove::serve::agent::{Agent, Reply};

/// How long is waited before a call that the server had no room for is made again, and how often.
const PAUSE: Duration = Duration::from_millis(20);
const ATTEMPTS: usize = 500;

const NOT_OBSERVED: &str = "FS_NOT_OBSERVED";
const STALE: &str = "FS_STALE_VERSION";

/// What a session counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    /// How long each call took, without the waiting for room.
    pub(crate) latencies: Vec<Duration>,
    /// Honest refusals by their code.
    pub(crate) refusals: BTreeMap<String, usize>,
    /// Changes of files that only another session has read; all refused.
    pub(crate) trespasses: usize,
    /// Changes that were made.
    pub(crate) changes: usize,
    /// What is wrong.
    pub(crate) problems: Vec<String>,
}

/// One agent at work.
#[derive(Debug)]
pub(crate) struct Session {
    agent: Agent,
    number: usize,
    all: usize,
    dice: Dice,
    /// The shared files that it has read.
    seen: BTreeSet<String>,
    /// Its own line in each shared file: how often it has changed it.
    counts: Vec<usize>,
    /// How often it has written its own file.
    version: usize,
    /// What it has counted so far.
    pub(crate) book: Book,
}

/// The shared file of this number.
pub(crate) fn shared(file: usize) -> String {
    format!("shared/{file:02}.txt")
}

/// The file that belongs to a session.
pub(crate) fn own(session: usize) -> String {
    format!("own/{session:03}.txt")
}

/// The line of a session in a shared file.
pub(crate) fn line(session: usize, count: usize) -> String {
    format!("session {session:03}: {count:05}")
}

/// A version of a session's own file: every line names it.
pub(crate) fn text(session: usize, version: usize) -> String {
    let mut text = String::new();
    for row in 0..40 {
        let _ = writeln!(text, "of session {session:03}, version {version:05}, row {row:02}");
    }
    text
}

impl Session {
    /// Session `number` of `all`, with its file written for the first time.
    pub(crate) fn begin(
        agent: Agent,
        number: usize,
        all: usize,
        shared_files: usize,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let mut session = Self {
            agent,
            number,
            all,
            dice,
            seen: BTreeSet::new(),
            counts: vec![0; shared_files],
            version: 0,
            book: Book::default(),
        };
        let content = text(number, 0);
        session.agent.must("write", json!({"file_path": own(number), "content": content}))?;
        Ok(session)
    }

    /// How often it has changed its line in each shared file.
    pub(crate) fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The version that its own file has now.
    pub(crate) fn version(&self) -> usize {
        self.version
    }

    /// One call of the mixture.
    pub(crate) fn step(&mut self) -> anyhow::Result<()> {
        let file = self.dice.below(self.counts.len());
        match self.dice.below(20) {
            0..5 => self.read_shared(file),
            5..9 => self.edit_shared(file),
            9..12 => self.overwrite_own(),
            12..14 => self.edit_own(),
            14..16 => self.read_own(),
            16 => self.grep(file),
            17 => self.glob(),
            _ => self.trespass(),
        }
    }

    fn read_shared(&mut self, file: usize) -> anyhow::Result<()> {
        let wanted = line(self.number, self.counts[file]);
        let reply = self.call("read", json!({"file_path": shared(file)}))?;
        self.seen.insert(shared(file));
        self.expect("a read of a shared file shows the own line", &reply, |reply| shows(reply, &wanted));
        Ok(())
    }

    fn edit_shared(&mut self, file: usize) -> anyhow::Result<()> {
        let (old, new) = (line(self.number, self.counts[file]), line(self.number, self.counts[file] + 1));
        let change = json!({"file_path": shared(file), "old_string": old, "new_string": new});
        let reply = self.call("edit", change)?;
        if !self.seen.contains(&shared(file)) {
            self.refused_as(&reply, NOT_OBSERVED, "an edit of a shared file that was not read");
        } else if matches!(reply, Reply::Done(_)) {
            self.counts[file] += 1;
            self.book.changes += 1;
        } else {
            self.refused_as(&reply, STALE, "an edit of a shared file that was read");
        }
        Ok(())
    }

    fn overwrite_own(&mut self) -> anyhow::Result<()> {
        let content = text(self.number, self.version + 1);
        let reply = self.call("write", json!({"file_path": own(self.number), "content": content}))?;
        self.changed("an overwrite of the own file", &reply);
        Ok(())
    }

    fn edit_own(&mut self) -> anyhow::Result<()> {
        let name = |version: usize| format!("version {version:05}");
        let change = json!({
            "file_path": own(self.number),
            "old_string": name(self.version),
            "new_string": name(self.version + 1),
            "replace_all": true,
        });
        let reply = self.call("edit", change)?;
        self.changed("an edit of the own file", &reply);
        Ok(())
    }

    fn read_own(&mut self) -> anyhow::Result<()> {
        let wanted = format!("of session {:03}, version {:05}, row 39", self.number, self.version);
        let reply = self.call("read", json!({"file_path": own(self.number)}))?;
        self.expect("a read of the own file shows its version", &reply, |reply| shows(reply, &wanted));
        Ok(())
    }

    fn grep(&mut self, file: usize) -> anyhow::Result<()> {
        let wanted = line(self.number, self.counts[file]);
        let pattern = format!("^session {:03}:", self.number);
        let reply = self.call("grep", json!({"pattern": pattern, "path": shared(file)}))?;
        self.expect("a search finds the own line", &reply, |reply| shows(reply, &wanted));
        Ok(())
    }

    fn glob(&mut self) -> anyhow::Result<()> {
        let wanted = own(self.number);
        let reply = self.call("glob", json!({"pattern": wanted}))?;
        self.expect("a glob finds the own file", &reply, |reply| *reply == Reply::Done(wanted.clone()));
        Ok(())
    }

    /// Changes what another session has written and this one has never read.
    fn trespass(&mut self) -> anyhow::Result<()> {
        let other = (self.number + 1 + self.dice.below(self.all - 1)) % self.all;
        let reply = if self.dice.one_in(2) {
            self.call("write", json!({"file_path": own(other), "content": "mine now\n"}))?
        } else {
            let change = json!({"old_string": "session", "new_string": "mine", "replace_all": true});
            self.call("edit", with(change, "file_path", own(other).into()))?
        };
        self.book.trespasses += 1;
        self.refused_as(&reply, NOT_OBSERVED, "a change of a file that another session has read");
        Ok(())
    }

    fn changed(&mut self, what: &str, reply: &Reply) {
        if matches!(reply, Reply::Done(_)) {
            self.version += 1;
            self.book.changes += 1;
        } else {
            self.book.problems.push(format!("{what}: {reply:?}"));
        }
    }

    fn expect(&mut self, what: &str, reply: &Reply, holds: impl FnOnce(&Reply) -> bool) {
        if !holds(reply) {
            self.book.problems.push(format!("session {}: {what}: {reply:?}", self.number));
        }
    }

    fn refused_as(&mut self, reply: &Reply, expected: &str, what: &str) {
        match reply {
            Reply::Failed(code, _) if code == expected => {
                *self.book.refusals.entry(expected.to_owned()).or_default() += 1;
            }
            other => self.book.problems.push(format!("session {}: {what}: {other:?}", self.number)),
        }
    }

    /// Makes a call; one that the server has no room for is made again.
    #[expect(clippy::needless_pass_by_value, reason = "`json!` reads better than behind a reference")]
    fn call(&mut self, tool: &str, args: Json) -> anyhow::Result<Reply> {
        for _ in 0..ATTEMPTS {
            let began = Instant::now();
            let reply = self.agent.call(tool, args.clone())?;
            let latency = began.elapsed();
            match reply {
                Reply::Refused(code, _) if code == "BUSY" => {
                    *self.book.refusals.entry(code).or_default() += 1;
                    std::thread::sleep(PAUSE);
                }
                reply => {
                    self.book.latencies.push(latency);
                    return Ok(reply);
                }
            }
        }
        anyhow::bail!("the server had no room for a {tool} in {ATTEMPTS} attempts")
    }
}

fn shows(reply: &Reply, line: &str) -> bool {
    matches!(reply, Reply::Done(text) if text.contains(line))
}

fn with(mut object: Json, key: &str, value: Json) -> Json {
    object[key] = value;
    object
}
