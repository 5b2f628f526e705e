//! Work and span of what a thread runs in a traced pool: how long it takes, and how long it would take on any number of
//! threads.
//!
//! The time between two ends of forks is a *strand*. Strands that follow each other add up, and of the two halves of a
//! fork the longer one counts for the span (Cilkview: He, Leiserson, Leiserson, SPAA 2010). The time that a fork itself
//! takes is not counted. Only time on a core counts (`strand_clock`), so a busy machine changes nothing.
//!
//! A pool that measures keeps the request for work set, so every fork takes its slow path. There it publishes itself,
//! so its end takes the slow path too, and the thread runs the second half like a thief. Both slow paths are here. So a
//! pool that does not measure pays nothing, and the program need not be compiled in another way.
//!
//! A pool that records its forks also writes each end of a strand into the trace, with the time of the strand. So the
//! trace has the whole tree of forks and tasks (`anabranch_trace::recording`).
//!
//! Each fork has two halves on one thread. With several threads, what others have stolen is missing, and the measured
//! times are too short.

use crate::trace::strand_clock::Clock;
use anabranch_trace::event::Step;
use std::{cell::RefCell, mem};

/// Both in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WorkSpan {
    pub(crate) work: u64,
    pub(crate) span: u64,
}

impl WorkSpan {
    const NONE: Self = Self { work: 0, span: 0 };

    /// Returns what both take, one after the other.
    fn then(self, next: Self) -> Self {
        Self { work: self.work + next.work, span: self.span + next.span }
    }

    /// Returns what both take at a time.
    fn beside(self, other: Self) -> Self {
        Self { work: self.work + other.work, span: self.span.max(other.span) }
    }
}

/// A fork whose first half has ended.
struct Fork {
    /// Identifies the fork.
    frame: usize,
    /// Whether the second half is the rest of a loop, with which the loop itself goes on.
    is_rest: bool,
    /// Whether that rest has begun.
    has_begun: bool,
    before: WorkSpan,
    first: WorkSpan,
}

/// What the thread measures.
struct Strand {
    is_on: bool,
    /// Whether the end of each strand is recorded.
    is_recorded: bool,
    /// `None` before the first root of the thread.
    clock: Option<Clock>,
    /// What came before the present strand, since the innermost half or task began.
    total: WorkSpan,
    /// The forks whose second half has not begun, the innermost last.
    forks: Vec<Fork>,
    /// The longest of the tasks that the thread has run in its present wait.
    longest_task: u64,
}

thread_local! {
    static STRAND: RefCell<Strand> = const {
        RefCell::new(Strand {
            is_on: false,
            is_recorded: false,
            clock: None,
            total: WorkSpan::NONE,
            forks: Vec::new(),
            longest_task: 0,
        })
    };
}

impl Strand {
    /// Ends the strand with a step, and returns what there was since the innermost half or task began.
    fn end(&mut self, step: Step) -> WorkSpan {
        let time = self.clock.get_or_insert_with(Clock::new).lap();
        self.note(step, time);
        mem::take(&mut self.total).then(WorkSpan { work: time, span: time })
    }

    /// Begins a strand after `before`. What has passed since the last strand does not count.
    fn begin(&mut self, before: WorkSpan) {
        self.total = before;
        self.clock.get_or_insert_with(Clock::new).lap();
    }

    /// Ends the half or the task with a step, and returns what it took.
    fn leave(&mut self, outer: &Outer, step: Step) -> WorkSpan {
        if self.forks.len() <= outer.forks {
            return self.end(step);
        }
        let total = self.close(outer.forks);
        self.note(step, 0);
        total
    }

    /// Ends the strand, and the forks inside of the first `outer` ones. Their second half ends now if it is the rest of
    /// a loop. A fork that ended unnoticed counts as none.
    fn close(&mut self, outer: usize) -> WorkSpan {
        let mut total = self.end(Step::Join);
        while self.forks.len() > outer
            && let Some(Fork { before, first, has_begun, .. }) = self.forks.pop()
        {
            total = before.then(if has_begun { first.beside(total) } else { first.then(total) });
            if self.forks.len() > outer {
                self.note(Step::Join, 0);
            }
        }
        total
    }

