//! The reactor of one worker: a poller, and the sources that are registered at it.
//!
//! The worker waits in the poller while it has nothing to do. Other threads may poll it too: the heartbeat worker does
//! so on behalf of a worker that computes. Each event goes to one of these threads, which sets the readiness of the
//! source and wakes the waiters. A thread other than the worker that consumes a notification notifies again, because
//! the notification was meant for the worker.
//!
//! An event has the key of its source, an index into the list. It may come late, for a source that has been removed
//! since, and even for another source that has got the key. Then an attempt is made in vain.
//!
//! The readiness is set under the lock of the list, so the source is alive. Waiters are woken after the lock was
//! released, since a waker is foreign code.

use crate::{
    reactor::readiness::{Direction, Directions, Readiness},
    sys::{
        clock::Instant,
        parker::Parker,
        poller::{BorrowedSource, Events, Poller},
        sync::{Arc, AtomicBool, AtomicU64, Mutex, Ordering, lock},
    },
    wait::{future::contain, queue::Wakes},
};
use std::{io, mem, task::Waker, time::Duration};

/// How long a worker that runs fibers does not poll. A poll takes as long as some dozens of switches.
const BUSY: Duration = Duration::from_micros(20);

/// See the [module](self).
pub(crate) struct Reactor {
    poller: Arc<Poller>,
    sources: Mutex<Sources>,
    is_closed: AtomicBool,
    /// Whether the worker waits in the poller: a hint.
    is_waiting: AtomicBool,
    /// How often the worker has polled. Only the worker changes it.
    polls: AtomicU64,
    /// How often it had at the last look of the heartbeat worker, which alone uses it.
    known_polls: AtomicU64,
    /// When the worker has polled last, in nanoseconds since `made`. Only the worker uses it.
    last_poll: AtomicU64,
    made: Instant,
}

#[derive(Default)]
struct Sources {
    list: Vec<Option<Arc<Directions>>>,
    free: Vec<usize>,
}

