use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_harness::{
    SPILL_STORE, Session, SessionHeader, SpillLocalConfig, SpillLocalPlugin, SpillRequest, SpillStore,
    Spilled,
};
use dsh_plugin::{Context, Mounted};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// The first twelve digits of `printf s1 | sha256sum`.
const FOLDER_OF_S1: &str = "session-e8bc163c82ee";

/// A store and the folder it may write to.
struct Ground {
    root: Context,
    plugin: Mounted,
    store: Arc<dyn SpillStore>,
    base: TempDir,
}

impl Ground {
    /// Without `root` in the settings.
    async fn temporary(settings: Json) -> Self {
        let base = TempDir::new().unwrap();
        Self::mount(base, settings).await
    }

    /// With the base as `root`.
    async fn configured(mut settings: Json) -> Self {
        let base = TempDir::new().unwrap();
        settings["root"] = json!(base.path());
        Self::mount(base, settings).await
    }

    async fn mount(base: TempDir, settings: Json) -> Self {
        let root = Context::root();
        let config = serde_json::from_value(settings).unwrap();
        let plugin = root.plugin(SpillLocalPlugin::new(base.path().to_owned()), config).await.unwrap();
        let store = root.service(SPILL_STORE).unwrap();
        Self { root, plugin, store, base }
    }

    async fn save(&self, content: &str) -> Result<Spilled, String> {
        self.save_as("s1", "grep-results.txt", content).await
    }

    async fn save_as(&self, session: &str, name: &str, content: &str) -> Result<Spilled, String> {
        let request = SpillRequest {
            owner: Session::new(SessionHeader { id: session.to_owned(), cwd: PathBuf::from("/w") }),
            tool: "grep".to_owned(),
            call_id: "c1".to_owned(),
            label: "result".to_owned(),
            suggested_name: name.to_owned(),
            content: content.to_owned(),
        };
        self.store.save_text(request).await.map_err(|failure| failure.to_string())
    }

    /// Everything below the base, files and folders, sorted.
    fn left(&self) -> Vec<PathBuf> {
        fn add(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    add(&path, found);
                }
                found.push(path);
            }
        }
        let mut found = Vec::new();
        add(self.base.path(), &mut found);
        found.sort();
        found
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

/// The name of the file without its twelve digits, which are looked at.
fn name(spilled: &Spilled) -> String {
    let (digits, name) =
        Path::new(&spilled.locator).file_name().unwrap().to_str().unwrap().split_once('-').unwrap();
    assert_eq!(digits.len(), 12);
    assert!(digits.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit)), "{digits}");
    name.to_owned()
}

#[tokio::test]
async fn a_text_is_a_private_file_in_private_folders() {
    let ground = Ground::temporary(json!({})).await;
    assert_eq!(ground.left(), Vec::<PathBuf>::new());
    let spilled = ground.save("Grüße\n").await.unwrap();
    let path = Path::new(&spilled.locator);
    assert_eq!(fs::read_to_string(path).unwrap(), "Grüße\n");
    assert_eq!(spilled.bytes, 8);
    assert_eq!(spilled.retrieval_hint, "Use read with offset/limit, or grep this path to search within it.");
    assert_eq!(name(&spilled), "grep-results.txt");
    let session = path.parent().unwrap();
    assert_eq!(session.file_name().unwrap(), FOLDER_OF_S1);
    let root = session.parent().unwrap();
    assert_eq!(root.parent().unwrap(), ground.base.path());
    let root_name = root.file_name().unwrap().to_str().unwrap();
    assert_eq!(root_name.strip_prefix("dsh-spill-").unwrap().len(), 6);
    assert_eq!((mode(path), mode(session), mode(root)), (0o600, 0o700, 0o700));
}

#[tokio::test]
async fn every_save_has_a_file_of_its_own() {
    let ground = Ground::temporary(json!({})).await;
    let first = ground.save("same").await.unwrap();
    let second = ground.save("same").await.unwrap();
    let other = ground.save_as("s2", "grep-results.txt", "").await.unwrap();
    assert_ne!(first.locator, second.locator);
    assert_eq!(Path::new(&first.locator).parent(), Path::new(&second.locator).parent());
    assert_ne!(Path::new(&first.locator).parent(), Path::new(&other.locator).parent());
    assert_eq!((other.bytes, fs::read_to_string(&other.locator).unwrap()), (0, String::new()));
}

