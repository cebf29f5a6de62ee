//! `durability`: what is synced, and what is said of it.

use std::process::Command;

use dsh_fs_local::{Durability, LocalFileSystem, LocalFsConfig};

use crate::disk::{Disk, is_rerun, rerun};

fn disk(durability: Durability) -> Disk {
    let mut disk = Disk::new();
    let config = LocalFsConfig { cwd: Some(disk.root().into()), durability, ..LocalFsConfig::default() };
    disk.fs = LocalFileSystem::new(config).unwrap();
    disk
}

async fn mutate(durability: Durability) {
    let disk = disk(durability);
    let durable = durability == Durability::Full;
    assert_eq!(disk.write("d/f", "1").await.unwrap().durable, durable);
    assert_eq!(disk.write("d/f", "2").await.unwrap().durable, durable);
    let version = disk.version("d/f").await;
    assert_eq!(disk.edit_if("d/f", "2", "3", Some(&version)).await.unwrap().durable, durable);
    assert_eq!((disk.text("d/f"), disk.tree()), ("3".into(), vec!["d".into(), "d/f".into()]));
}

#[tokio::test]
async fn what_is_not_synced_is_not_called_durable() {
    if is_rerun() {
        return mutate(Durability::Rename).await;
    }
    mutate(Durability::Full).await;
    mutate(Durability::Rename).await;
    // Nor is anything synced: a sync that fails would be a failure of the call.
    if Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success())
    {
        rerun(
            &["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync,fdatasync,sync,syncfs:signal=KILL"],
            "durability::what_is_not_synced_is_not_called_durable",
            &[],
        );
    }
}

#[tokio::test]
async fn by_default_a_file_is_synced_before_it_has_its_name() {
    if is_rerun() {
        let disk = Disk::new();
        disk.put("f", "1");
        for path in ["f", "new"] {
            let failed = disk.write(path, "2").await.unwrap_err().to_string();
            assert_eq!(failed, format!("cannot write \"{}\": input/output error", disk.shown(path)));
        }
        assert_eq!((disk.text("f"), disk.tree()), ("1".into(), vec!["f".into()]));
        return;
    }
    if Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success())
    {
        rerun(
            &["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO"],
            "durability::by_default_a_file_is_synced_before_it_has_its_name",
            &[],
        );
    }
}
