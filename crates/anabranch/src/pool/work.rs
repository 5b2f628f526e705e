//! What the pool's own threads do: work while there is some, search a while, rest.

use crate::{
    pool::{
        monitor::Monitor,
        registry::Registry,
        sleep::{Appointed, Idle},
        stats::Phase,
        worker::{Work, Worker},
    },
    sys::sync::hint,
};
use std::time::{Duration, Instant};

/// How often the lookout looks for work.
const BEAT: Duration = Duration::from_micros(100);

/// How often it looks when all slots are taken: only a thread that blocks without a word can change that unnoticed.
const SLOW_BEAT: Duration = Duration::from_millis(1);

/// How long a worker without work searches before it gives its slot back: about as long as the gaps between the parallel
/// parts of a program that is parallel throughout.
const SEARCH: Duration = Duration::from_micros(100);

/// How long after the last root the lookout lies down.
const QUIET: Duration = Duration::from_millis(10);

impl Registry {
    /// The life of a thread of the pool. A spare begins as the lookout, the others as if they had just run out of work.
    pub(crate) fn work(&self, me: &Worker, is_spare: bool) {
        if is_spare {
            self.rest(me, Idle::Lookout);
        } else {
            me.status.activate();
        }
        let mut idle_since = None;
        while !self.is_closing() {
            let is_crowded = self.is_crowded();
            let work = match me.inbox.take_oldest() {
                Some(task) => Some(Work::Task(task)),
                None if is_crowded => None,
                None => self.find(me),
            };
            if let Some(work) = work {
                me.counters.enter(Phase::Working);
                me.run(work);
                me.counters.enter(Phase::Searching);
                // While it ran, the slot may have been lent.
                me.status.activate();
                idle_since = None;
            } else if !is_crowded && idle_since.get_or_insert_with(Instant::now).elapsed() < SEARCH {
                hint::spin_loop();
            } else {
                me.status.vacate();
                self.rest(me, self.sleep.retire(me.index));
                idle_since = None;
            }
        }
    }

    /// Does without a slot, until there is something to do or the pool closes.
    fn rest(&self, me: &Worker, mut idle: Idle) {
        let mut lookout = Lookout::new(self);
        me.counters.enter(Phase::Parked);
        while !self.is_closing() {
            // A broadcast may take its time: nobody should count on this worker meanwhile.
            if !me.inbox.is_empty() {
                if idle == Idle::Lookout || !self.wakes_by_itself(me) {
                    // Not to a spare: most broadcasts are over in no time, and who waits for one sees to the others.
                    self.wake(self.sleep.resign());
                }
                me.status.activate();
                break;
            }
            match idle {
                Idle::Asleep if me.is_called() => {
                    me.counters.wakes.add(1);
                    (idle, lookout) = (Idle::Lookout, Lookout::new(self));
                }
                Idle::Asleep => {
                    me.counters.parks.add(1);
                    me.parker.park();
                }
                Idle::Lookout => match lookout.look(self) {
                    Sight::Work => {
                        me.status.activate();
                        self.hand_on_the_post();
                        break;
                    }
                    Sight::Quiet if self.sleep.stand_down(me.index, || self.is_root_open()) => idle = Idle::Asleep,
                    Sight::Quiet | Sight::Nothing => {
                        me.counters.parks.add(1);
                        let beat = if lookout.is_full { SLOW_BEAT } else { BEAT };
                        me.parker.park_timeout(beat);
                    }
                },
            }
        }
        me.counters.enter(Phase::Searching);
    }

    /// A sleeper gets up without having been called. `false`: it was called just now, and is the lookout.
    fn wakes_by_itself(&self, me: &Worker) -> bool {
        let is_uncalled = self.sleep.withdraw(me.index);
        if !is_uncalled {
            // Whoever took it off the list is about to say so; the mark must not be left for later.
            while !me.is_called() {
                me.parker.park();
            }
        }
        is_uncalled
    }

    /// Sees to it that somebody looks out, where all workers may be held up by a broadcast.
    pub(crate) fn ensure_lookout(&self) {
        match self.sleep.appoint() {
            Appointed::Before => {}
            Appointed::Sleeper(worker) => self.wake(Some(worker)),
            Appointed::Nobody => {
                if !self.crew.add_spare(self) {
                    self.wake(self.sleep.resign());
                }
            }
        }
    }

    /// The lookout goes to work: a sleeper follows it, or else, where all threads are at work or blocked, a spare.
    fn hand_on_the_post(&self) {
        match self.sleep.successor() {
            Some(worker) => self.wake(Some(worker)),
            None if self.crew.add_spare(self) => {}
            None => self.wake(self.sleep.resign()),
        }
    }
}

/// What the lookout sees.
enum Sight {
    /// Work, and a slot to do it in.
    Work,
    Nothing,
    /// Nothing, and there has been no root for a while.
    Quiet,
}

/// What the lookout remembers from beat to beat.
struct Lookout {
    roots: u64,
    active: Instant,
    monitor: Monitor,
    is_full: bool,
}

impl Lookout {
    fn new(registry: &Registry) -> Self {
        Self { roots: registry.count_roots(), active: Instant::now(), monitor: Monitor::default(), is_full: false }
    }

    fn look(&mut self, registry: &Registry) -> Sight {
        let roots = registry.count_roots();
        let is_busy = registry.is_root_open();
        if is_busy || roots != self.roots {
            (self.roots, self.active) = (roots, Instant::now());
        }
        if !is_busy {
            self.is_full = false;
            return if self.active.elapsed() >= QUIET { Sight::Quiet } else { Sight::Nothing };
        }
        self.is_full = !registry.has_free_slot();
        if self.is_full {
            if self.monitor.look(registry.workers()) {
                registry.slots_lent.add(1);
            }
            self.is_full = !registry.has_free_slot();
        }
        if !self.is_full && registry.sees_work() { Sight::Work } else { Sight::Nothing }
    }
}
