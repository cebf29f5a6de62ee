//! Changes all over a file: a rewrite of every line, and an edit with ten thousand matches.

use std::fs;
use std::time::Duration;

use anyhow::ensure;
use serde_json::json;

use crate::bench::pairs::{Pairs, median};
use crate::bench::peer::Peer;
use crate::bench::peers::Which;
use crate::bench::speed::edits::{self, FILE};
use crate::bench::speed::{Sheet, Stage, milliseconds};

const LINES: usize = 16_000;
/// Milliseconds.
const REWRITE: f64 = 100.0;
/// The reference takes time by the square of the changed lines: for so many it needs seconds.
const FEWER_LINES: usize = 2_000;
const NOBODY: &str = "nobody: the reference takes half a minute";
const ROUNDS: usize = 15;
const FEW_ROUNDS: usize = 3;
const MATCHES: usize = 10_000;
const FEWER_MATCHES: usize = 2_000;
const HAY: &str = "one needle in the hay";

/// Measures them.
pub(crate) fn measure(stage: &Stage<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    rewrite(stage, sheet)?;
    replace_all(stage, sheet)
}

fn rewrite(stage: &Stage<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let mut ours = Writer::start(stage.ours(&stage.ground.folder("ours")?)?, LINES)?;
    let times = (0..ROUNDS).map(|_| ours.write()).collect::<anyhow::Result<Vec<_>>>()?;
    ensure!(
        ours.text() == fs::read_to_string(stage.ground.path().join("ours").join(FILE))?,
        "not what was written"
    );
    let took = median(times);
    sheet.alone(&format!("every line of {LINES} rewritten"), took, NOBODY);
    sheet.budget(format!("every line of {LINES} rewritten"), milliseconds(took), REWRITE, " ms");
    let folder = stage.ground.folder("theirs")?;
    let Some(theirs) = stage.peers.start(Which::Reference, &folder)? else { return Ok(()) };
    let mut theirs = Writer::start(theirs, FEWER_LINES)?;
    let mut ours = Writer::start(stage.ours(&stage.ground.folder("ours")?)?, FEWER_LINES)?;
    let pairs = Pairs::timed(FEW_ROUNDS, || ours.write(), || theirs.write())?;
    ensure!(theirs.text() == fs::read_to_string(folder.join(FILE))?, "the reference wrote something else");
    sheet.versus(&format!("every line of {FEWER_LINES} rewritten"), Which::Reference.name(), &pairs, None);
    Ok(())
}

/// Writes one text and the other by turns.
struct Writer {
    peer: Peer,
    lines: usize,
    turn: bool,
}

impl Writer {
    fn start(peer: Peer, lines: usize) -> anyhow::Result<Self> {
        let mut writer = Self { peer, lines, turn: false };
        writer.write()?;
        Ok(writer)
    }

    fn write(&mut self) -> anyhow::Result<Duration> {
        self.turn = !self.turn;
        Ok(self.peer.must("write", &json!({"file_path": FILE, "content": self.text()}))?.took)
    }

    /// What was written last.
    fn text(&self) -> String {
        let word = if self.turn { "some" } else { "more" };
        numbered(self.lines, &format!("{word} text of a line, 33 by"))
    }
}

fn replace_all(stage: &Stage<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let change = ("needle", "thimble");
    let all = numbered(MATCHES, HAY);
    let mut ours = edits::ours(stage, "ours", &all, change)?.replacing_all();
    let times = (0..ROUNDS).map(|_| ours.edit()).collect::<anyhow::Result<Vec<_>>>()?;
    ours.check(&all)?;
    sheet.alone(&format!("replace_all with {MATCHES} matches"), median(times), NOBODY);
    let fewer = numbered(FEWER_MATCHES, HAY);
    let Some(theirs) = edits::theirs(stage, Which::Reference, &fewer, change)? else { return Ok(()) };
    let mut theirs = theirs.replacing_all();
    let mut ours = edits::ours(stage, "ours", &fewer, change)?.replacing_all();
    let pairs = Pairs::timed(FEW_ROUNDS, || ours.edit(), || theirs.edit())?;
    ours.check(&fewer)?;
    theirs.check(&fewer)?;
    sheet.versus(&format!("replace_all with {FEWER_MATCHES} matches"), Which::Reference.name(), &pairs, None);
    Ok(())
}

fn numbered(lines: usize, text: &str) -> String {
    (0..lines).flat_map(|line| [format!("{line:06} "), text.to_owned(), "\n".to_owned()]).collect()
}
