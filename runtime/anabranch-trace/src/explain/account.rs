//! The slots of one pool, divided at each instant.
//!
//! The numbers of threads by activity change at events. Between two events each slot has one cause. What a thread or a
//! fiber gets of it is the growth of a sum, like [`Sums::work`], while it did one thing. So an event costs constant
//! time, however many threads there are.

use crate::{
    explain::{Cause, Work, waits::Wait},
    timeline::Activity,
};
use std::ops::Sub;

macro_rules! sums {
    ($($(#[$doc:meta])* $sum:ident,)*) => {
        /// Times in nanoseconds since the pool began. Each is what one thread or fiber would have got, had it been
        /// there from the beginning.
        #[derive(Debug, Clone, Copy, Default)]
        pub(super) struct Sums {
            $($(#[$doc])* pub(super) $sum: f64,)*
        }

        impl Sub for Sums {
            type Output = Self;

            fn sub(self, before: Self) -> Self {
                Self { $($sum: self.$sum - before.$sum,)* }
            }
        }
    };
}

sums! {
    /// A slot, for a thread that works.
    work,
    /// A slot, for a thread that publishes.
    publishing,
    /// A slot, for a blocked thread.
    blocked,
    /// A slot, for a thread that searches and will find.
    finding,
    /// A slot, for a fiber that could run and whose thread runs another one.
    kept,
    /// The slots that were lost while one thread was busy, for that thread.
    sequential,
    /// For how long there were such slots.
    sequential_wall,
    /// The slots that were lost in joins, divided among the busy threads.
    long,
    /// For how long there were such slots.
    long_wall,
    /// The slots that were lost without a wait, divided among the busy threads.
    idle,
    /// For how long there were such slots.
    idle_wall,
    /// A slot, for a fiber that waits for a lock or a message.
    inner_wait,
    /// The part of it in which no thread was busy.
    standstill,
    /// A slot, for a fiber that waits for the end of others while no thread is busy.
    end_wait,
    /// A slot, for a fiber that waits for the world while no thread is busy.
    world_wait,
}

impl Sums {
    /// Returns the sum for waits of a kind.
    pub(super) fn wait(&self, wait: Wait) -> f64 {
        match wait {
            Wait::Lock | Wait::Message => self.inner_wait,
            Wait::End => self.end_wait,
            Wait::World => self.world_wait,
        }
    }
}

/// One pool.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) number: u32,
    pub(super) threads: u32,
    /// When it begins and ends, within the time that is explained.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Until when all is accounted for.
    pub(super) last: u64,
    /// How many threads do what.
    lanes: [u32; Activity::COUNT],
    /// How many threads of the pool run in another pool.
    pub(super) elsewhere: u32,
    /// How many threads from outside are in it.
    pub(super) guests: u32,
    /// How many fibers and threads wait, by [`Wait`].
    waits: [u32; Wait::COUNT],
    /// How many fibers could run and wait for their thread.
    pub(super) ready: u32,
    pub(super) sums: Sums,
    /// What was lost by cause, and the work.
    pub(super) lost: [f64; Cause::ALL.len()],
    pub(super) work: Work,
    pub(super) all_guests: u64,
    pub(super) all_spares: u64,
}

impl Account {
    pub(super) fn new(number: u32, threads: u32, begin: u64, end: u64) -> Self {
        Self {
            number,
            threads,
            begin,
            end,
            last: begin,
            lanes: [0; Activity::COUNT],
            elsewhere: 0,
            guests: 0,
            waits: [0; Wait::COUNT],
            ready: 0,
            sums: Sums::default(),
            lost: [0.0; Cause::ALL.len()],
            work: Work::default(),
            all_guests: 0,
            all_spares: 0,
        }
    }

    pub(super) fn lanes_mut(&mut self, activity: Activity) -> &mut u32 {
        &mut self.lanes[activity as usize]
    }

    pub(super) fn waits_mut(&mut self, wait: Wait) -> &mut u32 {
        &mut self.waits[wait as usize]
    }

    fn lanes(&self, all: &[Activity]) -> f64 {
        all.iter().map(|&activity| f64::from(self.lanes[activity as usize])).sum()
    }

    /// The number of threads that run the program's code, or do something for it.
    fn busy(&self) -> f64 {
        self.lanes(&[Activity::Working, Activity::Publishing, Activity::Blocked]) + f64::from(self.elsewhere)
    }

    /// Returns whether anything is open. Otherwise the slots are lost to what happens outside.
    pub(super) fn is_active(&self) -> bool {
        self.guests > 0
            || self.busy() > 0.0
            || self.lanes(&[Activity::Joining, Activity::JoinParked]) > 0.0
            || self.waits.iter().any(|&count| count > 0)
    }

    /// Returns how much of a time passes while the pool exists.
    pub(super) fn within(&self, from: u64, to: u64) -> f64 {
        to.min(self.end).saturating_sub(from.max(self.begin)) as f64
    }

    /// Accounts for the time until `now`, in which the pool was active. Returns the lost time that belongs to no thread
    /// and no fiber.
    pub(super) fn advance(&mut self, now: u64) -> f64 {
        let time = self.within(self.last, now);
        self.last = self.last.max(now);
        if time == 0.0 {
            return 0.0;
        }
        let all = f64::from(self.threads);
        let mut free = all;
        // Gives slots to threads, and returns what each of them gets.
        let mut take = |count: f64| {
            let slots = count.min(free);
            free -= slots;
            if count > 0.0 { time * slots / count } else { 0.0 }
        };
        let (working, publishing) = (self.lanes(&[Activity::Working]), self.lanes(&[Activity::Publishing]));
        self.sums.work += take(working);
        self.sums.publishing += take(publishing);
        self.sums.blocked += take(self.lanes(&[Activity::Blocked]) + f64::from(self.elsewhere));
        self.sums.finding += take(self.lanes(&[Activity::Finding]));
        self.sums.kept += take(f64::from(self.ready));

        let busy = self.busy();
        let joining = self.lanes(&[Activity::Joining, Activity::JoinParked]);
        let few = busy == 1.0 || 4.0 * busy <= all;
        let mut long = if busy > 0.0 && joining > 0.0 { if few { free } else { joining.min(free) } } else { 0.0 };
        free -= long;

        let [locks, messages, ends, world] = self.waits.map(f64::from);
        let inner = locks + messages;
        if inner > 0.0 {
            let slots = inner.min(free);
            free -= slots;
            self.sums.inner_wait += time * slots / inner;
            self.sums.standstill += if busy > 0.0 { 0.0 } else { time * slots / inner };
        } else if ends > 0.0 {
            let slots = ends.min(free);
            free -= slots;
            if busy > 0.0 {
                long += slots;
            } else {
                self.sums.end_wait += time * slots / ends;
            }
        } else if world > 0.0 && busy == 0.0 {
            let slots = world.min(free);
            free -= slots;
            self.sums.world_wait += time * slots / world;
        }
        if long > 0.0 {
            self.sums.long += time * long / busy;
            self.sums.long_wall += time;
        }
        if free <= 0.0 {
            return 0.0;
        }
        if busy == 1.0 {
            self.sums.sequential += time * free;
            self.sums.sequential_wall += time;
        } else if busy > 0.0 {
            self.sums.idle += time * free / busy;
            self.sums.idle_wall += time;
        } else {
            return time * free;
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(threads: u32, lanes: &[(Activity, u32)]) -> Account {
        let mut account = Account::new(0, threads, 0, 1_000);
        for &(activity, count) in lanes {
            *account.lanes_mut(activity) = count;
        }
        account
    }

    #[test]
    fn more_threads_than_slots_share_them() {
        let mut account = account(2, &[(Activity::Working, 4), (Activity::Joining, 1)]);
        assert_eq!(account.advance(100), 0.0);
        assert_eq!((account.sums.work, account.sums.long), (50.0, 0.0));
    }

    #[test]
    fn joins_blame_few_threads_for_all_slots_and_many_for_their_own() {
        let mut few = account(4, &[(Activity::Working, 1), (Activity::Joining, 1), (Activity::Parked, 2)]);
        few.advance(100);
        assert_eq!((few.sums.long, few.sums.sequential, few.sums.long_wall), (300.0, 0.0, 100.0));
        let mut many = account(4, &[(Activity::Working, 2), (Activity::Joining, 1), (Activity::Parked, 1)]);
        many.advance(100);
        assert_eq!((many.sums.long, many.sums.idle), (50.0, 50.0));
    }

    #[test]
    fn waits_for_the_world_count_only_if_nothing_works() {
        let mut account = account(2, &[(Activity::Working, 1), (Activity::Parked, 1)]);
        *account.waits_mut(Wait::World) = 1;
        account.advance(100);
        assert_eq!((account.sums.world_wait, account.sums.sequential), (0.0, 100.0));
        *account.lanes_mut(Activity::Working) = 0;
        assert_eq!(account.advance(200), 100.0, "the second slot is nobody's");
        assert_eq!(account.sums.world_wait, 100.0);
    }

    #[test]
    fn time_outside_of_the_life_of_the_pool_does_not_count() {
        let mut account = account(1, &[(Activity::Working, 1)]);
        account.begin = 900;
        account.advance(950);
        account.advance(2_000);
        assert_eq!(account.sums.work, 100.0);
    }
}
