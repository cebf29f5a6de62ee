//! The command line, as clap reads it. What is written here is the help.

mod serving;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Parser, Subcommand};
use dsh_harness::StateFolder;

pub(crate) use serving::Mcp;

/// File tools for AI agents: read, write, edit, glob and grep, where nothing that was not seen is overwritten.
#[derive(Debug, Parser)]
#[command(name = "dsh-fs", version, propagate_version = true, after_long_help = MORE)]
pub(crate) struct Args {
    /// The workspace of the sessions: where relative paths start.
    ///
    /// Default: the folder the program is started in. Under a fence in workspace-write mode, which is the default, it is also
    /// the folder that can be written, beside the temporary ones.
    #[arg(long, global = true, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// The composition file: which plugins to mount, with which settings.
    ///
    /// YAML (.yaml, .yml) or JSON (.json): a list of rows with `name` and `config`, started in the order of the file.
    /// Default: dsh-fs-sandbox at --cwd, dsh-fs-observation-policy and all tools; see README.md.
    #[arg(long, global = true, value_name = "FILE")]
    compose: Option<PathBuf>,

    /// Where the logs of sessions are kept, `<session>.jsonl` for each: what was called, what came of it.
    ///
    /// Made if it is not there, with mode 0700; the tools cannot write in it. Logs hold what was read and written, and grow
    /// until you remove them. Default: no logs are kept.
    #[arg(long, global = true, value_name = "DIR")]
    state: Option<PathBuf>,
    /// A workspace in an object store, in place of a folder: `s3://BUCKET/PREFIX`, `az://CONTAINER/PREFIX` or
    /// `gs://BUCKET/PREFIX`.
    ///
    /// The prefix is `/` for the tools, and nothing outside it can be reached; sessions start there, or at the absolute path in
    /// it that --cwd gives. Credentials, region and endpoint come from the environment, as for the service's own tools. The
    /// composition is then dsh-fs-object with the policy and all tools.
    #[arg(long, global = true, value_name = "URL", conflicts_with = "compose")]
    workspace: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Call tools, in order, in one session, and print what a model would see.
    #[command(after_long_help = CALL)]
    Call(Call),
    /// Answer calls from standard input: one JSON line in, one JSON line out.
    #[command(after_long_help = RUN)]
    Run(Run),
    /// Serve the tools over the Model Context Protocol: on standard input and output, or over HTTP.
    #[command(after_long_help = MCP)]
    Mcp(Mcp),
    /// Print the tools' names, descriptions and schemas exactly as a model gets them.
    #[command(
        after_long_help = "See also: `dsh-fs prompt`, the guidance that goes with them; `dsh-fs mcp` serves both."
    )]
    Tools,
    /// Print the system prompt's sections exactly as a model gets them.
    #[command(after_long_help = "See also: `dsh-fs tools`, the tools that it speaks of.")]
    Prompt,
    /// Say what bounds the tools and what the system can do; list and judge what crashes have left.
    #[command(after_long_help = DOCTOR)]
    Doctor(Doctor),
    /// Show what was called in a session and what came of it, from the log that --state keeps.
    #[command(after_long_help = LOG)]
    Log(Log),
    /// Print a script that completes this command line in a shell.
    #[command(after_long_help = COMPLETIONS)]
    Completions(Completions),
    /// Print the manual page, or write those of all commands into a folder.
    #[command(after_long_help = "See also: `dsh-fs help COMMAND`, which says the same.")]
    Man(Man),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Call {
    /// Print the whole results instead, one JSON object a line, with metadata and canonical value.
    #[arg(long)]
    pub(crate) json: bool,

    /// A tool's name and its arguments as JSON; as many pairs as you like.
    #[arg(required = true, num_args = 2.., value_names = ["TOOL", "JSON"])]
    pub(crate) calls: Vec<String>,

    #[command(flatten)]
    pub(crate) confinement: Confinement,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Add the canonical value (`value`) to each result, for programs.
    #[arg(long)]
    pub(crate) values: bool,

    #[command(flatten)]
    pub(crate) confinement: Confinement,
}

