use dsh_fs::{FileSystem, FsCall};
use dsh_fs_local::{Durability, LocalFileSystem, LocalFsConfig, MAX_DIFF_BASIS_BYTES};
use dsh_plugin::Coded;

use crate::disk::key_of;

const OUT_OF_RANGE: &str =
    "fs-local: diffBasisMaxBytes must be a positive safe integer no greater than 536870888";

#[test]
fn the_defaults() {
    let config: LocalFsConfig = serde_json::from_str("{}").unwrap();
    assert_eq!(config, LocalFsConfig::default());
    assert_eq!((config.cwd, config.diff_basis_max_bytes), (None, 10_485_760));
    assert_eq!(config.durability, Durability::Full);
}

#[test]
fn keys_are_camel_case_and_unknown_ones_are_refused() {
    let config: LocalFsConfig = serde_json::from_str(r#"{"cwd": "/w", "diffBasisMaxBytes": 8.0}"#).unwrap();
    assert_eq!(
        config,
        LocalFsConfig { cwd: Some("/w".into()), diff_basis_max_bytes: 8, ..LocalFsConfig::default() }
    );
    let unknown = serde_json::from_str::<LocalFsConfig>(r#"{"diff_basis_max_bytes": 8}"#).unwrap_err();
    assert!(unknown.to_string().contains("unknown field"));
}

#[test]
fn durability_is_one_of_two_words() {
    for (word, durability) in [("full", Durability::Full), ("rename", Durability::Rename)] {
        let config: LocalFsConfig = serde_json::from_str(&format!(r#"{{"durability": "{word}"}}"#)).unwrap();
        assert_eq!(config, LocalFsConfig { durability, ..LocalFsConfig::default() });
    }
    let unknown = serde_json::from_str::<LocalFsConfig>(r#"{"durability": "none"}"#).unwrap_err().to_string();
    assert!(unknown.starts_with("unknown variant `none`, expected `full` or `rename`"), "{unknown}");
}

#[test]
fn the_limit_has_a_range() {
    for limit in [0, MAX_DIFF_BASIS_BYTES + 1, u64::MAX] {
        let config = LocalFsConfig { diff_basis_max_bytes: limit, ..LocalFsConfig::default() };
        let refused = LocalFileSystem::new(config).unwrap_err();
        assert_eq!(
            (refused.to_string().as_str(), refused.name(), refused.code()),
            (OUT_OF_RANGE, "Error", None)
        );
    }
    for limit in [1, MAX_DIFF_BASIS_BYTES] {
        let config = LocalFsConfig { diff_basis_max_bytes: limit, ..LocalFsConfig::default() };
        assert!(LocalFileSystem::new(config).is_ok());
    }
    for limit in ["-1", "1.5", "1e300"] {
        let text = format!(r#"{{"diffBasisMaxBytes": {limit}}}"#);
        let refused = serde_json::from_str::<LocalFsConfig>(&text).unwrap_err().to_string();
        assert!(refused.starts_with(OUT_OF_RANGE), "{refused}");
    }
    assert!(serde_json::from_str::<LocalFsConfig>(r#"{"diffBasisMaxBytes": "8"}"#).is_err());
}

#[tokio::test]
async fn relative_paths_start_at_the_working_directory_of_the_process() {
    let here = std::env::current_dir().unwrap().canonicalize().unwrap();
    for (cwd, expected) in [(None, here.join("x")), (Some("src".into()), here.join("src/x"))] {
        let fs = LocalFileSystem::new(LocalFsConfig { cwd, ..LocalFsConfig::default() }).unwrap();
        assert_eq!(key_of(&fs.resolve("x", None, &FsCall::new()).await.unwrap()), expected);
    }
}

#[test]
fn a_working_directory_that_is_no_folder_is_refused() {
    for cwd in ["no-such-folder", "Cargo.toml"] {
        let refused =
            LocalFileSystem::new(LocalFsConfig { cwd: Some(cwd.into()), ..LocalFsConfig::default() });
        let here = std::env::current_dir().unwrap();
        let message = format!("fs-local: cwd \"{}\" is not a folder", here.join(cwd).display());
        assert_eq!(refused.unwrap_err().to_string(), message);
    }
}

#[test]
fn the_schema_documents_every_setting() {
    let schema = serde_json::to_value(schemars::schema_for!(LocalFsConfig)).unwrap();
    for key in ["cwd", "diffBasisMaxBytes", "durability"] {
        assert!(schema["properties"][key]["description"].is_string(), "{schema}");
    }
    assert_eq!(schema["properties"]["diffBasisMaxBytes"]["default"], 10_485_760);
}
