//! Examples in READMEs that are compiled, tested or started elsewhere.
//!
//! `<!-- file: crates/cli/examples/embed.rs -->` above a fenced block says that the block is that file. A block of Rust
//! in the README of the repository must have such a line; a crate's README is compiled with its crate page.

use crate::problem::Problem;
use crate::repository::{File, Repository};

/// A fenced block.
struct Block<'a> {
    /// Of its first fence.
    line: usize,
    /// What stands behind the fence, such as `rust`.
    language: &'a str,
    /// The file that the comment above names.
    file: Option<&'a str>,
    /// Its lines, each with a newline.
    body: String,
}

/// Checks the README of the repository and those of the crates.
pub fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for readme in repository.ending("README.md") {
        match blocks(readme) {
            Err(problem) => problems.push(problem),
            Ok(blocks) => {
                problems.extend(blocks.iter().filter_map(|block| check_block(repository, readme, block)));
            }
        }
    }
    problems
}

fn check_block(repository: &Repository, readme: &File, block: &Block<'_>) -> Option<Problem> {
    let place = format!("{}:{}", readme.path, block.line);
    let Some(file) = block.file else {
        let unnamed = readme.path == "README.md" && block.language.starts_with("rust");
        let what = "an example in Rust names the compiled file it is, in `<!-- file: PATH -->` above";
        return unnamed.then(|| Problem::at(place, what));
    };
    match repository.text(file) {
        None => Some(Problem::at(place, format!("there is no file {file}"))),
        Some(text) if text == block.body => None,
        Some(text) => {
            let same = text.lines().zip(block.body.lines()).take_while(|(a, b)| a == b).count();
            Some(Problem::at(place, format!("differs from {file} from line {} of the example on", same + 1)))
        }
    }
}

/// The fenced blocks of a page.
fn blocks(page: &File) -> Result<Vec<Block<'_>>, Problem> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, Block<'_>)> = None;
    let mut named: Option<&str> = None;
    for (line, text) in page.lines() {
        if let Some((fence, block)) = &mut open {
            if text.trim_end() == *fence {
                blocks.extend(open.take().map(|(_, block)| block));
            } else {
                block.body.push_str(text);
                block.body.push('\n');
            }
            continue;
        }
        let comment = text.trim().strip_prefix("<!-- file:").and_then(|rest| rest.strip_suffix("-->"));
        if let Some(file) = comment {
            named = Some(file.trim());
        } else if text.starts_with("```") {
            let language = text.trim_start_matches('`');
            let fence = &text[..text.len() - language.len()];
            let block = Block { line, language: language.trim(), file: named.take(), body: String::new() };
            open = Some((fence, block));
        } else if !text.trim().is_empty()
            && let Some(file) = named
        {
            return Err(Problem::at(
                format!("{}:{line}", page.path),
                format!("no example follows the mention of {file}"),
            ));
        }
    }
    match (open, named) {
        (Some((_, block)), _) => {
            Err(Problem::at(format!("{}:{}", page.path, block.line), "the fenced block is not closed"))
        }
        (None, Some(file)) => {
            Err(Problem::at(&page.path, format!("no example follows the mention of {file}")))
        }
        (None, None) => Ok(blocks),
    }
}
