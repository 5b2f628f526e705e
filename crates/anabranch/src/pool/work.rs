//! What the pool's own threads do: work while there is some, search a while, rest.

use crate::{
    pool::{
        fibers::{Daring, watch::Watch},
        monitor::Monitor,
        registry::Registry,
        sleep::{Appointed, Idle},
        stats::Phase,
        worker::{Work, Worker},
    },
    sys::{
        blocks,
        clock::Instant,
        sync::{Ordering, fence, hint},
        thread,
    },
};
use std::time::Duration;

/// How often the lookout looks for work.
const BEAT: Duration = Duration::from_micros(100);

/// How often it looks when every core is busy: it takes turns with those who work.
const BUSY_BEAT: Duration = Duration::from_micros(400);

/// How often it looks when all slots are taken: only a thread that blocks without a word can change that unnoticed.
const FULL_BEAT: Duration = Duration::from_millis(1);

/// How long a worker without work searches before it gives its slot back: about as long as the gaps between the parallel
/// parts of a program that is parallel throughout.
const SEARCH: Duration = Duration::from_micros(100);

/// How long one searches that has a timer due before such a search would end: it gets up again in a moment anyway, and many timers
/// would otherwise keep it from ever giving the processor back.
const NAP: Duration = Duration::from_micros(2);

/// How often a searching thread looks at the shelves between two looks at the clock.
const LOOKS_BETWEEN: usize = 8;

/// How often it looks at the clock between two times that it lets other threads run, some 2 us: the one that will have work for it may just
/// have been woken on this very core.
const ROUNDS_BETWEEN_YIELDS: u32 = 4;

/// A piece shorter than this was not worth taking: the owner would have done it in the time that handing it over took.
const WORTH_WHILE: Duration = Duration::from_micros(10);

/// How long a thread that got short pieces waits at least, and at most, before it asks again.
const ASK_DELAYS: (Duration, Duration) = (Duration::from_micros(10), Duration::from_micros(160));

/// How long a fiber waits for a slot, and then begins without one.
const STARVING: Duration = Duration::from_millis(10);

/// How long after the last root the lookout lies down.
const QUIET: Duration = Duration::from_millis(10);

impl Registry {
    /// The life of a thread of the pool. A spare begins as the lookout, the others as if they had just run out of work.
    pub(crate) fn work(&self, me: &Worker, is_spare: bool) {
        let _keeping = blocks::keep();
        let mut found = None;
        if is_spare {
            found = self.rest(me, Idle::Lookout);
        } else {
            me.status.activate();
        }
        let mut manners = Manners::default();
        // The last look at the clock.
        let mut now = Instant::now();
        loop {
            if found.is_none() && self.ends() {
                break;
            }
            if let Some(work) = found.take().or_else(|| self.search(me, &mut manners, &mut now)) {
                // A thread that came to its work without having been lookout leaves none behind if it blocks.
                if !self.sleep.has_lookout() {
                    self.ensure_lookout();
                }
                // To look takes longer than to switch to a fiber, so there is no look before one that goes on. What was taken from
                // others took its time, which is not that of the work.
                if !matches!(work, Work::Fibers(None)) {
                    now = Instant::now();
                }
                me.counters.enter_at(Phase::Working, now);
                match work {
                    Work::Fibers(job) => me.run_fibers(job),
                    work => me.run(work),
                }
                now = Instant::now();
                manners.note(me.counters.enter_at(Phase::Searching, now));
                // While it ran, the slot may have been lent.
                me.status.activate();
            } else {
                me.status.vacate();
                found = self.rest(me, self.sleep.retire(me.index));
                now = Instant::now();
            }
        }
        me.status.vacate();
        me.end_fibers();
    }

    /// Whether there is nothing left to do, ever.
    fn ends(&self) -> bool {
        self.is_closing() && self.is_wound_up()
    }

