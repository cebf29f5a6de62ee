//! Numbers as a model knows them.

/// The number as JavaScript prints it: `9007199254740992`, `1e+308`.
pub(crate) fn as_javascript(value: f64) -> String {
    ryu_js::Buffer::new().format(value).to_owned()
}
