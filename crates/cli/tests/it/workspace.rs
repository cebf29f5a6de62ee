//! `--workspace`: what keeps a workspace in an object store from being opened. (What works there needs a server:
//! `tests/stores`.)

use crate::binary::Folder;

const READ: [&str; 3] = ["call", "read", r#"{"file_path": "a.txt"}"#];

fn refused(arguments: &[&str], expected: &str) {
    let output = Folder::new().output(READ.iter().chain(arguments).copied());
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.contains(expected), "{}", output.stderr);
}

#[test]
fn a_workspace_is_a_url_of_a_store() {
    refused(&["--workspace", "project"], "\"project\" is not a workspace: use s3://BUCKET/PREFIX");
    refused(&["--workspace", "file:///tmp"], "is not a workspace: use s3://BUCKET/PREFIX");
    refused(&["--workspace", "s3://me:hidden@bucket"], "credentials and options do not belong in the url");
}

#[test]
fn a_workspace_in_a_store_is_no_composition_and_no_folder() {
    refused(
        &["--workspace", "s3://bucket", "--compose", "my.yaml"],
        "cannot be used with '--compose <FILE>'",
    );
    refused(&["--workspace", "s3://bucket", "--confine"], "--confine: the files are in an object store");
    let doctor = Folder::new().output(["doctor", "--workspace", "s3://bucket"]);
    assert_eq!(doctor.code, Some(2));
    assert!(doctor.stderr.contains("doctor: the files are in an object store"), "{}", doctor.stderr);
}
