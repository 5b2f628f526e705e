//! The life of a thread of the pool, from its start to its end.

use crate::{
    pool::{registry::Registry, worker::Worker},
    sys::channel::Sender,
};
use std::io;

impl Registry {
    /// Starts the thread of a worker entry. The thread sends whether its start handler returned. Without `started` it
    /// is a spare.
    pub(crate) fn start_thread(&self, worker: &Worker, started: Option<Sender<bool>>) -> io::Result<()> {
        let registry = self.shared();
        let index = worker.index;
        // Users see this number, so guests are not counted. They come after the first workers.
        let number = if index < self.threads() {
            index
        } else {
            self.workers().filter(|other| other.is_own && other.index < index).count()
        };
        self.pool_threads.spawn(number, started.is_none(), move || registry.run_thread(index, number, started))
    }

    /// Runs a thread of the pool from start to end.
    pub(super) fn run_thread(&self, index: usize, number: usize, started: Option<Sender<bool>>) {
        let me = self.worker(index);
        // SAFETY: only the thread that was started for it holds one of the pool's own worker entries. This is that
        // thread, and it keeps the registry alive.
        let outside = unsafe { Worker::occupy(me) };
        me.note_thread();
        self.pool_threads.pin_current(number);
        let is_ready = self.pool_threads.call_on_start(number);
        let is_spare = started.is_none();
        if let Some(started) = started {
            // If another thread has failed, the builder does not receive this, and the pool is closing.
            started.send(is_ready);
        }
        self.work(me, is_spare);
        // SAFETY: the worker entry outside of every pool is a static.
        unsafe { Worker::occupy(outside) };
        // The handler runs outside of the pool, because no thread would run its spawned fibers on the worker entry, or
        // take its forks.
        if is_ready {
            self.pool_threads.call_on_exit(number);
        }
    }

    /// Adds a thread beyond the number of slots, which starts as the heartbeat worker. A closing pool adds one too,
    /// because its fibers may need one to end. Returns `false` if the limit is reached or the system refuses. Only the
    /// heartbeat worker calls this.
    pub(crate) fn add_spare(&self) -> bool {
        let start = |index| self.start_thread(self.worker(index), None);
        let result = self.pool_threads.add_spare(|| self.add_entry(true).index, start);
        // A spare is requested before it is needed, so a refusal counts only when threads are blocked. That of the
        // system is always reported: without a heartbeat worker nothing notices if all threads are blocked later.
        if let Err(error) = result {
            if self.workers().any(|worker| worker.status.is_lent()) {
                self.pool_threads.note_refusal(error);
            } else if error.is_some() {
                self.pool_threads.complain(error);
            }
            return false;
        }
        true
    }
}