#[tokio::test]
async fn any_text_is_a_name() {
    let ground = Ground::temporary(json!({})).await;
    for (suggested, encoded) in [
        ("a-Z_0.9", "a-Z_0.9"),
        ("", "~"),
        (".", "~002E"),
        ("..", "~002E~002E"),
        ("...", "..."),
        ("../x", "..~002Fx"),
        ("a b~\0", "a~0020b~007E~0000"),
        ("é", "~00E9"),
        ("€", "~20AC"),
        ("😀", "~D83D~DE00"),
    ] {
        let spilled = ground.save_as("s1", suggested, "x").await.unwrap();
        assert_eq!(name(&spilled), encoded, "{suggested:?}");
        assert_eq!(fs::read_to_string(&spilled.locator).unwrap(), "x");
    }
}

#[tokio::test]
async fn the_oldest_texts_make_room_for_new_ones() {
    let ground = Ground::temporary(json!({"maxBytes": 10})).await;
    let first = ground.save_as("s1", "a", "1234").await.unwrap();
    let second = ground.save_as("s2", "b", "1234").await.unwrap();
    let third = ground.save_as("s2", "c", "12").await.unwrap();
    let there = |spilled: &Spilled| Path::new(&spilled.locator).exists();
    assert!(there(&first) && there(&second) && there(&third));
    let fourth = ground.save_as("s2", "d", "1").await.unwrap();
    assert!(!there(&first) && there(&second) && there(&third) && there(&fourth));
    // The folder goes with its last file.
    assert!(!Path::new(&first.locator).parent().unwrap().exists());
    let fifth = ground.save_as("s2", "e", "1234567890").await.unwrap();
    assert!(!there(&second) && !there(&third) && !there(&fourth) && there(&fifth));
}

#[tokio::test]
async fn a_text_over_the_cap_is_refused_and_costs_the_others_nothing() {
    let ground = Ground::temporary(json!({"maxBytes": 4})).await;
    let kept = ground.save("1234").await.unwrap();
    assert_eq!(
        ground.save("12345").await.unwrap_err(),
        "a text of 5 bytes is over the 4-byte cap of the spill store"
    );
    assert_eq!(fs::read_to_string(&kept.locator).unwrap(), "1234");
}