impl Reactor {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Arc::new(Poller::new()?),
            sources: Mutex::new(Sources::default()),
            is_closed: AtomicBool::new(false),
            is_waiting: AtomicBool::new(false),
            polls: AtomicU64::new(0),
            known_polls: AtomicU64::new(0),
            last_poll: AtomicU64::new(0),
            made: Instant::now(),
        })
    }

    // ---- sources ----

    /// Returns whether the worker has ended. Then no thread polls this reactor.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Adds a source, and returns its key. Its present state comes as its first event, in both directions.
    pub(crate) fn add(&self, socket: BorrowedSource<'_>, source: Arc<Directions>) -> io::Result<usize> {
        let key = {
            let mut sources = lock(&self.sources);
            if self.is_closed() {
                return Err(io::Error::other("the pool has ended"));
            }
            match sources.free.pop() {
                Some(key) => {
                    sources.list[key] = Some(source);
                    key
                }
                None => {
                    sources.list.push(Some(source));
                    sources.list.len() - 1
                }
            }
        };
        // Outside of the lock, as the system call takes a while. An event may come before it returns.
        match self.poller.add(socket, key) {
            Ok(()) => Ok(key),
            Err(error) => {
                self.release(key);
                Err(error)
            }
        }
    }

    /// Returns whether there is one.
    pub(crate) fn has_sources(&self) -> bool {
        let sources = lock(&self.sources);
        sources.list.len() > sources.free.len()
    }

    /// Has the next change of this direction reported, if it is not in any case.
    pub(crate) fn arm(&self, socket: BorrowedSource<'_>, key: usize, direction: Direction) -> io::Result<()> {
        self.poller.arm(socket, key, direction == Direction::Read, direction == Direction::Write)
    }

    pub(crate) fn remove(&self, socket: BorrowedSource<'_>, key: usize) {
        self.poller.delete(socket, key);
        self.release(key);
    }

    fn release(&self, key: usize) {
        let mut sources = lock(&self.sources);
        // The list is empty after `close`.
        let source = sources.list.get_mut(key).and_then(Option::take);
        if source.is_some() {
            sources.free.push(key);
        }
        drop(sources);
        drop(source);
    }

    /// Removes all sources and wakes their waiters, who register elsewhere. No thread polls from now on.
    pub(crate) fn close(&self) {
        let sources = {
            let mut sources = lock(&self.sources);
            self.is_closed.store(true, Ordering::Release);
            sources.free.clear();
            mem::take(&mut sources.list)
        };
        for source in sources.into_iter().flatten() {
            for readiness in [&source.read, &source.write] {
                if readiness.set(false) {
                    wake_all(readiness);
                }
            }
        }
    }

    // ---- the worker ----

    /// Parks at `parker` until it is unparked, a source is ready, or `most` has passed. Returns whether it was
    /// unparked. Only the worker calls this.
    pub(crate) fn park(&self, parker: &Parker, most: Option<Duration>) -> bool {
        let mut events = Events::new();
        let is_woken = parker.park_in(&self.poller, || {
            self.is_waiting.store(true, Ordering::Relaxed);
            self.poller.wait(&mut events, most);
            self.is_waiting.store(false, Ordering::Relaxed);
        });
        self.count_poll();
        self.dispatch(&events);
        is_woken
    }

    /// Handles the events that there are. Only the worker calls this.
    pub(crate) fn poll(&self) {
        self.count_poll();
        self.poll_once();
    }

    /// Does the same, unless the worker has done so a moment ago.
    pub(crate) fn poll_if_busy(&self) {
        let now = self.made.elapsed().as_nanos() as u64;
        if now.saturating_sub(self.last_poll.load(Ordering::Relaxed)) >= BUSY.as_nanos() as u64 {
            self.last_poll.store(now, Ordering::Relaxed);
            self.poll();
        }
    }

    fn count_poll(&self) {
        self.polls.store(self.polls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    // ---- the heartbeat worker ----

    /// Handles the events that there are, if the worker neither waits in the poller nor has polled since the last call.
    /// Returns whether it did so.
    pub(crate) fn poll_for_owner(&self) -> bool {
        if self.is_closed() || self.is_waiting.load(Ordering::Relaxed) {
            return false;
        }
        let polls = self.polls.load(Ordering::Relaxed);
        if self.known_polls.swap(polls, Ordering::Relaxed) != polls {
            return false;
        }
        if self.poll_once() {
            self.poller.notify();
        }
        true
    }

    /// Returns whether a notification was consumed.
    fn poll_once(&self) -> bool {
        let (mut events, mut is_notified) = (Events::new(), false);
        // A bound, as new events may come all the time.
        for _ in 0..4 {
            self.poller.wait(&mut events, Some(Duration::ZERO));
            is_notified |= events.has_notification();
            self.dispatch(&events);
            if !events.is_full() {
                break;
            }
        }
        is_notified
    }

    // ---- events ----

    fn dispatch(&self, events: &Events) {
        let (mut wakes, mut tasks) = (Wakes::new(), Vec::new());
        let mut sources = lock(&self.sources);
        for mut report in events.reports() {
            let Some(Some(source)) = sources.list.get(report.key) else { continue };
            self.poller.note_report(&mut report);
            let is_awaited = [
                report.is_readable && source.read.set(report.is_special),
                report.is_writable && source.write.set(report.is_special),
            ];
            for (readiness, is_awaited) in [&source.read, &source.write].into_iter().zip(is_awaited) {
                if is_awaited {
                    tasks.extend(readiness.take(&mut wakes));
                }
            }
            if wakes.is_full() || !tasks.is_empty() {
                let source = Arc::clone(source);
                drop(sources);
                mem::replace(&mut wakes, Wakes::new()).wake_all();
                tasks.drain(..).for_each(|task: Waker| contain(|| task.wake()));
                for (readiness, is_awaited) in [&source.read, &source.write].into_iter().zip(is_awaited) {
                    if is_awaited {
                        wake_all(readiness);
                    }
                }
                sources = lock(&self.sources);
            }
        }
        drop(sources);
        wakes.wake_all();
    }
}

/// Wakes all that wait for the readiness, after it was set.
fn wake_all(readiness: &Readiness) {
    loop {
        let mut wakes = Wakes::new();
        let task = readiness.take(&mut wakes);
        let is_full = wakes.is_full();
        wakes.wake_all();
        if let Some(task) = task {
            contain(|| task.wake());
        }
        if !is_full {
            return;
        }
    }
}
