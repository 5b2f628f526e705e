//! Work and span of what a thread runs in a traced pool: how long it takes, and how long it would take on any number of
//! threads.
//!
//! The time between two ends of forks is a *strand*. Strands that follow each other add up, and of the two halves of a
//! fork the longer one counts for the span (Cilkview: He, Leiserson, Leiserson, SPAA 2010). The time that a fork itself
//! takes is not counted.
//!
//! A pool that measures keeps the request for work set, so every fork takes its slow path. There it publishes itself,
//! so its end takes the slow path too, and the thread runs the second half like a thief. Both slow paths are here. So a
//! pool that does not measure pays nothing, and the program need not be compiled in another way.
//!
//! Each fork has two halves on one thread. With several threads, what others have stolen is missing, and the measured
//! times are too short.

use std::{cell::RefCell, mem, time::Instant};

/// Both in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WorkSpan {
    pub(crate) work: u64,
    pub(crate) span: u64,
}

impl WorkSpan {
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
    before: WorkSpan,
    first: WorkSpan,
}

/// What the thread measures.
struct Strand {
    /// When the present strand began; `None` if the thread measures nothing.
    since: Option<Instant>,
    /// What came before it, since the innermost half or task began.
    total: WorkSpan,
    /// The forks whose second half has not begun, the innermost last.
    forks: Vec<Fork>,
    /// The longest of the tasks that the thread has run in its present wait.
    longest_task: u64,
}

thread_local! {
    static STRAND: RefCell<Strand> = const {
        RefCell::new(Strand { since: None, total: WorkSpan { work: 0, span: 0 }, forks: Vec::new(), longest_task: 0 })
    };
}

impl Strand {
    /// Ends the strand, and begins one in a half or a task.
    fn enter(&mut self) -> Outer {
        let outer = Outer { before: self.end(), forks: self.forks.len() };
        self.begin(WorkSpan::default());
        outer
    }

    /// Ends the half or the task, and returns what it took. Forks in it that ended unnoticed count as none.
    fn leave(&mut self, outer: &Outer) -> WorkSpan {
        let last = self.end();
        let forks = self.forks.drain(outer.forks..);
        forks.map(|fork| fork.before.then(fork.first)).fold(WorkSpan::default(), WorkSpan::then).then(last)
    }

    /// Ends the strand, and returns what there was since the innermost half or task began.
    fn end(&mut self) -> WorkSpan {
        let time = self.since.take().map_or(0, |since| since.elapsed().as_nanos() as u64);
        mem::take(&mut self.total).then(WorkSpan { work: time, span: time })
    }

    /// Begins a strand after `before`.
    fn begin(&mut self, before: WorkSpan) {
        self.total = before;
        self.since = Some(Instant::now());
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

/// Begins to measure. Returns `false` if the thread does so already.
pub(crate) fn begin_root() -> bool {
    with(|strand| {
        let is_new = strand.since.is_none();
        if is_new {
            strand.forks.clear();
            strand.begin(WorkSpan::default());
        }
        is_new
    })
}

/// Ends to measure, and returns the work and the span since [`begin_root`].
pub(crate) fn end_root() -> WorkSpan {
    with(|strand| strand.leave(&Outer { before: WorkSpan::default(), forks: 0 }))
}

/// Runs the first half of a fork.
pub(crate) fn first<R>(frame: usize, run: impl FnOnce() -> R) -> R {
    /// If the half unwinds, its time counts like that of its caller.
    struct Unwind(Outer);

    impl Drop for Unwind {
        fn drop(&mut self) {
            with(|strand| {
                let first = strand.leave(&self.0);
                strand.begin(self.0.before.then(first));
            });
        }
    }

    let Some(outer) = with(|strand| strand.since.is_some().then(|| strand.enter())) else {
        return run();
    };
    let unwind = Unwind(outer);
    let result = run();
    with(|strand| {
        let first = strand.leave(&unwind.0);
        strand.forks.push(Fork { frame, before: unwind.0.before, first });
        strand.begin(WorkSpan::default());
    });
    mem::forget(unwind);
    result
}

/// Runs the second half of a fork. It must not unwind.
pub(crate) fn second(frame: usize, run: impl FnOnce()) {
    let fork = with(|strand| {
        let fork = strand.forks.pop_if(|fork| fork.frame == frame)?;
        Some((fork, strand.enter()))
    });
    run();
    if let Some((Fork { before, first, .. }, outer)) = fork {
        with(|strand| {
            let second = strand.leave(&outer);
            strand.begin(before.then(first.beside(second)).then(outer.before));
        });
    }
}

/// Runs a task for which the thread waits. It must not unwind.
pub(crate) fn task(run: impl FnOnce()) {
    let outer = with(Strand::enter);
    run();
    with(|strand| {
        let task = strand.leave(&outer);
        strand.longest_task = strand.longest_task.max(task.span);
        strand.begin(outer.before.then(WorkSpan { work: task.work, span: 0 }));
    });
}

/// Runs a wait for tasks. Its time does not count, and the longest of the tasks in it does.
pub(crate) fn wait<R>(run: impl FnOnce() -> R) -> R {
    let outer = with(|strand| {
        strand.since?;
        let total = strand.end();
        strand.begin(total);
        Some(mem::take(&mut strand.longest_task))
    });
    let result = run();
    if let Some(outer) = outer {
        with(|strand| {
            let longest = mem::replace(&mut strand.longest_task, outer);
            let total = strand.total.then(WorkSpan { work: 0, span: longest });
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
        first(frame, a);
        second(frame, b);
    }

    /// Measures in milliseconds, which hides the time that the test itself takes.
    fn measure(run: impl FnOnce()) -> (u64, u64) {
        assert!(begin_root());
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
            assert!(!begin_root());
            work(4);
        };
        assert_eq!(measure(run), (7, 7));
    }

    #[test]
    fn fork_that_ends_unnoticed_counts_as_none() {
        let run = || {
            let inner = || {
                first(2, || work(7));
                work(8);
            };
            join(1, inner, || work(1));
        };
        assert_eq!(measure(run), (16, 15));
    }

    #[test]
    fn half_that_unwinds_counts_like_its_caller() {
        let run = || {
            let half = || {
                work(2);
                std::panic::resume_unwind(Box::new(()));
            };
            let unwinds = std::panic::AssertUnwindSafe(|| first(1, half));
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