    /// Records a step, at the time of the last look at the clock.
    fn note(&self, step: Step, time: u64) {
        #[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
        if self.is_recorded
            && let Some(clock) = &self.clock
        {
            crate::trace::lane::record_at(anabranch_trace::event::Event::Step { step, time }, clock.at());
        }
        #[cfg(not(all(any(unix, windows), not(any(loom, shuttle, sim)))))]
        let _ = (self.is_recorded, step, time);
    }
}

/// What surrounds a half or a task.
struct Outer {
    before: WorkSpan,
    /// How many forks are outside of it.
    forks: usize,
}

fn with<R>(use_strand: impl FnOnce(&mut Strand) -> R) -> R {
    STRAND.with_borrow_mut(use_strand)
}

/// Begins to measure, and to record if `is_recorded`. Returns `false` if the thread does so already.
pub(crate) fn begin_root(is_recorded: bool) -> bool {
    with(|strand| {
        let is_new = !strand.is_on;
        if is_new {
            strand.forks.clear();
            (strand.is_on, strand.is_recorded) = (true, is_recorded);
            // The time since the last root of the thread.
            let outside = strand.clock.as_mut().map_or(0, Clock::lap);
            strand.clock.get_or_insert_with(Clock::new);
            strand.note(Step::Begin, outside);
            strand.begin(WorkSpan::NONE);
        }
        is_new
    })
}

/// Ends to measure, and returns the work and the span since [`begin_root`].
pub(crate) fn end_root() -> WorkSpan {
    with(|strand| {
        strand.is_on = false;
        strand.leave(&Outer { before: WorkSpan::NONE, forks: 0 }, Step::End)
    })
}

/// Runs the first half of a fork. `publish` publishes the fork, and returns what identifies it. `is_rest`: the second
/// half is the rest of a loop.
pub(crate) fn first<R>(is_rest: bool, publish: impl FnOnce() -> usize, run: impl FnOnce() -> R) -> R {
    /// If the half unwinds, its time counts like that of its caller.
    struct Unwind(Outer);

    impl Drop for Unwind {
        fn drop(&mut self) {
            with(|strand| {
                let first = strand.leave(&self.0, Step::Half);
                strand.note(Step::Join, 0);
                strand.begin(self.0.before.then(first));
            });
        }
    }

    let outer =
        with(|strand| strand.is_on.then(|| Outer { before: strand.end(Step::Fork), forks: strand.forks.len() }));
    let frame = publish();
    let Some(outer) = outer else { return run() };
    with(|strand| strand.begin(WorkSpan::NONE));
    let unwind = Unwind(outer);
    let result = run();
    with(|strand| {
        let first = strand.leave(&unwind.0, Step::Half);
        strand.forks.push(Fork { frame, is_rest, has_begun: false, before: unwind.0.before, first });
        strand.begin(WorkSpan::NONE);
    });
    mem::forget(unwind);
    result
}

/// Runs the second half of a fork, which must not unwind. Returns `false` if that is the rest of a loop: the loop goes
/// on with it, with what it has folded until now. A thief would have to begin anew.
pub(crate) fn second(frame: usize, run: impl FnOnce()) -> bool {
    let fork = with(|strand| {
        let fork = strand.forks.last_mut().filter(|fork| fork.frame == frame && !fork.has_begun)?;
        fork.has_begun = true;
        let is_rest = fork.is_rest;
        // The time since the first half was that of the fork itself.
        strand.begin(WorkSpan::NONE);
        Some((is_rest, strand.forks.len() - 1))
    });
    if let Some((true, _)) = fork {
        return false;
    }
    run();
    if let Some((_, outer)) = fork {
        close_forks(outer);
    }
    true
}

/// Returns how many forks are open. A loop that is measured asks before it begins.
pub(crate) fn open_forks() -> usize {
    with(|strand| strand.forks.len())
}

/// Ends the forks of a loop, before which `outer` ones were open.
pub(crate) fn close_forks(outer: usize) {
    with(|strand| {
        if strand.is_on && strand.forks.len() > outer {
            let total = strand.close(outer);
            strand.begin(total);
        }
    });
}

