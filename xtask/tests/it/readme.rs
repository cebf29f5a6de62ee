use xtask::check::readme::check;

use crate::{repository, told};

const MAIN: (&str, &str) = ("examples/main.rs", "fn main() {}\n");

fn readme(text: &str) -> Vec<String> {
    told(&check(&repository([MAIN, ("README.md", text)])))
}

#[test]
fn an_example_is_its_file_to_the_byte() {
    assert_eq!(readme("<!-- file: examples/main.rs -->\n\n```rust\nfn main() {}\n```\n"), [""; 0]);
    assert_eq!(
        readme("<!-- file: examples/main.rs -->\n```rust\nfn main() { }\n```\n"),
        ["README.md:2: differs from examples/main.rs from line 1 of the example on"]
    );
    assert_eq!(
        readme("<!-- file: examples/main.rs -->\n```rust\nfn main() {}\n\n```\n"),
        ["README.md:2: differs from examples/main.rs from line 2 of the example on"]
    );
}

#[test]
fn a_mention_needs_its_file_and_its_example() {
    assert_eq!(
        readme("<!-- file: examples/other.rs -->\n```rust\n```\n"),
        ["README.md:2: there is no file examples/other.rs"]
    );
    assert_eq!(
        readme("<!-- file: examples/main.rs -->\nText.\n"),
        ["README.md:2: no example follows the mention of examples/main.rs"]
    );
    assert_eq!(
        readme("Text.\n<!-- file: examples/main.rs -->\n"),
        ["README.md: no example follows the mention of examples/main.rs"]
    );
    assert_eq!(readme("```sh\nls\n"), ["README.md:1: the fenced block is not closed"]);
}

#[test]
fn rust_in_the_first_readme_is_never_loose() {
    let loose = "```rust\nfn main() {}\n```\n";
    let what = "an example in Rust names the compiled file it is, in `<!-- file: PATH -->` above";
    assert_eq!(readme(loose), [format!("README.md:1: {what}")]);
    assert_eq!(told(&check(&repository([("crates/fs/README.md", loose)]))), [""; 0]);
    assert_eq!(readme("```json\n{}\n```\n"), [""; 0]);
}

#[test]
fn what_stands_inside_a_block_is_not_read() {
    assert_eq!(readme("````md\n<!-- file: x -->\n```rust\n```\n````\n"), [""; 0]);
}
