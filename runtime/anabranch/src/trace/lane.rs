//! The events of the calling thread.

use crate::{
    sys::thread::{cpu_time, number_of_current},
    trace::store::{self, Chunk, RECORDS},
};
use anabranch_trace::event::{Event, Site, State};
use std::{
    cell::RefCell,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// How long after a look at the CPU time of a thread the next one pays. A look is a system call of some 150 ns.
const CPU_INTERVAL: Duration = Duration::from_micros(50);

/// How long a thread works before a look at the time for which it waited for a core pays. A look reads a file.
const DELAY_INTERVAL: Duration = Duration::from_millis(1);

/// See the [module](self).
struct Lane {
    id: u32,
    chunk: Arc<Chunk>,
    /// How many events are in the chunk.
    len: usize,
    /// When the trace began.
    start: Instant,
    /// The time of the last event, in nanoseconds since then.
    last: u64,
    state: Option<(State, Site)>,
    cpu_at: Option<Instant>,
    delay_at: Option<Instant>,
    run_delay: run_delay::Clock,
}

thread_local! {
    static LANE: RefCell<Option<Lane>> = const { RefCell::new(None) };
}

/// Calls `use_lane` with the lane of the calling thread. Does nothing for a thread that is about to end.
fn with(use_lane: impl FnOnce(&mut Lane)) {
    let _ = LANE.try_with(|lane| {
        // Nothing that is called with the lane records an event.
        if let Ok(mut lane) = lane.try_borrow_mut() {
            use_lane(lane.get_or_insert_with(Lane::new));
        }
    });
}

/// Records an event, now.
pub(super) fn record(event: Event) {
    with(|lane| lane.push(event, Instant::now()));
}

/// Records an event, at a time that the caller has read from the clock.
pub(super) fn record_at(event: Event, at: Instant) {
    with(|lane| lane.push(event, at));
}

/// Records that the state of the thread changes, at a time or now. Does nothing if it is the same.
pub(super) fn enter(state: State, site: Site, at: Option<Instant>) {
    with(|lane| {
        if lane.state.replace((state, site)) == Some((state, site)) {
            return;
        }
        let at = at.unwrap_or_else(Instant::now);
        // The CPU time before a piece of work and after it, so that the difference is that of the work.
        lane.note_cpu_time(at);
        lane.push(Event::State { state, site }, at);
    });
}

/// Records the CPU time of the thread, and that its state is no longer known.
pub(super) fn note_cpu_time() {
    with(|lane| {
        lane.state = None;
        lane.note_cpu_time(Instant::now());
    });
}

impl Lane {
    fn new() -> Self {
        let thread = number_of_current();
        let name = thread::current().name().map_or_else(|| format!("thread {thread}"), str::to_owned);
        let (id, chunk) = store::lock().add_lane(thread, name);
        Self {
            id,
            chunk,
            len: 0,
            start: store::since().instant,
            last: 0,
            state: None,
            cpu_at: None,
            delay_at: None,
            run_delay: run_delay::Clock::new(thread),
        }
    }

    fn push(&mut self, event: Event, at: Instant) {
        // A time that was read before the last event, and passed on, does not go back.
        let time = u64::try_from(at.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX);
        self.last = self.last.max(time);
        if self.len == RECORDS {
            self.chunk = store::lock().replace(self.id);
            self.len = 0;
        }
        self.chunk.write(self.len, event.encode(self.last));
        self.len += 1;
    }

    fn note_cpu_time(&mut self, now: Instant) {
        let is_due =
            |last: Option<Instant>, interval| last.is_none_or(|last| now.saturating_duration_since(last) >= interval);
        if is_due(self.cpu_at, CPU_INTERVAL)
            && let Some(time) = cpu_time()
        {
            self.cpu_at = Some(now);
            self.push(Event::CpuTime(time), now);
        }
        if is_due(self.delay_at, DELAY_INTERVAL)
            && let Some(time) = self.run_delay.read()
        {
            self.delay_at = Some(now);
            self.push(Event::RunDelay(time), now);
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        store::lock().end_lane(self.id);
    }
}

/// How long a thread was ready to run and had no core.
mod run_delay {
    #[cfg(target_os = "linux")]
    use std::{fs::File, os::unix::fs::FileExt};

    /// The file of the system that says so.
    pub(super) struct Clock(#[cfg(target_os = "linux")] Option<File>);

    impl Clock {
        #[cfg(target_os = "linux")]
        pub(super) fn new(thread: u32) -> Self {
            Self(File::open(format!("/proc/self/task/{thread}/schedstat")).ok())
        }

        #[cfg(not(target_os = "linux"))]
        pub(super) fn new(_: u32) -> Self {
            Self()
        }

        /// Returns the time until now, in nanoseconds.
        #[cfg(target_os = "linux")]
        pub(super) fn read(&self) -> Option<u64> {
            let mut bytes = [0; 64];
            let len = self.0.as_ref()?.read_at(&mut bytes, 0).ok()?;
            // The CPU time, the time without a core, and the number of turns.
            str::from_utf8(&bytes[..len]).ok()?.split(' ').nth(1)?.parse().ok()
        }

        #[cfg(not(target_os = "linux"))]
        pub(super) fn read(&self) -> Option<u64> {
            None
        }
    }
}
