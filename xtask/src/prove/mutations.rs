//! What has to work on a file system, and how it has to fail where there is no room or no permission.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{XattrFlags, getxattr, setxattr};
use serde_json::{Value as Json, json};

use crate::prove::ground::Ground;
use crate::prove::namespace::tool;
use crate::prove::program::{Answer, Program};
use crate::prove::tally::Tally;

/// Where the kernel keeps an ACL.
const ACL: &str = "system.posix_acl_access";

/// Counts checks as it makes them.
struct Checks<'a> {
    folder: &'a Path,
    tally: &'a mut Tally,
    made: usize,
}

impl Checks<'_> {
    fn check(&mut self, good: bool, what: impl FnOnce() -> String) {
        self.made += 1;
        self.tally.check(good, what);
    }

    fn done(&mut self, step: &str, answer: &Answer) {
        self.check(!answer.is_error(), || format!("{step}: {}", answer.content()));
    }

    fn holds(&mut self, step: &str, name: &str, text: &str) {
        let there = fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        self.check(there == text, || format!("{step}: {name} does not hold what it should"));
    }

    fn fails(&mut self, step: &str, answer: &Answer, code: &str, message: &str) {
        self.check(answer.is_error() && answer.code() == code && answer.content().contains(message), || {
            format!("{step}: not {code} with \"{message}\" but {}: {}", answer.code(), answer.content())
        });
    }

    /// Nothing of ours lies about.
    fn clean(&mut self) -> anyhow::Result<()> {
        for entry in fs::read_dir(self.folder)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            self.check(!name.contains(".dsh-"), || format!("{name} was left behind"));
        }
        self.tally.figure("checks", self.made);
        Ok(())
    }
}

fn edit(name: &str, old: &str, new: &str) -> Json {
    json!({"file_path": name, "old_string": old, "new_string": new})
}

fn write(name: &str, content: &str) -> Json {
    json!({"file_path": name, "content": content})
}

fn read(name: &str) -> Json {
    json!({"file_path": name})
}

/// Everything, where everything has to work. `program` gives the program for a workspace.
pub(crate) fn suite(
    program: &dyn Fn(&Path) -> Command,
    folder: &Path,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let mut program = Program::start(program(folder))?;
    let mut checks = Checks { folder, tally, made: 0 };
    let large = Large::put(folder)?;
    checks.done("create", &program.call("write", write("new/deep/a.txt", "one\n"))?);
    checks.holds("create", "new/deep/a.txt", "one\n");
    checks.done("overwrite", &program.call("write", write("new/deep/a.txt", "two\n"))?);
    checks.holds("overwrite", "new/deep/a.txt", "two\n");
    checks.done("edit", &program.call("edit", edit("new/deep/a.txt", "two", "three"))?);
    checks.holds("edit", "new/deep/a.txt", "three\n");
    if folder.join("lower.txt").exists() {
        program.must("read", read("lower.txt"))?;
        checks.done("copy up", &program.call("edit", edit("lower.txt", "old", "new"))?);
        checks.holds("copy up", "lower.txt", "new\n");
    }
    dress(&mut program, &mut checks)?;
    guards(&mut program, &mut checks)?;
    links(&mut program, &mut checks)?;
    large.edit(&mut program, &mut checks)?;
    program.end()?;
    checks.clean()
}

/// Large files with one change each, behind so much that stays that a file system which can will share it.
struct Large {
    text: String,
    put: Instant,
}

impl Large {
    const OLD: &str = "line 150000\n";
    const CHANGES: [(&str, &str); 3] =
        [("same.txt", "LINE 150000\n"), ("shorter.txt", "\n"), ("longer.txt", "two\nlines instead of one\n")];

    fn put(folder: &Path) -> anyhow::Result<Self> {
        let text = (100_000..200_000).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat().repeat(2);
        let text = text.replacen(Self::OLD, "line\n", 1);
        for (name, _) in Self::CHANGES {
            fs::write(folder.join(name), &text)?;
        }
        Ok(Self { text, put: Instant::now() })
    }

    fn edit(&self, program: &mut Program, checks: &mut Checks<'_>) -> anyhow::Result<()> {
        // Blocks are shared only with a file that had been left alone for two seconds.
        std::thread::sleep(Duration::from_millis(2100).saturating_sub(self.put.elapsed()));
        for (name, new) in Self::CHANGES {
            program.must("read", read(name))?;
            checks.done("large edit", &program.call("edit", edit(name, Self::OLD, new))?);
            checks.holds("large edit", name, &self.text.replace(Self::OLD, new));
        }
        Ok(())
    }
}

/// Mode, attribute and ACL stay.
fn dress(program: &mut Program, checks: &mut Checks<'_>) -> anyhow::Result<()> {
    let file = checks.folder.join("dressed.txt");
    fs::write(&file, "one\n")?;
    fs::set_permissions(&file, Permissions::from_mode(0o640))?;
    setxattr(&file, "user.note", b"kept", XattrFlags::empty())?;
    tool(Command::new("setfacl").args(["-m", "u:1234:rw"]).arg(&file))?;
    let (mode, acl) = (fs::metadata(&file)?.permissions().mode(), attribute(&file, ACL));
    checks.check(acl.is_some(), || "setfacl had no effect".to_owned());
    program.must("read", read("dressed.txt"))?;
    for (old, new) in [("one", "two"), ("two", "three")] {
        checks.done("edit of a dressed file", &program.call("edit", edit("dressed.txt", old, new))?);
        let now = fs::metadata(&file)?.permissions().mode();
        checks.check(now == mode, || format!("mode {mode:o} became {now:o}"));
        let note = attribute(&file, "user.note");
        checks.check(note.as_deref() == Some(b"kept"), || "an attribute was lost".to_owned());
        checks.check(attribute(&file, ACL) == acl, || "the ACL was lost or changed".to_owned());
    }
    Ok(())
}

