//! Why a file cannot be read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be read as a graph: which file, where in it, why, and what to do.
///
/// ```
/// use anabranch_graph::{ReadOptions, read};
/// let error = read::<()>("none.el", &ReadOptions::default()).err().unwrap();
/// assert!(error.to_string().starts_with("none.el: "));
/// ```
#[derive(Debug)]
pub struct ReadError {
    path: PathBuf,
    fault: Fault,
}

/// A reason without its file.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The line and the column, from 1. A column counts bytes.
    pub(crate) position: Option<(u64, u64)>,
    pub(crate) kind: ReadErrorKind,
    pub(crate) message: String,
}

/// The kinds of a [`ReadError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The system reports an error, or the file cannot be decompressed.
    Io,
    /// The contents do not have the format.
    Malformed,
    /// The contents are well-formed, but this crate does not read such files.
    Unsupported,
    /// The graph has more vertices than a graph can have, or than its size makes plausible.
    TooLarge,
}

impl Fault {
    pub(crate) fn new(kind: ReadErrorKind, message: impl Into<String>) -> Fault {
        Fault { position: None, kind, message: message.into() }
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Fault {
        Fault::new(ReadErrorKind::Malformed, message)
    }

    pub(crate) fn at(self, line: u64, column: u64) -> Fault {
        Fault { position: Some((line, column)), ..self }
    }

    pub(crate) fn in_file(self, path: &Path) -> ReadError {
        ReadError { path: path.to_owned(), fault: self }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        let message = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file; check its name".to_owned(),
            io::ErrorKind::IsADirectory => "it is a directory; name a file in it".to_owned(),
            io::ErrorKind::UnexpectedEof => "the file ends too early; copy or create it again".to_owned(),
            _ => error.to_string(),
        };
        Fault::new(ReadErrorKind::Io, message)
    }
}

impl ReadError {
    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the line of a text file where reading stopped, from 1.
    pub fn line(&self) -> Option<u64> {
        self.fault.position.map(|position| position.0)
    }

    /// Returns the column of the line, from 1. It counts bytes.
    pub fn column(&self) -> Option<u64> {
        self.fault.position.map(|position| position.1)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ReadErrorKind {
        self.fault.kind
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.fault.position {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.fault.message)
    }
}

impl std::error::Error for ReadError {}
