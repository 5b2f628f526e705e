//! The CPU time of programs that mostly wait: user and system time of the process, not wall time.
//!
//! - `interval-1`, `interval-100`: fibers that each wait for the ticks of a one-millisecond interval.
//! - `waiting-10k`: ten thousand fibers in a ring, each of which waits at a channel. Tokens hop from one to the next.
//! - `actors`: ten thousand fibers with a bounded mailbox each. Each forwards a message that it receives to a random
//!   other one.
//! - `crawler`: fetches that sleep for 1 to 50 ms, a hundred at a time.

use super::Workload;
use crate::fibers::peers::{Kind, Peer};
use crate::fibers::programs::waits::Program;
use crate::sample::Sample;

/// A program that mostly waits.
pub struct Waits(Program);

impl Waits {
    /// Creates a workload that runs `program`.
    pub fn new(program: Program) -> Waits {
        Waits(program)
    }
}

impl Workload for Waits {
    fn title(&self) -> String {
        match self.0 {
            Program::Intervals { fibers, ticks } => format!("{fibers} fibers, {ticks} ticks of 1 ms each: CPU time"),
            Program::Ring { fibers, tokens, hops } => {
                format!("{fibers} fibers in a ring, {tokens} tokens, {hops} hops each: CPU time")
            }
            Program::Actors { actors, messages, hops } => {
                format!("{actors} actors, {messages} messages, each forwarded {hops} times: CPU time")
            }
            Program::Crawl { fetches, at_a_time } => {
                format!("{fetches} fetches that sleep 1 to 50 ms, {at_a_time} at a time: CPU time")
            }
        }
    }

    fn unit(&self) -> &'static str {
        "CPU ms"
    }

    fn rounds(&self, asked: usize) -> usize {
        asked.div_ceil(2)
    }

    fn suits(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Anabranch | Kind::Tokio | Kind::TokioCurrent)
    }

    fn is_rival(&self, kind: Kind) -> bool {
        kind == Kind::Tokio
    }

    fn bar(&self) -> Option<f64> {
        Some(1.2)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let done = P::waits(pool, self.0);
        assert_eq!(done.answer, self.0.steps(), "how many steps there were");
        let meter = done.meter;
        Sample { value: meter.cpu * 1e3, ..Sample::per_unit(meter, 1.0, 1.0) }.with("wall ms", meter.wall * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn all_peers_wait() {
        for program in [
            Program::Intervals { fibers: 3, ticks: 4 },
            Program::Ring { fibers: 10, tokens: 2, hops: 35 },
            Program::Actors { actors: 20, messages: 5, hops: 50 },
            Program::Crawl { fetches: 20, at_a_time: 10 },
        ] {
            everyone_does_it(&Waits::new(program), 2);
        }
    }
}
