//! Conversations with `proto!`, compared with the channels inside.
//!
//! Links ([`links`]): a protocol with one message that repeats, in place of an `spsc` channel, in the ring of 2012 and
//! in the stream. Ping-pong ([`pong`]): a bounded protocol, compared with two one-shot channels. Compilation
//! ([`compile`]): the time of the compiler for a bank.

pub mod allocations;
pub mod compile;
pub mod links;
pub mod pong;

use std::fmt;

use serde::{Serialize, Serializer};

use crate::bench::{AnyWorkload, Peers};
use crate::messages::peers::ROOM;
use crate::messages::workloads::{Extent, ring::Ring, stream::Stream};
use crate::options::Listed;
use links::Link;

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

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The amount of a sample.
    pub extent: Extent,
}

/// All workloads: the name on the command line, and how to build it.
pub const ALL: [Listed<Kind, Settings>; 6] = [
    ("ring-4", |settings| link(settings, Ring::new(4), false)),
    ("ring-4-room", |settings| link(settings, Ring::new(4), true)),
    ("ping-pong", |settings| Box::new(pong::PingPong { extent: settings.extent })),
    ("stream", |settings| link(settings, Stream::Fibers, false)),
    ("stream-room", |settings| link(settings, Stream::Fibers, true)),
    ("compile", |_| Box::new(compile::Compile)),
];

fn link<J: links::Piped + 'static>(settings: &Settings, job: J, is_bounded: bool) -> Box<dyn AnyWorkload<Kind>> {
    Box::new(Link { job, room: is_bounded.then_some(ROOM), extent: settings.extent })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Every variant returns the right sum, or compiles.
    #[test]
    fn everyone_does_everything() {
        let settings = Settings { extent: Extent::For(Duration::from_millis(1)) };
        for (name, build) in &ALL {
            let workload = build(&settings);
            let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| workload.suits(*kind)).collect();
            assert!(kinds.len() > 1 && kinds.iter().any(|kind| workload.is_rival(*kind)), "{name}");
            for kind in kinds {
                let sample = workload.sample_with(kind, 2);
                assert!(sample.value.is_finite() && sample.value > 0.0, "{name}, {kind}: {}", sample.value);
            }
        }
    }
}
