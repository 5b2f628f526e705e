//! The peers of the bench of iterators.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::bench::Peers;

/// The peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The iterators of std, on one thread.
    Plain,
    /// The work cut by hand into equal parts, one for each of some std threads: the upper bound.
    Hand,
    /// `anabranch::prelude`.
    Anabranch,
    /// `rayon::prelude`.
    Rayon,
}

impl Peers for Kind {
    const ALL: &'static [Kind] = &[
        Kind::Plain,
        Kind::Hand,
        Kind::Anabranch,
        #[cfg(feature = "peers")]
        Kind::Rayon,
    ];

    const BASELINE: Kind = Kind::Plain;

    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        match self {
            Kind::Plain => vec![Some(1)],
            _ => asked.iter().copied().map(Some).collect(),
        }
    }

    fn is_ours(self) -> bool {
        self == Kind::Anabranch
    }

    fn threads_shown(self, threads: Option<usize>) -> String {
        match (self, threads) {
            (Kind::Plain, _) | (_, None) => "-".into(),
            (_, Some(threads)) => threads.to_string(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Plain => "plain",
            Kind::Hand => "hand",
            Kind::Anabranch => "anabranch",
            Kind::Rayon => "rayon",
        })
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