    /// Looks for work for a while. `None`: there is none, or this thread should give way.
    ///
    /// Between two looks at the clock only the shelves and queues are looked at, which disturbs nobody. Asking makes its victims
    /// publish, so it is done with manners.
    fn search(&self, me: &Worker, manners: &mut Manners, now: &mut Instant) -> Option<Work> {
        let (mut start, mut has_looked, mut rounds) = (*now, false, 0u32);
        let patience = if me.time_to_next_fiber().is_some_and(|time| time < SEARCH) { NAP } else { SEARCH };
        loop {
            // Most broadcasts are over in no time, and who waits for one sees to it that somebody looks out.
            while !me.inbox.is_empty() {
                me.counters.enter(Phase::Working);
                me.answer_broadcast();
                *now = Instant::now();
                // What it took does not count.
                start += me.counters.enter_at(Phase::Searching, *now);
            }
            let has_ready_fibers = me.has_ready_fibers();
            // Otherwise `find` comes to what lies elsewhere.
            if (has_ready_fibers || me.has_jobs())
                && let Some(work) = self.find_in_turn(me)
            {
                return Some(work);
            }
            // Nobody else can go on with them.
            if has_ready_fibers {
                return Some(Work::Fibers(None));
            }
            if self.is_closing() {
                return self.find(me, Daring::Bold);
            }
            // On a machine with fewer cores than the pool has threads a search keeps others from working.
            let is_in_the_way = self.is_crowded() || has_looked && self.count_active(self.cores + 1) > self.cores;
            if is_in_the_way || *now - start > patience {
                return None;
            }
            let is_bold = manners.may_ask(*now);
            let daring = if is_bold { Daring::Patient(self.micros_at(*now)) } else { Daring::Shy };
            for _ in 0..LOOKS_BETWEEN {
                if let Some(work) = self.find(me, daring) {
                    return Some(work);
                }
                if me.has_ready_fibers() {
                    return Some(Work::Fibers(None));
                }
                hint::spin_loop();
            }
            *now = Instant::now();
            has_looked = true;
            rounds += 1;
            if rounds.is_multiple_of(ROUNDS_BETWEEN_YIELDS) {
                thread::yield_now();
            }
            if is_bold {
                self.ask_all();
            }
        }
    }

    /// Does without a slot, until there is something to do or the pool closes. A fiber to begin, slot or no slot, if one has
    /// waited for too long.
    fn rest(&self, me: &Worker, mut idle: Idle) -> Option<Work> {
        let mut found = None;
        let mut lookout = Lookout::new(self);
        me.counters.enter(Phase::Parked);
        loop {
            // Fibers that can go on wait for this worker, as does who broadcasts. A broadcast may take its time: nobody should
            // count on this worker meanwhile.
            if self.ends() || !me.inbox.is_empty() || me.has_ready_fibers() {
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
                    self.doze(me, None);
                }
                Idle::Lookout => match lookout.look(self, me) {
                    Sight::Work => {
                        me.status.activate();
                        self.hand_on_the_post();
                        break;
                    }
                    Sight::Quiet if self.sleep.stand_down(me.index, || self.has_something_to_look_at()) => {
                        idle = Idle::Asleep
                    }
                    Sight::Starved
                        if let Some(job) = self.workers().find_map(|worker| worker.rob_job(me, Daring::Bold)) =>
                    {
                        me.status.activate();
                        self.hand_on_the_post();
                        found = Some(Work::Fibers(Some(job)));
                        break;
                    }
                    Sight::Quiet | Sight::Nothing | Sight::Starved => {
                        me.counters.parks.add(1);
                        self.doze(me, Some(lookout.beat));
                    }
                },
            }
        }
        me.counters.enter(Phase::Searching);
        found
    }

    /// Parks until this worker is woken, a fiber of it is due, or `most` has passed.
    fn doze(&self, me: &Worker, most: Option<Duration>) {
        if !me.fibers.go_away() {
            return;
        }
        match [most, me.time_to_next_fiber()].into_iter().flatten().min() {
            Some(most) => _ = me.parker.park_timeout(most),
            None => me.parker.park(),
        }
        me.fibers.come_back();
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

    /// Whether the lookout is needed, if that is asked after the post was shown to be vacant.
    fn has_something_to_look_at(&self) -> bool {
        // A guest that has left may have left tasks behind: who sees that it has left sees these too.
        self.is_root_open() || {
            fence(Ordering::Acquire);
            self.has_published_work()
        }
    }

    /// Sees to it that somebody looks out.
    pub(crate) fn ensure_lookout(&self) {
        match self.sleep.appoint() {
            Appointed::Before => {}
            Appointed::Sleeper(worker) => self.wake(Some(worker)),
            Appointed::Nobody => self.give_the_post_to_a_spare(),
        }
    }

    /// The lookout goes to work: a sleeper follows it, or else a spare, so that somebody is there to see it if all who work
    /// are blocked.
    fn hand_on_the_post(&self) {
        match self.sleep.successor() {
            Some(worker) => self.wake(Some(worker)),
            None => self.give_the_post_to_a_spare(),
        }
    }

    /// For the holder of the post, when nobody sleeps. Where no spare is to be had the post falls vacant.
    fn give_the_post_to_a_spare(&self) {
        if !self.crew.add_spare(self) {
            self.wake(self.sleep.resign());
        }
    }
}

