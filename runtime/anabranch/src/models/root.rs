//! A pool that closes: a fiber that begins meanwhile is cancelled nevertheless, and its scope exists until that is
//! done.

use super::{
    explore,
    thread::{Thread, reason},
};
use crate::{
    fiber::shutdown::{Closing, Root},
    sys::{asymmetric_fence::Fence, sync::Arc},
    time::NEVER,
    wait::{
        cancel::CancelScope,
        latch::{Latch, LatchWait},
        suspend::Suspend,
        waiter::Selected,
    },
};
use loom::thread;
use std::ptr;

struct Pool {
    closing: Closing,
    root: Root,
}

impl Pool {
    /// Does the same as `Registry::close`.
    fn close(&self) {
        // SAFETY: within `close`.
        self.closing.close(|| unsafe { self.root.cancel() });
    }

    /// Does the same as a spawned fiber. It writes to its scope before other threads can find the scope, and again when
    /// they no longer can.
    fn run_fiber(&self) {
        let owner = Thread::new();
        let scope = CancelScope::root(ptr::null());
        // SAFETY: no other thread can reach the scope yet, and it is detached at the end.
        unsafe { scope.attach(owner.waiter()) };
        self.root.set(&scope, &self.closing);
        let never = Latch::new();
        assert_eq!(owner.cx(&scope).wait(&LatchWait::new(&never), NEVER, reason()), Selected::Cancelled);
        self.root.clear(&self.closing);
        // SAFETY: after `clear` no other thread can reach the scope.
        unsafe { scope.attach(ptr::null()) };
    }
}

#[test]
fn models_root_fiber_begins_while_pool_closes() {
    for fence in [Fence::Asymmetric, Fence::Symmetric] {
        explore(&format!("root, a fiber and who closes, {fence:?}"), None, move || {
            let pool = Arc::new(Pool { closing: Closing::new(fence), root: Root::new() });
            let other = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.close()
            });
            pool.run_fiber();
            other.join().unwrap();
        });
    }
}

/// A fiber ends by itself while the pool closes.
#[test]
fn models_root_fiber_ends_while_pool_closes() {
    for fence in [Fence::Asymmetric, Fence::Symmetric] {
        explore(&format!("root, a fiber ends, {fence:?}"), None, move || {
            let pool = Arc::new(Pool { closing: Closing::new(fence), root: Root::new() });
            let other = thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.close()
            });
            let owner = Thread::new();
            let scope = CancelScope::root(ptr::null());
            // SAFETY: no other thread can reach the scope yet.
            unsafe { scope.attach(owner.waiter()) };
            pool.root.set(&scope, &pool.closing);
            pool.root.clear(&pool.closing);
            // SAFETY: after `clear` no other thread can reach the scope.
            unsafe { scope.attach(ptr::null()) };
            other.join().unwrap();
        });
    }
}
