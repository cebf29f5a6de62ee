//! A store in memory keeps the whole contract, as far as a store can.

use std::collections::BTreeSet;
use std::sync::Arc;

use dsh_fs::FileSystem;
use dsh_fs_check::{Capability, Ground, Unsupported, async_trait};
use dsh_fs_object::object_store::memory::InMemory;
use futures_util::TryStreamExt as _;
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};

use crate::rig::over;

dsh_fs_check::conformance!(ObjectGround);

/// A store of its own; the workspace is a prefix of it.
struct ObjectGround(Arc<InMemory>);

/// The key of a name as another program has to write it: keys have no control characters.
fn key(name: &str) -> Key {
    let mut key = String::from("team/workspace/");
    for character in name.chars() {
        if character.is_ascii_control() {
            key.extend(["%", &format!("{:02X}", u32::from(character))]);
        } else {
            key.push(character);
        }
    }
    Key::parse(key).unwrap()
}

#[async_trait]
impl Ground for ObjectGround {
    fn capabilities() -> &'static [Capability] {
        &[Capability::SharedGround, Capability::OutsideNames]
    }

    async fn lay() -> Self {
        Self(Arc::default())
    }

    fn fs(&self) -> Arc<dyn FileSystem> {
        Arc::new(over(self.0.clone()))
    }

    fn root(&self) -> String {
        "/".to_owned()
    }

    async fn put(&self, name: &str, bytes: &[u8]) {
        self.0.put(&key(name), bytes.to_vec().into()).await.unwrap();
    }

    async fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        match self.0.get(&key(name)).await {
            Ok(found) => Some(found.bytes().await.unwrap().into()),
            Err(Error::NotFound { .. }) => None,
            Err(error) => panic!("{name:?}: {error}"),
        }
    }

    async fn remove(&self, name: &str) {
        self.0.head(&key(name)).await.unwrap();
        self.0.delete(&key(name)).await.unwrap();
    }

    async fn another(&self) -> Result<Arc<dyn FileSystem>, Unsupported> {
        Ok(self.fs())
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, Unsupported> {
        let prefix = if folder == "." { Key::parse("team/workspace").unwrap() } else { key(folder) };
        let objects: Vec<_> = self.0.list(Some(&prefix)).try_collect().await.unwrap();
        let mut names = BTreeSet::new();
        for object in objects {
            let name = &object.location.as_ref()[prefix.as_ref().len() + 1..];
            names.extend(name.match_indices('/').map(|(at, _)| name[..=at].to_owned()));
            names.insert(
                name.replace("%0A", "\n").replace("%09", "\t").replace("%1B", "\x1b").replace("%7F", "\x7f"),
            );
        }
        Ok(names.into_iter().collect())
    }
}
