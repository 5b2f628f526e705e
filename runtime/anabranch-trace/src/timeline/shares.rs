//! Divides intervals by the readings of a thread's clocks.
//!
//! A thread reads its CPU clock now and then when its state changes, and more rarely the time for which it had no core.
//! The difference of two readings of the CPU clock is divided among the intervals between them, as if it were spread
//! evenly. What is left of these intervals waits for the next reading of the other clock.

use crate::timeline::{Interval, Shares};

/// The clocks of one thread.
#[derive(Default)]
pub(super) struct Clocks {
    /// The last reading of the CPU clock.
    cpu: Option<u64>,
    /// The intervals since then whose shares it will tell.
    unread: Vec<usize>,
    /// How long the thread has published since then, which takes CPU time too.
    publishing: u64,
    /// The last reading of the time without a core.
    delay: Option<u64>,
    /// The intervals since then that have a share of CPU time.
    undivided: Vec<usize>,
}

impl Clocks {
    /// Adds an interval of work.
    pub(super) fn add(&mut self, index: usize) {
        self.unread.push(index);
    }

    /// Adds time of publishing.
    pub(super) fn add_publishing(&mut self, time: u64) {
        self.publishing = self.publishing.saturating_add(time);
    }

    /// Reads the CPU clock.
    pub(super) fn read_cpu(&mut self, intervals: &mut [Interval], now: u64) {
        if let Some(before) = self.cpu.replace(now) {
            let wall: f64 = self.unread.iter().map(|&index| intervals[index].len() as f64).sum();
            let cpu = now.saturating_sub(before).saturating_sub(self.publishing) as f64;
            // No interval is empty.
            let share = (cpu / wall).min(1.0);
            for &index in &self.unread {
                intervals[index].shares = Some(Shares { cpu: share, blocked: 1.0 - share });
            }
            self.undivided.append(&mut self.unread);
        }
        self.unread.clear();
        self.publishing = 0;
    }

    /// Reads the time without a core.
    pub(super) fn read_delay(&mut self, intervals: &mut [Interval], now: u64) {
        if let Some(before) = self.delay.replace(now) {
            let rest =
                |interval: &Interval| interval.shares.map_or(0.0, |shares| shares.blocked) * interval.len() as f64;
            let rests: f64 = self.undivided.iter().map(|&index| rest(&intervals[index])).sum();
            let delay = now.saturating_sub(before) as f64;
            let blocked = if rests > delay { 1.0 - delay / rests } else { 0.0 };
            for &index in &self.undivided {
                if let Some(shares) = &mut intervals[index].shares {
                    shares.blocked *= blocked;
                }
            }
        }
        self.undivided.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{event::Site, timeline::Activity};

    fn interval(len: u64) -> Interval {
        let (activity, site) = (Activity::Working, Site::UNKNOWN);
        Interval { begin: 0, end: len, activity, pool: 0, site, shares: None }
    }

    #[test]
    fn cpu_time_is_spread_over_intervals_between_two_readings() {
        let mut intervals = [interval(100), interval(300), interval(50)];
        let mut clocks = Clocks::default();
        clocks.add(0);
        clocks.read_cpu(&mut intervals, 1_000);
        assert_eq!(intervals[0].shares, None, "there is no earlier reading");
        clocks.add(1);
        clocks.add_publishing(20);
        clocks.read_cpu(&mut intervals, 1_170);
        assert_eq!(intervals[1].shares, Some(Shares { cpu: 0.5, blocked: 0.5 }));
        clocks.add(2);
        clocks.read_cpu(&mut intervals, 2_000);
        assert_eq!(intervals[2].shares, Some(Shares { cpu: 1.0, blocked: 0.0 }));
    }

    #[test]
    fn time_without_a_core_is_not_blocked() {
        let mut intervals = [interval(100), interval(300), interval(100)];
        let mut clocks = Clocks::default();
        clocks.read_cpu(&mut intervals, 0);
        clocks.read_delay(&mut intervals, 0);
        clocks.add(0);
        clocks.read_cpu(&mut intervals, 50);
        clocks.add(1);
        clocks.read_cpu(&mut intervals, 200);
        clocks.read_delay(&mut intervals, 100);
        assert_eq!(intervals[0].shares, Some(Shares { cpu: 0.5, blocked: 0.25 }));
        assert_eq!(intervals[1].shares, Some(Shares { cpu: 0.5, blocked: 0.25 }));
        clocks.add(2);
        clocks.read_cpu(&mut intervals, 250);
        clocks.read_delay(&mut intervals, u64::MAX);
        assert_eq!(intervals[2].shares, Some(Shares { cpu: 0.5, blocked: 0.0 }));
    }
}
