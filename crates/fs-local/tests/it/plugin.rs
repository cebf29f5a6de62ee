use dsh_fs::{FS, FsCall};
use dsh_fs_local::{LocalFsConfig, LocalFsPlugin};
use dsh_plugin::{Context, Plugin};

#[tokio::test]
async fn the_plugin_provides_the_service_and_withdraws_it() {
    let disk = crate::disk::Disk::new();
    disk.put("a", "x");
    let root = Context::root();
    assert_eq!((LocalFsPlugin.name(), LocalFsPlugin.inject()), ("fs-local", &[][..]));
    let config = LocalFsConfig { cwd: Some(disk.root().into()), ..LocalFsConfig::default() };
    let _mounted = root.plugin(LocalFsPlugin, config).await.unwrap();
    let fs = root.service(FS).unwrap();
    let call = FsCall::new();
    let target = fs.resolve("a", None, &call).await.unwrap();
    assert_eq!(fs.read_text(&target, &call).await.unwrap().text, "x");
    root.dispose().await;
    assert!(root.try_service(FS).is_none());
}

#[tokio::test]
async fn a_setting_out_of_range_is_an_error_at_start() {
    let root = Context::root();
    let config = LocalFsConfig { diff_basis_max_bytes: 0, ..LocalFsConfig::default() };
    let refused = root.plugin(LocalFsPlugin, config).await.map(drop).unwrap_err();
    let mut said = refused.to_string();
    let mut source = std::error::Error::source(&refused);
    while let Some(error) = source {
        said += &error.to_string();
        source = error.source();
    }
    assert!(
        said.contains(
            "fs-local: diffBasisMaxBytes must be a positive safe integer no greater than 536870888"
        )
    );
    assert!(root.try_service(FS).is_none());
}
