//! The whole contract on a server that the environment tells, as it does for the program: an Azurite where
//! `AZURE_STORAGE_USE_EMULATOR` is set, else an S3 server at `AWS_ENDPOINT`. The bucket is `workspace`.
//!
//! `tests/stores/run.sh` starts servers and runs this against each.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsh_fs::FileSystem;
use dsh_fs_check::{Capability, Ground, Unsupported, async_trait};
use dsh_fs_object::{ObjectFileSystem, ObjectFsConfig, choose_cryptography, object_store};
use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};
use tokio::sync::Mutex;

dsh_fs_check::conformance!(ServerGround);

/// A prefix of its own on the server.
struct ServerGround {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    is_azure: bool,
    /// What was appended to last, so that it need not be fetched each time.
    grown: Mutex<(String, Vec<u8>)>,
}

static GROUNDS: AtomicUsize = AtomicUsize::new(0);

/// The URL of the bucket, and a client for it that is not the one under test.
fn server() -> (&'static str, Arc<dyn ObjectStore>) {
    choose_cryptography();
    let (azure, s3) = (MicrosoftAzureBuilder::from_env(), AmazonS3Builder::from_env());
    if azure.get_config_value(&AzureConfigKey::UseEmulator).as_deref() == Some("true") {
        let url = "az://workspace";
        return (url, Arc::new(azure.with_url(url).build().unwrap()));
    }
    assert!(s3.get_config_value(&AmazonS3ConfigKey::Endpoint).is_some(), "the environment tells no server");
    let url = "s3://workspace";
    (url, Arc::new(s3.with_url(url).build().unwrap()))
}

impl ServerGround {
    fn key(&self, name: &str) -> Key {
        let mut key = format!("{}/", self.prefix);
        for character in name.chars() {
            if character.is_ascii_control() || (self.is_azure && character == '\\') {
                key.extend(["%", &format!("{:02X}", u32::from(character))]);
            } else {
                key.push(character);
            }
        }
        Key::parse(key).unwrap()
    }
}

#[async_trait]
impl Ground for ServerGround {
    fn capabilities() -> &'static [Capability] {
        &[Capability::SharedGround, Capability::OutsideNames]
    }

    async fn lay() -> Self {
        let number = GROUNDS.fetch_add(1, Ordering::SeqCst);
        let prefix = format!("conformance-{}-{number}", std::process::id());
        let (url, store) = server();
        Self { store, prefix, is_azure: url.starts_with("az:"), grown: Mutex::default() }
    }

    fn fs(&self) -> Arc<dyn FileSystem> {
        // The program is probed in other runs; here nine requests a rule would be nine too many.
        let url = format!("{}/{}", server().0, self.prefix);
        let config = ObjectFsConfig { probe: false, ..ObjectFsConfig::new(url) };
        Arc::new(ObjectFileSystem::new(&config).unwrap())
    }

    fn root(&self) -> String {
        "/".to_owned()
    }

    async fn put(&self, name: &str, bytes: &[u8]) {
        self.store.put(&self.key(name), bytes.to_vec().into()).await.unwrap();
        *self.grown.lock().await = (String::new(), Vec::new());
    }

    async fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        match self.store.get(&self.key(name)).await {
            Ok(found) => Some(found.bytes().await.unwrap().into()),
            Err(Error::NotFound { .. }) => None,
            Err(error) => panic!("{name:?}: {error}"),
        }
    }

    async fn remove(&self, name: &str) {
        self.store.delete(&self.key(name)).await.unwrap();
    }

    /// Nobody else appends.
    async fn append(&self, name: &str, bytes: &[u8]) {
        let (before, mut all) = self.grown.lock().await.clone();
        if before != name {
            all = self.bytes(name).await.unwrap_or_default();
        }
        all.extend_from_slice(bytes);
        self.put(name, &all).await;
        *self.grown.lock().await = (name.to_owned(), all);
    }

    async fn another(&self) -> Result<Arc<dyn FileSystem>, Unsupported> {
        Ok(self.fs())
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, Unsupported> {
        let prefix = if folder == "." { Key::parse(&self.prefix).unwrap() } else { self.key(folder) };
        let objects: Vec<_> = self.store.list(Some(&prefix)).try_collect().await.unwrap();
        let mut names = BTreeSet::new();
        for object in objects {
            let name = &object.location.as_ref()[prefix.as_ref().len() + 1..];
            names.extend(name.match_indices('/').map(|(at, _)| name[..=at].to_owned()));
            let backslash = if self.is_azure { "%5C" } else { "\\" };
            let codes = [("%09", "\t"), ("%0A", "\n"), ("%1B", "\x1b"), ("%7F", "\x7f"), (backslash, "\\")];
            let name =
                codes.iter().fold(name.to_owned(), |name, (code, control)| name.replace(code, control));
            names.insert(name);
        }
        Ok(names.into_iter().collect())
    }
}
