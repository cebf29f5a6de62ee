//! What is wrong with a composition, and where.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::coded::Coded;

/// A composition that cannot be read, is wrong, or did not start.
///
/// Displays as `<file>:<line>: row <n> "<name>" (id "<id>"): <what is wrong>`, without the parts that do not apply. Its
/// [name](Coded::name) is `CompositionError`.
#[derive(Debug)]
pub struct CompositionError {
    // Boxed, because results that carry it are returned a lot and it is large.
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: CompositionErrorKind,
    place: Place,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The family of a [`CompositionError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompositionErrorKind {
    /// `COMPOSITION_UNREADABLE`: the file is not there, cannot be read, or is of another kind.
    Unreadable,
    /// `COMPOSITION_INVALID`: not YAML, or a row, name, key or value that is not right. Nothing was started.
    Invalid,
    /// `ROW_FAILED`: a plugin failed to start. All rows were unmounted again, or those before a reload brought back.
    RowFailed,
    /// `ROW_WAITING`: a row waits for a service that no row provides. All rows were unmounted again, or those before a
    /// reload brought back.
    RowWaiting,
    /// `COMPOSE_REFUSED`: [`compose`](crate::Context::compose) or a reload was called where it cannot work.
    Refused,
}

impl CompositionError {
    /// The family.
    pub fn kind(&self) -> CompositionErrorKind {
        self.inner.kind
    }

    /// The composition file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.inner.place.file.as_deref()
    }

    /// The line in that file, from 1.
    pub fn line(&self) -> Option<usize> {
        (self.inner.place.line > 0).then_some(self.inner.place.line)
    }

    /// The number of the row, from 1.
    pub fn row(&self) -> Option<usize> {
        self.inner.place.row.as_ref().map(|row| row.number)
    }

    pub(crate) fn new(kind: CompositionErrorKind, place: Place, message: impl Into<String>) -> Self {
        Self { inner: Box::new(Inner { kind, place, message: message.into(), source: None }) }
    }

    pub(crate) fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.inner.source = Some(Box::new(source));
        self
    }
}

impl fmt::Display for CompositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.inner.place.file {
            write!(f, "{}:", file.display())?;
            if self.inner.place.line > 0 {
                write!(f, "{}:", self.inner.place.line)?;
            }
            f.write_str(" ")?;
        }
        if let Some(row) = &self.inner.place.row {
            write!(f, "{row}: ")?;
        }
        f.write_str(&self.inner.message)
    }
}

impl Error for CompositionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.inner.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl Coded for CompositionError {
    fn name(&self) -> &'static str {
        "CompositionError"
    }

    fn code(&self) -> Option<&str> {
        Some(match self.inner.kind {
            CompositionErrorKind::Unreadable => "COMPOSITION_UNREADABLE",
            CompositionErrorKind::Invalid => "COMPOSITION_INVALID",
            CompositionErrorKind::RowFailed => "ROW_FAILED",
            CompositionErrorKind::RowWaiting => "ROW_WAITING",
            CompositionErrorKind::Refused => "COMPOSE_REFUSED",
        })
    }
}

/// Where in a composition something is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) file: Option<PathBuf>,
    /// From 1; 0 if there is none.
    pub(crate) line: usize,
    pub(crate) row: Option<RowPlace>,
}

impl Place {
    pub(crate) fn at_line(&self, line: usize) -> Self {
        Self { line: if line > 0 { line } else { self.line }, ..self.clone() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct RowPlace {
    /// From 1.
    pub(crate) number: usize,
    /// As written in the file.
    pub(crate) name: Option<String>,
    pub(crate) id: Option<String>,
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}", self.number)?;
        if let Some(name) = &self.name {
            write!(f, " \"{name}\"")?;
        }
        if let Some(id) = &self.id {
            write!(f, " (id \"{id}\")")?;
        }
        Ok(())
    }
}
