//! What belongs to a file besides its bytes: mode, owner, attributes, ACL, links; and who may change it at all.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::ensure;
use rustix::fs::{XattrFlags, setxattr};
use serde_json::{Value as Json, json};

use crate::prove::ground::{Ground, need};
use crate::prove::mutations::attribute;
use crate::prove::namespace::{mount, tool, unmount};
use crate::prove::program::Program;
use crate::prove::tally::Tally;

/// Somebody who owns nothing.
const NOBODY: u32 = 65_534;
/// Another one.
const SOMEBODY: u32 = 1_234;
const CHMODS: usize = 2_000;

/// Makes the proof; to be called as root, in a mount namespace of its own.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    need(&["setfacl", "mount", "umount"])?;
    let bench = Bench { ground, workspace: ground.folder("metadata")? };
    modes(&bench, tally)?;
    owners_and_attributes(&bench, tally)?;
    links(&bench, tally)?;
    refusals(&bench, tally)?;
    bind_mount(&bench, tally)?;
    racing_chmod(&bench, tally)
}

struct Bench<'a> {
    ground: &'a Ground,
    workspace: PathBuf,
}

impl Bench<'_> {
    fn program(&self) -> anyhow::Result<Program> {
        Program::start(self.ground.program(&self.workspace))
    }

    fn as_user(&self, user: u32) -> anyhow::Result<Program> {
        let mut command = self.ground.program(&self.workspace);
        command.uid(user).gid(user);
        Program::start(command)
    }

    fn file(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.workspace.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }
}

fn read(name: &str) -> Json {
    json!({"file_path": name})
}

fn edit(name: &str, old: &str, new: &str) -> Json {
    json!({"file_path": name, "old_string": old, "new_string": new})
}

/// Every combination of special bits with the bits of group and others, for an owner who may write.
fn modes(bench: &Bench<'_>, tally: &mut Tally) -> anyhow::Result<()> {
    let file = bench.file("modes.txt", "one\n")?;
    let mut program = bench.program()?;
    program.must("read", read("modes.txt"))?;
    let all: Vec<u32> = (0o600..=0o7777).filter(|mode| mode & 0o600 == 0o600).collect();
    let step = all.len() / bench.ground.scaled(all.len());
    let mut tried = 0;
    for mode in all.into_iter().step_by(step.max(1)).chain([0o6755, 0o4755, 0o7777]) {
        fs::set_permissions(&file, Permissions::from_mode(mode))?;
        let (old, new) = if tried % 2 == 0 { ("one", "two") } else { ("two", "one") };
        program.must("edit", edit("modes.txt", old, new))?;
        let now = fs::metadata(&file)?.mode() & 0o7777;
        tally.check(now == mode, || format!("mode {mode:o} became {now:o}"));
        tried += 1;
    }
    program.end()?;
    tally.figure("modes from 600 to 7777, each kept", tried);
    Ok(())
}

fn owners_and_attributes(bench: &Bench<'_>, tally: &mut Tally) -> anyhow::Result<()> {
    let file = bench.file("owned.txt", "one\n")?;
    chown(&file, Some(SOMEBODY), Some(NOBODY))?;
    fs::set_permissions(&file, Permissions::from_mode(0o4750))?;
    setxattr(&file, "user.note", b"kept", XattrFlags::empty())?;
    tool(Command::new("setfacl").args(["-m", "u:4321:rx,g:55:r"]).arg(&file))?;
    let seen = |file: &Path| -> anyhow::Result<_> {
        let stat = fs::metadata(file)?;
        let attributes = ["user.note", "system.posix_acl_access"].map(|name| attribute(file, name));
        Ok((stat.uid(), stat.gid(), stat.mode(), attributes))
    };
    let before = seen(&file)?;
    let mut program = bench.program()?;
    program.must("read", read("owned.txt"))?;
    program.must("edit", edit("owned.txt", "one", "two"))?;
    program.must("write", json!({"file_path": "owned.txt", "content": "three\n"}))?;
    program.end()?;
    let after = seen(&file)?;
    tally.check(before == after, || format!("owner, group, mode, attributes: {before:?} became {after:?}"));
    tally.figure("foreign owner, group, set-id bit, attribute and ACL, kept", 5);
    Ok(())
}

fn links(bench: &Bench<'_>, tally: &mut Tally) -> anyhow::Result<()> {
    let file = bench.file("linked.txt", "one\n")?;
    fs::hard_link(&file, bench.workspace.join("hard.txt"))?;
    for (at, to) in
        [("link1", "linked.txt"), ("link2", "link1"), ("link3", "link2"), ("dangling", "made.txt")]
    {
        symlink(to, bench.workspace.join(at))?;
    }
    let mut program = bench.program()?;
    program.must("read", read("link3"))?;
    program.must("edit", edit("link3", "one", "two"))?;
    program.must("write", json!({"file_path": "dangling", "content": "made\n"}))?;
    program.end()?;
    let text = |name: &str| fs::read_to_string(bench.workspace.join(name)).unwrap_or_default();
    tally.check(text("linked.txt") == "two\n", || "an edit through three links did not arrive".to_owned());
    let hard = text("hard.txt");
    tally.check(hard == "one\n", || format!("the other name of a hard-linked file holds {hard:?}"));
    tally.check(text("made.txt") == "made\n", || "a dangling link did not create its destination".to_owned());
    for name in ["link1", "link2", "link3", "dangling"] {
        let link = fs::symlink_metadata(bench.workspace.join(name))?.is_symlink();
        tally.check(link, || format!("{name} is no longer a link"));
    }
    tally.figure("hard link, chain of three links, dangling link", 3);
    Ok(())
}

