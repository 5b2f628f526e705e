//! The data that a worker records in a trace, besides single events.

use crate::{
    pool::{stats::Phase, worker::Worker},
    sys::clock::Instant,
    trace::{
        Event, Loot, Origin, Role, State,
        work_span::{self, WorkSpan},
    },
};
use std::time::Duration;

impl From<Phase> for State {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Working => Self::Working,
            Phase::Searching => Self::Searching,
            Phase::Parked => Self::Parked,
        }
    }
}

impl Worker {
    /// Begins another phase of one of the pool's own threads, and records it. Returns how long the last phase took.
    pub(super) fn enter_phase(&self, phase: Phase) -> Duration {
        self.enter_phase_at(phase, Instant::now())
    }

    /// Begins another phase like [`enter_phase`](Self::enter_phase), at a time that the caller has read from the clock.
    pub(super) fn enter_phase_at(&self, phase: Phase, now: Instant) -> Duration {
        self.trace.state_at(phase.into(), now);
        self.counters.enter_at(phase, now)
    }

    /// Records that the calling thread has taken this worker entry.
    pub(super) fn trace_entry(&self, role: Role) {
        self.trace.record(|| {
            let pool = self.registry().map_or(u32::MAX, |registry| registry.id.number());
            Event::Enter { role, pool, worker: self.index as u32 }
        });
    }

    /// Records that a guest has taken this worker entry, and begins a root.
    #[cold]
    pub(super) fn trace_root(&self, origin: Origin) {
        self.trace.cpu_time();
        self.trace_entry(Role::Guest);
        self.trace.record(|| Event::Root(self.trace.origin(Some(origin))));
        self.trace.state(State::Working);
        if self.trace.measures() {
            self.roots.is_measured.set(work_span::begin_root(self.trace.records()));
            self.compute.stack.request_work();
        }
    }

    /// Records that the calling thread is about to give this worker entry back.
    #[cold]
    pub(super) fn trace_exit(&self) {
        if self.roots.is_measured.replace(false) {
            self.trace_work_span(work_span::end_root());
        }
        self.trace.cpu_time();
        self.trace.record(|| Event::Leave);
    }

    /// Runs a task, and measures it: as a part of what waits for it, or else as a root.
    #[cold]
    pub(super) fn measure_task(&self, run: impl FnOnce()) {
        if work_span::begin_root(self.trace.records()) {
            self.compute.stack.request_work();
            run();
            self.trace_work_span(work_span::end_root());
        } else {
            work_span::task(run);
        }
    }

    fn trace_work_span(&self, WorkSpan { work, span }: WorkSpan) {
        self.trace.record(|| Event::Work(work));
        self.trace.record(|| Event::Span(span));
    }

    /// Records that this worker has taken work from another one.
    pub(super) fn trace_theft(&self, loot: Loot, victim: &Self) {
        self.trace.record(|| Event::Steal { loot, victim: victim.index as u32, count: 1 });
    }
}