/// The value of an extended attribute, if there is one.
pub(crate) fn attribute(file: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 4096];
    let length = getxattr(file, name, value.as_mut_slice()).ok()?;
    value.truncate(length);
    Some(value)
}

fn guards(program: &mut Program, checks: &mut Checks<'_>) -> anyhow::Result<()> {
    let stale = "file changed since it was read";
    fs::write(checks.folder.join("guarded.txt"), "one\n")?;
    program.must("read", read("guarded.txt"))?;
    fs::write(checks.folder.join("guarded.txt"), "uno\n")?;
    let answer = program.call("edit", edit("guarded.txt", "one", "two"))?;
    checks.fails("edit of a changed file", &answer, "FS_STALE_VERSION", stale);
    let answer = program.call("write", write("guarded.txt", "two\n"))?;
    checks.fails("write to a changed file", &answer, "FS_STALE_VERSION", stale);
    checks.holds("guard", "guarded.txt", "uno\n");
    fs::write(checks.folder.join("unseen.txt"), "one\n")?;
    let answer = program.call("write", write("unseen.txt", "two\n"))?;
    checks.fails("write to a file that was not read", &answer, "FS_NOT_OBSERVED", "");
    checks.holds("guard", "unseen.txt", "one\n");
    Ok(())
}

fn links(program: &mut Program, checks: &mut Checks<'_>) -> anyhow::Result<()> {
    symlink("made.txt", checks.folder.join("dangling"))?;
    checks.done("write through a dangling link", &program.call("write", write("dangling", "one\n"))?);
    checks.holds("write through a dangling link", "made.txt", "one\n");
    checks.done("edit through a link", &program.call("edit", edit("dangling", "one", "two"))?);
    checks.holds("edit through a link", "made.txt", "two\n");
    let is_link = fs::symlink_metadata(checks.folder.join("dangling"))?.is_symlink();
    checks.check(is_link, || "the link was replaced by a file".to_owned());
    Ok(())
}

/// A file system of 1 MB that is then full.
pub(crate) fn full(ground: &Ground, folder: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    let old = "old line\n".repeat(10_000);
    fs::write(folder.join("a.txt"), &old)?;
    let mut program = Program::start(ground.program(folder))?;
    let mut checks = Checks { folder, tally, made: 0 };
    let no_space = "no space left on device";
    program.must("read", read("a.txt"))?;
    let big = "new line\n".repeat(200_000);
    let answer = program.call("write", write("a.txt", &big))?;
    checks.fails("a write that does not fit", &answer, "FS_IO_ERROR", no_space);
    checks.holds("a write that does not fit", "a.txt", &old);
    let answer = program.call("write", write("new/b.txt", &big))?;
    checks.fails("a new file that does not fit", &answer, "FS_IO_ERROR", no_space);
    checks.check(!folder.join("new").exists(), || "a folder was left for a file that did not fit".to_owned());
    let mut many = edit("a.txt", "old line\n", &"new line\n".repeat(20));
    many["replace_all"] = json!(true);
    checks.fails("an edit that does not fit", &program.call("edit", many)?, "FS_IO_ERROR", no_space);
    checks.holds("an edit that does not fit", "a.txt", &old);
    // Not a byte is left: an edit that needs no more room than the file has needs it twice for a moment.
    fill(&folder.join("filler"))?;
    let mut same = edit("a.txt", "old", "new");
    same["replace_all"] = json!(true);
    checks.fails("an edit on a full disk", &program.call("edit", same.clone())?, "FS_IO_ERROR", no_space);
    checks.holds("an edit on a full disk", "a.txt", &old);
    fs::remove_file(folder.join("filler"))?;
    checks.done("an edit when there is room again", &program.call("edit", same)?);
    checks.holds("an edit when there is room again", "a.txt", &old.replace("old", "new"));
    program.end()?;
    checks.clean()
}

/// Writes until nothing more fits.
fn fill(file: &Path) -> anyhow::Result<()> {
    use std::io::Write as _;
    let mut file = fs::File::create(file)?;
    while file.write_all(&[b'x'; 4096]).is_ok() {}
    Ok(())
}

/// A mount with `a.txt` where nothing can be changed.
pub(crate) fn read_only(ground: &Ground, folder: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    let mut program = Program::start(ground.program(folder))?;
    let mut checks = Checks { folder, tally, made: 0 };
    let (code, denied) = ("FS_PERMISSION_DENIED", "permission denied");
    checks.done("read", &program.call("read", read("a.txt"))?);
    checks.fails("create", &program.call("write", write("b.txt", "x\n"))?, code, denied);
    checks.fails("create in a new folder", &program.call("write", write("n/b.txt", "x\n"))?, code, denied);
    checks.fails("overwrite", &program.call("write", write("a.txt", "x\n"))?, code, denied);
    checks.fails("edit", &program.call("edit", edit("a.txt", "old", "new"))?, code, denied);
    checks.holds("all of that", "a.txt", "old\n");
    program.end()?;
    checks.clean()
}