#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Confinement {
    /// Have the kernel hold the whole process within its bounds, whatever the fence says.
    ///
    /// Linux 6.2 or newer, with Landlock. Written can be --cwd (not in read-only mode), the temporary folders and the root of
    /// dsh-spill-local; read can be everything, or those and `readRoots`. No call can be granted more.
    #[arg(long)]
    pub(crate) confine: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Folders to look through, links not followed, or leftovers by name. Default: the workspace.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Remove what is judged safe, and every leftover that PATH names itself unless it is in use.
    #[arg(long)]
    pub(crate) remove: bool,

    /// Print one JSON object instead.
    #[arg(long)]
    pub(crate) json: bool,

    /// Take a stage file that is younger than this for one that a running call is at work with.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) older_than: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Log {
    /// The session's id.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// Show every line of what was read, changed or found, not only the first 20.
    #[arg(long)]
    pub(crate) full: bool,

    /// Print the events instead, one JSON object a line, with the cards of calls and results.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// A folder that is there: gets dsh-fs.1, dsh-fs-call.1 and so on. Default: dsh-fs.1 on standard output.
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// What every command needs to know, checked.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Absolute; as it was given otherwise, links and all.
    pub(crate) cwd: PathBuf,
    /// Was it given? Else it is where the program was started.
    pub(crate) is_cwd_given: bool,
    /// Absolute.
    pub(crate) compose: Option<PathBuf>,
    /// Absolute; need not be there yet.
    pub(crate) state: Option<StateFolder>,
    /// Absolute: the folder whose folders sessions may work in, beside `cwd`.
    pub(crate) workspaces: Option<PathBuf>,
    /// The URL of a workspace in an object store.
    pub(crate) workspace: Option<String>,
}

impl Args {
    pub(crate) fn setup(&self) -> anyhow::Result<Setup> {
        Ok(Setup {
            cwd: absolute(self.cwd.as_deref().unwrap_or(Path::new(".")))?,
            is_cwd_given: self.cwd.is_some(),
            compose: self.compose.as_deref().map(absolute).transpose()?,
            state: self.state.as_deref().map(absolute).transpose()?.map(StateFolder::new),
            workspaces: None,
            workspace: self.workspace.clone(),
        })
    }
}

impl Setup {
    /// On this machine the workspace has to be there.
    pub(crate) fn must_have_folder(&self) -> anyhow::Result<()> {
        match std::fs::metadata(&self.cwd) {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => bail!("--cwd {}: not a folder", self.cwd.display()),
            Err(error) => Err(error).with_context(|| format!("--cwd {}", self.cwd.display())),
        }
    }
}

pub(crate) fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("cannot tell where \"{}\" is", path.display()))
}

const MORE: &str = "\
Examples:
  dsh-fs call read '{\"file_path\": \"README.md\"}'       one call
  printf '%s\\n' '{\"tool\":\"read\",\"args\":{\"file_path\":\"README.md\"}}' | dsh-fs run
  dsh-fs mcp --cwd ~/project                            what an MCP client starts
  dsh-fs mcp --workspace s3://bucket/project            the same for a workspace in an object store
  dsh-fs tools --compose my.yaml                        what a model is told
  dsh-fs log s1 --state ~/.dsh-fs                       what was done in a session

Exit codes:
  0  done
  1  call: a result is an error; doctor: leftovers are there; any command: its input or output failed half way
  2  bad usage, or the composition could not be started (the reason is on standard error)

Environment:
  DSH_LOG   what is logged on standard error: error, warn (the default), info, debug, trace,
            or for parts of the program: warn,dsh_fs_local=debug
  NO_COLOR  set and not empty: no colours

`dsh-fs help COMMAND` tells more about each command.";

const CALL: &str = "\
Examples:
  dsh-fs call read '{\"file_path\": \"a.txt\"}'
  dsh-fs call read '{\"file_path\": \"a.txt\"}' \\
              edit '{\"file_path\": \"a.txt\", \"old_string\": \"one\", \"new_string\": \"two\"}'
  dsh-fs call --json read '{\"file_path\": \"a.txt\", \"offset\": 10, \"limit\": 5}'

A file has to be read before it is changed, in the same session: both in one command, as above.
Exit code 1 if any result is an error; the calls after it are made all the same.

See also: `dsh-fs tools` for the tools and their arguments; `dsh-fs run` for sessions that go on.";

