//! Why a checkpoint cannot be used.

use std::{fmt, io};

use super::VERSION;
use crate::RunError;

/// Why a checkpoint cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read.
    Io(io::Error),
    /// The file does not begin as a checkpoint.
    NotACheckpoint,
    /// The file has another version of the format.
    Version {
        /// The version.
        version: u32,
    },
    /// The checkpoint is of another problem: scale, edge factor, seed.
    OtherProblem {
        /// What the file has.
        found: [u64; 3],
        /// What the run has.
        expected: [u64; 3],
    },
    /// The file is not as long as its header says.
    Length {
        /// The length of the file.
        bytes: u64,
        /// What the header says.
        expected: u64,
    },
    /// The checksum does not match the contents.
    Checksum,
    /// The contents are no graph, although the checksum matches.
    Damaged {
        /// The part that is wrong.
        what: &'static str,
    },
    /// There is no memory for the contents.
    Run(RunError),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointError::Io(error) => error.fmt(f),
            CheckpointError::NotACheckpoint => f.write_str("it is not a Graph500 checkpoint"),
            CheckpointError::Version { version } => write!(f, "it has version {version} of the format, not {VERSION}"),
            CheckpointError::OtherProblem { found: [a, b, c], expected: [p, q, r] } => write!(
                f,
                "it is of scale {a}, edge factor {b} and seed {c}, and this run of scale {p}, edge factor {q} and seed {r}"
            ),
            CheckpointError::Length { bytes, expected } => write!(f, "it has {bytes} bytes instead of {expected}"),
            CheckpointError::Checksum => f.write_str("it is damaged: the checksum does not match"),
            CheckpointError::Damaged { what } => write!(f, "it is damaged: {what} cannot be right"),
            CheckpointError::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CheckpointError {}

impl From<io::Error> for CheckpointError {
    fn from(error: io::Error) -> CheckpointError {
        CheckpointError::Io(error)
    }
}
