//! Samples of who uses the cores: the threads of this process, and the other processes of the machine.
//!
//! The events of a thread tell its CPU time only when its state changes, and threads outside of any traced pool have no
//! events. So while a process is traced, one thread reads `/proc` every 10 ms. If reading takes long, because there are
//! many threads, or if no other thread runs, it samples less often.

use crate::trace::lane;
use anabranch_trace::event::{Event, SAMPLE_UNIT};
use std::{
    collections::HashMap,
    fs, thread,
    time::{Duration, Instant},
};

const INTERVAL: Duration = Duration::from_millis(10);
/// The interval of a process without threads that run.
const MAX_INTERVAL: Duration = Duration::from_millis(160);
/// A sample takes at most one part in this many of the time.
const COST_PART: u32 = 50;
/// The unit of times in `/proc/stat`, in nanoseconds.
const TICK: u64 = 10_000_000;

/// Begins to sample. Without a thread for it the trace has no samples.
pub(super) fn start() {
    let _ = thread::Builder::new().name("anabranch-sampler".into()).spawn(run);
}

fn run() {
    let own = crate::sys::thread::number_of_current();
    let mut before = HashMap::new();
    let mut interval = INTERVAL;
    while let Some(busy) = busy_time() {
        let begin = Instant::now();
        lane::record(Event::CoresBusy(busy));
        let Some(after) = thread_times() else { return };
        let mut has_run = false;
        for (&thread, &[ran, waited]) in &after {
            let [ran_before, waited_before] = before.get(&thread).copied().unwrap_or_default();
            // The first sample has no interval, and of a new thread the whole time counts.
            let units = |now: u64, before: u64| u16::try_from(now.saturating_sub(before)).unwrap_or(u16::MAX);
            let (ran, waited) = (units(ran, ran_before), units(waited, waited_before));
            if !before.is_empty() && (ran, waited) != (0, 0) {
                lane::record(Event::ThreadTime { thread, ran, waited });
                has_run |= thread != own;
            }
        }
        before = after;
        interval = if has_run { INTERVAL } else { MAX_INTERVAL.min(interval * 2) };
        thread::sleep(interval.max(begin.elapsed() * COST_PART));
    }
}

/// Returns how long all cores of the machine have been busy, in nanoseconds.
fn busy_time() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let ticks = text.strip_prefix("cpu ")?.lines().next()?.split_whitespace().map(str::parse);
    let ticks: Vec<u64> = ticks.collect::<Result<_, _>>().ok()?;
    // User, nice, system, idle, waiting for a disk, interrupts, soft interrupts. Guests count as user.
    Some(
        ticks
            .iter()
            .enumerate()
            .filter(|(index, _)| matches!(index, 0..=2 | 5 | 6))
            .map(|(_, ticks)| ticks * TICK)
            .sum(),
    )
}

/// Returns how long each thread has run, and how long it has waited for a core, in units of [`SAMPLE_UNIT`].
fn thread_times() -> Option<HashMap<u32, [u64; 2]>> {
    let time = |number: Option<&str>| Some(number?.parse::<u64>().ok()? / SAMPLE_UNIT);
    let threads = fs::read_dir("/proc/self/task").ok()?.filter_map(|thread| {
        let thread = thread.ok()?;
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let mut numbers = text.split(' ');
        Some((thread.file_name().to_str()?.parse().ok()?, [time(numbers.next())?, time(numbers.next())?]))
    });
    Some(threads.collect())
}
