use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use dsh_fs::SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
use dsh_fs::{FS, FileSystem, FsCall, FsErrorCode, MemoryFileSystem, SANDBOX_POLICY};
use dsh_fs_local::{LocalFileSystem, LocalFsConfig};
use dsh_fs_sandbox::{Place, SandboxConfig, SandboxPlugin, set_sandbox_mode};
use dsh_harness::{HarnessConfig, HarnessPlugin, SYSTEM_PROMPT, Session, SessionHeader};
use dsh_plugin::{Context, NoConfig, Plugin, Registry};
use serde_json::{Value as Json, json};

use crate::disk::denied;

fn place() -> Place {
    Place { canonical: |path| path.canonicalize().ok(), ..Place::new("/no-such-temp".into()) }
}

fn plugin(place: Place) -> SandboxPlugin<LocalFileSystem, LocalFsConfig> {
    SandboxPlugin::new(LocalFileSystem::new, place)
}

fn registry() -> Registry {
    Registry::new().with("dsh-fs-sandbox", plugin(place()))
}

async fn mounted(config: Json) -> Result<Context, String> {
    let row = registry().configure("dsh-fs-sandbox", config).map_err(|error| error.to_string())?;
    let root = Context::root();
    root.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
    match root.compose(vec![row]).await {
        Ok(_) => Ok(root),
        Err(error) => {
            let mut said = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(error) = source {
                said += &error.to_string();
                source = error.source();
            }
            Err(said)
        }
    }
}

#[tokio::test]
async fn the_plugin_provides_the_fenced_backend_and_its_policy() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!((plugin(place()).name(), plugin(place()).inject()), ("fs-sandbox", &[][..]));
    let root = mounted(json!({ "cwd": folder.path() })).await.unwrap();
    let (fs, policy) = (root.service(FS).unwrap(), root.service(SANDBOX_POLICY).unwrap());
    assert_eq!(fs.sandbox_mode(), Some(WorkspaceWrite));
    assert_eq!(policy.standing(None).workspace_root, folder.path().canonicalize().unwrap());
    assert!(policy.can_escalate() && fs.read_rules().is_none());
    let call = FsCall::new();
    let inside = fs.resolve("a", None, &call).await.unwrap();
    fs.write_text(&inside, "x", None, &call).await.unwrap();
    let outside = fs.resolve("/proc/a", None, &call).await.unwrap();
    let said = "cannot write \"/proc/a\": file access denied under workspace-write mode";
    denied(fs.write_text(&outside, "x", None, &call).await, said);
    root.dispose().await;
    assert!(root.try_service(FS).is_none() && root.try_service(SANDBOX_POLICY).is_none());
}

#[tokio::test]
async fn settings_of_the_fence_stand_beside_those_of_the_backend() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    fs::write(path.join("k.pem"), "secret").unwrap();
    let config = json!({
        "cwd": path, "durability": "rename", "mode": "read-only", "readRoots": ["."], "deny": ["*.pem"]
    });
    let root = mounted(config).await.unwrap();
    let fs = root.service(FS).unwrap();
    assert_eq!(fs.sandbox_mode(), Some(ReadOnly));
    let call = FsCall::new();
    for (given, shown) in [("k.pem", path.join("k.pem")), ("/proc/version", PathBuf::from("/proc/version"))] {
        let target = fs.resolve(given, None, &call).await.unwrap();
        let said = format!("cannot read \"{}\": file access denied by the read rules", shown.display());
        denied(fs.read_text(&target, &call).await, &said);
    }
}

