//! Running a closure on every thread of a pool: a scope whose tasks go to the inboxes.
//!
//! A worker answers broadcasts in its waits, those inside of an answer included, as two workers may broadcast to each
//! other. A thousand threads that broadcast at a time would put a thousand answers on one stack. So above eight a
//! worker answers only what was begun inside of more broadcasts than what it runs. Of broadcasts that wait for each
//! other the innermost is answered everywhere, and beyond the eight a stack holds no more answers than the program
//! nests.

use crate::{
    fork::scope::ScopeData,
    pool::{handle::Pool, worker::Worker},
    sys::{
        sync::{Mutex, into_inner, lock},
        thread,
    },
};

impl Pool {
    /// Runs `op` once on each of the pool's own threads, with the thread's index, and returns the results in that
    /// order.
    ///
    /// A thread that is at work does it when that piece of work has ended, or when it waits in a [`join`](crate::join),
    /// a [`scope`](crate::scope) or a broadcast. So `op` may run on top of any work of this pool, and must not take a
    /// lock that is held across one of these. A thread that is inside another pool answers when it has come back, so
    /// work that it waits for there must not broadcast here.
    ///
    /// What `op` waits for may broadcast in turn, to any depth. Beside that a thread that waits inside of `op` answers
    /// other broadcasts too, but has no more than eight such answers on its stack: the rest comes when these are over.
    ///
    /// # Panics
    /// When an `op` panics: once all have ended, with the first panic.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(3).build().unwrap();
    /// assert_eq!(pool.broadcast(|index| index * 10), [0, 10, 20]);
    /// ```
    pub fn broadcast<R: Send>(&self, op: impl Fn(usize) -> R + Sync) -> Vec<R> {
        if !thread::CAN_START {
            return Vec::new();
        }
        let answers: Vec<Mutex<Option<R>>> = (0..self.registry.threads()).map(|_| Mutex::new(None)).collect();
        self.registry.enter(|| {
            let me = Worker::current();
            let data = ScopeData::of_broadcast(me);
            let (op, answers) = (&op, &answers[..]);
            for (index, answer) in answers.iter().enumerate() {
                let worker = self.registry.worker(index);
                // SAFETY: `wait_for_broadcast` below returns only when the data is settled, and nothing before it
                // unwinds. So the data, `op` and the answers outlive the tasks.
                unsafe { data.inject(&worker.inbox, move || *lock(answer) = Some(op(index))) };
                worker.call_for_broadcast();
            }
            me.wait_for_broadcast(|| data.is_settled());
            data.rethrow();
        });
        answers
            .into_iter()
            .map(|answer| into_inner(answer).expect("a task that did not panic has left its answer"))
            .collect()
    }
}
