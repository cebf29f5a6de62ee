//! The same promises on every file system: mounted for the purpose, each of them, and one that is missing is a failure.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use rustix::fs::statvfs;

use crate::prove::ground::{Ground, need};
use crate::prove::mutations::{full, read_only, suite};
use crate::prove::namespace::{mount, tool, unmount};
use crate::prove::tally::Tally;

/// What mkfs.xfs wants at least; of the file only what is used takes space.
const XFS_BYTES: u64 = 320 << 20;
const BTRFS_BYTES: u64 = 160 << 20;
/// Images, and room to breathe.
const FREE_BYTES: u64 = 1 << 30;

/// A place to try, by name.
type Row = (&'static str, fn(&Ground, &mut Tally) -> anyhow::Result<()>);

const ROWS: [Row; 8] = [
    ("the disk's", disk),
    ("the disk's, without EXCHANGE and NOREPLACE", disk_without_exchange),
    ("tmpfs", tmpfs),
    ("a full tmpfs of 1 MB", full_tmpfs),
    ("a read-only mount", read_only_mount),
    ("overlayfs", overlay),
    ("xfs", xfs),
    ("btrfs", btrfs),
];

/// Makes the proof; to be called in a mount namespace of its own.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    need(&["strace", "mkfs.xfs", "mkfs.btrfs", "setfacl", "mount", "umount"])?;
    let space = statvfs(ground.path())?;
    ensure!(space.f_bavail * space.f_frsize > FREE_BYTES, "less than 1 GiB is free for the images");
    for (name, row) in ROWS {
        let mut found = Tally::default();
        if let Err(error) = row(ground, &mut found) {
            found.fail(format!("missing from this run: {error:#}"));
        }
        let checks =
            found.figures.iter().filter_map(|(_, figure)| figure.parse::<usize>().ok()).sum::<usize>();
        tally.figure(format!("{name}: checks"), checks);
        tally.failures.extend(found.failures.into_iter().map(|failure| format!("{name}: {failure}")));
    }
    Ok(())
}

fn disk(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let kind = ground.file_system()?;
    ensure!(kind != "tmpfs", "{} is a tmpfs; say with --place where the disk is", ground.path().display());
    let folder = ground.folder("disk")?;
    suite(&|workspace| ground.program(workspace), &folder, tally)
}

/// A file system that knows no flags of `renameat2`, or a kernel that has no such call, as the program sees it.
fn disk_without_exchange(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let folder = ground.folder("disk-without")?;
    let program = |workspace: &Path| {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2"]);
        command.args(["-e", "inject=renameat2:error=EINVAL", "--"]);
        let inner = ground.program(workspace);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir("/");
        command
    };
    suite(&program, &folder, tally)
}

fn tmpfs(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    mounted(ground, &["-t", "tmpfs", "-o", "size=16m", "tmpfs"], tally)
}

fn full_tmpfs(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let folder = ground.folder("full")?;
    mount(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"], &folder)?;
    full(ground, &folder, tally)?;
    unmount(&folder)
}

fn read_only_mount(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let folder = ground.folder("read-only")?;
    mount(&["-t", "tmpfs", "-o", "size=16m", "tmpfs"], &folder)?;
    std::fs::write(folder.join("a.txt"), "old\n")?;
    mount(&["-o", "remount,ro"], &folder)?;
    read_only(ground, &folder, tally)?;
    unmount(&folder)
}

fn overlay(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let layers = ground.folder("layers")?;
    let made: Vec<PathBuf> = ["lower", "upper", "work"].map(|name| layers.join(name)).into();
    for folder in &made {
        std::fs::create_dir(folder)?;
    }
    // A file of the lower layer, so that a change has to copy it up.
    std::fs::write(made[0].join("lower.txt"), "old\n")?;
    let [lower, upper, work] = [0, 1, 2].map(|number: usize| made[number].display());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    mounted(ground, &["-t", "overlay", "-o", &options, "overlay"], tally)
}

fn xfs(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let image = image(ground, "xfs.img", XFS_BYTES)?;
    tool(Command::new("mkfs.xfs").arg("-q").arg(&image))?;
    mounted(ground, &["-o", "loop", image.to_str().context("a strange path")?], tally)
}

fn btrfs(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let image = image(ground, "btrfs.img", BTRFS_BYTES)?;
    tool(Command::new("mkfs.btrfs").arg("-q").arg(&image))?;
    mounted(ground, &["-o", "loop", image.to_str().context("a strange path")?], tally)
}

fn image(ground: &Ground, name: &str, bytes: u64) -> anyhow::Result<PathBuf> {
    let path = ground.path().join(name);
    File::create(&path)?.set_len(bytes)?;
    Ok(path)
}

/// Mounts, tries everything, unmounts.
fn mounted(ground: &Ground, arguments: &[&str], tally: &mut Tally) -> anyhow::Result<()> {
    let folder = ground.folder("mounted")?;
    mount(arguments, &folder)?;
    let result = suite(&|workspace| ground.program(workspace), &folder, tally);
    unmount(&folder)?;
    result
}
