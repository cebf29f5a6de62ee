//! Every check on this repository, and on bad examples.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod budget;
mod docs;
mod forbidden;
mod hints;
mod history;
mod imports;
mod licences;
mod modules;
mod options;
mod readme;
mod repository;
mod sources;

use xtask::{File, Package, Problem, Repository, Source, Workspace};

/// A repository of these files.
fn repository<const N: usize>(files: [(&str, &str); N]) -> Repository {
    Repository::of(files.map(|(path, text)| File { path: path.to_owned(), text: text.to_owned() }).into())
}

/// A member of the workspace.
fn member(name: &str, folder: &str, imports: &[&str]) -> Package {
    Package { source: Source::Member(folder.to_owned()), ..dependency(name, imports) }
}

/// A package from the default registry.
fn dependency(name: &str, imports: &[&str]) -> Package {
    Package {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        licence: Some("MIT".to_owned()),
        source: Source::DefaultRegistry,
        imports: imports.iter().map(|&import| import.to_owned()).collect(),
    }
}

fn workspace<const N: usize>(packages: [Package; N]) -> Workspace {
    Workspace { packages: packages.into() }
}

/// Each problem as a line.
fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}
