//! docs/model-experience.md: what a model sees for every tool and every refusal, from tools that were called for it, and what
//! that costs, from figures that were measured.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use dsh_fs::digest::Digest;
use dsh_harness::{
    HarnessConfig, HarnessPlugin, SYSTEM_PROMPT, Session, SessionHeader, TOOLS, ToolCall, ToolRegistry,
};
use dsh_plugin::Context;
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::generate::tools::fenced;
use crate::repository::home;

const HEAD: &str = "\
<!-- Written by `cargo xtask generate model`. -->

# What a model sees

Every result below is verbatim, made by the tools when this page was written, with the settings of the built-in composition
(so `editHints` and `patternHints` are on). `/w` is the workspace. Schemas and guidance are in [`tools.md`](tools.md). The
tables of all messages, also of those that depend on the machine or on a person, are on the pages of
[`fs`](../crates/fs/README.md), [`fs-local`](../crates/fs-local/README.md), [`fs-sandbox`](../crates/fs-sandbox/README.md),
[`tool-fs`](../crates/tool-fs/README.md), [`tool-fs-search`](../crates/tool-fs-search/README.md) and
[`harness`](../crates/harness/README.md).

A hint follows the error behind a blank line, and never changes what comes before it. It has at most 600 bytes and 20 ms; a file
over 1 MiB is not looked into. It quotes a file only after an edit that got as far as matching, and names no path that the
fence closes.
";

