//! Edits: of a small file, where the disk is what counts, and of large ones, where the work is.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value as Json, json};

use crate::bench::pairs::{Pairs, time};
use crate::bench::peer::Peer;
use crate::bench::peers::Which;
use crate::bench::speed::{Sheet, Stage};
use crate::bench::text;

/// By what a careful writer cannot do without.
const SMALL_BY_BARE: f64 = 1.3;
/// By the reference.
const LARGE_BY_REFERENCE: f64 = 0.2;
const ROUNDS: usize = 200;
const FEW_ROUNDS: usize = 5;
const SEQUENCE: usize = 1_000;
const SEQUENCES: usize = 3;
const SMALL: usize = 10 * 1024;
pub(crate) const FILE: &str = "a.txt";

/// A program, the file that is its own, and the line that it changes to and fro.
#[derive(Debug)]
pub(crate) struct Editor {
    peer: Peer,
    which: Option<Which>,
    file: PathBuf,
    old: String,
    new: String,
    /// Whether the edit may be found at all of the places that have it.
    all: bool,
    edits: usize,
}

impl Editor {
    /// The file is read, as the policy wants it.
    pub(crate) fn new(
        peer: Peer,
        which: Option<Which>,
        folder: &Path,
        (old, new): (&str, &str),
    ) -> anyhow::Result<Self> {
        let file = folder.join(FILE);
        let (old, new) = (old.to_owned(), new.to_owned());
        let mut editor = Self { peer, which, file, old, new, all: false, edits: 0 };
        if editor.follows_the_reference() {
            let path = editor.path()?;
            editor.peer.must("read", &json!({"file_path": path}))?;
        }
        Ok(editor)
    }

