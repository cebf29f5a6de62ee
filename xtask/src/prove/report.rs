//! docs/reliability.md: what is claimed, how it is shown, and the figures of a run.

use std::fmt::Write as _;
use std::fs;

use crate::prove::Proof;
use crate::prove::ground::Ground;
use crate::prove::tally::Tally;

/// The machine of a run, without its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// How many threads can run at once.
    pub cores: usize,
    /// Such as `Linux 6.8`.
    pub kernel: String,
    /// Of the disk.
    pub file_system: String,
}

impl Machine {
    /// This one, with the disk of `ground`.
    pub fn this(ground: &Ground) -> anyhow::Result<Self> {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
        let version: Vec<&str> = release.trim().split('.').take(2).collect();
        Ok(Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: format!("Linux {}", version.join(".")),
            file_system: ground.file_system()?,
        })
    }
}

const HEAD: &str = "\
<!-- Written by `cargo xtask prove --report docs/reliability.md`. -->

# Reliability

*Whatever happens, a file holds the old bytes or the new ones; nobody's work is lost without an error; nothing is refused
without a reason.* `cargo xtask prove` shows it on the built program, from outside: it starts `dsh-fs run`, speaks to it in
JSON lines (or `dsh-fs mcp`, over HTTP), and looks at the disk. It wants to be run as root, on a disk that may be written to. `./test` makes the same
proofs at a tenth of the scale; `cargo xtask prove NAME` makes one of them.
";

const LIMITS: &str = "
## What is not promised

- A program that keeps its own descriptor of a file open over a publication goes on writing into the file that was
  replaced. The proof counts such writes and asks nothing of them.
- A folder that is renamed away during a call takes the change with it.
- Where the file system cannot exchange two names, strangers that take no lock are looked for right before the rename, not
  guarded against in the microseconds after the look. Processes of ours are, by the lock.
- A kill is not a power cut: that an `fsync` reaches the disk is the kernel's and the disk's word. Every change is synced, the
  file before it gets its name and the folder after; where that failed the result says `durable: false`.
- An error of `close` is not injected: Linux closes the descriptor whatever it answers.
";

/// The page for a run.
pub fn page(made: &[(Proof, Tally)], scale: f64, machine: &Machine) -> String {
    let Machine { cores, kernel, file_system } = machine;
    let mut page = HEAD.to_owned();
    let together: f64 = made.iter().map(|(_, tally)| tally.seconds).sum();
    let scale =
        if (scale - 1.0).abs() < f64::EPSILON { "full scale".to_owned() } else { format!("scale {scale}") };
    let _ = writeln!(
        page,
        "\nThe figures below are of one run at {scale}: {cores} cores, {kernel}, {file_system}, {together:.0} s together."
    );
    for (proof, tally) in made {
        let verdict = if tally.holds() { "holds" } else { "does not hold" };
        let _ = write!(page, "\n## {}\n\n{}\n", title(*proof), text(*proof));
        let _ = writeln!(page, "\n| {} | {verdict}, {:.1} s |\n|---|---:|", proof.name(), tally.seconds);
        for (what, figure) in &tally.figures {
            let _ = writeln!(page, "| {what} | {figure} |");
        }
    }
    page.push_str(LIMITS);
    page
}

fn title(proof: Proof) -> &'static str {
    match proof {
        Proof::Crash => "Killed or failing anywhere",
        Proof::Rivals => "Rivals",
        Proof::Readers => "Readers",
        Proof::Filesystems => "File systems",
        Proof::Metadata => "Metadata",
        Proof::Ripgrep => "Search",
        Proof::Escape => "Escape",
        Proof::Hints => "Hints",
        Proof::Serve => "Serving",
        Proof::Objects => "Objects",
    }
}

