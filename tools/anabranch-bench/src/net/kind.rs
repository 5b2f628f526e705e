//! The compared servers.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::bench::Peers;

/// A server, with one worker thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// anabranch: a fiber for each connection.
    Anabranch,
    /// tokio on its current-thread runtime: a task for each connection.
    TokioCurrent,
    /// tokio on its pool of threads, with one worker.
    Tokio,
    /// may: a coroutine for each connection.
    May,
    /// Go's `net/http`, as a separate program.
    Go,
    /// Threads of the system: one for each connection.
    Std,
}

impl Peers for Kind {
    const ALL: &'static [Kind] = &[
        Kind::Anabranch,
        #[cfg(feature = "peers")]
        Kind::TokioCurrent,
        #[cfg(feature = "peers")]
        Kind::Tokio,
        #[cfg(feature = "peers")]
        Kind::May,
        #[cfg(feature = "peers")]
        Kind::Go,
        Kind::Std,
    ];

    const BASELINE: Kind = Kind::Anabranch;

    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        match self {
            // As many as there are connections.
            Kind::Std => vec![None],
            _ => asked.iter().copied().map(Some).collect(),
        }
    }

    fn threads_shown(self, threads: Option<usize>) -> String {
        threads.map_or_else(|| "-".into(), |threads| threads.to_string())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Anabranch => "anabranch",
            Kind::TokioCurrent => "tokio-current",
            Kind::Tokio => "tokio",
            Kind::May => "may",
            Kind::Go => "go",
            Kind::Std => "std",
        })
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