/// Runs a task for which the thread waits. It must not unwind.
pub(crate) fn task(run: impl FnOnce()) {
    let outer = with(|strand| {
        let outer = Outer { before: strand.total, forks: strand.forks.len() };
        strand.note(Step::Task, 0);
        strand.begin(WorkSpan::NONE);
        outer
    });
    run();
    with(|strand| {
        let task = strand.leave(&outer, Step::TaskEnd);
        strand.longest_task = strand.longest_task.max(task.span);
        strand.begin(outer.before.then(WorkSpan { work: task.work, span: 0 }));
    });
}

/// Runs a wait for tasks. Its time does not count, and the longest of the tasks in it does.
pub(crate) fn wait<R>(run: impl FnOnce() -> R) -> R {
    let outer = with(|strand| {
        if !strand.is_on {
            return None;
        }
        let total = strand.end(Step::Wait);
        strand.begin(total);
        Some(mem::take(&mut strand.longest_task))
    });
    let result = run();
    if let Some(outer) = outer {
        with(|strand| {
            let longest = mem::replace(&mut strand.longest_task, outer);
            let total = strand.total.then(WorkSpan { work: 0, span: longest });
            strand.note(Step::WaitEnd, 0);
            strand.begin(total);
        });
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Lets the present strand take a time, without waiting.
    fn work(millis: u64) {
        with(|strand| strand.total = strand.total.then(WorkSpan { work: millis * MS, span: millis * MS }));
    }

    fn join(frame: usize, a: impl FnOnce(), b: impl FnOnce()) {
        first(false, || frame, a);
        assert!(second(frame, b));
    }

    /// Measures in milliseconds, which hides the time that the test itself takes.
    fn measure(run: impl FnOnce()) -> (u64, u64) {
        assert!(begin_root(false));
        run();
        let WorkSpan { work, span } = end_root();
        (work / MS, span / MS)
    }

    #[test]
    fn halves_count_once_for_the_span() {
        assert_eq!(measure(|| work(5)), (5, 5));
        let both = || {
            work(100);
            join(1, || work(20), || work(30));
            work(1000);
        };
        assert_eq!(measure(both), (1150, 1130));
        let nested = || join(1, || join(2, || work(10), || work(40)), || join(3, || work(20), || work(5)));
        assert_eq!(measure(nested), (75, 40));
    }

    #[test]
    fn root_inside_of_a_root_is_a_part_of_it() {
        let run = || {
            work(3);
            assert!(!begin_root(false));
            work(4);
        };
        assert_eq!(measure(run), (7, 7));
    }

    #[test]
    fn fork_that_ends_unnoticed_counts_as_none() {
        let run = || {
            let inner = || {
                first(false, || 2, || work(7));
                work(8);
            };
            join(1, inner, || work(1));
        };
        assert_eq!(measure(run), (16, 15));
    }

    #[test]
    fn rest_of_a_loop_is_the_second_half_until_the_loop_ends() {
        let run = || {
            let outer = open_forks();
            let block = |frame, millis| {
                first(true, || frame, || work(millis));
                assert!(!second(frame, || unreachable!("the loop goes on itself")));
            };
            block(1, 20);
            block(1, 30);
            join(2, || block(3, 5), || work(1));
            work(10);
            close_forks(outer);
            work(100);
        };
        assert_eq!(measure(run), (166, 130));
    }

    #[test]
    fn half_that_unwinds_counts_like_its_caller() {
        let run = || {
            let half = || {
                work(2);
                std::panic::resume_unwind(Box::new(()));
            };
            let unwinds = std::panic::AssertUnwindSafe(|| first(false, || 1, half));
            assert!(std::panic::catch_unwind(unwinds).is_err());
            work(4);
        };
        assert_eq!(measure(run), (6, 6));
    }

    #[test]
    fn longest_task_of_a_wait_counts() {
        let run = || {
            work(1);
            wait(|| {
                task(|| work(10));
                task(|| {
                    wait(|| task(|| work(30)));
                    work(2);
                });
            });
            work(100);
        };
        assert_eq!(measure(run), (143, 133));
    }
}
