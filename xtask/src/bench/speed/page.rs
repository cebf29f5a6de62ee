//! [`Page`]: what a read shows, taken apart, so that answers of different programs can be held against each other.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::bench::peer::{Peer, Reply};
use crate::bench::peers::Which;
use crate::bench::text;

/// The lines of one answer of `read`.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// As it came.
    pub(crate) whole: String,
    pub(crate) lines: Vec<String>,
    /// Where the footer says that it goes on.
    pub(crate) next: Option<u64>,
    pub(crate) took: Duration,
}

impl Page {
    /// Reads a page of ours or of the reference.
    pub(crate) fn read(peer: &mut Peer, file: &str, offset: u64) -> anyhow::Result<Self> {
        let reply = peer.must("read", &json!({"file_path": file, "offset": offset}))?;
        Self::parse(&reply).with_context(|| format!("not a page: {:.300}", reply.text))
    }

    fn parse(reply: &Reply) -> Option<Self> {
        let body = reply.text.split_once("<content>\n")?.1.strip_suffix("\n</content>")?;
        let (shown, footer) = body.rsplit_once("\n\n(")?;
        let lines =
            shown.lines().map(|line| Some(line.split_once(": ")?.1.to_owned())).collect::<Option<_>>()?;
        let next =
            footer.split_once("Use offset=").and_then(|(_, rest)| rest.split_once(' ')?.0.parse().ok());
        Some(Self { whole: reply.text.clone(), lines, next, took: reply.took })
    }

    /// Fails if these are not the lines of `text` from `offset` on; the file repeats itself after `lines` lines.
    pub(crate) fn check(&self, offset: u64, lines: u64) -> anyhow::Result<()> {
        ensure!(!self.lines.is_empty(), "an empty page at line {offset}");
        for (shown, number) in self.lines.iter().zip(offset..) {
            let expected = text::line((number - 1) % lines + 1);
            ensure!(*shown == expected, "line {number} is shown as {shown:?} instead of {expected:?}");
        }
        Ok(())
    }
}

/// Has a server show the lines that `page` shows, and fails if it shows others. `None`: it offers no such call.
pub(crate) fn same_lines(
    peer: &mut Peer,
    which: Which,
    path: &str,
    offset: u64,
    page: &Page,
) -> anyhow::Result<Option<Duration>> {
    let count = page.lines.len();
    let reply = match which {
        Which::Reference => {
            let theirs = Page::read(peer, path, offset)?;
            ensure!(theirs.whole == page.whole, "{} shows another page at line {offset}", which.name());
            return Ok(Some(theirs.took));
        }
        Which::JsServer if offset > 1 => return Ok(None),
        Which::JsServer => peer.must("read_text_file", &json!({"path": path, "head": count}))?,
        Which::RustServer => {
            peer.must("read_file_lines", &json!({"path": path, "offset": offset - 1, "limit": count}))?
        }
    };
    ensure!(
        reply.text.trim_end_matches('\n') == page.lines.join("\n"),
        "{} shows other lines from {offset} on: {:.300}",
        which.name(),
        reply.text
    );
    Ok(Some(reply.took))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Page;
    use crate::bench::peer::Reply;

    fn page(body: &str) -> Option<Page> {
        let text = format!("<path>/w/a.txt</path>\n<type>file</type>\n<content>\n{body}\n</content>");
        Page::parse(&Reply::new(Some(&text), &json!({}), std::time::Duration::ZERO)?)
    }

    #[test]
    fn a_page_tells_its_lines_and_where_it_goes_on() {
        let page = page("7: a: b\n8: \n\n(Showing lines 7-8 of 9. Use offset=9 to continue.)")
            .map(|page| (page.lines, page.next));
        assert_eq!(page, Some((vec!["a: b".to_owned(), String::new()], Some(9))));
    }

    #[test]
    fn the_last_page_goes_on_nowhere() {
        let page = page("9: end\n\n(End of file - total 9 lines)").map(|page| (page.lines, page.next));
        assert_eq!(page, Some((vec!["end".to_owned()], None)));
    }

    #[test]
    fn another_line_than_expected_fails_the_bench() {
        let page =
            page("1: something else\n\n(End of file - total 1 lines)").map(|page| page.check(1, 1).is_err());
        assert_eq!(page, Some(true));
    }
}
