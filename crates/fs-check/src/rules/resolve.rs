//! `resolve`, and what a target can say without IO: `contains`, `process_path`, `file_url`.

use dsh_fs::FsErrorCode::NotFound;

use crate::{Case, refused};

/// A relative path starts at the `cwd` of the call; an absolute one ignores it.
pub async fn relative_paths_start_at_cwd(case: &Case) {
    case.put("d/a.txt", "x").await;
    let relative = case.target("d/a.txt").await;
    let absolute =
        case.fs.resolve(&case.path("d/a.txt"), Some("/elsewhere".as_ref()), &case.call).await.unwrap();
    assert_eq!(relative, absolute);
    let cwd = case.cwd().join("d");
    let below = case.fs.resolve("a.txt", Some(&cwd), &case.call).await.unwrap();
    assert_eq!(below, absolute);
}

/// Without `cwd` a relative path starts at the backend's own folder, the same for every call.
pub async fn without_cwd_paths_start_at_the_backends_folder(case: &Case) {
    let own = case.fs.resolve(".", None, &case.call).await.unwrap();
    let below = case.fs.resolve("some/file.txt", None, &case.call).await.unwrap();
    assert!(below.display_path().starts_with('/'), "{:?} is not absolute", below.display_path());
    assert!(case.fs.contains(&own, &below));
    let again =
        case.fs.resolve("some/file.txt", Some(own.display_path().as_ref()), &case.call).await.unwrap();
    assert_eq!(again, below);
}

/// There is nothing above the top.
pub async fn dot_dot_ends_at_the_top(case: &Case) {
    let target = case.file("a.txt", "x").await;
    let up = "../".repeat(64);
    let path = format!("{up}{}", target.display_path().trim_start_matches('/'));
    assert_eq!(case.resolve(&path).await.unwrap(), target);
    assert_eq!(case.resolve(&format!("/{path}")).await.unwrap(), target);
}

/// One file has one key, however its path is written.
pub async fn spellings_of_one_path_share_a_key(case: &Case) {
    let target = case.file("d/a.txt", "x").await;
    for spelling in
        ["./d/a.txt", "d//a.txt", "d/./a.txt", "d/../d/a.txt", "missing/../d/a.txt", "d/a.txt/../a.txt"]
    {
        let other = case.target(spelling).await;
        assert_eq!(other.key(), target.key(), "{spelling}");
        assert_eq!(other.display_path(), target.display_path(), "{spelling}");
    }
}

/// Different files have different keys: case, spaces and Unicode forms are not folded.
pub async fn different_names_have_different_keys(case: &Case) {
    let names = [
        "a.txt", "A.txt", " a.txt", "a.txt ", "a", "d/a.txt", "\u{e9}", "e\u{301}", "~", "$HOME", "*", "a\\b",
    ];
    let mut keys = Vec::new();
    for name in names {
        keys.push(case.file(name, name).await.key().clone());
    }
    for (name, key) in names.iter().zip(&keys) {
        assert_eq!(keys.iter().filter(|other| *other == key).count(), 1, "{name:?}");
        case.holds(name, name).await;
    }
}

/// What a person sees is the path as written, made absolute.
pub async fn display_path_is_absolute(case: &Case) {
    let target = case.file("d/a.txt", "x").await;
    let root = case.target(".").await;
    assert_eq!(target.display_path(), format!("{}/d/a.txt", root.display_path().trim_end_matches('/')));
    for cwd in [None, Some("/elsewhere".as_ref())] {
        let again = case.fs.resolve(target.display_path(), cwd, &case.call).await.unwrap();
        assert_eq!(again, target, "a display path resolves to its own target, wherever one is");
    }
}

/// A path that does not exist yet has the key that it will have, its folders missing or not.
pub async fn keys_are_stable_across_creation(case: &Case) {
    for name in ["new.txt", "no/such/folder/new.txt"] {
        let before = case.target(name).await;
        case.write(&before, "x").await.unwrap();
        assert_eq!(case.target(name).await, before, "{name}");
        case.ground.remove(name).await;
        assert_eq!(case.target(name).await, before, "{name} removed again");
    }
}

/// A target stays usable, and every call looks at the file anew.
pub async fn targets_do_not_age(case: &Case) {
    let target = case.target("a.txt").await;
    assert_eq!(case.fs.stat(&target, &case.call).await.unwrap(), None);
    case.put("a.txt", "one").await;
    assert_eq!(case.read(&target).await.text, "one");
    case.put("a.txt", "two").await;
    assert_eq!(case.read(&target).await.text, "two");
    case.ground.remove("a.txt").await;
    assert_eq!(case.fs.stat(&target, &case.call).await.unwrap(), None);
}

/// A path of nothing but white space names nothing.
pub async fn blank_paths_name_nothing(case: &Case) {
    for blank in ["", " ", "\t\n", "\u{a0}\u{3000}"] {
        refused(case.resolve(blank).await, NotFound);
        refused(case.fs.resolve(blank, None, &case.call).await, NotFound);
    }
}

/// A path with a NUL names nothing; it is not cut there.
pub async fn nul_in_a_path_names_nothing(case: &Case) {
    case.put("a", "x").await;
    for path in ["a\0", "a\0b", "\0"] {
        refused(case.resolve(path).await, NotFound);
    }
}

/// Nothing lies below a file: such a path is refused, or its target is absent and stays so.
pub async fn nothing_lies_below_a_file(case: &Case) {
    case.put("a.txt", "x").await;
    for path in ["a.txt/b", "a.txt/b/c"] {
        match case.resolve(path).await {
            Ok(target) => {
                assert_eq!(case.fs.stat(&target, &case.call).await.unwrap(), None, "{path}");
                refused(case.write(&target, "x").await, NotFound);
                refused(case.create(&target, "x").await, NotFound);
            }
            refusal => drop(refused(refusal, NotFound)),
        }
    }
    assert_eq!(case.names(".").await, ["a.txt"]);
    case.holds("a.txt", "x").await;
}