/// A file that its caller may not write stays, although its folder would let a rename through; and the other way round.
fn refusals(bench: &Bench<'_>, tally: &mut Tally) -> anyhow::Result<()> {
    let code = "FS_PERMISSION_DENIED";
    let open = bench.workspace.join("open");
    fs::create_dir(&open)?;
    fs::set_permissions(&open, Permissions::from_mode(0o777))?;
    let guarded = bench.file("open/read-only.txt", "one\n")?;
    fs::set_permissions(&guarded, Permissions::from_mode(0o444))?;
    let closed = bench.workspace.join("closed");
    fs::create_dir(&closed)?;
    let writable = bench.file("closed/writable.txt", "one\n")?;
    fs::set_permissions(&writable, Permissions::from_mode(0o666))?;
    let mut program = bench.as_user(NOBODY)?;
    for (name, file) in [("open/read-only.txt", &guarded), ("closed/writable.txt", &writable)] {
        program.must("read", read(name))?;
        for (tool, args) in
            [("edit", edit(name, "one", "two")), ("write", json!({"file_path": name, "content": "two\n"}))]
        {
            let answer = program.call(tool, args)?;
            tally.check(answer.code() == code, || format!("{name}, {tool}: {}", answer.content()));
            let kept = fs::read(file)? == b"one\n";
            tally.check(kept, || format!("{name}, {tool}: refused, but changed"));
        }
    }
    let answer = program.call("write", json!({"file_path": "closed/new.txt", "content": "x"}))?;
    tally.check(answer.code() == code, || format!("a new file in a closed folder: {}", answer.content()));
    program.end()?;
    for folder in [&open, &closed] {
        let names = fs::read_dir(folder)?.count();
        tally.check(names == 1, || format!("{} files in {}", names, folder.display()));
    }
    tally.figure("refused to another user: 0444, a folder without write permission", 5);
    Ok(())
}

/// No rename can replace a file that is a mount of its own; it is said so, and nothing is done half.
fn bind_mount(bench: &Bench<'_>, tally: &mut Tally) -> anyhow::Result<()> {
    let file = bench.file("mounted.txt", "below\n")?;
    let source = bench.file("source.txt", "one\n")?;
    mount(&["--bind", &source.to_string_lossy()], &file)?;
    let mut program = bench.program()?;
    program.must("read", read("mounted.txt"))?;
    let answer = program.call("edit", edit("mounted.txt", "one", "two"))?;
    let reason = "the file is a mount point and cannot be replaced";
    let good = answer.code() == "FS_IO_ERROR" && answer.content().contains(reason);
    tally.check(good, || format!("a bind-mounted file: {}", answer.content()));
    tally.check(fs::read(&source)? == b"one\n", || "a bind-mounted file was changed".to_owned());
    program.end()?;
    unmount(&file)?;
    tally.figure("bind-mounted file, refused with its reason", 1);
    Ok(())
}

/// A stranger's chmod at any moment of a publication stays, if the file that it met still had the name afterwards: one
/// that met a file already taken away has changed nothing that anybody will see again.
fn racing_chmod(bench: &Bench<'_>, tally: &mut Tally) -> anyhow::Result<()> {
    let file = bench.file("racing.txt", "one\n")?;
    let count = bench.ground.scaled(CHMODS);
    let mut program = bench.program()?;
    program.must("read", read("racing.txt"))?;
    let (mut landed, mut displaced, mut undone) = (0, 0, 0);
    for number in 0..count {
        let (old, new) = if number % 2 == 0 { ("one", "two") } else { ("two", "one") };
        fs::set_permissions(&file, Permissions::from_mode(0o644))?;
        program.send("edit", edit("racing.txt", old, new))?;
        // An edit takes about a millisecond here; the moments are spread over two.
        std::thread::sleep(Duration::from_micros(u64::try_from(number * 37 % 2_000)?));
        let met = File::open(&file)?;
        met.set_permissions(Permissions::from_mode(0o600))?;
        let at_once = fs::metadata(&file)?.ino() == met.metadata()?.ino();
        let answer = program.hear()?;
        ensure!(answer.is_some_and(|answer| !answer.is_error()), "an edit beside a chmod failed");
        let kept = fs::metadata(&file)?.mode() & 0o777 == 0o600;
        landed += usize::from(kept);
        displaced += usize::from(!at_once && !kept);
        undone += usize::from(at_once && !kept);
    }
    program.end()?;
    tally.figure("chmods at some moment of an edit", count);
    tally.figure("of them in effect afterwards", landed);
    tally.figure("of them on a file that had been taken away", displaced);
    tally.check(undone == 0, || format!("{undone} chmods were undone"));
    Ok(())
}
