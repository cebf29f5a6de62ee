//! Every sentence, to the letter: a model acts on them.

use dsh_fs::{FsCall, FsError, FsOp, FsTarget, NotText};

use crate::case::edit;
use crate::{Case, refused_saying};

/// `cannot <op> "<path>": not found`
pub async fn not_found(case: &Case) {
    let target = case.target("no/such.txt").await;
    let path = target.display_path();
    refused_saying(case.fs.read_text(&target, &case.call).await, &FsError::not_found(FsOp::Read, path));
    refused_saying(case.stream(&target).await, &FsError::not_found(FsOp::Read, path));
    refused_saying(case.fs.read_bytes(&target, 9, &case.call).await, &FsError::not_found(FsOp::Read, path));
    refused_saying(case.fs.list_dir(&target, &case.call).await, &FsError::not_found(FsOp::List, path));
}

/// `cannot <op> "<path>": not a regular file`, of a folder.
pub async fn not_a_regular_file(case: &Case) {
    case.put("d/a.txt", "x").await;
    not_regular(case, &case.target("d").await).await;
}

/// `cannot <op> "<path>": not a regular file`, of a FIFO, socket or device.
pub async fn not_a_regular_file_but_special(case: &Case) {
    case.able(case.ground.special("special").await);
    not_regular(case, &case.target("special").await).await;
}

async fn not_regular(case: &Case, target: &FsTarget) {
    let error = |op| FsError::not_regular_file(op, target.display_path());
    refused_saying(case.fs.read_text(target, &case.call).await, &error(FsOp::Read));
    refused_saying(case.stream(target).await, &error(FsOp::Read));
    refused_saying(case.fs.read_bytes(target, 9, &case.call).await, &error(FsOp::Read));
    refused_saying(case.write(target, "x").await, &error(FsOp::Write));
    refused_saying(case.create(target, "x").await, &error(FsOp::Write));
    refused_saying(case.edit(target, "x", "y").await, &error(FsOp::Edit));
}

/// `cannot list "<path>": not a directory`
pub async fn not_a_directory(case: &Case) {
    let target = case.file("a.txt", "x").await;
    let error = FsError::not_directory(target.display_path());
    refused_saying(case.fs.list_dir(&target, &case.call).await, &error);
}

/// `cannot <op> "<path>": binary file`, also where the bytes are no UTF-8 either.
pub async fn binary_file(case: &Case) {
    for bytes in [&b"a\0b"[..], b"\xff\0"] {
        not_text(case, bytes, NotText::Binary).await;
    }
}

/// `cannot <op> "<path>": invalid UTF-8 text`
pub async fn invalid_utf8_text(case: &Case) {
    for bytes in [&b"\xff"[..], b"caf\xC3", b"\xC3("] {
        not_text(case, bytes, NotText::InvalidUtf8).await;
    }
}

async fn not_text(case: &Case, bytes: &[u8], why: NotText) {
    let target = case.file("a.bin", bytes).await;
    let error = |op| FsError::not_text(op, target.display_path(), why);
    refused_saying(case.fs.read_text(&target, &case.call).await, &error(FsOp::Read));
    refused_saying(case.stream(&target).await, &error(FsOp::Read));
    refused_saying(case.edit(&target, "a", "b").await, &error(FsOp::Edit));
}

/// `cannot read "<path>": 6 bytes exceeds the 5-byte limit`; without the size where the backend does not know it.
pub async fn too_large(case: &Case) {
    let target = case.file("a.bin", "123456").await;
    let known = case.fs.stat(&target, &case.call).await.unwrap().unwrap().size;
    let error = match known {
        Some(size) => FsError::too_large(target.display_path(), size, 5),
        None => FsError::grew_too_large(target.display_path(), 5),
    };
    refused_saying(case.fs.read_bytes(&target, 5, &case.call).await, &error);
}

/// `file_path must be a non-empty string`
pub async fn blank_path(case: &Case) {
    refused_saying(case.resolve(" ").await, &FsError::blank_path());
    refused_saying(case.fs.lstat("", Some(&case.cwd()), &case.call).await, &FsError::blank_path());
}

/// `file_path must not contain a NUL character`
pub async fn nul_in_path(case: &Case) {
    refused_saying(case.resolve("a\0b").await, &FsError::nul_in_path());
    refused_saying(case.fs.lstat("a\0b", Some(&case.cwd()), &case.call).await, &FsError::nul_in_path());
}

