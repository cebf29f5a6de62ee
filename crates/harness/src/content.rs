//! What a model sees of a result, block by block.

/// One block of what the model sees of a result. More kinds may come later, hence `non_exhaustive`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// UTF-8 text, shown as it is.
    Text(String),
    /// A picture.
    Image(Media),
    /// A recording.
    Audio(Media),
}

/// Bytes that are not text, as they travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The bytes in base64 (RFC 4648, with padding); carried, not checked.
    pub data: String,
    /// What they are, such as `image/png`.
    pub mime_type: String,
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text of a text block, nothing for other kinds.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(_) | Self::Audio(_) => None,
        }
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