fn text(proof: Proof) -> &'static str {
    match proof {
        Proof::Crash => {
            "\
A create (with its folder), an overwrite and an edit are watched by strace from the request to the answer. Every system call
that touches the workspace in that time, whatever it is, then kills the process with SIGKILL before it (which is after the
one before it), and is made to fail with EIO, ENOSPC, EINTR, EACCES and EMFILE, each in a run of its own. After each: the file
holds all of the old bytes or all of the new ones; an error has a code of its own and left the old bytes; a success has the
new ones, and says `durable: false` where an fsync failed; a killed replacement left one hidden file at most, everything
else none (unless what failed is the removal itself); and the next ordinary call works."
        }
        Proof::Rivals => {
            "\
Eight processes edit distinct lines of one file, each after a read: every edit is applied or reported stale, and at the end
the file has exactly the applied ones. Then three strangers that take no lock get in the way of edits and writes: one renames
over the file, one rewrites it in place, one does that and restores the times. Every text that anybody writes is unique, and
all are logged: a text that was replaced had been written, was replaced once, and was current during the call; what a
stranger finds comes from what the last stranger wrote by applied changes alone (so no completed write was lost); a
refused call had somebody else's write between its read and its end. The strangers take turns among themselves. A write in
place has landed if the file written to still had the name after it. Then, right after a read, the file is rewritten with
as many bytes (in place, with restored times, by a rename), which must never be missed; or touched, given another mode,
rewritten or replaced with the same bytes, which must never be refused."
        }
        Proof::Readers => {
            "\
One process overwrites a megabyte in a loop; two readers that open the file themselves and two that use the tool read it at the
same time. Every line names its version: each read is all of one version."
        }
        Proof::Filesystems => {
            "\
Each is mounted in a private namespace: create with folders, overwrite, edit, mode with attribute and ACL, guards, a dangling
link, nothing left behind. A full tmpfs answers `FS_IO_ERROR` and keeps the old bytes, a read-only mount answers
`FS_PERMISSION_DENIED`. A file system that cannot be mounted fails the proof."
        }
        Proof::Metadata => {
            "\
Modes with every combination of special bits, a foreign owner, an attribute and an ACL stay; links stay links, also in chains
and dangling; the other name of a hard-linked file keeps the old text. Another user is refused what the file or its folder
does not permit. A bind-mounted file is refused with its reason. A stranger's chmod at any moment of an edit stays, if the
file that it met still had the name afterwards."
        }
        Proof::Ripgrep => {
            "\
Generated trees (ignore files at every level, repositories within repositories, hidden, odd and broken names, links and
cycles, FIFOs, binary files, UTF-16, every kind of line ending) are searched with generated patterns by `grep` and `glob`, and
by the real `rg` with the same work: the same files, the same lines, or what
[`testdata/search-differences.json`](../testdata/search-differences.json) says is different on purpose; each row of it has to
occur. Results are in their order, and `read` finds what is printed, under that path and at that line."
        }
        Proof::Escape => {
            "\
Two rivals exchange folders and files of the workspace for links to their like outside, as fast as they can and with short pauses,
while a fenced program creates, overwrites and edits below them, and, under read rules, reads and searches. The tree outside
stays the same, byte for byte, with the same inodes; no answer holds its marker or the name of a file that is only there. The
same calls without a fence must get out, or the rivals would show nothing."
        }
        Proof::Hints => {
            "\
Valid edits of real source files are damaged in the sixteen ways in which models damage theirs, and made. The refusal's first
line is as without hints; the hint names the line that was meant and the way, within 600 bytes; and where it names one place
that differs in indentation, quotes or copied line numbers, what it says is done to the letter and makes the edit."
        }
        Proof::Serve => {
            "\
`dsh-fs mcp --http` with many sessions at once, in both eras of the protocol, named by a minted URL, by a header, by a URL of
their own and by `Mcp-Session-Id`. All work in one folder and make reads, edits, overwrites and searches, drawn by chance. Each
keeps book of what it has seen, so that every answer is known beforehand: a change of what it has read is made, or is stale
because another one was first; a change of what it has not read is refused, whoever else has read it; a request without a
session changes nothing that is there. At the end the files hold exactly the changes that were answered. Then clients that
read their long answers late, or byte by byte: a call of another client, also in the same session, may take three times
as long as before and 25 ms more, at most. Then requests that are none (any bytes, broken framing, more than is taken,
requests that break off, foreign hosts and origins, wrong messages): each gets an error or a closed connection, a session keeps
what it had, no file appears, memory and connections do not stay. At last the server is killed by SIGKILL at any moment of a
load of overwrites and started again with the same `--state`: each file holds all of one version, the last that was answered
or the one under way; each log holds every call that was answered, in whole lines but for the last one; and no session of the
same name may overwrite by what it had read before."
        }
        Proof::Objects => {
            "\
Eight processes edit lines of one object in a store, half of them under guards, over a good connection and over one that is
cut, delayed, or answers 500 and 503, before or after a request was made: every edit is applied, or reported stale where it was
guarded, and at the end the object has exactly the applied ones, each once."
        }
    }
}