/// When a searching thread may ask for work, or take fibers that a worker has just spawned.
///
/// Who asks gets what there is, be it ever so small, and its owner pays for the publication and for the wait. So a thread
/// whose last piece was short holds back, longer each time, and one whose piece was worth while asks at once.
#[derive(Default)]
struct Manners {
    delay: Duration,
    not_before: Option<Instant>,
}

impl Manners {
    fn note(&mut self, took: Duration) {
        let (least, most) = ASK_DELAYS;
        self.delay = if took < WORTH_WHILE { (self.delay * 2).clamp(least, most) } else { Duration::ZERO };
        self.not_before = None;
    }

    fn may_ask(&mut self, now: Instant) -> bool {
        if self.delay.is_zero() {
            return true;
        }
        let may = now >= *self.not_before.get_or_insert(now + self.delay);
        if may {
            self.not_before = Some(now + self.delay);
        }
        may
    }
}

/// What the lookout sees.
enum Sight {
    /// Work, and a slot to do it in.
    Work,
    Nothing,
    /// No slot, and fibers that have waited for one for long.
    Starved,
    /// Nothing, and there has been no root for a while.
    Quiet,
}

/// What the lookout remembers from beat to beat.
struct Lookout {
    roots: u64,
    active: Instant,
    monitor: Monitor,
    watch: Watch,
    /// Since when there has been no slot for fibers that want to begin.
    starved: Option<Instant>,
    /// How long it sleeps until the next look.
    beat: Duration,
}

impl Lookout {
    fn new(registry: &Registry) -> Self {
        Self {
            roots: registry.count_roots(),
            active: Instant::now(),
            monitor: Monitor::default(),
            watch: Watch::default(),
            starved: None,
            beat: BEAT,
        }
    }

    fn look(&mut self, registry: &Registry, me: &Worker) -> Sight {
        registry.note_lookout(me);
        let roots = registry.count_roots();
        // Fibers that were spawned from outside are work without anybody being at work.
        let is_waiting = registry.has_published_work();
        let is_busy = is_waiting || registry.is_root_open();
        if is_busy || roots != self.roots {
            (self.roots, self.active) = (roots, Instant::now());
        }
        self.beat = BEAT;
        if !is_busy {
            return if self.active.elapsed() >= QUIET { Sight::Quiet } else { Sight::Nothing };
        }
        self.watch.look(registry.workers());
        if !registry.has_free_slot() {
            if self.monitor.look(registry.workers()) {
                registry.slots_lent.add(1);
            }
            if !registry.has_free_slot() {
                self.beat = FULL_BEAT;
                return if self.sees_starved(registry) { Sight::Starved } else { Sight::Nothing };
            }
        }
        self.starved = None;
        // Where every core is busy another thread only takes turns with those that work: it is worth while for work that
        // has been waiting, and not for what comes and goes between two beats.
        let is_waiting = is_waiting || registry.has_published_work();
        let has_core = registry.count_active(registry.cores) < registry.cores;
        if !has_core {
            self.beat = BUSY_BEAT;
        }
        let sees_work = is_waiting || registry.sees_work();
        if is_waiting || has_core && sees_work { Sight::Work } else { Sight::Nothing }
    }

    /// Whether fibers have waited for a slot for too long. Forks and tasks are run by those who made them at the latest; a
    /// fiber would wait for as long as guests like to compute.
    fn sees_starved(&mut self, registry: &Registry) -> bool {
        if !registry.workers().any(Worker::has_jobs) {
            self.starved = None;
            return false;
        }
        self.starved.get_or_insert_with(Instant::now).elapsed() >= STARVING
    }
}
