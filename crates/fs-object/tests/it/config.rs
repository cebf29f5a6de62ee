//! Settings: which are taken, and that nothing secret is shown.

use dsh_fs_object::{ObjectFileSystem, ObjectFsConfig};

fn refused(url: &str) -> String {
    ObjectFileSystem::new(&ObjectFsConfig::new(url)).unwrap_err().to_string()
}

#[test]
fn urls_of_other_kinds_are_refused() {
    for url in ["", "bucket", "file:///tmp", "memory:///", "http://host/bucket", "ftp://host/x"] {
        let error = refused(url);
        assert!(error.contains("is not a workspace: use s3://BUCKET/PREFIX"), "{url}: {error}");
    }
}

#[test]
fn secrets_in_a_url_are_refused_and_not_repeated() {
    for url in ["s3://key:hidden@bucket/p", "az://container/p?sig=hidden", "gs://hidden@bucket"] {
        let error = refused(url);
        assert!(error.ends_with("credentials and options do not belong in the url"), "{error}");
        assert!(!error.contains("hidden"), "{error}");
        let shown = format!("{:?}", ObjectFsConfig::new(url));
        assert!(!shown.contains("hidden"), "{shown}");
    }
}

#[test]
fn a_secret_with_a_slash_is_not_repeated() {
    for (url, shown) in [
        ("s3://AKIA:ab/cd@bucket/p", "s3://\u{2026}"),
        ("s3://AKIA:12/cd@bucket/p", "s3://bucket/p"),
        ("s3://AKIA:a?b@bucket/p", "s3://\u{2026}"),
        ("s3://bucket/p?key=AKIA@x&sig=12", "s3://\u{2026}"),
        ("AKIA:12/cd@bucket", "\u{2026}"),
    ] {
        let config = ObjectFsConfig { endpoint: Some(url.replace("s3", "http")), ..ObjectFsConfig::new(url) };
        let debug = format!("{config:?}");
        assert!(debug.contains(&format!("url: \"{shown}\"")), "{debug}");
        assert!(!debug.contains("AKIA") && !debug.contains("12/") && !debug.contains("cd"), "{debug}");
    }
    assert_eq!(
        refused("s3://AKIA:12/cd@bucket/p"),
        "fs-object: \"s3://bucket/p\": credentials and options do not belong in the url"
    );
    let plain = format!("{:?}", ObjectFsConfig::new("s3://bucket/team@home/p"));
    assert!(plain.contains("\"s3://bucket/team@home/p\""), "{plain}");
    assert_eq!(
        refused("s3://AKIA:ab/cd@bucket/p"),
        "fs-object: \"s3://\u{2026}\" is not a workspace: use s3://BUCKET/PREFIX, az://CONTAINER/PREFIX or gs://BUCKET/PREFIX"
    );
}

#[test]
fn secrets_in_an_endpoint_are_refused_and_not_repeated() {
    let refused = |endpoint: &str| {
        let config =
            ObjectFsConfig { endpoint: Some(endpoint.to_owned()), ..ObjectFsConfig::new("s3://b/p") };
        ObjectFileSystem::new(&config).unwrap_err().to_string()
    };
    for endpoint in
        ["https://key:hidden@host", "https://hidden@host", "https://host?sig=hidden", "https://host#hidden"]
    {
        assert_eq!(
            refused(endpoint),
            "fs-object: \"https://host\": credentials and options do not belong in the url"
        );
    }
    for endpoint in ["https://key:hid/den@host", "key:hidden@host", "ftp://host", "host"] {
        let error = refused(endpoint);
        assert!(error.ends_with("is not an endpoint: use https://HOST or https://HOST:PORT"), "{error}");
        assert!(!error.contains("hid"), "{error}");
    }
}

#[test]
fn settings_are_read_by_their_names_and_no_others() {
    let config: ObjectFsConfig =
        serde_json::from_str(r#"{"url": "s3://b/p", "allowHttp": true, "maxEditBytes": 7, "probe": false}"#)
            .unwrap();
    assert_eq!(
        config,
        ObjectFsConfig {
            allow_http: true,
            max_edit_bytes: 7,
            probe: false,
            ..ObjectFsConfig::new("s3://b/p")
        }
    );
    for wrong in [r#"{"url": "s3://b", "secretKey": "x"}"#, "{}"] {
        assert!(serde_json::from_str::<ObjectFsConfig>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn numbers_have_a_range() {
    let config = ObjectFsConfig { max_edit_bytes: 0, ..ObjectFsConfig::new("s3://b/p") };
    assert_eq!(
        ObjectFileSystem::new(&config).unwrap_err().to_string(),
        "fs-object: maxEditBytes must be a positive integer no greater than 1073741824"
    );
}
