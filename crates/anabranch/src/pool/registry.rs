//! What the threads of a pool share: their seats, who sleeps, and how a thread from outside comes in.

use crate::{
    pool::{
        seats::Seats,
        sleep::{Call, Idle, Sleep},
        worker::{Work, Worker},
    },
    sys::sync::{AtomicBool, Mutex, Ordering, hint, lock},
};
use std::{
    ptr,
    sync::Arc,
    time::{Duration, Instant},
};

/// How often the lookout looks for work.
const BEAT: Duration = Duration::from_micros(100);

/// How long a worker without work searches before it gives its slot back: about as long as the gaps between the parallel
/// parts of a program that is parallel throughout.
const SEARCH: Duration = Duration::from_micros(100);

/// After how many beats without a root the lookout lies down.
const QUIET_BEATS: u32 = 100;

/// See the [module](self).
pub(crate) struct Registry {
    seats: Seats,
    threads: usize,
    pub(crate) sleep: Sleep,
    /// Seats of guests that have left.
    vacant: Mutex<Vec<usize>>,
    closing: AtomicBool,
    /// Whether a thread that does not answer can be raided. Where not, more is published of one's own accord.
    can_raid: bool,
}

impl Registry {
    pub(crate) fn new(threads: usize, can_raid: bool) -> Arc<Self> {
        Arc::new_cyclic(|registry| {
            let seats = Seats::new();
            for _ in 0..threads {
                seats.add(|index| Worker::new(registry.as_ptr(), index));
            }
            Self {
                seats,
                threads,
                sleep: Sleep::new(threads),
                vacant: Mutex::new(Vec::new()),
                closing: AtomicBool::new(false),
                can_raid,
            }
        })
    }

    /// How many threads work at a time.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn can_raid(&self) -> bool {
        self.can_raid
    }

    /// The pool's own threads and the seats of guests, taken or vacant.
    pub(crate) fn workers(&self) -> impl Iterator<Item = &Worker> + Clone {
        self.seats.iter()
    }

    /// The seat of the pool's own thread `index`.
    pub(crate) fn worker(&self, index: usize) -> &Worker {
        self.seats.get(index)
    }

    /// Unparks a sleeper that was appointed lookout.
    pub(crate) fn wake(&self, call: Call) {
        if let Some(index) = call {
            self.worker(index).parker.unpark();
        }
    }

    /// Tells the workers to end; whoever sleeps is woken for it.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        for index in 0..self.threads {
            self.worker(index).parker.unpark();
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Runs `root` on the calling thread as a member of this pool: as it is if the thread belongs to it already, as a
    /// guest otherwise.
    pub(crate) fn enter<R>(self: &Arc<Self>, root: impl FnOnce() -> R) -> R {
        let current = Worker::current();
        if current.registry().is_some_and(|registry| ptr::eq(registry, &raw const **self)) {
            return root();
        }
        // The thread may be away for long: what it has forked in its own pool is for the others to take.
        while current.publish_oldest() {}
        let _guest = Guest::sit_down(Arc::clone(self));
        root()
    }

    /// What the pool's own threads do: work while there is some, search a while, rest.
    pub(crate) fn work(&self, me: &Worker) {
        let mut idle_since = None;
        while !self.is_closing() {
            let work = match me.inbox.take_oldest() {
                Some(task) => Some(Work::Task(task)),
                None if self.sleep.is_crowded() => None,
                None => self.find(me),
            };
            if let Some(work) = work {
                me.run(work);
                idle_since = None;
            } else if !self.sleep.is_crowded() && idle_since.get_or_insert_with(Instant::now).elapsed() < SEARCH {
                hint::spin_loop();
            } else {
                self.rest(me);
                idle_since = None;
            }
        }
    }

    /// Gives the slot back, and returns with one when there is something to do, or without when the pool closes.
    fn rest(&self, me: &Worker) {
        let mut idle = self.sleep.retire(me.index);
        let mut seen = self.sleep.activity();
        let mut quiet_beats = 0;
        while !self.is_closing() {
            while let Some(task) = me.inbox.take_oldest() {
                me.run(Work::Task(task));
            }
            match idle {
                Idle::Asleep => {
                    me.parker.park();
                    if self.sleep.is_called(me.index) {
                        (idle, quiet_beats) = (Idle::Lookout, 0);
                    }
                }
                Idle::Lookout => {
                    let now = self.sleep.activity();
                    quiet_beats = if now == seen && !now.is_busy { quiet_beats + 1 } else { 0 };
                    seen = now;
                    if quiet_beats >= QUIET_BEATS && self.sleep.stand_down(me.index, now) {
                        idle = Idle::Asleep;
                        continue;
                    }
                    if now.is_busy
                        && self.sees_work()
                        && let Some(call) = self.sleep.promote()
                    {
                        self.wake(call);
                        return;
                    }
                    me.parker.park_timeout(BEAT);
                }
            }
        }
    }
}

/// A thread from outside that runs a root of its own.
struct Guest {
    registry: Arc<Registry>,
    seat: usize,
    outer: *const Worker,
}

impl Guest {
    fn sit_down(registry: Arc<Registry>) -> Self {
        let call = registry.sleep.enter_root().unwrap_or_else(|_| {
            panic!(
                "too many threads run roots of their own in one anabranch pool at once; run them inside one `install`"
            )
        });
        registry.wake(call);
        let seat = {
            let mut vacant = lock(&registry.vacant);
            vacant.pop().unwrap_or_else(|| registry.seats.add(|index| Worker::new(&raw const *registry, index)))
        };
        let worker = registry.seats.get(seat);
        if registry.can_raid || registry.threads == 1 {
            worker.stack.serve();
        } else {
            worker.stack.ask();
        }
        // SAFETY: the seat was vacant, so no other thread holds it; `registry` keeps it alive until `drop` has put the
        // thread back on its outer seat.
        let outer = unsafe { Worker::occupy(worker) };
        Self { registry, seat, outer }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // SAFETY: the seat that the thread had before; whoever put it there is further down the stack.
        unsafe { Worker::occupy(self.outer) };
        lock(&self.registry.vacant).push(self.seat);
        let call = self.registry.sleep.leave_root();
        self.registry.wake(call);
    }
}
