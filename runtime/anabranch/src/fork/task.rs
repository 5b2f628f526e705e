//! Spawned tasks: work that outlives the call that made it. So it is on the heap and not in a frame.
//!
//! Each worker has a queue of the tasks spawned on it, from which any thread may take. A second queue, the inbox, holds
//! the tasks that must run on this very worker. The queue is behind a lock, so that a waiting thread can search it for
//! the descendants of what it waits for. A thread that only checks for tasks reads a count beside the lock.

use crate::{
    fork::frame::Lineage,
    sys::sync::{AtomicU64, Mutex, Ordering, lock},
};
use std::collections::VecDeque;

/// The most entries for which an empty queue keeps memory.
const KEPT: usize = 1024;

/// A closure that must be run exactly once, by the thread that takes it.
pub(crate) struct Task {
    run: Box<dyn FnOnce() + Send>,
    lineage: *const Lineage,
}

// SAFETY: the closure is `Send`. The lineage is only read, and belongs to the scope, which waits for its tasks.
unsafe impl Send for Task {}

impl Task {
    /// # Safety
    /// `lineage` stays alive until the task has run, and `run` does not unwind. What the closure borrows must outlive
    /// the task; its lifetime is erased here.
    pub(crate) unsafe fn new<'a>(lineage: *const Lineage, run: Box<dyn FnOnce() + Send + 'a>) -> Self {
        // SAFETY: only the lifetime changes, and the caller guarantees that all borrows outlive the task.
        let run = unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'a>, Box<dyn FnOnce() + Send>>(run) };
        Self { run, lineage }
    }

    /// Returns the lineage of the task, or `None` for the root.
    pub(crate) fn lineage(&self) -> Option<&Lineage> {
        // SAFETY: `new` demands that it stays alive until the task has run, which consumes the task.
        unsafe { self.lineage.as_ref() }
    }

    pub(crate) fn run(self) {
        (self.run)();
    }
}

/// See the [module](self).
pub(crate) struct Tasks {
    count: AtomicU64,
    queue: Mutex<VecDeque<Task>>,
}

impl Tasks {
    pub(crate) const fn new() -> Self {
        Self { count: AtomicU64::new(0), queue: Mutex::new(VecDeque::new()) }
    }

    pub(crate) fn push(&self, task: Task) {
        let mut queue = lock(&self.queue);
        queue.push_back(task);
        self.count.store(queue.len() as u64, Ordering::Relaxed);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Takes the newest task, for the worker that spawned it.
    pub(crate) fn take_newest(&self) -> Option<Task> {
        self.take(VecDeque::pop_back)
    }

    /// Takes the oldest task, for thieves.
    pub(crate) fn take_oldest(&self) -> Option<Task> {
        self.take(VecDeque::pop_front)
    }

    /// Takes the newest task that descends from `ancestor`. Linear in the number of newer tasks.
    pub(crate) fn take_descendant(&self, ancestor: *const Lineage) -> Option<Task> {
        self.take(|queue| {
            // SAFETY: a task in the queue has not run, so its scope waits for it and its lineage has not ended.
            let descends = |lineage: &Lineage| unsafe { lineage.descends_from(ancestor) };
            let index = queue.iter().rposition(|task| task.lineage().is_some_and(descends))?;
            queue.remove(index)
        })
    }

    /// Takes the oldest task that is inside of more than `broadcasts` broadcasts. Linear in the number of older tasks.
    pub(crate) fn take_inside_of_more(&self, broadcasts: u32) -> Option<Task> {
        self.take(|queue| {
            let depth = |task: &Task| task.lineage().map_or(0, Lineage::broadcasts);
            let index = queue.iter().position(|task| depth(task) > broadcasts)?;
            queue.remove(index)
        })
    }

    fn take(&self, choose: impl FnOnce(&mut VecDeque<Task>) -> Option<Task>) -> Option<Task> {
        if self.is_empty() {
            return None;
        }
        let mut queue = lock(&self.queue);
        let task = choose(&mut queue);
        if queue.is_empty() && queue.capacity() > KEPT {
            *queue = VecDeque::new();
        }
        self.count.store(queue.len() as u64, Ordering::Relaxed);
        task
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn long_queue_frees_its_memory_when_it_becomes_empty() {
        let tasks = Tasks::new();
        for _ in 0..2 {
            // SAFETY: the closure borrows nothing and does not unwind, and nothing reads the lineage.
            (0..10_000).for_each(|_| tasks.push(unsafe { Task::new(std::ptr::null(), Box::new(|| ())) }));
            while let Some(task) = tasks.take_newest() {
                task.run();
            }
            assert!(lock(&tasks.queue).capacity() <= KEPT);
        }
    }
}
