//! A counter behind a mutex: one fiber without contention, or several that contend for it.

use super::{Settings, Threads, Workload, nanoseconds_each};
use crate::fibers::peers::{Kind, Peer};
use crate::sample::Sample;

/// Fibers that lock a mutex, increment its value, and unlock it.
pub struct Lock {
    fibers: u64,
    times: u64,
}

impl Lock {
    /// Creates a workload with `fibers` fibers.
    pub fn new(settings: &Settings, fibers: u64) -> Lock {
        Lock { fibers, times: if settings.quick { 200_000 } else { 4_000_000 } / fibers }
    }
}

impl Workload for Lock {
    fn title(&self) -> String {
        match self.fibers {
            1 => "one fiber locks and unlocks an uncontended mutex".into(),
            fibers => format!("{fibers} fibers lock and unlock the same mutex"),
        }
    }

    fn unit(&self) -> &'static str {
        "ns/lock"
    }

    fn threads(&self) -> Threads {
        if self.fibers == 1 { Threads::Fixed(1) } else { Threads::Asked }
    }

    fn suits(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::AnabranchSpawn | Kind::Executor)
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let done = P::lock(pool, self.fibers, self.times);
        let expected = self.fibers * self.times;
        assert_eq!(done.answer, expected, "the counter");
        nanoseconds_each(done, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn all_peers_count() {
        everyone_does_it(&Lock { fibers: 1, times: 100 }, 1);
        everyone_does_it(&Lock { fibers: 4, times: 100 }, 2);
    }
}
