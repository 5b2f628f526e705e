//! The variants of a conversation that are compared.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::bench::Peers;

/// The variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The code that `proto!` generates.
    Protocol,
    /// `channel::spsc`.
    Spsc,
    /// A one-shot channel for each message, all made before the clock starts.
    OneshotsAhead,
    /// A one-shot channel for each message, made when it is needed. The message contains the sender for the answer.
    Oneshots,
    /// The code that `proto!` generates, as text without a macro.
    Expansion,
}

impl Peers for Kind {
    const ALL: &'static [Kind] = &[Kind::Protocol, Kind::Spsc, Kind::OneshotsAhead, Kind::Oneshots, Kind::Expansion];

    const BASELINE: Kind = Kind::Protocol;

    fn is_of_anabranch(self) -> bool {
        true
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Protocol => "protocol",
            Kind::Spsc => "spsc",
            Kind::OneshotsAhead => "oneshots-ahead",
            Kind::Oneshots => "oneshots",
            Kind::Expansion => "expansion",
        })
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
