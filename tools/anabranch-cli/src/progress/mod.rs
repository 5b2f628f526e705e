//! The progress of a run, on standard error: bars on a terminal, otherwise a few plain lines.
//!
//! The run only counts: [`Progress::begin`], [`advance`](Progress::advance) and [`end`](Progress::end) update a few
//! atomics, so they do not disturb the timed code. A separate thread, the painter, reads the counts every [`TICK`] and
//! draws. It does not show a phase that ends within [`QUIET`].

mod bars;
mod lines;

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::signals::Signals;

const TICK: Duration = Duration::from_millis(200);
const QUIET: Duration = Duration::from_millis(100);

/// The phases of one run, and the painter. Dropping this ends the painter and removes the bars.
pub struct Progress {
    phases: Arc<[Phase]>,
    stop: Arc<AtomicBool>,
    painter: Option<JoinHandle<()>>,
}

/// The data that the run writes and the painter reads. Orderings are relaxed: a count that is late by one tick is
/// harmless.
struct Phase {
    name: Arc<str>,
    total: AtomicU64,
    done: AtomicU64,
    begun: OnceLock<Instant>,
    ended: OnceLock<Duration>,
    /// Whether the painter has shown the phase. It shows it from then on. Only the painter writes this.
    shown: AtomicBool,
}

/// The state of one phase at one moment.
struct Snapshot {
    name: Arc<str>,
    total: u64,
    done: u64,
    /// The time since the phase began.
    running: Duration,
    /// The duration of the phase, once it has ended.
    took: Option<Duration>,
}

/// A display of phases. `None` stands for a phase that is not shown (yet).
trait Painter: Send {
    /// Draws the phases.
    fn paint(&mut self, phases: &[Option<Snapshot>]);
    /// Ends the display, after the last `paint`. After an interruption the display may be older than the counts.
    fn finish(&mut self, interrupted: bool) {
        let _ = interrupted;
    }
}

impl Progress {
    /// Starts the display of phases with these names. Other methods refer to the phases by index. After a signal the
    /// painter draws nothing more.
    pub fn start(names: &[&str], signals: &Signals) -> Self {
        let phases: Arc<[Phase]> = names.iter().map(|name| Phase::new(name)).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let mut painter: Box<dyn Painter> =
            if is_terminal() { Box::new(bars::Bars::new(names)) } else { Box::new(lines::Lines::new(names.len())) };
        let thread = thread::Builder::new().name("progress".to_owned()).spawn({
            let (phases, stop, signals) = (phases.clone(), stop.clone(), signals.clone());
            move || {
                while !stop.load(Ordering::Acquire) && !signals.is_interrupted() {
                    painter.paint(&snapshots(&phases));
                    thread::park_timeout(TICK);
                }
                let interrupted = signals.is_interrupted();
                if !interrupted {
                    painter.paint(&snapshots(&phases));
                }
                painter.finish(interrupted);
            }
        });
        // If the thread cannot start, the run continues without a display.
        Self { phases, stop, painter: thread.ok() }
    }

    /// Begins a phase with `total` units of work.
    pub fn begin(&self, phase: usize, total: u64) {
        let phase = &self.phases[phase];
        phase.total.store(total, Ordering::Relaxed);
        phase.begun.get_or_init(Instant::now);
    }

    /// Adds `done` to the number of finished units.
    pub fn advance(&self, phase: usize, done: u64) {
        self.phases[phase].done.fetch_add(done, Ordering::Relaxed);
    }

    /// Ends a phase with the duration `took`, which may differ from the time since its begin.
    pub fn end(&self, phase: usize, took: Duration) {
        self.phases[phase].ended.get_or_init(|| took);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // Release, so that the painter's last read sees all earlier counts.
        self.stop.store(true, Ordering::Release);
        if let Some(painter) = self.painter.take() {
            painter.thread().unpark();
            let _ = painter.join();
        }
    }
}

impl Phase {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            total: 0.into(),
            done: 0.into(),
            begun: OnceLock::new(),
            ended: OnceLock::new(),
            shown: false.into(),
        }
    }
}

impl Snapshot {
    fn percent(&self) -> u64 {
        if self.took.is_some() {
            return 100;
        }
        (self.done.min(self.total) as u128 * 100).checked_div(u128::from(self.total)).unwrap_or(0) as u64
    }

    /// Returns the time left, assuming that the rest is as fast as the finished part.
    fn left(&self) -> Option<Duration> {
        if self.done == 0 || self.total == 0 {
            return None;
        }
        let rest = self.total.saturating_sub(self.done);
        Some(self.running.mul_f64(rest as f64 / self.done as f64))
    }
}

/// Reads the counts of all phases, and decides which of them to show.
fn snapshots(phases: &[Phase]) -> Vec<Option<Snapshot>> {
    phases
        .iter()
        .map(|phase| {
            let running = phase.begun.get()?.elapsed();
            let took = phase.ended.get().copied();
            if took.unwrap_or(running) >= QUIET {
                phase.shown.store(true, Ordering::Relaxed);
            }
            phase.shown.load(Ordering::Relaxed).then(|| Snapshot {
                name: phase.name.clone(),
                total: phase.total.load(Ordering::Relaxed),
                done: phase.done.load(Ordering::Relaxed),
                running,
                took,
            })
        })
        .collect()
}

/// Returns whether bars can be drawn.
fn is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Formats an estimated time, in whole seconds.
fn about(left: Duration) -> String {
    let seconds = left.as_secs_f64().ceil().max(1.0);
    if seconds < 120.0 { format!("{seconds} s") } else { crate::units::seconds(seconds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(done: u64, total: u64) -> Snapshot {
        Snapshot { name: "work".into(), total, done, running: Duration::from_secs(10), took: None }
    }

    #[test]
    fn time_left_follows_from_finished_part() {
        assert_eq!(snapshot(25, 100).percent(), 25);
        assert_eq!(snapshot(25, 100).left(), Some(Duration::from_secs(30)));
        assert_eq!(snapshot(0, 100).left(), None);
        assert_eq!(snapshot(7, 0).percent(), 0, "the total is unknown");
        assert_eq!(snapshot(120, 100).percent(), 100, "more units than the total");
        assert_eq!(snapshot(120, 100).left(), Some(Duration::ZERO));
        assert_eq!(about(Duration::from_millis(1200)), "2 s");
        assert_eq!(about(Duration::from_secs(185)), "3 min 5 s");
    }

    #[test]
    fn short_phases_are_not_shown() {
        let is_shown = |phase: &Phase| snapshots(std::slice::from_ref(phase))[0].is_some();
        let long_ago = Instant::now() - Duration::from_secs(5);
        let phase = Phase::new("short");
        assert!(!is_shown(&phase), "the phase has not begun");
        phase.begun.set(long_ago).unwrap();
        phase.ended.set(Duration::from_millis(99)).unwrap();
        assert!(!is_shown(&phase), "the phase took 99 ms");

        let phase = Phase::new("shown");
        phase.begun.set(long_ago).unwrap();
        assert!(is_shown(&phase), "the phase has run for 5 s");
        phase.ended.set(Duration::from_millis(99)).unwrap();
        assert!(is_shown(&phase), "a phase that was shown stays shown");
    }
}
