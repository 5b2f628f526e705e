//! Running a closure on every thread of a pool: a scope whose tasks go to the inboxes of the workers.
//!
//! A worker answers broadcasts in its waits, also in a wait inside an answer, since two workers may broadcast to each
//! other. A thousand threads that broadcast at a time would put a thousand answers on one stack. So with eight answers
//! on its stack a worker answers only broadcasts that are nested deeper than all work that it runs.
//!
//! Why broadcasts terminate. Let the *depth* of a worker be the number of broadcasts that its innermost work is inside.
//! Work counts as inside all work below it on the stack (`Lineage::on_top`), and passes its depth on to everything that
//! it forks, spawns and broadcasts. Say that every worker waits. The innermost work of a worker waits for
//! - work on the stack of another worker. That worker is at least as deep, because it has inherited the depth. The
//!   innermost work of that worker began later than the work that waits for it;
//! - a part that another worker refuses. That worker is deeper.
//!
//! So a cycle of such waits has no refusal, or else the depth would grow along it. And without a refusal, each worker
//! in the cycle would have begun its work later than itself. So there is no cycle. The deepest worker answers, and
//! beyond the limit of eight a stack has no more answers than the program nests broadcasts.

use crate::{
    fork::{
        execute::detach,
        frame::Lineage,
        scope::{Scope, ScopeData},
    },
    pool::{handle::Pool, registry::Registry, worker::Worker},
    sys::{
        sync::{Arc, Mutex, into_inner, lock},
        thread,
    },
};

impl Pool {
    /// Runs `op` once on each of the pool's own threads, with the thread's number, and returns the results in that
    /// order. If `op` asks for the [index of its thread](crate::pool::current_thread_index), that is the same number.
    /// `op` then waits if a guest has that index.
    ///
    /// A thread that is at work runs `op` when that piece of work has ended, or when it waits in a
    /// [`join`](crate::join), a [`scope`](crate::scope) or a broadcast. So `op` may run on top of any work of this
    /// pool, and must not take a lock that is held across one of these calls. A thread that is inside another pool
    /// answers when it has returned. So work that it waits for in the other pool must not broadcast here.
    ///
    /// An `op` may wait for work that broadcasts in turn, to any depth. A thread that waits inside `op` also answers
    /// other broadcasts, but has at most eight such answers on its stack. It answers the rest when these have ended.
    ///
    /// # Panics
    /// If an `op` panics, resumes the first panic once all calls have ended.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(3).build().unwrap();
    /// assert_eq!(pool.broadcast(|index| index * 10), [0, 10, 20]);
    /// ```
    pub fn broadcast<R: Send>(&self, op: impl Fn(usize) -> R + Sync) -> Vec<R> {
        broadcast_in(&self.registry, op)
    }

    /// Runs `op` once on each of the pool's own threads, with the thread's number, and does not wait for it.
    ///
    /// The threads run `op` as in [`broadcast`](Self::broadcast). Dropping the pool waits until all threads have run
    /// it. A panic of `op` goes to the [panic handler](crate::Builder::on_panic).
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// # let pool = anabranch::Pool::builder().threads(3).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// pool.spawn_broadcast(move |index| sender.send(index).unwrap());
    /// let mut indices: Vec<_> = receiver.into_iter().collect();
    /// indices.sort();
    /// assert_eq!(indices, [0, 1, 2]);
    /// ```
    pub fn spawn_broadcast(&self, op: impl Fn(usize) + Send + Sync + 'static) {
        spawn_broadcast_in(&self.registry, op);
    }
}

/// Runs `op` once on each own thread of the pool that the caller is in, or else of the default pool, and returns the
/// results in the order of the threads. See [`Pool::broadcast`].
///
/// # Panics
/// If an `op` panics, resumes the first panic once all calls have ended. Outside of any pool, also panics when the
/// default pool cannot be created.
///
/// ```
/// let indices: Vec<_> = (0..anabranch::pool::current_num_threads()).collect();
/// assert_eq!(anabranch::pool::broadcast(|index| index), indices);
/// ```
#[track_caller]
pub fn broadcast<R: Send>(op: impl Fn(usize) -> R + Sync) -> Vec<R> {
    broadcast_in(Pool::of_caller(), op)
}

