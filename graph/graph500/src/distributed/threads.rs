//! A group of processes played by threads, so that distributed algorithms run without MPI.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Communicator;

/// Runs `work` on `processes` threads, each with a communicator of its own. Returns the results in order.
///
/// Parallel loops of `work` run on the pool that is current there, so `work` should enter a pool of its own.
///
/// ```
/// use graph500::distributed::{Communicator, in_threads};
/// let received = in_threads(2, |communicator| communicator.all_to_all(&[5, 6], &[1, 1]));
/// assert_eq!(received, [[5, 5], [6, 6]]);
/// ```
///
/// # Panics
/// Panics if `processes` is 0 or a call of `work` panics. The other threads then panic in their next collective
/// operation.
pub fn in_threads<R: Send>(processes: usize, work: impl Fn(&dyn Communicator) -> R + Sync) -> Vec<R> {
    assert!(processes > 0, "a group has at least one process");
    let exchange = Exchange { state: Mutex::new(State::new(processes)), changed: Condvar::new() };
    let run = |process| {
        let result = catch_unwind(AssertUnwindSafe(|| work(&Thread { exchange: &exchange, process, processes })));
        if result.is_err() {
            exchange.fail();
        }
        result
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processes).map(|process| scope.spawn(move || run(process))).collect();
        // `run` returns each panic.
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| Err(panic))).collect()
    });
    // The first panic that is no consequence of another one.
    let (mut returned, mut panics) = (Vec::with_capacity(processes), Vec::new());
    for result in results {
        match result {
            Ok(result) => returned.push(result),
            Err(panic) => panics.push(panic),
        }
    }
    panics.sort_by_key(|panic| panic.is::<OtherFailed>());
    match panics.into_iter().next() {
        Some(panic) => resume_unwind(panic),
        None => returned,
    }
}

/// The payload of a panic because another thread panicked.
struct OtherFailed;

struct Exchange {
    state: Mutex<State>,
    changed: Condvar,
}

/// The words and counts that a thread passes.
type Slot = (Vec<u64>, Vec<usize>);

/// In an operation a thread writes its slot, waits until all have, and reads theirs. Two sets of slots alternate: a
/// thread writes a slot of one set only after all have come to the operation before, and so have read that set.
struct State {
    slots: [Vec<Slot>; 2],
    /// Threads that have written their slots for the current operation.
    arrived: usize,
    /// The number of operations in which all have arrived.
    step: u64,
    failed: bool,
}

impl State {
    fn new(processes: usize) -> State {
        let slots = [vec![Slot::default(); processes], vec![Slot::default(); processes]];
        State { slots, arrived: 0, step: 0, failed: false }
    }
}

impl Exchange {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all threads have arrived.
    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let step = state.step;
        state.arrived += 1;
        if state.arrived == state.slots[0].len() {
            state.arrived = 0;
            state.step += 1;
            self.changed.notify_all();
        }
        while state.step == step && !state.failed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.step == step {
            drop(state);
            // Without the panic hook: the first panic has printed a message.
            resume_unwind(Box::new(OtherFailed));
        }
        state
    }

    fn fail(&self) {
        self.lock().failed = true;
        self.changed.notify_all();
    }
}

struct Thread<'a> {
    exchange: &'a Exchange,
    process: usize,
    processes: usize,
}

impl Thread<'_> {
    /// Shows the words to all threads, and lets each read those of all.
    fn exchange(&self, words: &[u64], counts: &[usize], read: impl FnOnce(&[Slot])) {
        assert_eq!(counts.len(), self.processes, "a count for each process");
        let mut state = self.exchange.lock();
        let set = (state.step % 2) as usize;
        state.slots[set][self.process] = (words.to_vec(), counts.to_vec());
        let state = self.exchange.wait(state);
        read(&state.slots[set]);
    }
}

impl Communicator for Thread<'_> {
    fn process(&self) -> usize {
        self.process
    }

    fn processes(&self) -> usize {
        self.processes
    }

    fn all_gather(&self, own: &[u64], counts: &[usize], all: &mut [u64]) {
        assert_eq!(own.len(), counts[self.process], "the count of this process");
        assert_eq!(all.len(), counts.iter().sum::<usize>(), "room for the words of all");
        self.exchange(own, counts, |slots| {
            let mut rest = all;
            for (words, others) in slots {
                assert_eq!(others, counts, "all processes pass the same counts");
                let (part, behind) = rest.split_at_mut(words.len());
                part.copy_from_slice(words);
                rest = behind;
            }
        });
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Vec<u64> {
        assert_eq!(words.len(), counts.iter().sum::<usize>(), "the counts cover the words");
        let mut received = Vec::new();
        self.exchange(words, counts, |slots| {
            for (words, counts) in slots {
                let start: usize = counts[..self.process].iter().sum();
                received.extend_from_slice(&words[start..][..counts[self.process]]);
            }
        });
        received
    }
}
