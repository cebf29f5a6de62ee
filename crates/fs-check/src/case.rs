//! [`Case`]: one rule's ground, and shorthands for what every rule does.

use std::path::PathBuf;
use std::sync::Arc;

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::text::BOM;
use dsh_fs::{
    EditOutcome, FileSystem, FsCall, FsError, FsKind, FsTarget, FsVersion, ResumePoint, TextChunk, TextRead,
    TextStream, WriteGuard, WriteOutcome,
};

use crate::{Ground, Unsupported};

/// What a rule works with: a fresh backend, a call that nobody cancels, and the hands of another program.
///
/// Shorthands that return a value panic where the backend refuses; those that return a `Result` leave it to the rule.
#[expect(missing_debug_implementations, reason = "a ground has nothing to show")]
pub struct Case {
    /// The backend under test.
    pub fs: Arc<dyn FileSystem>,
    /// A call that nobody cancels.
    pub call: FsCall,
    /// The hands of another program.
    pub ground: Arc<dyn Ground>,
}

impl Case {
    /// Makes a case of fresh ground.
    pub fn on(ground: impl Ground) -> Self {
        Self { fs: ground.fs(), call: FsCall::new(), ground: Arc::new(ground) }
    }

    /// The workspace, as `cwd` of a call.
    pub fn cwd(&self) -> PathBuf {
        PathBuf::from(self.ground.root())
    }

