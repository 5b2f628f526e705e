//! The clock of strands: how long the calling thread had a core.
//!
//! The CPU clock of a thread is a system call of some 150 ns, and a strand may take 10 ns. So a short lap is read from
//! the clock of the process alone, and only a long one looks at the CPU clock too. The time without a core comes in
//! long laps: a slice of another thread takes hundreds of microseconds. The CPU time of a long lap is what the CPU
//! clock has advanced since its last reading, less the short laps in between.

use crate::sys::thread::cpu_time;
use std::{
    mem,
    time::{Duration, Instant},
};

/// The least length of a lap that looks at the CPU clock.
const LONG: Duration = Duration::from_micros(20);

/// Measures one lap after the other.
pub(super) struct Clock {
    /// The end of the last lap.
    last: Instant,
    /// The last reading of the CPU clock, in nanoseconds, and when that was. `None` where there is no such clock.
    cpu: Option<(Instant, u64)>,
    /// How long a lap is in which nothing happens, in nanoseconds.
    empty: u64,
}

impl Clock {
    pub(super) fn new() -> Self {
        let mut clock = Self { last: Instant::now(), cpu: None, empty: 0 };
        clock.cpu = cpu_time().map(|time| (clock.last, time));
        let mut laps: [u64; 31] = std::array::from_fn(|_| clock.lap());
        laps.sort_unstable();
        clock.empty = laps[laps.len() / 2];
        clock
    }

    /// Returns the end of the last lap.
    pub(super) fn at(&self) -> Instant {
        self.last
    }

    /// Ends the lap and begins the next one. Returns for how many nanoseconds the thread had a core in the lap.
    pub(super) fn lap(&mut self) -> u64 {
        let now = Instant::now();
        let begin = mem::replace(&mut self.last, now);
        let wall = now.saturating_duration_since(begin);
        let mut time = wall.as_nanos() as u64;
        if wall >= LONG
            && let Some((at, before)) = self.cpu
            && let Some(cpu) = cpu_time()
        {
            let short = begin.saturating_duration_since(at).as_nanos() as u64;
            time = time.min(cpu.saturating_sub(before).saturating_sub(short));
            self.cpu = Some((now, cpu));
        }
        time.saturating_sub(self.empty)
    }
}

#[cfg(all(test, unix, not(any(loom, shuttle, sim))))]
mod tests {
    use super::*;
    use std::thread;

    const MS: u64 = 1_000_000;

    fn spin(time: u64) {
        let begin = cpu_time().unwrap();
        while cpu_time().unwrap() - begin < time {}
    }

    #[test]
    fn time_without_a_core_does_not_count() {
        let mut clock = Clock::new();
        thread::sleep(Duration::from_millis(40));
        assert!(clock.lap() < 20 * MS);
        spin(5 * MS);
        thread::sleep(Duration::from_millis(40));
        let time = clock.lap();
        assert!((4 * MS..25 * MS).contains(&time), "{time}");
    }

    #[test]
    fn short_laps_do_not_count_twice() {
        let mut clock = Clock::new();
        let begin = cpu_time().unwrap();
        let mut sum = 0;
        for round in 0..2_000 {
            if round % 100 == 0 {
                spin(MS / 10);
            }
            sum += clock.lap();
        }
        sum += clock.lap();
        let whole = cpu_time().unwrap() - begin;
        assert!(sum >= 2 * MS - MS / 10 && sum <= whole + MS, "{sum} of {whole}");
    }
}
