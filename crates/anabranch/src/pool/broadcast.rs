//! Running a closure on every thread of a pool: a scope whose tasks go to the inboxes of the workers.
//!
//! A worker answers broadcasts in its waits, also in a wait inside of an answer, since two workers may broadcast to
//! each other. A thousand threads that broadcast at a time would put a thousand answers on one stack. So with eight
//! answers on its stack a worker answers only broadcasts that are nested deeper than the one it runs. Among broadcasts
//! that wait for each other, every worker answers the innermost. Beyond the eight, a stack has no more answers than the
//! program nests.

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
    /// A thread that is at work runs `op` when that piece of work has ended, or when it waits in a
    /// [`join`](crate::join), a [`scope`](crate::scope) or a broadcast. So `op` may run on top of any work of this
    /// pool, and must not take a lock that is held across one of these calls. A thread that is inside another pool
    /// answers when it has returned. So work that it waits for in the other pool must not broadcast here.
    ///
    /// An `op` may wait for work that broadcasts in turn, to any depth. A thread that waits inside of `op` also answers
    /// other broadcasts, but has at most eight such answers on its stack. It answers the rest when these have ended.
    ///
    /// # Panics
    /// Panics with the first panic of an `op`, once all have ended.
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
