//! What a model sees of a result, block by block.

/// One block of what the model sees of a result. More kinds (images) come later, hence `non_exhaustive`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// UTF-8 text, shown as it is.
    Text(String),
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text of a text block, nothing for other kinds.
    pub fn as_text(&self) -> Option<&str> {
        let Self::Text(text) = self;
        Some(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The text of all text blocks, joined by `\n`.
pub(crate) fn joined_text(blocks: &[Content]) -> String {
    blocks.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
}
