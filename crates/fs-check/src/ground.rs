//! [`Ground`]: what the author of a backend gives to the suite.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_fs::FileSystem;

/// Something that not every backend, or not every outside hand, can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Folders exist by themselves, empty ones too ([`Ground::folder`]).
    EmptyFolders,
    /// There are symbolic links ([`Ground::link`]).
    Links,
    /// There are FIFOs, sockets or devices ([`Ground::special`]).
    SpecialFiles,
    /// A file has metadata that can change while its bytes stay ([`Ground::touch`]).
    Metadata,
    /// Another program can change bytes and put the old times back ([`Ground::put_with_old_times`]).
    Times,
    /// Processes can open the files ([`FileSystem::process_path`] answers).
    ProcessPaths,
    /// Guards compare content: the same bytes, written again, are still the version that was read.
    ContentGuards,
    /// There can be several backends over the same files ([`Ground::another`]).
    SharedGround,
    /// Names need not be UTF-8 ([`Ground::put_raw`]).
    RawNames,
    /// Another program can list what the backend may hide ([`Ground::names`]).
    OutsideNames,
    /// To resolve a path is to look at what is above it: one below a file is refused there and then.
    LooksAbove,
}

impl Capability {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::EmptyFolders,
        Self::Links,
        Self::SpecialFiles,
        Self::Metadata,
        Self::Times,
        Self::ProcessPaths,
        Self::ContentGuards,
        Self::SharedGround,
        Self::RawNames,
        Self::OutsideNames,
        Self::LooksAbove,
    ];
}

/// The answer of an outside hand that a ground does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

/// A fresh backend with a private, empty workspace, and the hands of "another program" in that workspace.
///
/// Names that the hands take are relative to the workspace, with `/` between their parts. A hand that fails panics:
/// the ground itself is not under test. Hands go around the backend, as another program would: straight to the disk,
/// the bucket, the map.
#[async_trait]
pub trait Ground: Send + Sync + 'static {
    /// What backend and hands can do beyond the required methods. Checked by the test `declares_its_capabilities`.
    fn capabilities() -> &'static [Capability]
    where
        Self: Sized;

    /// Lays new ground: nothing in its workspace, nothing shared with another ground. Called once per rule.
    async fn lay() -> Self
    where
        Self: Sized;

    /// The backend.
    fn fs(&self) -> Arc<dyn FileSystem>;

    /// The absolute path of the workspace as [`FileSystem::resolve`] takes it, without links in it.
    fn root(&self) -> String;

    /// Creates or overwrites a file, and the folders above it.
    async fn put(&self, name: &str, bytes: &[u8]);

    /// The bytes of a file, links followed; `None` where nothing is.
    async fn bytes(&self, name: &str) -> Option<Vec<u8>>;

    /// Removes a file or a link.
    async fn remove(&self, name: &str);

    /// Appends to a file that is there. In place, where there is such a thing: a reader may be half-way through. Some
    /// hundred bytes are appended at one blow.
    async fn append(&self, name: &str, bytes: &[u8]) {
        let old = self.bytes(name).await.unwrap_or_default();
        self.put(name, &[&old, bytes].concat()).await;
    }

    /// Puts a new file in the place of one, at one blow (a rename), where there is such a thing.
    async fn replace(&self, name: &str, bytes: &[u8]) {
        self.put(name, bytes).await;
    }

    /// Makes an empty folder.
    async fn folder(&self, _name: &str) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    /// Makes `name` a symbolic link to `to`, another name in the workspace, which need not exist.
    async fn link(&self, _name: &str, _to: &str) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    /// Is `name` itself a link? Asked only of grounds with [`Capability::Links`].
    async fn is_link(&self, _name: &str) -> Result<bool, Unsupported> {
        Err(Unsupported)
    }

    /// Makes a FIFO (best, since opening one may block), a socket or a device.
    async fn special(&self, _name: &str) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    /// Changes a file's metadata (times, mode) and not its bytes.
    async fn touch(&self, _name: &str) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    /// Overwrites a file in place and puts its old modification time back.
    async fn put_with_old_times(&self, _name: &str, _bytes: &[u8]) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    /// One more backend over the same files, as another process would have it.
    async fn another(&self) -> Result<Arc<dyn FileSystem>, Unsupported> {
        Err(Unsupported)
    }

    /// Creates or overwrites a file whose name is not UTF-8, in a folder that is made if need be.
    async fn put_raw(&self, _folder: &str, _name: &[u8], _bytes: &[u8]) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    /// The names of all that is below a folder, at any depth, relative to it, folders with a `/` at the end. With what
    /// the backend hides in its listings: rules ask here for what it has left lying about.
    async fn names(&self, _folder: &str) -> Result<Vec<String>, Unsupported> {
        Err(Unsupported)
    }

    /// Waits until the backend may take what it now sees of a file's identity for proof (2 s on a disk whose clock
    /// ticks). Only rules that compare by identity ask.
    async fn settle(&self) {}
}