/// Who looks at what is above a path says so when it is resolved.
pub async fn a_path_below_a_file_is_refused(case: &Case) {
    case.put("a.txt", "x").await;
    refused(case.resolve("a.txt/b").await, NotFound);
    refused(case.resolve("a.txt/b/c").await, NotFound);
}

/// A trailing slash names a folder: nothing else, a new file included, can be meant by it.
pub async fn trailing_slash_names_a_folder(case: &Case) {
    case.put("d/a.txt", "x").await;
    assert_eq!(case.target("d/").await, case.target("d").await);
    refused(case.resolve("d/a.txt/").await, NotFound);
    refused(case.resolve("new/").await, NotFound);
    refused(case.resolve("d/new//").await, NotFound);
}

/// A link and what it leads to share a key; what a person sees is the path as written.
pub async fn links_share_the_key_of_their_target(case: &Case) {
    let target = case.file("d/a.txt", "x").await;
    case.able(case.ground.link("to-file", "d/a.txt").await);
    case.able(case.ground.link("to-folder", "d").await);
    for alias in ["to-file", "to-folder/a.txt"] {
        let other = case.target(alias).await;
        assert_eq!(other.key(), target.key(), "{alias}");
        assert!(other.display_path().ends_with(alias), "{:?} is shown for {alias}", other.display_path());
    }
    let (here, there) = (case.target("d/new.txt").await, case.target("to-folder/new.txt").await);
    assert_eq!(here.key(), there.key(), "below a linked folder, before it exists");
}

/// The key behind a dangling link is that of its destination, before and after that exists.
pub async fn dangling_links_mean_their_destination(case: &Case) {
    case.able(case.ground.link("link", "d/new.txt").await);
    let (link, file) = (case.target("link").await, case.target("d/new.txt").await);
    assert_eq!(link.key(), file.key());
    case.put("d/new.txt", "x").await;
    assert_eq!(case.target("link").await, link);
}

/// `..` is folded on the path as written, before links are followed.
pub async fn dot_dot_is_folded_before_links(case: &Case) {
    case.put("far/away/a.txt", "far").await;
    let near = case.file("a.txt", "near").await;
    case.able(case.ground.link("link", "far/away").await);
    let target = case.target("link/../a.txt").await;
    assert_eq!(target.key(), near.key());
    assert_eq!(case.read(&target).await.text, "near");
}

/// Links in a circle are refused, not followed for ever.
pub async fn link_circles_are_refused(case: &Case) {
    case.able(case.ground.link("a", "b").await);
    case.able(case.ground.link("b", "a").await);
    match case.resolve("a").await {
        Err(error) => assert!(error.to_string().starts_with("cannot resolve "), "{error}"),
        Ok(target) => {
            let read = case.fs.read_text(&target, &case.call).await;
            assert!(read.is_err(), "a circle was read as {read:?}");
        }
    }
}

/// A folder contains itself and what is below it, existing or not, and not what only begins like it.
pub async fn folders_contain_what_is_below_them(case: &Case) {
    case.put("d/e/a.txt", "x").await;
    case.put("dd/a.txt", "x").await;
    let folder = case.target("d").await;
    for (name, inside) in [
        ("d", true),
        ("d/e", true),
        ("d/e/a.txt", true),
        ("d/..a", true),
        ("d/new/deep.txt", true),
        ("dd", false),
        ("dd/a.txt", false),
        (".", false),
    ] {
        let child = case.target(name).await;
        assert_eq!(case.fs.contains(&folder, &child), inside, "{name}");
    }
    assert!(case.fs.contains(&case.target(".").await, &folder), "the workspace contains its folders");
    let top = case.fs.resolve("/", None, &case.call).await.unwrap();
    assert!(case.fs.contains(&top, &folder), "`/` contains everything");
}

/// A URI has a scheme, only ASCII, and percent-encodes what would mean something else in it.
pub async fn file_urls_are_percent_encoded(case: &Case) {
    let url = case.fs.file_url(&case.target("a b%#?\u{e9}.txt").await);
    let (scheme, _) = url.split_once(':').unwrap_or_else(|| panic!("no scheme in {url:?}"));
    assert!(scheme.chars().all(|c| c.is_ascii_alphanumeric()), "{url}");
    assert!(url.to_uppercase().ends_with("/A%20B%25%23%3F%C3%A9.TXT"), "{url}");
}

/// A process path is absolute and the same for every spelling.
pub async fn process_paths_are_absolute(case: &Case) {
    let target = case.file("d/a.txt", "x").await;
    let path = case.fs.process_path(&target).unwrap();
    assert!(path.is_absolute(), "{}", path.display());
    assert!(path.ends_with("d/a.txt"), "{}", path.display());
    assert_eq!(case.fs.process_path(&case.target("d/../d/./a.txt").await), Some(path));
}

/// A process path is canonical: the same through links.
pub async fn process_paths_are_canonical(case: &Case) {
    let target = case.file("d/a.txt", "x").await;
    case.able(case.ground.link("link", "d").await);
    let path = case.fs.process_path(&target).unwrap();
    assert_eq!(case.fs.process_path(&case.target("link/a.txt").await), Some(path.clone()));
    assert_eq!(
        case.fs.process_path(&case.target("link/new.txt").await),
        Some(path.with_file_name("new.txt"))
    );
}
