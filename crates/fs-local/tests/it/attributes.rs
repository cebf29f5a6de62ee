//! Access lists and extended attributes of what a mutation leaves behind.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::process::Command;

use dsh_fs::{FsErrorCode, WriteGuard};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;

use crate::disk::{Disk, is_rerun, is_root, refused, rerun};

const ACL: &str = "system.posix_acl_access";
const DEFAULT_ACL: &str = "system.posix_acl_default";

/// Sets an attribute; `false` where the file system has none.
fn set(disk: &Disk, path: &str, name: &str, value: &[u8]) -> bool {
    match setxattr(disk.at(path), name, value, XattrFlags::empty()) {
        Err(Errno::OPNOTSUPP | Errno::PERM) => false,
        answer => {
            answer.unwrap();
            true
        }
    }
}

fn get(disk: &Disk, path: &str, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1 << 16];
    match getxattr(disk.at(path), name, &mut value) {
        Ok(length) => Some(value[..length].to_vec()),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => None,
        Err(errno) => panic!("{name}: {errno}"),
    }
}

fn mode(disk: &Disk, path: &str) -> u32 {
    fs::metadata(disk.at(path)).unwrap().mode() & 0o7777
}

/// An access list as the kernel has it: version 2, then tag, permissions and id of each entry, little endian.
fn acl(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

const NOBODY: u32 = u32::MAX;

/// The user 1234 may read; others may not.
fn one_more_reader() -> Vec<u8> {
    acl(&[(1, 6, NOBODY), (2, 4, 1234), (4, 0, NOBODY), (16, 4, NOBODY), (32, 0, NOBODY)])
}

#[tokio::test]
async fn attributes_and_access_lists_survive_every_mutation() {
    let disk = Disk::new();
    disk.put("f", "1");
    let large = vec![7; 2000];
    if !set(&disk, "f", "user.small", b"value") || !set(&disk, "f", "user.large", &large) {
        return;
    }
    set(&disk, "f", "user.empty", b"");
    for number in 0..40 {
        set(&disk, "f", &format!("user.a.rather.long.name.{number:03}"), &[number]);
    }
    let has_acls = set(&disk, "f", ACL, &one_more_reader());
    // Only root may set these.
    let has_security = set(&disk, "f", "security.dsh", b"label");
    let mode_before = mode(&disk, "f");

    let same = |what: &str| {
        assert_eq!(get(&disk, "f", "user.small").as_deref(), Some(&b"value"[..]), "{what}");
        assert_eq!(get(&disk, "f", "user.large").as_ref(), Some(&large), "{what}");
        assert_eq!(get(&disk, "f", "user.empty").as_deref(), Some(&b""[..]), "{what}");
        assert_eq!(get(&disk, "f", "user.a.rather.long.name.039").as_deref(), Some(&[39][..]), "{what}");
        assert_eq!(get(&disk, "f", ACL), has_acls.then(one_more_reader), "{what}");
        assert_eq!(get(&disk, "f", "security.dsh").is_some(), has_security, "{what}");
        assert_eq!(mode(&disk, "f"), mode_before, "{what}");
    };
    disk.edit("f", "1", "2").await.unwrap();
    same("edit");
    let version = disk.version("f").await;
    disk.edit_if("f", "2", "3", Some(&version)).await.unwrap();
    same("guarded edit");
    disk.write("f", "4").await.unwrap();
    same("write");
    let version = disk.version("f").await;
    disk.write_if("f", "5", Some(WriteGuard::ReplaceIfVersion(version))).await.unwrap();
    same("guarded write");
    assert_eq!(disk.text("f"), "5");
}

/// A program that may bind low ports: version 2, `CAP_NET_BIND_SERVICE` permitted and effective.
const CAPABILITY: [u8; 20] = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[tokio::test]
async fn capabilities_are_not_handed_on_to_bytes_that_nobody_trusted_with_them() {
    let name = "security.capability";
    for write in [false, true] {
        let disk = Disk::new();
        disk.put("f", "1").mode("f", 0o755);
        // Only root may set these.
        if !set(&disk, "f", name, &CAPABILITY) {
            return;
        }
        set(&disk, "f", "security.dsh", b"label");
        assert!(get(&disk, "f", name).is_some());
        if write {
            disk.write("f", "2").await.unwrap();
        } else {
            disk.edit("f", "1", "2").await.unwrap();
        }
        assert_eq!((get(&disk, "f", name), mode(&disk, "f")), (None, 0o755));
        assert_eq!(get(&disk, "f", "security.dsh").as_deref(), Some(&b"label"[..]));
    }
}

#[tokio::test]
async fn a_new_file_gets_what_the_kernel_makes_of_the_folders_default_list() {
    let disk = Disk::new();
    disk.folder("d");
    if !set(&disk, "d", DEFAULT_ACL, &one_more_reader()) {
        return;
    }
    disk.put("d/kernel", "x");
    disk.write("d/ours", "x").await.unwrap();
    disk.write("d/sub/ours", "x").await.unwrap();
    assert!(get(&disk, "d/kernel", ACL).is_some());
    for path in ["d/ours", "d/sub/ours"] {
        assert_eq!(get(&disk, path, ACL), get(&disk, "d/kernel", ACL));
        assert_eq!(mode(&disk, path), mode(&disk, "d/kernel"));
    }
    // A replacement has the file's own list: here none, although it was made in that folder.
    disk.put("plain", "1").mode("plain", 0o664);
    fs::rename(disk.at("plain"), disk.at("d/plain")).unwrap();
    disk.edit("d/plain", "1", "2").await.unwrap();
    assert_eq!((get(&disk, "d/plain", ACL), mode(&disk, "d/plain")), (None, 0o664));
}

#[tokio::test]
async fn an_access_list_decides_who_may_read_the_new_text() {
    if is_rerun() {
        let path = format!("{}/f", std::env::var("FOLDER").unwrap());
        assert_eq!(Disk::new().read(&path).await.unwrap().text, "2");
        return;
    }
    let disk = Disk::new();
    disk.put("f", "1").mode(".", 0o755);
    if !is_root() || !set(&disk, "f", ACL, &one_more_reader()) {
        return;
    }
    disk.edit("f", "1", "2").await.unwrap();
    let folder = disk.root().to_str().unwrap().to_owned();
    let user = ["setpriv", "--reuid=1234", "--regid=1234", "--clear-groups"];
    rerun(&user, "attributes::an_access_list_decides_who_may_read_the_new_text", &[("FOLDER", &folder)]);
}

const CANNOT: &str = "its attributes or access list cannot be kept";

#[tokio::test]
async fn attributes_that_cannot_be_read_refuse_the_write_and_nothing_changes() {
    if is_rerun() {
        let path = format!("{}/f", std::env::var("FOLDER").unwrap());
        refused(
            Disk::new().write(&path, "2").await,
            FsErrorCode::PermissionDenied,
            format!("cannot write \"{path}\": {CANNOT}"),
        );
        return;
    }
    let disk = Disk::new();
    disk.mode(".", 0o777).put("f", "1");
    if !is_root() || !set(&disk, "f", "user.mark", b"value") {
        return;
    }
    // Who may write it may not read it.
    disk.mode("f", 0o222);
    let folder = disk.root().to_str().unwrap().to_owned();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    rerun(
        &user,
        "attributes::attributes_that_cannot_be_read_refuse_the_write_and_nothing_changes",
        &[("FOLDER", &folder)],
    );
    assert_eq!((disk.text("f"), disk.tree(), mode(&disk, "f")), ("1".into(), vec!["f".into()], 0o222));
    assert_eq!(get(&disk, "f", "user.mark").as_deref(), Some(&b"value"[..]));
}

#[tokio::test]
async fn attributes_that_cannot_be_set_refuse_the_edit_and_nothing_changes() {
    if is_rerun() {
        let disk = Disk::new();
        let path = format!("{}/f", std::env::var("FOLDER").unwrap());
        let message = |verb: &str| format!("cannot {verb} \"{path}\": {CANNOT}");
        refused(disk.edit(&path, "1", "2").await, FsErrorCode::IoError, message("edit"));
        refused(disk.write(&path, "2").await, FsErrorCode::IoError, message("write"));
        return;
    }
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    let disk = Disk::new();
    disk.put("f", "1");
    if !set(&disk, "f", "user.mark", b"value") || !traced.is_ok_and(|status| status.success()) {
        return;
    }
    let folder = disk.root().to_str().unwrap().to_owned();
    rerun(
        &["strace", "-f", "-o", "/dev/null", "-e", "inject=fsetxattr:error=ENOSPC"],
        "attributes::attributes_that_cannot_be_set_refuse_the_edit_and_nothing_changes",
        &[("FOLDER", &folder)],
    );
    assert_eq!((disk.text("f"), disk.tree()), ("1".into(), vec!["f".into()]));
}

#[tokio::test]
async fn a_file_of_another_owner_keeps_its_attributes() {
    if is_rerun() {
        let path = format!("{}/f", std::env::var("FOLDER").unwrap());
        Disk::new().edit(&path, "1", "2").await.unwrap();
        return;
    }
    let disk = Disk::new();
    disk.mode(".", 0o777).put("f", "1");
    if !is_root() || !set(&disk, "f", "user.mark", b"value") {
        return;
    }
    // The caller may write it as a member of its group only; as its new owner it may only read it.
    chown(disk.at("f"), Some(1234), Some(4321)).unwrap();
    disk.mode("f", 0o464);
    let folder = disk.root().to_str().unwrap().to_owned();
    let user = ["setpriv", "--reuid=65534", "--regid=4321", "--clear-groups"];
    rerun(&user, "attributes::a_file_of_another_owner_keeps_its_attributes", &[("FOLDER", &folder)]);
    assert_eq!((disk.text("f"), mode(&disk, "f")), ("2".into(), 0o464));
    assert_eq!(get(&disk, "f", "user.mark").as_deref(), Some(&b"value"[..]));
}
