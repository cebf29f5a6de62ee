//! Under which licences the dependencies are used.

use anyhow::{Context as _, bail, ensure};

use crate::problem::Problem;
use crate::repository::Repository;
use crate::workspace::Workspace;

/// The licences that `deny.toml` allows.
pub fn allowed(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let text = repository.text("deny.toml").context("there is no deny.toml")?;
    let deny: toml::Table = toml::from_str(text).context("deny.toml")?;
    let list = deny.get("licenses").and_then(|table| table.get("allow")).and_then(toml::Value::as_array);
    let list = list.context("deny.toml has no licenses.allow")?;
    list.iter().map(|id| id.as_str().map(str::to_owned).context("licenses.allow holds strings")).collect()
}

/// Every package has a licence that is allowed.
pub fn check(workspace: &Workspace, allowed: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in &workspace.packages {
        let what = match &package.licence {
            None => "names no licence".to_owned(),
            Some(expression) => match permits(expression, allowed) {
                Ok(true) => continue,
                Ok(false) => format!("is licensed {expression}, which deny.toml does not allow"),
                Err(error) => format!("has a licence that cannot be read: {expression}: {error}"),
            },
        };
        problems.push(Problem::at(format!("{} {}", package.name, package.version), what));
    }
    problems
}

/// Whether an SPDX expression can be satisfied with the licences of a list.
pub fn permits(expression: &str, allowed: &[String]) -> anyhow::Result<bool> {
    // Before SPDX, `/` was how manifests wrote `OR`.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), allowed };
    words.words.reverse();
    let permitted = words.any_of()?;
    ensure!(words.words.is_empty(), "more than one expression");
    Ok(permitted)
}

/// What is left of an expression, last word first.
struct Words<'a> {
    words: Vec<&'a str>,
    allowed: &'a [String],
}

impl Words<'_> {
    fn any_of(&mut self) -> anyhow::Result<bool> {
        let mut permitted = self.all_of()?;
        while self.take("OR") {
            permitted |= self.all_of()?;
        }
        Ok(permitted)
    }

    fn all_of(&mut self) -> anyhow::Result<bool> {
        let mut permitted = self.one()?;
        while self.take("AND") {
            permitted &= self.one()?;
        }
        Ok(permitted)
    }

    fn one(&mut self) -> anyhow::Result<bool> {
        if self.take("(") {
            let permitted = self.any_of()?;
            ensure!(self.take(")"), "a parenthesis is not closed");
            return Ok(permitted);
        }
        let mut licence = match self.words.pop() {
            None | Some(")" | "OR" | "AND" | "WITH") => bail!("a licence is missing"),
            Some(id) => id.to_owned(),
        };
        if self.take("WITH") {
            let exception = self.words.pop().context("an exception is missing")?;
            licence = format!("{licence} WITH {exception}");
        }
        Ok(self.allowed.contains(&licence))
    }

    fn take(&mut self, word: &str) -> bool {
        let next = self.words.last() == Some(&word);
        if next {
            self.words.pop();
        }
        next
    }
}
