//! Conversations with `proto!`, compared with the channels inside.
//!
//! Links ([`links`]): a protocol with one message that repeats, in place of an `spsc` channel, in the ring of 2012 and
//! in the stream. Ping-pong ([`pong`]): a bounded protocol, compared with two one-shot channels. Compilation
//! ([`compile`]): the time of the compiler for a bank.

pub mod allocations;
pub mod compile;
mod kind;
pub mod links;
pub mod pong;

use crate::bench::AnyWorkload;
use crate::contest::Listed;
use crate::messages::peers::ROOM;
use crate::messages::workloads::{Extent, ring::Ring, stream::Stream};
use links::Link;

pub use kind::Kind;

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
    use crate::bench::Peers;

    /// Every variant returns the right sum, or compiles.
    #[test]
    fn all_peers_run_all_workloads() {
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
