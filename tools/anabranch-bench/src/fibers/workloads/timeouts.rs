//! Time limits whose bodies wait, on two workers: below one root of cancel scopes, or below two. The difference is
//! what the two fibers pay for being in one tree.

use super::{Settings, Threads, Workload, nanoseconds_each};
use crate::fibers::peers::{Kind, Peer};
use crate::sample::Sample;

/// Two fibers, on a worker each, that only begin and end time limits.
pub struct Timeouts {
    share_a_tree: bool,
    times: u64,
}

impl Timeouts {
    /// Creates a workload whose fibers are in one scope, or in none.
    pub fn new(settings: &Settings, share_a_tree: bool) -> Timeouts {
        Timeouts { share_a_tree, times: if settings.quick { 50_000 } else { 500_000 } }
    }
}

impl Workload for Timeouts {
    fn title(&self) -> String {
        let trees = if self.share_a_tree { "in one scope" } else { "without a common scope" };
        format!("two fibers on two workers, {trees}, each receive with a time limit and wait in it")
    }

    fn unit(&self) -> &'static str {
        "ns/timeout"
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(2)
    }

    fn suits(&self, kind: Kind) -> bool {
        kind == Kind::Anabranch
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let done = P::timeouts(pool, self.share_a_tree, self.times);
        assert_eq!(done.answer, 2 * self.times, "how many time limits there were");
        // The two fibers run at the same time.
        nanoseconds_each(done, self.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fibers::workloads::testing::everyone_does_it;

    #[test]
    fn both_layouts_of_trees_are_measured() {
        for share_a_tree in [true, false] {
            everyone_does_it(&Timeouts { share_a_tree, times: 100 }, 2);
        }
    }
}