/// Runs `op` once on each own thread of the pool that the caller is in, or else of the default pool, and does not wait
/// for it. See [`Pool::spawn_broadcast`].
///
/// # Panics
/// Outside of any pool, when the default pool cannot be created.
///
/// ```
/// use std::sync::mpsc;
///
/// let (sender, receiver) = mpsc::channel();
/// anabranch::pool::spawn_broadcast(move |index| sender.send(index).unwrap());
/// assert_eq!(receiver.into_iter().count(), anabranch::pool::current_num_threads());
/// ```
#[track_caller]
pub fn spawn_broadcast(op: impl Fn(usize) + Send + Sync + 'static) {
    spawn_broadcast_in(Pool::of_caller(), op);
}

impl<'scope> Scope<'scope, '_> {
    /// Runs `op` once on each own thread of the scope's pool, with the thread's number. All threads have run it when
    /// the scope ends.
    ///
    /// The threads run `op` as in [`Pool::broadcast`]. A panic of `op` is one of the scope's tasks'.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// # let pool = anabranch::Pool::builder().threads(3).build().unwrap();
    /// let sum = AtomicUsize::new(0);
    /// pool.install(|| {
    ///     anabranch::scope(|s| s.spawn_broadcast(|index| _ = sum.fetch_add(index, Ordering::Relaxed)));
    /// });
    /// assert_eq!(sum.into_inner(), 3);
    /// ```
    pub fn spawn_broadcast(&'scope self, op: impl Fn(usize) + Send + Sync + 'scope) {
        let data = self.data();
        let (op, lineage) = (Arc::new(op), Arc::new(data.lineage_of_broadcast()));
        hand_out(data.registry(), |worker| {
            let (op, index) = (Arc::clone(&op), worker.index);
            // SAFETY: `scope` waits until the data is settled before it returns, also when it panics. `'scope` ends
            // only then.
            unsafe { data.inject(&worker.compute.broadcasts, Some(Arc::clone(&lineage)), move || op(index)) };
        });
    }
}

/// Returns the workers that take part in a broadcast; none on a system without threads.
fn workers(registry: &Registry) -> impl Iterator<Item = &Worker> {
    let threads = if thread::CAN_START { registry.threads() } else { 0 };
    (0..threads).map(|index| registry.worker(index))
}

/// Puts a part into the inbox of each worker, by `push`, and wakes the worker. If the pool has ended, panics before
/// it does either.
#[track_caller]
fn hand_out<'a>(registry: &'a Registry, mut push: impl FnMut(&'a Worker)) {
    registry.check_open();
    for worker in workers(registry) {
        push(worker);
        worker.parking.unpark_anywhere();
    }
}

fn broadcast_in<R: Send>(registry: &Registry, op: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let answers: Vec<Mutex<Option<R>>> = workers(registry).map(|_| Mutex::new(None)).collect();
    let run = || {
        let data = ScopeData::of_broadcast(registry);
        let op = &op;
        hand_out(registry, |worker| {
            let (index, answer) = (worker.index, &answers[worker.index]);
            // SAFETY: `wait_for_parts` below returns only when the data is settled, and once a part is handed out,
            // nothing before it unwinds. So the data, `op` and the answers outlive the tasks.
            unsafe { data.inject(&worker.compute.broadcasts, None, move || *lock(answer) = Some(op(index))) };
        });
        data.wait_for_parts();
        data.rethrow();
    };
    // A thread of another pool stays there, since it may have to answer broadcasts of that pool.
    if Worker::current().registry().is_some() {
        run()
    } else {
        registry.enter_to_wait(run)
    }
    answers
        .into_iter()
        .map(|answer| into_inner(answer).expect("a task that did not panic has left its answer"))
        .collect()
}

#[track_caller]
fn spawn_broadcast_in(registry: &Registry, op: impl Fn(usize) + Send + Sync + 'static) {
    // Deeper than the broadcast that the caller is in, which may wait for this one.
    let depth = if Worker::current().is_of(registry) { Worker::current().compute.stack.broadcasts() } else { 0 };
    let (op, lineage) = (Arc::new(op), Arc::new(Lineage::detached(depth + 1)));
    hand_out(registry, |worker| {
        let (op, index) = (Arc::clone(&op), worker.index);
        worker.compute.broadcasts.push(detach(registry, Arc::clone(&lineage), move || op(index)));
    });
}
