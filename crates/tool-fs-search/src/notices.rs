//! The last lines of a result: what did not go as asked.

/// Appends the notices, a line each: apart from content by a blank line, directly below a sentence that says there is
/// none.
pub(crate) fn append(text: &mut String, notices: &[String], has_content: bool) {
    if has_content && !notices.is_empty() {
        text.push('\n');
    }
    for notice in notices {
        text.push('\n');
        text.push_str(notice);
    }
}