    /// The absolute path of a name in the workspace.
    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.ground.root().trim_end_matches('/'))
    }

    /// What a path means, relative to the workspace.
    pub async fn resolve(&self, path: &str) -> Result<FsTarget, FsError> {
        self.fs.resolve(path, Some(&self.cwd()), &self.call).await
    }

    /// The target of a name in the workspace.
    pub async fn target(&self, name: &str) -> FsTarget {
        self.resolve(name).await.unwrap_or_else(|error| panic!("resolve {name:?}: {error}"))
    }

    /// Puts a file as another program would.
    pub async fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        self.ground.put(name, bytes.as_ref()).await;
    }

    /// Puts a file as another program would and resolves it.
    pub async fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> FsTarget {
        self.put(name, bytes).await;
        self.target(name).await
    }

    /// A hand that the ground has declared to have.
    pub fn able(&self, hand: Result<(), Unsupported>) {
        assert_eq!(hand, Ok(()), "the ground declares a capability whose hand it does not have");
    }

    /// Asserts what a file holds now, seen from outside.
    pub async fn holds(&self, name: &str, expected: impl AsRef<[u8]>) {
        let (bytes, expected) = (self.ground.bytes(name).await, expected.as_ref());
        let Some(bytes) = bytes else { panic!("{name:?} does not exist") };
        if bytes != expected {
            let show = |bytes: &[u8]| bytes[..bytes.len().min(400)].escape_ascii().to_string();
            panic!("{name:?} holds\n  {}\nand should hold\n  {}", show(&bytes), show(expected));
        }
    }

    /// Asserts that there is no such file, seen from outside.
    pub async fn absent(&self, name: &str) {
        let bytes = self.ground.bytes(name).await;
        assert!(bytes.is_none(), "{name:?} should not exist");
    }

    /// The names in a folder as the backend lists them; the workspace itself is `.`.
    pub async fn names(&self, folder: &str) -> Vec<String> {
        let listed = self.fs.list_dir(&self.target(folder).await, &self.call).await;
        let entries = listed.unwrap_or_else(|error| panic!("list {folder:?}: {error}"));
        entries.into_iter().map(|entry| entry.name).collect()
    }

    /// The names of all that is below a folder, sorted, folders with a `/` at the end: as the backend lists them and,
    /// where another program can look too, as that one does.
    pub async fn all_names(&self, folder: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![(String::new(), self.target(folder).await)];
        while let Some((above, target)) = folders.pop() {
            let listed = self.fs.list_dir(&target, &self.call).await;
            for entry in listed.unwrap_or_else(|error| panic!("list {folder:?}: {error}")) {
                let mut name = format!("{above}{}", entry.name);
                if entry.kind == FsKind::Directory {
                    name.push('/');
                    folders.push((name.clone(), entry.target));
                }
                names.push(name);
            }
        }
        names.extend(self.ground.names(folder).await.unwrap_or_default());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Reads a file whole.
    pub async fn read(&self, target: &FsTarget) -> TextRead {
        self.fs.read_text(target, &self.call).await.unwrap_or_else(|error| panic!("read: {error}"))
    }

    /// Reads a file as a stream to its end: all text and the version.
    pub async fn stream(&self, target: &FsTarget) -> Result<TextRead, FsError> {
        let stream = self.fs.stream_text(target, None, &self.call).await?;
        let Some(read) = drain(stream, 0).await? else {
            panic!("a stream from the start must not answer Changed")
        };
        Ok(read)
    }

    /// Reads on from a place; `None` where the backend says that the file may have changed.
    pub async fn resume(&self, target: &FsTarget, from: &ResumePoint) -> Result<Option<TextRead>, FsError> {
        let stream = self.fs.stream_text(target, Some(from), &self.call).await?;
        drain(stream, from.offset).await
    }

    /// Writes a whole file, unguarded.
    pub async fn write(&self, target: &FsTarget, content: &str) -> Result<WriteOutcome, FsError> {
        self.fs.write_text(target, content, None, &self.call).await
    }

    /// Writes a whole file if nothing is there.
    pub async fn create(&self, target: &FsTarget, content: &str) -> Result<WriteOutcome, FsError> {
        self.fs.write_text(target, content, Some(&WriteGuard::CreateIfAbsent), &self.call).await
    }

    /// Writes a whole file if it still has a version.
    pub async fn replace(
        &self,
        target: &FsTarget,
        content: &str,
        version: &FsVersion,
    ) -> Result<WriteOutcome, FsError> {
        let guard = WriteGuard::ReplaceIfVersion(version.clone());
        self.fs.write_text(target, content, Some(&guard), &self.call).await
    }

    /// Edits one place, unguarded.
    pub async fn edit(&self, target: &FsTarget, old: &str, new: &str) -> Result<EditOutcome, FsError> {
        self.fs.edit_text(target, &edit(old, new), None, &self.call).await
    }

    /// Edits every place, unguarded.
    pub async fn edit_all(&self, target: &FsTarget, old: &str, new: &str) -> Result<EditOutcome, FsError> {
        let Ok(edit) = LiteralEdit::new(old, new, true) else { panic!("not an edit: {old:?} to {new:?}") };
        self.fs.edit_text(target, &edit, None, &self.call).await
    }

    /// Edits one place if the file still has a version.
    pub async fn edit_if(
        &self,
        target: &FsTarget,
        old: &str,
        new: &str,
        version: &FsVersion,
    ) -> Result<EditOutcome, FsError> {
        self.fs.edit_text(target, &edit(old, new), Some(version), &self.call).await
    }
}

/// An edit of one place.
pub(crate) fn edit(old: &str, new: &str) -> LiteralEdit {
    LiteralEdit::new(old, new, false).unwrap_or_else(|error| panic!("not an edit: {error}"))
}

/// All text of a stream that begins at byte `from` of the file. Each chunk says where it stands; a byte order mark is no text
/// but has its place.
async fn drain(stream: TextStream, from: u64) -> Result<Option<TextRead>, FsError> {
    let TextStream::Open(mut chunks) = stream else { return Ok(None) };
    let mut all = String::new();
    let mut start = None;
    loop {
        match chunks.next().await? {
            TextChunk::Text { at, text } => {
                let start = *start.get_or_insert(at);
                assert!(start == from || (from == 0 && start == BOM.len() as u64), "{start} after {from}");
                assert_eq!(at, start + all.len() as u64, "a chunk stands behind the one before it");
                all.push_str(text);
            }
            TextChunk::End(version) => return Ok(Some(TextRead { text: all, version })),
        }
    }
}
