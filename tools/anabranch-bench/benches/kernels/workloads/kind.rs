//! The peers of the bench of kernels.

use std::fmt;

use serde::{Serialize, Serializer};

use anabranch_bench::bench::Peers;

/// The peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A plain loop for each of some std threads.
    Hand,
    /// The parallel iterators of anabranch.
    Iterators,
    /// The operations of anabranch-kernel, on the processor.
    Kernels,
}

impl Peers for Kind {
    const ALL: &'static [Kind] = &[Kind::Hand, Kind::Iterators, Kind::Kernels];
    const BASELINE: Kind = Kind::Hand;

    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        asked.iter().copied().map(Some).collect()
    }

    fn is_ours(self) -> bool {
        self == Kind::Kernels
    }

    fn threads_shown(self, threads: Option<usize>) -> String {
        threads.map_or("-".into(), |threads| threads.to_string())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Hand => "hand",
            Kind::Iterators => "iterators",
            Kind::Kernels => "kernels",
        })
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
