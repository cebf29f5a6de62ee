//! Files that nobody compiles: a test file without its `mod` line is tests that never run.

use crate::problem::Problem;
use crate::repository::Repository;

/// Every source file is a root that cargo finds by itself, or is named by the module above it.
pub fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.ending(".rs") {
        let Some(module) = Module::of(&file.path) else { continue };
        if module.is_named(repository) {
            continue;
        }
        let parent = module.parents.iter().find(|parent| repository.text(parent).is_some());
        let parent = parent.map_or("any file above it", String::as_str);
        problems
            .push(Problem::at(&file.path, format!("is not compiled: no `mod {};` in {parent}", module.name)));
    }
    problems
}

struct Module<'a> {
    name: &'a str,
    /// The files that may hold its `mod` line; one of them is there.
    parents: Vec<String>,
}

impl<'a> Module<'a> {
    /// `None` for a root.
    fn of(path: &'a str) -> Option<Self> {
        let (_, rest) = path.strip_prefix("crates/").unwrap_or(path).split_once('/')?;
        let (folder, name) = path.strip_suffix(".rs")?.rsplit_once('/')?;
        match rest.split('/').collect::<Vec<_>>()[..] {
            ["build.rs"] | ["src", "lib.rs" | "main.rs"] | ["src", "bin", _] => return None,
            // Fuzz targets are named in the manifest, one by one.
            ["tests" | "benches" | "examples" | "fuzz_targets", _]
            | ["tests" | "benches" | "examples", _, "main.rs"] => {
                return None;
            }
            _ => {}
        }
        let (folder, name) = if name == "mod" { folder.rsplit_once('/')? } else { (folder, name) };
        let inside = ["lib", "main", "mod"].map(|parent| format!("{folder}/{parent}.rs"));
        Some(Self { name, parents: inside.into_iter().chain([format!("{folder}.rs")]).collect() })
    }

    fn is_named(&self, repository: &Repository) -> bool {
        let declaration = format!("mod {};", self.name);
        let declares = |line: &str| {
            line.trim().strip_suffix(&declaration).is_some_and(|before| {
                let before = before.trim_end();
                before.is_empty() || before.starts_with("pub") || before.ends_with(']')
            })
        };
        let mut parents = self.parents.iter().filter_map(|parent| repository.text(parent));
        parents.any(|text| text.lines().any(declares))
    }
}