/// `cannot resolve "<path>": a parent path segment is not a directory`, at the latest of a file that is to be created.
pub async fn parent_is_not_a_directory(case: &Case) {
    let file = case.file("a.txt", "x").await;
    let error = FsError::parent_not_directory(&format!("{}/b/c.txt", file.display_path()));
    match case.resolve("a.txt/b/c.txt").await {
        Ok(target) => refused_saying(case.create(&target, "x").await, &error),
        refusal => refused_saying(refusal, &error),
    }
}

/// `cannot resolve "<path>": a path that ends in a slash names a folder`
pub async fn slash_names_a_folder(case: &Case) {
    let file = case.file("a.txt", "x").await;
    refused_saying(case.resolve("a.txt/").await, &FsError::slash_names_folder(file.display_path()));
    let new = case.target("new").await;
    refused_saying(case.resolve("new/").await, &FsError::slash_names_folder(new.display_path()));
}

/// `cannot <op> "<path>": file changed since it was read`
pub async fn file_changed(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let path = target.display_path();
    let version = case.read(&target).await.version;
    case.put("a.txt", "two").await;
    refused_saying(case.replace(&target, "x", &version).await, &FsError::changed(FsOp::Write, path));
    refused_saying(case.edit_if(&target, "two", "x", &version).await, &FsError::changed(FsOp::Edit, path));
}

/// `cannot write "<path>": file no longer exists`, and of an edit `file changed since it was read`.
pub async fn file_gone(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let path = target.display_path();
    let version = case.read(&target).await.version;
    case.ground.remove("a.txt").await;
    refused_saying(case.replace(&target, "x", &version).await, &FsError::gone(path));
    refused_saying(case.edit_if(&target, "one", "x", &version).await, &FsError::changed(FsOp::Edit, path));
    refused_saying(case.edit(&target, "one", "x").await, &FsError::changed(FsOp::Edit, path));
}

/// `cannot overwrite existing "<path>" without reading it first`
pub async fn file_exists(case: &Case) {
    let target = case.file("a.txt", "one").await;
    refused_saying(case.create(&target, "x").await, &FsError::exists(target.display_path()));
}

/// `old_string was not found in "<path>"`
pub async fn edit_not_found(case: &Case) {
    let target = case.file("a.txt", "one").await;
    refused_saying(case.edit(&target, "two", "x").await, &FsError::edit_not_found(target.display_path()));
}

/// `old_string matched <n> times in "<path>"; …`: what `replace_all` would replace, or 2 where places overlap.
pub async fn ambiguous_edit(case: &Case) {
    for (bytes, old, times) in [
        ("a a a", "a", 3),
        ("aaaaa", "aa", 2),
        ("aaa", "aa", 2),
        ("ababa", "aba", 2),
        ("a\r\na\na", "a\n", 2),
    ] {
        let target = case.file("a.txt", bytes).await;
        refused_saying(
            case.edit(&target, old, "x").await,
            &FsError::ambiguous_edit(target.display_path(), times),
        );
    }
}

/// `<op> aborted`
pub async fn aborted(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let (cwd, call) = (case.cwd(), FsCall::new());
    call.cancel.cancel();
    refused_saying(case.fs.resolve("a.txt", Some(&cwd), &call).await, &FsError::aborted(FsOp::Resolve));
    refused_saying(case.fs.stat(&target, &call).await, &FsError::aborted(FsOp::Stat));
    refused_saying(case.fs.lstat("a.txt", Some(&cwd), &call).await, &FsError::aborted(FsOp::Lstat));
    refused_saying(case.fs.read_text(&target, &call).await, &FsError::aborted(FsOp::Read));
    refused_saying(case.fs.read_bytes(&target, 9, &call).await, &FsError::aborted(FsOp::Read));
    refused_saying(case.fs.list_dir(&case.target(".").await, &call).await, &FsError::aborted(FsOp::List));
    refused_saying(case.fs.write_text(&target, "x", None, &call).await, &FsError::aborted(FsOp::Write));
    refused_saying(
        case.fs.edit_text(&target, &edit("one", "x"), None, &call).await,
        &FsError::aborted(FsOp::Edit),
    );
}

/// A message names the path as the caller knows it: through a link, the link; never an internal name.
pub async fn messages_name_the_path_of_the_caller(case: &Case) {
    case.put("far/a.txt", "one").await;
    case.able(case.ground.link("link", "far/a.txt").await);
    let target = case.target("link").await;
    let path = target.display_path();
    assert!(path.ends_with("/link"), "{path}");
    refused_saying(case.edit(&target, "two", "x").await, &FsError::edit_not_found(path));
    refused_saying(case.create(&target, "x").await, &FsError::exists(path));
}
