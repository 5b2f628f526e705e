//! Programs that mostly wait.

use serde::{Deserialize, Serialize};

/// The program of a sample. The result is the number of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Program {
    /// Fibers that wait for ticks.
    Intervals {
        /// The number of fibers.
        fibers: u64,
        /// The number of ticks for each.
        ticks: u64,
    },
    /// A ring in which tokens hop.
    Ring {
        /// The number of fibers.
        fibers: u64,
        /// The number of tokens, spread evenly.
        tokens: u64,
        /// The number of hops of each token.
        hops: u64,
    },
    /// Actors that forward messages.
    Actors {
        /// The number of actors.
        actors: u64,
        /// The number of messages in flight.
        messages: u64,
        /// The number of times each message is forwarded.
        hops: u64,
    },
    /// Fetches that sleep.
    Crawl {
        /// The number of fetches.
        fetches: u64,
        /// The number of concurrent fetches.
        at_a_time: usize,
    },
}

/// The capacity of a mailbox.
pub const ROOM: usize = 16;

impl Program {
    /// Returns the number of steps.
    pub fn steps(self) -> u64 {
        match self {
            Program::Intervals { fibers, ticks } => fibers * ticks,
            Program::Ring { tokens, hops, .. } => tokens * hops,
            Program::Actors { messages, hops, .. } => messages * hops,
            Program::Crawl { fetches, .. } => fetches,
        }
    }
}

/// A pseudo-random sequence, the same in every run, for the actor with this number.
#[derive(Clone, Debug)]
pub struct Chance(fastrand::Rng);

impl Chance {
    /// Creates the sequence with this number.
    pub fn new(number: u64) -> Chance {
        Chance(fastrand::Rng::with_seed(number))
    }

    /// Returns the next of `count` neighbours.
    pub fn neighbour(&mut self, count: usize) -> usize {
        self.0.usize(0..count)
    }

    /// Returns the time that the fetch with this number sleeps.
    pub fn nap(number: u64) -> std::time::Duration {
        std::time::Duration::from_micros(Chance::new(number).0.u64(1_000..50_000))
    }
}