const RUN: &str = "\
A line in:
  {\"tool\": \"read\", \"args\": {\"file_path\": \"a.txt\"}}
  with, optionally:
    \"session\"  text: the session of the call (default \"s1\"); null: none
    \"id\"       anything: comes back in the result
    \"abort\"    \"pre\" or milliseconds: cancel the call before it starts, or after that time
  {\"calls\": [{\"tool\": ..., \"args\": ...}, ...], \"session\"?, \"id\"?}
    the calls of one assistant message: reads overlap, changes run alone, in order

A line out:
  {\"content\": text, \"isError\": bool, \"error\"?: {\"message\", \"name\"?, \"code\"?}, \"meta\"?, \"value\"?, \"id\"?}
  {\"results\": [...], \"id\"?} for a batch

Lines run one after another; each is answered before the next is read. A line that is no request gets an error result
with the code INVALID_REQUEST. The end of the input ends the program with exit code 0.

See also: `dsh-fs call` for single calls; `dsh-fs mcp` for agents.";

const MCP: &str = "\
For a client's configuration:
  {\"mcpServers\": {\"files\": {\"command\": \"dsh-fs\", \"args\": [\"mcp\", \"--cwd\", \"/path/to/project\"]}}}

The process is one session: what has been read is known until it ends. It ends with its input, with exit code 0.

For many clients, each in a session of its own:
  dsh-fs mcp --http 127.0.0.1:8100 --cwd ~/project
  {\"mcpServers\": {\"files\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:8100/mcp/my-session\"}}}
A session is named in the URL or in the header Dsh-Session; a client of the older protocol that names none gets one of its
own. Whoever has none can read and create files, not change them.

With --confine the kernel holds the process within the workspaces and the temporary folders, as a second wall behind the
fence; the reason is on standard error, with exit code 2, where it cannot.

See also: `dsh-fs tools` and `dsh-fs prompt` for what a client is told.";

const DOCTOR: &str = "\
Examples:
  dsh-fs doctor                                look through the workspace
  dsh-fs doctor --remove                       remove what is safe to remove
  dsh-fs doctor --remove a.txt.dsh-conflict-1  remove this one, whatever it holds

Leftovers are stage files (.dsh- and twelve letters or digits), which a killed process leaves, and conflict files
(NAME.dsh-conflict-N), in which the work of another program was kept that wrote while NAME was replaced.
Before them it tells the backend, the mode of its fence, what can be written and read, and what the kernel and the file
system can do.
Judgements:
  safe    it is empty, or another file in the folder has the same bytes
  in use  a call may be at work with it: the folder is locked, or the file is young (--older-than)
  keep    it may hold somebody's bytes: compare it with the file it belongs to, take over what you miss, then
          remove it by name
To see what the file system can do, two hidden files are made in the folder and removed again.

Exit codes: 0 nothing is left, 1 leftovers are there, 2 bad usage or a composition that cannot be used.

See also: `dsh-fs call`, whose changes are published in this way.";

const LOG: &str = "\
Examples:
  dsh-fs run --state ~/.dsh-fs < calls.jsonl   keep a log of each session
  dsh-fs log s1 --state ~/.dsh-fs              what happened in session s1
  dsh-fs log s1 --state ~/.dsh-fs --json       the same for programs

Shows what was recorded, never what is in the files now: the lines that a read showed, what an edit or a write changed,
what a search found, and errors. The session of `dsh-fs call` is s1, that of `dsh-fs mcp` over standard input is stdio.
Cards are drawn by the tools of the composition (--compose); where a tool is not mounted, its text is shown. Lines are cut to
the width of the terminal (or COLUMNS); NO_COLOR turns colours off. A last line that is not whole, as a killed process may
leave it, is passed over, and said.

Exit codes: 0 done, 2 there is no such log.

See also: `dsh-fs doctor`, for what a killed process leaves in the workspace.";

const COMPLETIONS: &str = "\
Examples:
  dsh-fs completions bash > ~/.local/share/bash-completion/completions/dsh-fs
  dsh-fs completions zsh > ~/.zfunc/_dsh-fs
  dsh-fs completions fish > ~/.config/fish/completions/dsh-fs.fish

See also: `dsh-fs man`, the manual pages.";
