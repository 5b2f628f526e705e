//! Running a closure on every thread of a pool: a scope whose tasks go to the inboxes.
//!
//! A worker answers broadcasts in its waits, those inside of an answer included, as two workers may broadcast to each
//! other. A thousand threads that broadcast at a time would put a thousand answers on one stack. So above eight a
//! worker answers only what was begun inside of more broadcasts than what it runs. Of broadcasts that wait for each
//! other the innermost is answered everywhere, and beyond the eight a stack holds no more answers than the program
//! nests.

use crate::{
    pool::{registry::Registry, worker::Worker},
    scope::Ledger,
    sys::{
        sync::{Mutex, into_inner, lock},
        thread,
    },
};

pub(crate) fn broadcast<R: Send>(registry: &Registry, op: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if !thread::CAN_START {
        return Vec::new();
    }
    let answers: Vec<Mutex<Option<R>>> = (0..registry.threads()).map(|_| Mutex::new(None)).collect();
    registry.enter(|| {
        let me = Worker::current();
        let ledger = Ledger::of_broadcast(me);
        let (op, answers) = (&op, &answers[..]);
        for (index, answer) in answers.iter().enumerate() {
            let worker = registry.worker(index);
            // SAFETY: `settle` below waits for all of them, and nothing in between unwinds.
            unsafe { ledger.post(&worker.inbox, move || *lock(answer) = Some(op(index))) };
            worker.call_for_broadcast();
        }
        me.wait_for_broadcast(|| ledger.is_settled());
        ledger.rethrow();
    });
    answers
        .into_iter()
        .map(|answer| into_inner(answer).expect("a task that did not panic has left its answer"))
        .collect()
}