    pub(crate) fn replacing_all(mut self) -> Self {
        self.all = true;
        self
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    fn path(&self) -> anyhow::Result<String> {
        Ok(self.file.to_str().context("a path that is not UTF-8")?.to_owned())
    }

    fn follows_the_reference(&self) -> bool {
        matches!(self.which, None | Some(Which::Reference))
    }

    /// One edit.
    pub(crate) fn edit(&mut self) -> anyhow::Result<Duration> {
        let (old, new) = (&self.old, &self.new);
        let (old, new) = if self.edits.is_multiple_of(2) { (old, new) } else { (new, old) };
        let path = self.path()?;
        let (tool, args): (_, Json) = if self.follows_the_reference() {
            let all = self.all;
            ("edit", json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": all}))
        } else {
            ("edit_file", json!({"path": path, "edits": [{"oldText": old, "newText": new}]}))
        };
        let reply = self.peer.must(tool, &args)?;
        self.edits += 1;
        Ok(reply.took)
    }

    /// Fails if the file is not what these edits make of `original`, or is not after one more: an even number of them leaves
    /// it as it was, as no edit at all does.
    pub(crate) fn check(&mut self, original: &str) -> anyhow::Result<()> {
        for _ in 0..2 {
            let changed = !self.edits.is_multiple_of(2);
            let expected = if changed { original.replace(&self.old, &self.new) } else { original.to_owned() };
            ensure!(
                fs::read(&self.file)? == expected.as_bytes(),
                "after {} edits {} holds other bytes",
                self.edits,
                self.file.display()
            );
            self.edit()?;
        }
        Ok(())
    }
}

/// Measures them.
pub(crate) fn measure(stage: &Stage<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let small = text::text(SMALL);
    let what = "an edit of a 10 KB file";
    against_bare(stage, &small, what, sheet)?;
    for which in Which::ALL {
        against(stage, which, &small, what, (stage.ground.scaled(ROUNDS), None), sheet)?;
    }
    in_sequence(stage, &small, sheet)?;
    let million = text::text(1_000_000);
    for which in [Which::JsServer, Which::RustServer] {
        against(stage, which, &million, "an edit of a 1 MB file", (10, None), sheet)?;
    }
    let size = usize::try_from(stage.bytes(100_000_000))?;
    let large = text::text(size);
    against(
        stage,
        Which::Reference,
        &large,
        "an edit of a 100 MB file",
        (FEW_ROUNDS, Some(LARGE_BY_REFERENCE)),
        sheet,
    )
}

/// A program of ours with its file in a folder of its own.
pub(crate) fn ours(
    stage: &Stage<'_>,
    name: &str,
    original: &str,
    change: (&str, &str),
) -> anyhow::Result<Editor> {
    let folder = prepare(stage, name, original)?;
    Editor::new(stage.ours(&folder)?, None, &folder, change)
}

/// Another program with its file; `None` if it takes no part.
pub(crate) fn theirs(
    stage: &Stage<'_>,
    which: Which,
    original: &str,
    change: (&str, &str),
) -> anyhow::Result<Option<Editor>> {
    let folder = prepare(stage, "theirs", original)?;
    let Some(peer) = stage.peers.start(which, &folder)? else { return Ok(None) };
    Editor::new(peer, Some(which), &folder, change).map(Some)
}

fn prepare(stage: &Stage<'_>, name: &str, original: &str) -> anyhow::Result<PathBuf> {
    let folder = stage.ground.folder(name)?;
    fs::write(folder.join(FILE), original)?;
    File::open(folder.join(FILE))?.sync_all()?;
    Ok(folder)
}

/// A line in the middle, and what it becomes.
pub(crate) fn middle(original: &str) -> anyhow::Result<(String, String)> {
    let lines = original.bytes().filter(|byte| *byte == b'\n').count() as u64;
    let old = text::line(lines / 2);
    let new = old.split_once(' ').context("a line of one word")?.0.to_owned() + " changed, and not as long";
    Ok((old, new))
}

fn against(
    stage: &Stage<'_>,
    which: Which,
    original: &str,
    what: &str,
    (rounds, limit): (usize, Option<f64>),
    sheet: &mut Sheet,
) -> anyhow::Result<()> {
    let (old, new) = middle(original)?;
    let Some(mut theirs) = theirs(stage, which, original, (&old, &new))? else { return Ok(()) };
    let mut ours = ours(stage, "ours", original, (&old, &new))?;
    let pairs = Pairs::timed(rounds, || ours.edit(), || theirs.edit())?;
    ours.check(original)?;
    theirs.check(original)?;
    sheet.versus(what, which.name(), &pairs, limit);
    if limit.is_some() {
        let (peak, of_theirs) = (ours.peer().memory()?.peak, theirs.peer().memory()?.peak);
        #[expect(clippy::cast_precision_loss, reason = "a file of at most 100 MB")]
        let limit = 2.0 * original.len() as f64 / f64::from(1 << 20) + 64.0;
        sheet.budget(format!("peak memory of {what}"), peak, limit.round(), " MiB");
        sheet
            .note(format!("Peak memory of {what}: ours {peak:.0} MiB, {} {of_theirs:.0} MiB.", which.name()));
    }
    Ok(())
}

/// Against the least that makes a change safe, made by the bench itself in the folder of ours; and with the fence.
fn against_bare(stage: &Stage<'_>, original: &str, what: &str, sheet: &mut Sheet) -> anyhow::Result<()> {
    let (old, new) = middle(original)?;
    let bare_name = "write, fsync, rename, fsync of the folder";
    let rounds = stage.ground.scaled(ROUNDS);
    let mut plain = ours(stage, "ours", original, (&old, &new))?;
    let folder = stage.ground.path().join("ours");
    let pairs = Pairs::timed(rounds, || plain.edit(), || bare(&folder, original.as_bytes()))?;
    plain.check(original)?;
    sheet.versus(what, bare_name, &pairs, Some(SMALL_BY_BARE));
    let folder = prepare(stage, "fenced", original)?;
    let mut fenced = Editor::new(stage.ours_by_default(&folder)?, None, &folder, (&old, &new))?;
    let pairs = Pairs::timed(rounds, || fenced.edit(), || bare(&folder, original.as_bytes()))?;
    fenced.check(original)?;
    sheet.versus("the same with the fence", bare_name, &pairs, None);
    Ok(())
}

fn bare(folder: &Path, bytes: &[u8]) -> anyhow::Result<Duration> {
    let (stage, place) = (folder.join("bare.new"), folder.join("bare.txt"));
    let began = Instant::now();
    let mut file = File::create_new(&stage)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&stage, &place)?;
    File::open(folder)?.sync_all()?;
    Ok(began.elapsed())
}

fn in_sequence(stage: &Stage<'_>, original: &str, sheet: &mut Sheet) -> anyhow::Result<()> {
    let (old, new) = middle(original)?;
    let count = stage.ground.scaled(SEQUENCE);
    let mut ours = ours(stage, "ours", original, (&old, &new))?;
    let what = format!("{count} edits of a 10 KB file, one after another");
    let all = |editor: &mut Editor| time(|| (0..count).try_for_each(|_| editor.edit().map(drop)));
    let Some(mut theirs) = theirs(stage, Which::Reference, original, (&old, &new))? else {
        sheet.alone(&what, all(&mut ours)?, "nobody: the reference is missing");
        return Ok(());
    };
    let pairs = Pairs::timed(SEQUENCES, || all(&mut ours), || all(&mut theirs))?;
    ours.check(original)?;
    theirs.check(original)?;
    sheet.versus(&what, Which::Reference.name(), &pairs, None);
    Ok(())
}