#[tokio::test]
async fn a_text_that_somebody_removed_is_no_hindrance() {
    let ground = Ground::temporary(json!({"maxBytes": 4})).await;
    let first = ground.save("1234").await.unwrap();
    fs::remove_dir_all(Path::new(&first.locator).ancestors().nth(2).unwrap()).unwrap();
    let second = ground.save("5678").await.unwrap();
    assert_eq!(fs::read_to_string(&second.locator).unwrap(), "5678");
    ground.plugin.dispose().await;
    assert_eq!(ground.left(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_failed_save_leaves_nothing_behind() {
    let ground = Ground::configured(json!({})).await;
    let told = ground.save_as("s1", &"x".repeat(300), "text").await.unwrap_err();
    let folder = ground.base.path().join(FOLDER_OF_S1);
    assert_eq!(
        told,
        format!("cannot create a file in \"{}\": File name too long (os error 36)", folder.display())
    );
    assert_eq!(ground.left(), Vec::<PathBuf>::new());
    ground.save("text").await.unwrap();
}

#[tokio::test]
async fn nothing_is_written_through_a_link_that_somebody_left() {
    let ground = Ground::configured(json!({})).await;
    let elsewhere = TempDir::new().unwrap();
    let link = ground.base.path().join(FOLDER_OF_S1);
    symlink(elsewhere.path(), &link).unwrap();
    let told = ground.save("text").await.unwrap_err();
    assert_eq!(told, format!("cannot create a file in \"{}\": File exists (os error 17)", link.display()));
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    assert_eq!(ground.left(), [link]);
}

#[tokio::test]
async fn a_configured_folder_that_was_swapped_is_of_no_use_any_more() {
    let base = TempDir::new().unwrap();
    let [root, moved, elsewhere] = ["root", "moved", "elsewhere"].map(|name| base.path().join(name));
    fs::create_dir(&elsewhere).unwrap();
    let ground = Ground::mount(base, json!({"root": root})).await;
    ground.save("text").await.unwrap();
    let refused = format!("the spill folder \"{}\" is not the one that was opened", root.display());
    fs::rename(&root, &moved).unwrap();
    assert_eq!(ground.save("text").await.unwrap_err(), refused);
    symlink(&elsewhere, &root).unwrap();
    assert_eq!(ground.save("text").await.unwrap_err(), refused);
    fs::remove_file(&root).unwrap();
    fs::create_dir(&root).unwrap();
    assert_eq!(ground.save("text").await.unwrap_err(), refused);
    ground.plugin.dispose().await;
    assert_eq!(ground.left(), [elsewhere, moved, root], "what was written is removed where it is");
}

#[tokio::test]
async fn a_configured_folder_must_not_be_a_link() {
    let base = TempDir::new().unwrap();
    let elsewhere = TempDir::new().unwrap();
    let link = base.path().join("link");
    symlink(elsewhere.path(), &link).unwrap();
    let ground = Ground::mount(base, json!({"root": link.join("")})).await;
    let told = format!("cannot open \"{}\": Not a directory (os error 20)", link.display());
    assert_eq!(ground.save("text").await.unwrap_err(), told);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_temporary_folder_that_was_swapped_is_left_alone_and_another_made() {
    for by_link in [true, false] {
        let ground = Ground::temporary(json!({})).await;
        let first = ground.save("text").await.unwrap();
        let root = Path::new(&first.locator).ancestors().nth(2).unwrap().to_owned();
        let [moved, elsewhere] = ["a", "b"].map(|name| ground.base.path().join(name));
        fs::rename(&root, &moved).unwrap();
        let note = if by_link {
            fs::create_dir(&elsewhere).unwrap();
            symlink(&elsewhere, &root).unwrap();
            elsewhere.join("note")
        } else {
            fs::create_dir(&root).unwrap();
            root.join("note")
        };
        fs::write(&note, "somebody's").unwrap();
        let second = ground.save("text").await.unwrap();
        assert!(!Path::new(&second.locator).starts_with(&root));
        assert_eq!(mode(Path::new(&second.locator).ancestors().nth(2).unwrap()), 0o700);
        ground.plugin.dispose().await;
        let mut expected = vec![moved, note.parent().unwrap().to_owned(), note];
        if by_link {
            expected.push(root);
        }
        assert_eq!(ground.left(), expected);
    }
}

#[tokio::test]
async fn a_temporary_folder_that_was_swapped_at_the_end_is_left_alone() {
    let ground = Ground::temporary(json!({})).await;
    let spilled = ground.save("text").await.unwrap();
    let root = Path::new(&spilled.locator).ancestors().nth(2).unwrap().to_owned();
    let moved = ground.base.path().join("a");
    fs::rename(&root, &moved).unwrap();
    fs::create_dir(&root).unwrap();
    fs::write(root.join("note"), "somebody's").unwrap();
    ground.plugin.dispose().await;
    assert_eq!(ground.left(), [moved, root.clone(), root.join("note")]);
}

#[tokio::test]
async fn nothing_is_removed_through_a_link() {
    let ground = Ground::temporary(json!({"maxBytes": 4})).await;
    let elsewhere = TempDir::new().unwrap();
    let first = ground.save("1234").await.unwrap();
    let (first, folder) = (Path::new(&first.locator), Path::new(&first.locator).parent().unwrap());
    let note = elsewhere.path().join(first.file_name().unwrap());
    fs::write(&note, "somebody's").unwrap();
    fs::rename(folder, folder.with_file_name("moved")).unwrap();
    symlink(elsewhere.path(), folder).unwrap();
    ground.save_as("s2", "a", "5678").await.unwrap();
    assert!(note.exists());
    ground.plugin.dispose().await;
    assert!(note.exists());
    assert_eq!(ground.left(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn unloading_removes_the_temporary_folder() {
    let ground = Ground::temporary(json!({})).await;
    let spilled = ground.save("text").await.unwrap();
    fs::write(Path::new(&spilled.locator).with_file_name("note"), "somebody's").unwrap();
    ground.plugin.dispose().await;
    assert_eq!(ground.left(), Vec::<PathBuf>::new());
    assert!(ground.root.try_service(SPILL_STORE).is_none());
}

#[tokio::test]
async fn unloading_removes_from_a_configured_folder_what_was_written() {
    let ground = Ground::configured(json!({})).await;
    let mine = ground.save_as("s1", "a", "text").await.unwrap();
    ground.save_as("s2", "b", "text").await.unwrap();
    let note = Path::new(&mine.locator).with_file_name("note");
    fs::write(&note, "somebody's").unwrap();
    ground.plugin.dispose().await;
    assert_eq!(ground.left(), [ground.base.path().join(FOLDER_OF_S1), note]);
}

#[tokio::test]
async fn a_store_that_was_unloaded_keeps_nothing_more() {
    let ground = Ground::temporary(json!({})).await;
    ground.plugin.dispose().await;
    assert_eq!(ground.save("text").await.unwrap_err(), "the spill store is closed");
    assert_eq!(ground.left(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_configured_folder_is_made_and_may_be_a_link() {
    let base = TempDir::new().unwrap();
    fs::create_dir(base.path().join("real")).unwrap();
    symlink("real", base.path().join("link")).unwrap();
    let root = base.path().join("link/deep/spills");
    let ground = Ground::mount(base, json!({"root": root})).await;
    let spilled = ground.save("text").await.unwrap();
    assert!(Path::new(&spilled.locator).starts_with(&root), "{}", spilled.locator);
    assert_eq!(mode(&root), 0o700);
    ground.plugin.dispose().await;
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[tokio::test]
async fn a_temporary_folder_that_is_of_no_use_fails_the_save_only() {
    let ground = Ground::temporary(json!({})).await;
    fs::remove_dir(ground.base.path()).unwrap();
    let base = ground.base.path().display();
    assert_eq!(
        ground.save("text").await.unwrap_err(),
        format!("cannot create a folder in \"{base}\": No such file or directory (os error 2)")
    );
    let relative = Ground { store: store_at("tmp").await, ..ground };
    assert_eq!(
        relative.save("text").await.unwrap_err(),
        "the spill folder \"tmp\" must be an absolute path in UTF-8"
    );
}

async fn store_at(temp: &str) -> Arc<dyn SpillStore> {
    let root = Context::root();
    root.plugin(SpillLocalPlugin::new(PathBuf::from(temp)), SpillLocalConfig::default()).await.unwrap();
    root.service(SPILL_STORE).unwrap()
}

#[tokio::test]
async fn the_settings_are_checked() {
    let config: SpillLocalConfig = serde_json::from_value(json!({})).unwrap();
    assert_eq!(config, SpillLocalConfig::default());
    assert_eq!((config.root, config.max_bytes.get()), (None, 268_435_456));
    let config: SpillLocalConfig = serde_json::from_value(json!({"maxBytes": 2.0})).unwrap();
    assert_eq!(config.max_bytes.get(), 2);
    for wrong in [json!(0), json!(-1), json!(1.5), json!("2"), json!(true)] {
        let error = serde_json::from_value::<SpillLocalConfig>(json!({"maxBytes": wrong})).unwrap_err();
        assert_eq!(error.to_string(), "spill-local: maxBytes must be a positive integer", "{wrong}");
    }
    let config = SpillLocalConfig { root: Some(PathBuf::from("spills")), ..SpillLocalConfig::default() };
    let root = Context::root();
    let error = root.plugin(SpillLocalPlugin::new(PathBuf::from("/tmp")), config).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "plugin \"spill-local\" failed to start: the spill folder \"spills\" must be an absolute path in UTF-8"
    );
}

#[test]
fn it_works_without_a_runtime() {
    futures_util::FutureExt::now_or_never(async {
        let ground = Ground::temporary(json!({})).await;
        let spilled = ground.save("text").await.unwrap();
        assert_eq!(fs::read_to_string(&spilled.locator).unwrap(), "text");
        ground.plugin.dispose().await;
        assert_eq!(ground.left(), Vec::<PathBuf>::new());
    })
    .expect("nothing to wait for");
}
