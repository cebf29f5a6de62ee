//! Stores for the tests: one that counts, one that fails on purpose.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dsh_fs::{FileSystem, FsCall, FsTarget};
use dsh_fs_object::object_store::memory::InMemory;
use dsh_fs_object::{ObjectFileSystem, ObjectFsConfig, object_store};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use object_store::path::Path as Key;
use object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// A workspace at a prefix of a store.
pub(crate) fn over(objects: Arc<dyn ObjectStore>) -> ObjectFileSystem {
    let prefix = Key::parse("team/workspace").unwrap();
    ObjectFileSystem::over(objects, prefix, &ObjectFsConfig::new("s3://bucket/team/workspace"))
}

/// The key of a plain name.
pub(crate) fn key(name: &str) -> Key {
    Key::parse(format!("team/workspace/{name}")).unwrap()
}

/// The target of a path, without what the probe costs.
pub(crate) async fn target(fs: &ObjectFileSystem, path: &str) -> FsTarget {
    fs.resolve(path, None, &FsCall::new()).await.unwrap()
}

/// What a store does with the next put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is applied, and the answer is lost.
    LostAnswer,
    /// It is applied; the answer is lost, the client tries again and is refused.
    RefusedAgain,
    /// It is not applied, and the answer is lost.
    NeverCame,
    /// It is refused as a conflict, though nothing is there.
    Conflict,
    /// Somebody else replaces the object right before it.
    Overtaken,
    /// So does somebody who restores it right after, in a store whose tags are digests.
    Flickered,
    /// It is refused for good.
    Forbidden,
}

/// A store in memory that counts requests and bytes, fails where it is told to, and may not care for conditions or
/// metadata.
#[derive(Debug, Default)]
pub(crate) struct Rigged {
    pub(crate) objects: InMemory,
    pub(crate) faults: Mutex<Vec<Fault>>,
    careless: bool,
    forgetful: bool,
    requests: Mutex<Vec<String>>,
    sent: AtomicUsize,
    asked: AtomicUsize,
    most_asked: AtomicUsize,
}

impl Rigged {
    /// One that makes every put, whatever its condition.
    pub(crate) fn careless() -> Self {
        Self { careless: true, ..Self::default() }
    }

    /// One that drops the metadata of objects.
    pub(crate) fn forgetful() -> Self {
        Self { forgetful: true, ..Self::default() }
    }

    /// The requests since the last look: what, and of which key.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    /// The bytes that were sent to readers since the last look.
    pub(crate) fn sent(&self) -> usize {
        self.sent.swap(0, Ordering::SeqCst)
    }

    /// The most reads that were under way at once.
    pub(crate) fn most_at_once(&self) -> usize {
        self.most_asked.load(Ordering::SeqCst)
    }

    fn note(&self, what: &str, key: Option<&Key>) {
        let key = key.map(Key::as_ref).unwrap_or_default().trim_start_matches("team/workspace");
        self.requests.lock().unwrap().push(format!("{what} {}", if key.is_empty() { "/" } else { key }));
    }
}

impl fmt::Display for Rigged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rigged")
    }
}

fn generic() -> Error {
    Error::Generic { store: "rigged", source: "the connection broke".into() }
}

#[async_trait::async_trait]
impl ObjectStore for Rigged {
    async fn put_opts(&self, key: &Key, payload: PutPayload, mut options: PutOptions) -> Result<PutResult> {
        self.note("put", Some(key));
        let fault = self.faults.lock().unwrap().pop();
        match fault {
            Some(Fault::NeverCame) => return Err(generic()),
            Some(Fault::Conflict) => {
                return Err(Error::AlreadyExists { path: key.to_string(), source: "409".into() });
            }
            Some(Fault::Forbidden) => {
                return Err(Error::PermissionDenied { path: key.to_string(), source: "403".into() });
            }
            Some(Fault::Flickered) => {
                return Err(Error::Precondition { path: key.to_string(), source: "412".into() });
            }
            Some(Fault::Overtaken) => {
                self.objects.put_opts(key, "somebody else\n".into(), PutOptions::default()).await?;
            }
            Some(Fault::LostAnswer | Fault::RefusedAgain) | None => {}
        }
        if self.careless {
            options.mode = PutMode::Overwrite;
        }
        if self.forgetful {
            options.attributes = Attributes::new();
        }
        if fault == Some(Fault::RefusedAgain) {
            self.objects.put_opts(key, payload.clone(), options.clone()).await?;
        }
        let put = self.objects.put_opts(key, payload, options).await;
        if fault == Some(Fault::LostAnswer) { put.and(Err(generic())) } else { put }
    }

    async fn put_multipart_opts(
        &self,
        _key: &Key,
        _options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        unreachable!("a file is put at one blow")
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        let what = match (&options.head, &options.range) {
            (true, _) => "head",
            (false, Some(_)) => "range",
            (false, None) => "get",
        };
        self.note(what, Some(key));
        self.most_asked.fetch_max(self.asked.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let found = self.objects.get_opts(key, options).await;
        self.asked.fetch_sub(1, Ordering::SeqCst);
        let found = found?;
        if what != "head" {
            let sent = usize::try_from(found.range.end - found.range.start).unwrap();
            self.sent.fetch_add(sent, Ordering::SeqCst);
        }
        Ok(found)
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Key>>) -> BoxStream<'static, Result<Key>> {
        self.note("delete", None);
        self.objects.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.note("below", prefix);
        self.objects.list(prefix).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        let listed = self.objects.list_with_delimiter(prefix).await?;
        for _ in 0..(listed.objects.len() + listed.common_prefixes.len()).div_ceil(1000).max(1) {
            self.note("list", prefix);
        }
        Ok(listed)
    }

    async fn copy_opts(&self, _from: &Key, _to: &Key, _options: CopyOptions) -> Result<()> {
        unreachable!("nothing is copied")
    }
}
