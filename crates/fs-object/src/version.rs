//! What a version is here: the entity tag of the object, or its generation where it has none.
//!
//! It stands for the bytes, because an object is never changed in place. Not for the write: on S3 a tag is mostly the digest of
//! the bytes, so that the same bytes have the same version again; elsewhere every write makes a new one.

use dsh_fs::FsVersion;
use object_store::{ObjectMeta, PutResult, UpdateVersion};

const E_TAG: &str = "etag:";
const GENERATION: &str = "generation:";

/// The version of an object as the store tells it.
pub(crate) fn of(object: &ObjectMeta) -> FsVersion {
    token(object.e_tag.as_deref(), object.version.as_deref())
}

/// The version of an object that was just put.
pub(crate) fn put(result: &PutResult) -> FsVersion {
    token(result.e_tag.as_deref(), result.version.as_deref())
}

/// The version of what we have put and somebody has replaced since: no object has it any more.
pub(crate) fn passed() -> FsVersion {
    FsVersion::new("passed")
}

/// The version of a folder: it has no state of its own.
pub(crate) fn folder() -> FsVersion {
    FsVersion::new("folder")
}

/// Is the object still what it was when it had this version?
pub(crate) fn holds(version: &FsVersion, object: &ObjectMeta) -> bool {
    (object.e_tag.is_some() || object.version.is_some()) && *version == of(object)
}

/// The condition under which the store replaces just this object.
pub(crate) fn condition(object: &ObjectMeta) -> UpdateVersion {
    UpdateVersion { e_tag: object.e_tag.clone(), version: object.version.clone() }
}

/// The entity tag of a version that was made from one.
pub(crate) fn e_tag(version: &FsVersion) -> Option<&str> {
    version.token().strip_prefix(E_TAG)
}

fn token(e_tag: Option<&str>, generation: Option<&str>) -> FsVersion {
    match (e_tag, generation) {
        (Some(e_tag), _) => FsVersion::new(format!("{E_TAG}{e_tag}")),
        (None, Some(generation)) => FsVersion::new(format!("{GENERATION}{generation}")),
        // The probe refuses a store that tells neither; where it was left out nothing holds.
        (None, None) => FsVersion::new("unknown"),
    }
}
