//! Whether the threads at work in a pool with more threads than cores use every core.
//!
//! Then another thread would only take turns with them. A loop waits for the last of its pieces, so one piece that is
//! interrupted for a few milliseconds delays the whole loop. With 8 threads on 2 cores, leaving published forks alone
//! made `collect` 1.15 times as fast. If a thread at work blocks, or another program takes a core, another thread
//! begins within 0.4 ms. Tasks and fibers may be urgent and are not left alone.

use crate::sys::clock::Instant;
use std::{collections::HashMap, mem, time::Duration};

/// How long published forks are left alone. This must be bounded, since the threads at work may wait for them by
/// spinning.
const MAX_FORK_DELAY: Duration = Duration::from_millis(if cfg!(shuttle) { 1 } else { 20 });

/// The data that the heartbeat worker keeps from one check to the next.
#[derive(Default)]
pub(super) struct Crowding {
    /// The times of the first look and of the last one.
    looks: Option<(Instant, Instant)>,
    /// The CPU clocks of the threads that were at work at the last look, in nanoseconds.
    clocks: HashMap<usize, u64>,
}

impl Crowding {
    /// Forgets the looks so far: no fork waits, or a core is free.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns whether forks that wait should be left alone. Takes the workers at work with their CPU clocks. The first
    /// look finds no time that has passed, and returns `true`.
    pub(super) fn check(
        &mut self,
        at_work: impl Iterator<Item = (usize, Option<u64>)>,
        cores: usize,
        now: Instant,
    ) -> bool {
        let (first, last) = self.looks.unwrap_or((now, now));
        self.looks = Some((first, now));
        let before = mem::take(&mut self.clocks);
        let mut used = 0;
        for (worker, clock) in at_work {
            // Where threads have no clocks, no fork is left alone.
            let Some(clock) = clock else { return false };
            used += before.get(&worker).map_or(0, |before| clock.saturating_sub(*before));
            self.clocks.insert(worker, clock);
        }
        let most = (now - last) * cores as u32;
        Duration::from_nanos(used) >= most * 7 / 8 && now - first < MAX_FORK_DELAY
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    /// Looks once a millisecond at workers that have run for `parts` of each millisecond, in hundredths.
    fn looks(crowding: &mut Crowding, parts: &[u64], cores: usize, count: u64) -> Vec<bool> {
        let start = Instant::now();
        let one = |look: u64| {
            let at_work = parts.iter().map(|part| Some(look * part * 10_000)).enumerate();
            crowding.check(at_work, cores, start + Duration::from_millis(look))
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn forks_are_left_alone_while_all_cores_are_used() {
        let mut crowding = Crowding::default();
        assert_eq!(looks(&mut crowding, &[95, 90], 2, 20), [true; 20]);
        crowding.forget();
        assert_eq!(looks(&mut crowding, &[50, 50, 50, 50], 2, 20), [true; 20]);
    }

    #[test]
    fn forks_are_left_alone_for_bounded_time() {
        let looks = looks(&mut Crowding::default(), &[100, 100], 2, 22);
        assert_eq!(looks[19..], [true, false, false]);
    }

    #[test]
    fn unused_core_is_noticed_at_second_look() {
        assert_eq!(looks(&mut Crowding::default(), &[100, 70], 2, 3), [true, false, false]);
        assert_eq!(looks(&mut Crowding::default(), &[100, 100], 3, 3), [true, false, false]);
    }

    #[test]
    fn forks_are_not_left_alone_without_clocks() {
        assert!(!Crowding::default().check([(0, None)].into_iter(), 1, Instant::now()));
    }
}