#[tokio::test]
async fn settings_with_which_it_cannot_start_say_why() {
    for (config, said) in [
        (
            json!({ "mode": "open" }),
            "setting \"mode\": fs-sandbox: mode must be one of \"read-only\", \"workspace-write\" or \"danger-full-access\"",
        ),
        (
            json!({ "mode": 1 }),
            "setting \"mode\": fs-sandbox: mode must be one of \"read-only\", \"workspace-write\" or \"danger-full-access\"",
        ),
        (
            json!({ "modes": 1 }),
            "unknown setting \"modes\" (did you mean \"mode\"?); known: mode, readRoots, deny, cwd, diffBasisMaxBytes, durability",
        ),
    ] {
        assert_eq!(mounted(config).await.map(drop).unwrap_err(), said);
    }
    for (config, said) in [
        (json!({ "readRoots": ["/no/such"] }), "fs-sandbox: readRoots \"/no/such\" is not a folder"),
        (json!({ "readRoots": ["/dev/null"] }), "fs-sandbox: readRoots \"/dev/null\" is not a folder"),
        (
            json!({ "deny": ["!a"] }),
            "fs-sandbox: deny pattern \"!a\" is negated; list only what must not be read",
        ),
        (
            json!({ "deny": ["~/.ssh"] }),
            "fs-sandbox: deny pattern \"~/.ssh\" is not expanded; write the whole path, or \"\\~/.ssh\" for a name that \
             begins so",
        ),
        (
            json!({ "diffBasisMaxBytes": 0 }),
            "fs-local: diffBasisMaxBytes must be a positive safe integer no greater than 536870888",
        ),
    ] {
        let refused = mounted(config).await.map(drop).unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
}

#[tokio::test]
async fn a_denied_path_is_denied_under_the_link_and_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for name in ["{re[a]l}", "other"] {
        fs::create_dir(path.join(name)).unwrap();
        fs::write(path.join(name).join("k.key"), "secret").unwrap();
    }
    std::os::unix::fs::symlink("{re[a]l}", path.join("link")).unwrap();
    std::os::unix::fs::symlink("other/k.key", path.join("whole")).unwrap();
    let deny = [path.join("link/*.key"), path.join("whole")];
    let root = mounted(json!({ "cwd": path, "deny": deny })).await.unwrap();
    let (fs, call) = (root.service(FS).unwrap(), FsCall::new());
    for name in ["link/k.key", "{re[a]l}/k.key", "whole", "other/k.key"] {
        let target = fs.resolve(name, None, &call).await.unwrap();
        let said =
            format!("cannot read \"{}\": file access denied by the read rules", path.join(name).display());
        denied(fs.read_text(&target, &call).await, &said);
    }
    fs::write(path.join("other/free.key"), "text").unwrap();
    let target = fs.resolve("other/free.key", None, &call).await.unwrap();
    assert_eq!(fs.read_text(&target, &call).await.unwrap().text, "text");
}

#[tokio::test]
async fn the_model_is_told_the_policy_of_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let real = path.join("a \"b\"");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, path.join("link")).unwrap();
    let root = mounted(json!({ "cwd": path })).await.unwrap();
    let prompt = root.service(SYSTEM_PROMPT).unwrap();
    assert!(!prompt.render_context(None).contains("file policy"));

    let session = Session::new(SessionHeader { id: "s1".into(), cwd: path.join("link") });
    let said = format!(
        "Current DSH file policy: workspace-write. Any available operation enforced by the DSH file sandbox may modify files \
         under the session workspace: \"{}/a \\\"b\\\"\". Some platform temporary areas may also be writable.",
        path.display()
    );
    assert!(prompt.render_context(Some(&session)).contains(&said));
    set_sandbox_mode(&session, ReadOnly);
    assert!(prompt.render_context(Some(&session)).contains(
        "Current DSH file policy: read-only. Any available operation enforced by the DSH file sandbox cannot modify files in \
         the standing mode. Do not refuse a required modification from this policy alone: try an available tool normally and \
         follow any denial and escalation guidance it returns."
    ));
    set_sandbox_mode(&session, DangerFullAccess);
    assert!(prompt.render_context(Some(&session)).contains(
        "Current DSH file policy: danger-full-access. The DSH file sandbox does not restrict file modifications by available \
         operations."
    ));
}