/// What is done for the page, in order.
enum Step {
    /// A new part, and what it is about.
    Part(&'static str),
    /// Another program writes a file.
    Put(&'static str, Vec<u8>),
    /// A call that is not shown.
    Before(&'static str, Json),
    /// A call that is shown, and what it is an example of.
    Shown(&'static str, &'static str, Json),
}

use Step::{Before, Part, Put, Shown};

const CODE: &str = "fn main() {\n\tlet name = \"it’s\";\n\tprintln!(\"{name}\");\n}\n";

fn read(path: &str) -> Json {
    json!({ "file_path": path })
}

fn edit(path: &str, old: &str, new: &str) -> Json {
    json!({ "file_path": path, "old_string": old, "new_string": new })
}

fn write(path: &str, content: &str) -> Json {
    json!({ "file_path": path, "content": content })
}

/// A write outside the workspace that asks for more.
fn wider(mut asked: Json) -> Json {
    asked["file_path"] = "/etc/outside.txt".into();
    asked["content"] = "x\n".into();
    asked
}

fn results() -> Vec<Step> {
    vec![
        Part("Results"),
        Put("src/main.rs", CODE.into()),
        Shown("A read", "read", read("src/main.rs")),
        Shown("A window", "read", json!({ "file_path": "src/main.rs", "offset": 2, "limit": 1 })),
        Shown("A new file", "write", write("notes.txt", "one\ntwo\none\n")),
        Shown("A file that is replaced", "write", write("notes.txt", "one\ntwo\none\nthree\n")),
        Shown("An edit", "edit", edit("notes.txt", "three", "3")),
        Shown("Files", "glob", json!({ "pattern": "src/*.rs" })),
        Shown("No files", "glob", json!({ "pattern": "*.zig" })),
        Shown("Lines", "grep", json!({ "pattern": "println", "include": "*.rs" })),
        Shown("No lines", "grep", json!({ "pattern": "nothing like this" })),
    ]
}

fn refused_edits() -> Vec<Step> {
    vec![
        Part("Edits that do not match"),
        Shown("Indentation", "edit", edit("src/main.rs", "    let name", "    let title")),
        Shown("Look-alikes", "edit", edit("src/main.rs", "\"it's\"", "\"its\"")),
        Shown("Letter case", "edit", edit("src/main.rs", "fn Main()", "fn start()")),
        Shown("Blanks at the end", "edit", edit("src/main.rs", "fn main() { \n\tlet", "fn start() {\n\tlet")),
        Shown("Escapes written out", "edit", edit("src/main.rs", "println!(\\\"{name}\\\")", "print!()")),
        Shown("Line numbers copied", "edit", edit("src/main.rs", "3: \tprintln!(\"{name}\");", "")),
        Shown(
            "A footer copied",
            "edit",
            edit("src/main.rs", "}\");\n}\n\n(End of file - total 4 lines)", ""),
        ),
        Put("end.txt", b"one\nno newline".into()),
        Before("read", read("end.txt")),
        Shown("A final newline that is not there", "edit", edit("end.txt", "no newline\n", "newline\n")),
        Put("mac.txt", b"one\rtwo\rthree\r".into()),
        Before("read", read("mac.txt")),
        Shown("Lone carriage returns", "edit", edit("mac.txt", "two\nthree", "2\n3")),
        Put("accent.txt", "caf\u{e9}\n".into()),
        Before("read", read("accent.txt")),
        Shown("Unicode normal form", "edit", edit("accent.txt", "cafe\u{301}", "coffee")),
        Shown("Other text", "edit", edit("src/main.rs", "\tlet nome = \"it’s\";", "\tlet title = 1;")),
        Shown(
            "Made already",
            "edit",
            edit("src/main.rs", "\tprintln!(\"{nom}\");", "\tprintln!(\"{name}\");"),
        ),
        Put("lib/main.rs", b"fn other() {}\n".into()),
        Before("read", read("lib/main.rs")),
        Shown("Text of another file", "edit", edit("src/main.rs", "fn other() {}", "")),
        Shown("Nothing like it", "edit", edit("src/main.rs", "quite another thing", "")),
        Shown("Several matches", "edit", edit("notes.txt", "one", "1")),
    ]
}

fn refusals() -> Vec<Step> {
    vec![
        Part("Other refusals"),
        Put("unread.txt", b"x\n".into()),
        Shown("An edit of what was not read", "edit", edit("unread.txt", "x", "y")),
        Shown("A write over what was not read", "write", write("unread.txt", "y\n")),
        Put("notes.txt", b"one\ntwo\nand more\none\n3\n".into()),
        Shown("A file that changed", "edit", edit("notes.txt", "two", "2")),
        Shown("A path that is not there", "read", read("src/Main.rs")),
        Shown("The same name elsewhere", "read", read("accent/end.txt")),
        Shown("A name that is nowhere", "read", read("nowhere.txt")),
        Shown("A folder", "read", read("src")),
        Put("bytes.bin", vec![0, 159, 146, 150]),
        Shown("No text", "read", read("bytes.bin")),
        Shown("An edit of what is no text", "edit", edit("bytes.bin", "x", "y")),
        Shown("A window behind the end", "read", json!({ "file_path": "end.txt", "offset": 9 })),
        Shown("Outside the workspace", "write", write("/etc/outside.txt", "x\n")),
        Shown(
            "A wider sandbox without a reason",
            "write",
            wider(json!({ "sandbox_permissions": "danger-full-access" })),
        ),
        Shown(
            "A wider sandbox where nobody can be asked",
            "write",
            wider(
                json!({ "sandbox_permissions": "danger-full-access", "justification": "The file belongs there." }),
            ),
        ),
        Put("key.pem", b"x\n".into()),
        Shown("Closed by the read rules", "read", read("key.pem")),
        Shown("No arguments", "read", json!({})),
        Shown("A limit that is too large", "read", json!({ "file_path": "end.txt", "limit": 9999 })),
        Shown("Nothing to replace", "edit", edit("end.txt", "", "x")),
        Shown("Nothing that changes", "edit", edit("end.txt", "one", "one")),
        Shown("A bad regular expression", "grep", json!({ "pattern": "call(name" })),
        Shown("A bad glob", "glob", json!({ "pattern": "pages/[slug/*.ts" })),
        Shown("A list of globs", "glob", json!({ "pattern": "*.rs,*.ts" })),
        Shown("Nothing to search", "grep", json!({ "pattern": "x", "path": "nowhere" })),
        Shown("No such tool", "delete", read("end.txt")),
    ]
}

/// The whole page.
pub fn page() -> anyhow::Result<String> {
    let mut page = HEAD.to_owned();
    page.push_str(&prefix()?);
    let stage = Stage::new()?;
    for step in results().into_iter().chain(refused_edits()).chain(refusals()) {
        match step {
            Part(title) => write!(page, "\n## {title}\n")?,
            Put(path, bytes) => stage.put(path, &bytes)?,
            Before(tool, args) => {
                stage.call(tool, args);
            }
            Shown(title, tool, args) => {
                let call = fenced("json", &format!("{{\"tool\": \"{tool}\", \"args\": {args}}}"));
                let result = fenced("text", &stage.call(tool, args));
                write!(page, "\n{title}:\n\n{call}\n\n{result}\n")?;
            }
        }
    }
    let figures = home().join("testdata").join("model-figures.md");
    page.push_str(
        &fs::read_to_string(&figures).with_context(|| format!("cannot read {}", figures.display()))?,
    );
    Ok(page)
}

/// What is sent before the first message, of two starts.
fn prefix() -> anyhow::Result<String> {
    let (first, second) = (Stage::new()?.prefix()?, Stage::new()?.prefix()?);
    anyhow::ensure!(first == second, "two starts send two prefixes");
    let [one, other] = [&first, &second].map(|prefix| Digest::of(prefix.as_bytes()));
    Ok(format!(
        "\n## Before the first message\n\nThe tool list and the guidance are the same text at every start, so that a \
         provider's cache of the prefix holds. Of two starts, {} bytes each, the digests:\n\n```text\n{one}\n{other}\n```\n",
        first.len()
    ))
}

/// A harness on a folder of its own.
struct Stage {
    folder: tempfile::TempDir,
    ctx: Context,
    tools: Arc<ToolRegistry>,
    session: Arc<Session>,
    runtime: Runtime,
}

impl Stage {
    fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().canonicalize()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let ctx = Context::root();
        let registry = dsh_cli::registry();
        let fence = json!({ "cwd": place, "mode": "workspace-write", "deny": ["*.pem"] });
        let rows = [
            ("dsh-fs-sandbox", fence),
            ("dsh-fs-observation-policy", json!({})),
            ("dsh-tool-fs", json!({ "editHints": true })),
            ("dsh-tool-fs-search", json!({ "sampleOverCapGlobResults": true, "patternHints": true })),
        ];
        let rows = rows.map(|(row, config)| registry.configure(row, config));
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
        runtime.block_on(async {
            let harness = HarnessConfig { include_harness_identity: false, ..HarnessConfig::default() };
            ctx.plugin(HarnessPlugin, harness).await?;
            ctx.compose(rows).await?;
            anyhow::Ok(())
        })?;
        let tools = ctx.service(TOOLS)?;
        let session = Session::new(SessionHeader { id: "s1".to_owned(), cwd: place });
        Ok(Self { folder, ctx, tools, session, runtime })
    }

    /// Tool list and guidance, as text.
    fn prefix(&self) -> anyhow::Result<String> {
        let mut prefix = String::new();
        for tool in self.tools.definitions() {
            writeln!(prefix, "{} {} {}", tool.name, tool.description, tool.parameters.to_json())?;
        }
        for (name, order, text) in self.ctx.service(SYSTEM_PROMPT)?.sections() {
            writeln!(prefix, "{name} {order} {text}")?;
        }
        Ok(self.told(&prefix))
    }

    fn put(&self, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let file = self.folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
        Ok(fs::write(file, bytes)?)
    }

    fn call(&self, tool: &str, arguments: Json) -> String {
        let (id, tool, session) = ("c1".to_owned(), tool.to_owned(), Some(self.session.clone()));
        let call = ToolCall { id, tool, arguments, session, cancel: CancellationToken::new() };
        self.told(&self.runtime.block_on(self.tools.execute(call)).text())
    }

    fn told(&self, text: &str) -> String {
        text.replace(&*self.session.header().cwd.to_string_lossy(), "/w").replace('\r', "\u{240D}")
    }
}
