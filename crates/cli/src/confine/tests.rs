use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::*;

/// Confines a thread that ends with the answer; `None` where the kernel cannot.
fn confined<T: Send + 'static>(bounds: Bounds, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    version()?.parse::<u32>().ok().filter(|version| *version >= 3)?;
    let thread = std::thread::spawn(move || {
        confine(&bounds).unwrap();
        work()
    });
    Some(thread.join().unwrap())
}

fn kind(result: std::io::Result<impl Sized>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

fn folders(base: &Path) -> [PathBuf; 4] {
    ["scratch", "workspace", "readable", "outside"].map(|name| {
        let folder = base.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a"), "a").unwrap();
        folder
    })
}

const DENIED: Option<ErrorKind> = Some(ErrorKind::PermissionDenied);

#[test]
fn a_confined_thread_writes_in_scratch_and_workspace_and_reads_everywhere() {
    let base = tempfile::tempdir().unwrap();
    let [scratch, workspace, _, outside] = folders(base.path());
    let bounds = Bounds::new(vec![workspace.clone()], vec![scratch.clone()], None);
    let Some(done) = confined(bounds, move || {
        let written = [&scratch, &workspace, &outside]
            .map(|folder| (kind(fs::write(folder.join("a"), "b")), kind(fs::write(folder.join("new"), "b"))));
        let cut = fs::OpenOptions::new().write(true).open(outside.join("a")).map(|file| file.set_len(0));
        let moved = fs::rename(workspace.join("a"), outside.join("b"));
        (
            written,
            kind(cut),
            kind(moved).is_some(),
            kind(fs::remove_file(outside.join("a"))),
            kind(fs::read(outside.join("a"))),
        )
    }) else {
        return;
    };
    assert_eq!(done, ([(None, None), (None, None), (DENIED, DENIED)], DENIED, true, DENIED, None));
}

#[test]
fn read_roots_bound_what_a_confined_thread_reads() {
    let base = tempfile::tempdir().unwrap();
    let [scratch, workspace, readable, outside] = folders(base.path());
    let fence = FenceConfig { read_roots: vec![readable.clone()], ..FenceConfig::default() };
    let bounds = Bounds::new(vec![workspace.clone()], vec![scratch.clone()], Some(&fence));
    let Some(done) = confined(bounds, move || {
        let read = [&scratch, &readable, &workspace, &outside]
            .map(|folder| (kind(fs::read(folder.join("a"))), kind(fs::read_dir(folder))));
        (read, kind(fs::write(readable.join("a"), "b")))
    }) else {
        return;
    };
    assert_eq!(done, ([(None, None), (None, None), (DENIED, DENIED), (DENIED, DENIED)], DENIED));
}

#[test]
fn in_read_only_mode_the_workspace_is_not_written() {
    let base = tempfile::tempdir().unwrap();
    let [scratch, workspace, ..] = folders(base.path());
    let fence = FenceConfig { mode: SandboxMode::ReadOnly, ..FenceConfig::default() };
    let bounds = Bounds::new(vec![workspace.clone()], vec![scratch.join("made/here")], Some(&fence));
    let Some(done) = confined(bounds, move || {
        let made = fs::write(scratch.join("made/here/new"), "b");
        (kind(made), kind(fs::write(workspace.join("a"), "b")), kind(fs::write(scratch.join("a"), "b")))
    }) else {
        return;
    };
    assert_eq!(done, (None, DENIED, DENIED));
}