#[tokio::test]
async fn protected_paths_are_protected_under_the_link_and_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    fs::write(path.join("real.yaml"), "keep").unwrap();
    std::os::unix::fs::symlink("real.yaml", path.join("compose.yaml")).unwrap();
    let protected = vec![path.join("compose.yaml"), path.join("real.yaml/below/a/file")];
    let config = SandboxConfig {
        inner: LocalFsConfig { cwd: Some(path.clone()), ..LocalFsConfig::default() },
        ..SandboxConfig::default()
    };
    let root = Context::root();
    root.plugin(plugin(Place { protected, kernel_confined: true, ..place() }), config).await.unwrap();
    assert!(!root.service(SANDBOX_POLICY).unwrap().can_escalate());
    let (fs, call) = (root.service(FS).unwrap(), FsCall::new());
    for name in ["compose.yaml", "real.yaml"] {
        let target = fs.resolve(name, None, &call).await.unwrap();
        let error = fs.write_text(&target, "x", None, &call).await.unwrap_err();
        assert_eq!(error.code(), FsErrorCode::SandboxDenied, "{name}");
    }
    // Where the link should come to lead elsewhere, its own name is protected still.
    fs::remove_file(path.join("compose.yaml")).unwrap();
    let target = fs.resolve("compose.yaml", None, &call).await.unwrap();
    let error = fs.write_text(&target, "x", None, &call).await.unwrap_err();
    assert_eq!(error.code(), FsErrorCode::SandboxDenied);
}

#[tokio::test]
async fn temporary_folders_may_be_written_under_the_link_and_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for name in ["w", "real-temp", "outside"] {
        fs::create_dir(path.join(name)).unwrap();
    }
    std::os::unix::fs::symlink("real-temp", path.join("temp")).unwrap();
    let config = SandboxConfig {
        inner: LocalFsConfig { cwd: Some(path.join("w")), ..LocalFsConfig::default() },
        ..SandboxConfig::default()
    };
    let root = Context::root();
    let place = Place { writable: vec![path.join("temp")], ..place() };
    root.plugin(plugin(place), config).await.unwrap();
    let (fs, call) = (root.service(FS).unwrap(), FsCall::new());
    for (name, permitted) in
        [("a", true), ("../temp/a", true), ("../real-temp/b", true), ("../outside/a", false)]
    {
        let target = fs.resolve(name, None, &call).await.unwrap();
        assert_eq!(fs.write_text(&target, "x", None, &call).await.is_ok(), permitted, "{name}");
    }
}

#[tokio::test]
async fn any_backend_can_be_fenced() {
    let memory = SandboxPlugin::new(
        |_: NoConfig| Ok::<_, dsh_fs::FsError>(MemoryFileSystem::with_files([("/a", "a")])),
        Place::new("/var/tmp".into()),
    );
    let root = Context::root();
    root.plugin(memory, SandboxConfig { mode: ReadOnly, ..SandboxConfig::default() }).await.unwrap();
    let fs: Arc<dyn FileSystem> = root.service(FS).unwrap();
    let call = FsCall::new();
    let target = fs.resolve("a", None, &call).await.unwrap();
    assert_eq!(fs.read_text(&target, &call).await.unwrap().text, "a");
    let said = "cannot write \"/a\": file access denied under read-only mode";
    denied(fs.write_text(&target, "x", None, &call).await, said);
}

#[test]
fn the_settings_are_documented() {
    let schemas = registry().schemas();
    let properties = schemas[0].schema.get("properties").unwrap().as_object().unwrap();
    let keys: Vec<_> = properties.keys().map(String::as_str).collect();
    assert_eq!(keys, ["mode", "readRoots", "deny", "cwd", "diffBasisMaxBytes", "durability"]);
    let mode = &properties["mode"];
    assert_eq!(mode["enum"], json!(["read-only", "workspace-write", "danger-full-access"]));
    assert_eq!(mode["default"], json!("workspace-write"));
}
