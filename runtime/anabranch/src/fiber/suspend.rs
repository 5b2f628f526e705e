//! How a fiber waits: it leaves its stack, and continues when it is resumed. If it must not leave its stack, it blocks
//! its thread.

use crate::{
    fiber::{
        context::{GOES_ACROSS, prepare_switch, prepare_switch_to},
        fiber::Fiber,
        status::State,
        switch::PendingSwitch,
    },
    fork::frame::Frame,
    pool::worker::Worker,
    sys::{diagnostics, unwind::panicking},
    time::{Clock, NEVER},
    trace,
    wait::{
        current_stack::Stack,
        suspend::{Suspend, WaitReason},
        waiter::{Selected, Waiter},
    },
};
use std::{process, ptr, sync::Arc};

impl Fiber {
    /// Prepares to leave the stack until the fiber is resumed, and publishes all open forks. Returns `None` if the
    /// fiber continues at once, or has left and was resumed. Called only if it [may](Self::may_switch) leave.
    #[inline(always)]
    fn prepare_switch(&self) -> Option<PendingSwitch> {
        let home = self.home();
        debug_assert!(ptr::eq(Worker::current(), home), "a fiber suspends on its own worker alone");
        if !home.compute.stack.newest().is_null() {
            home.fork_join().publish_all();
            // SAFETY: this thread is the owner. `publish_all` has published all frames, and `may_switch` excludes those
            // that go onto the shelf.
            self.forks.set(unsafe { home.compute.stack.replace(ptr::null()) });
        }
        // SAFETY: this is called on the fiber's stack, so its exit is alive. A fiber that can continue has left its
        // stack, so its exit is alive too.
        unsafe {
            let exit = &*self.exit.get();
            match if GOES_ACROSS { home.fibers.next_across() } else { None } {
                None => prepare_switch(exit),
                Some(next) if ptr::eq(next, self) => {
                    self.take_up();
                    None
                }
                Some(next) => {
                    (*next).become_current();
                    prepare_switch_to(exit, &*(*next).exit.get())
                }
            }
        }
    }

    /// Returns whether a switch may leave the stack. Not while the thread unwinds: other fibers would run in a
    /// panicking thread. Not while the stack is pinned: inside another pool they would run in that pool, and work on
    /// top of a compute wait is in a list of its thread. Not with an open fork of compute code, which is on the shelf,
    /// or will be: forks of other fibers would be published above it, and would stay there when their fibers leave.
    #[inline]
    fn may_switch(&self) -> bool {
        let newest = self.home().compute.stack.newest();
        Stack::current() == self.own_stack()
            && !panicking()
            // SAFETY: this thread owns the list, so the newest frame stays linked during the call.
            && !unsafe { newest.as_ref() }.is_some_and(Frame::pins_its_stack)
    }

    /// Blocks the thread without leaving the stack. The other fibers of this thread wait too.
    #[cold]
    fn block(&self, deadline: u64) {
        if !Stack::current().is_same_as(self.own_stack()) {
            // `Cx::check_stack` comes before a wait is begun. Here waitables refer to the wait already, so this must
            // not unwind.
            diagnostics::warn(format_args!("a fiber was about to wait on a stack that is not its own"));
            process::abort();
        }
        self.depth.set(ptr::null());
        let (home, here) = (self.home(), Worker::current());
        let mut is_long = false;
        loop {
            home.scheduler().collect_ready(true);
            if home.fibers.local.ready.remove(self) {
                return;
            }
            if deadline != NEVER && self.clock().tick() >= deadline && self.waiter.select_itself(Selected::TimedOut) {
                return;
            }
            // Otherwise `park_beside` does not park.
            here.fibers.answer_stack_requests(false);
            home.fork_join().publish_all();
            here.fork_join().publish_all();
            home.announce();
            here.announce();
            if home.fibers.go_away() {
                here.park_beside(&home.parking.parker, home.clock().park_bound(deadline), &mut is_long);
                home.fibers.come_back();
            }
        }
    }
}

// SAFETY: the waiter is a field of the block, which outlives the wait. `suspend` returns when the worker resumes the
// fiber, which it does only for fibers that were woken, after a selection. `block` also returns only after a selection.
unsafe impl Suspend for Fiber {
    fn waiter(&self) -> *const Waiter {
        // The pointer is valid for the whole fiber, which `wake` needs.
        ptr::from_ref(self).cast()
    }

    fn suspend(&self, deadline: u64, reason: WaitReason) -> Option<PendingSwitch> {
        self.card.suspend(reason, self.home().fibers.local.tick.get());
        if deadline != NEVER {
            self.card.set(State::SuspendedUntil);
        }
        if !self.may_switch() {
            let trace = Worker::current().trace;
            trace.waiting(reason.what, reason.at);
            self.block(deadline);
            trace.state(trace::State::Working);
            self.card.set(State::Running);
            return None;
        }
        let here = 0u8;
        self.depth.set(&raw const here);
        if deadline != NEVER {
            self.timer.set(Some(self.home().fibers.local.add_timer(deadline, self)));
        }
        self.prepare_switch()
    }

    fn drop_deadline(&self) {
        if let Some(key) = self.timer.take() {
            self.home().fibers.local.remove_timer(key);
        }
    }

    fn yield_now(&self) -> Option<PendingSwitch> {
        if !self.may_switch() {
            self.home().fork_join().publish_all();
            Worker::current().yield_slot();
            return None;
        }
        // A fiber that yields may wait for another thread. Shuttle has to know, since some of its schedules are unfair.
        #[cfg(shuttle)]
        crate::sys::sync::hint::spin_loop();
        self.card.set(State::Ready);
        self.home().fibers.local.ready.push_last(self);
        self.prepare_switch()
    }

    fn shares_thread(&self) -> bool {
        true
    }

    fn clock(&self) -> &Clock {
        self.home().clock()
    }

    fn set_name(&self, name: Arc<str>) {
        self.show_name(None);
        self.card.set_name(Arc::clone(&name));
        self.show_name(Some(&name));
    }
}
