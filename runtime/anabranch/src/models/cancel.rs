//! Cancel scopes: a cancelled scope ends all its waits and no others, whichever thread enlists a scope, ends one or
//! cancels meanwhile.

use super::{
    explore,
    thread::{Thread, reason},
};
use crate::{
    sys::sync::{Arc, Cell},
    time::NEVER,
    wait::{
        cancel::CancelScope,
        latch::{Latch, LatchWait},
        parked::Parked,
        suspend::Suspend,
        waiter::Selected,
    },
};
use loom::thread;
use std::ptr;

struct Tree {
    root: CancelScope,
    slot: Latch,
    /// The data that a thread writes before it cancels the root.
    value: Cell<u32>,
}

// SAFETY: loom reports unordered accesses to the value.
unsafe impl Sync for Tree {}
// SAFETY: loom reports unordered accesses to the value.
unsafe impl Send for Tree {}

impl Tree {
    fn new() -> Arc<Self> {
        Self::with(CancelScope::root(ptr::null()))
    }

    fn with(root: CancelScope) -> Arc<Self> {
        Arc::new(Self { root, slot: Latch::new(), value: Cell::new(0) })
    }

    fn cancel(&self) {
        self.value.set(7);
        self.root.cancel();
    }

    /// A wait in an inner scope, which always ends by cancellation.
    fn wait(&self, owner: &Thread, scope: &CancelScope) {
        let never = Latch::new();
        let outcome = owner.cx(scope).wait(&LatchWait::new(&never), NEVER, reason());
        assert_eq!(outcome, Selected::Cancelled);
        assert_eq!(self.value.get(), 7);
    }
}

/// # Safety
/// As for [`CancelScope::below`]: the model keeps the parent and the owner.
unsafe fn below(parent: &CancelScope, owner: &Thread) -> CancelScope {
    // SAFETY: the caller's word.
    unsafe { CancelScope::below(parent, owner.waiter(), false) }
}

fn spawn(tree: &Arc<Tree>, act: impl FnOnce(&Tree) + 'static) -> thread::JoinHandle<()> {
    let tree = Arc::clone(tree);
    thread::spawn(move || act(&tree))
}

/// The part of this thread's stack that another thread accesses. The model joins that thread first.
struct Lent<T>(*const T);

impl<T> Lent<T> {
    fn get(&self) -> &T {
        // SAFETY: see above.
        unsafe { &*self.0 }
    }
}

/// Enlists the scope with its ancestors, without a wait.
fn enlist(owner: &Thread, scope: &CancelScope) {
    let happened = Latch::new();
    happened.notify();
    assert_eq!(owner.cx(scope).wait(&LatchWait::new(&happened), NEVER, reason()), Selected::Ready(0));
}

#[test]
fn models_cancel_meets_first_wait() {
    explore("cancel, the first wait", None, || {
        let tree = Tree::new();
        let other = spawn(&tree, Tree::cancel);
        let owner = Thread::new();
        // SAFETY: both live longer.
        let scope = unsafe { below(&tree.root, &owner) };
        tree.wait(&owner, &scope);
        other.join().unwrap();
    });
}

/// The scope has been enlisted before, so the wait takes no lock.
#[test]
fn models_cancel_meets_later_wait() {
    explore("cancel, a later wait", None, || {
        let tree = Tree::new();
        let owner = Thread::new();
        // SAFETY: both live longer.
        let scope = unsafe { below(&tree.root, &owner) };
        enlist(&owner, &scope);
        let other = spawn(&tree, Tree::cancel);
        tree.wait(&owner, &scope);
        assert!(scope.is_cancelled());
        other.join().unwrap();
    });
}

/// A fiber or thread checks for cancellation and waits in a scope, which another thread enlists by a wait below it. The
/// root has been cancelled before.
#[test]
fn models_cancel_is_seen_in_scope_that_another_thread_enlists() {
    explore("cancel, enlisted from below", None, || {
        let tree = Tree::new();
        tree.cancel();
        let owner = Thread::new();
        // SAFETY: both live longer.
        let scope = unsafe { below(&tree.root, &owner) };
        let lent = Lent(&raw const scope);
        let other = spawn(&tree, move |tree| {
            let child = Thread::new();
            // SAFETY: the parent joins this thread.
            let inner = unsafe { below(lent.get(), &child) };
            tree.wait(&child, &inner);
        });
        assert!(scope.is_cancelled(), "a scope of which it was known that it is cancelled");
        tree.wait(&owner, &scope);
        other.join().unwrap();
    });
}

/// A fiber or thread reads only the flag of its scope. Another thread enlists the scope, before or after a third has
/// cancelled the root.
#[test]
fn models_cancel_is_seen_by_flag_that_another_thread_copies() {
    explore("cancel, a copied flag", None, || {
        let tree = Tree::new();
        let owner = Thread::new();
        // SAFETY: both live longer.
        let scope = unsafe { below(&tree.root, &owner) };
        let lent = Lent(&raw const scope);
        let others = [
            spawn(&tree, Tree::cancel),
            spawn(&tree, move |_| {
                lent.get().enlist();
            }),
        ];
        // Without this loom tries no execution in which the copy is read.
        thread::yield_now();
        if scope.is_flagged() {
            assert_eq!(tree.value.get(), 7);
        }
        for other in others {
            other.join().unwrap();
        }
        assert!(scope.is_flagged());
    });
}

/// A parent and its child wait, and the root is cancelled.
#[test]
fn models_cancel_reaches_parent_and_child() {
    explore("cancel, parent and child", Some(3), || {
        let tree = Tree::new();
        let owner = Thread::new();
        // SAFETY: both live longer.
        let scope = unsafe { below(&tree.root, &owner) };
        let lent = Lent(&raw const scope);
        let others = [
            spawn(&tree, Tree::cancel),
            spawn(&tree, move |tree| {
                let child = Thread::new();
                // SAFETY: the parent joins this thread.
                let inner = unsafe { below(lent.get(), &child) };
                tree.wait(&child, &inner);
            }),
        ];
        if scope.is_cancelled() {
            assert_eq!(tree.value.get(), 7);
        }
        tree.wait(&owner, &scope);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// Two scopes end, each with its owner, while their parent is cancelled.
#[test]
fn models_cancel_meets_end_of_scopes() {
    fn live(tree: &Tree) {
        let owner = Thread::new();
        // SAFETY: both live longer.
        let scope = unsafe { below(&tree.root, &owner) };
        let never = Latch::new();
        owner.cx(&scope).wait(&LatchWait::new(&never), 1, reason());
    }
    explore("cancel, the end of scopes", Some(3), || {
        let tree = Tree::new();
        let others = [spawn(&tree, Tree::cancel), spawn(&tree, live)];
        live(&tree);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// A wait in one scope is not ended by the cancellation of another scope of the same owner, nor by that of a scope
/// above a shield.
#[test]
fn models_cancel_leaves_other_scopes_alone() {
    for is_shielded in [false, true] {
        explore(if is_shielded { "cancel, a shield" } else { "cancel, scopes side by side" }, None, move || {
            let tree = Tree::new();
            let owner = Thread::new();
            // SAFETY: every scope and owner outlives the scopes below it.
            let scope = unsafe { below(&tree.root, &owner) };
            // SAFETY: every scope and owner outlives the scopes below it.
            let beside = unsafe {
                let parent = if is_shielded { &scope } else { &tree.root };
                CancelScope::below(parent, owner.waiter(), is_shielded)
            };
            enlist(&owner, &scope);
            let lent = Lent(&raw const scope);
            let other = spawn(&tree, move |tree| {
                lent.get().cancel();
                tree.slot.notify();
            });
            let outcome = owner.cx(&beside).wait(&LatchWait::new(&tree.slot), NEVER, reason());
            assert_eq!(outcome, Selected::Ready(0));
            assert!(!beside.is_cancelled());
            other.join().unwrap();
        });
    }
}

/// The scope exists before its owner attaches and after the owner detaches.
#[test]
fn models_cancel_meets_owner_that_attaches_and_detaches() {
    explore("cancel, attach and detach", None, || {
        let tree = Tree::with(CancelScope::unattached());
        let other = spawn(&tree, Tree::cancel);
        let owner = Thread::with(Parked::new());
        // SAFETY: once, and before the wait; detached below.
        unsafe { tree.root.attach(owner.waiter()) };
        let outcome = owner.cx(&tree.root).wait(&LatchWait::new(&tree.slot), 1, reason());
        tree.root.detach();
        drop(owner);
        if outcome == Selected::Cancelled {
            assert_eq!(tree.value.get(), 7);
        }
        other.join().unwrap();
    });
}

/// A cancellation does not end the waits of a fiber or thread that was detached from the scope before.
#[test]
fn models_cancel_leaves_detached_owner_alone() {
    explore("cancel, a detached owner", None, || {
        let tree = Tree::with(CancelScope::unattached());
        let owner = Thread::new();
        // SAFETY: once, and before the wait; detached below.
        unsafe { tree.root.attach(owner.waiter()) };
        enlist(&owner, &tree.root);
        tree.root.detach();
        // As if it waited in that scope, to see whether anybody ends the wait.
        // SAFETY: the waiter is that of `owner`.
        let waiter = unsafe { &*owner.waiter() };
        waiter.arm(tree.root.address());
        let other = spawn(&tree, Tree::cancel);
        other.join().unwrap();
        assert!(waiter.disarm(), "ended by a scope that it was taken out of");
    });
}

/// When `cancel` returns, all inner scopes are cancelled, even if another thread began to cancel them and has not
/// finished.
#[test]
fn models_cancel_waits_for_concurrent_canceller() {
    explore("cancel, two cancellers", Some(3), || {
        let tree = Tree::new();
        let (parent, child) = (Thread::new(), Thread::new());
        // SAFETY: every scope outlives those below it.
        let middle = unsafe { below(&tree.root, &parent) };
        // SAFETY: every scope outlives those below it.
        let leaf = unsafe { below(&middle, &child) };
        enlist(&child, &leaf);
        let others = [
            spawn(&tree, |tree| tree.root.cancel()),
            spawn(&tree, {
                let (middle, leaf) = (Lent(&raw const middle), Lent(&raw const leaf));
                move |_| {
                    middle.get().cancel();
                    assert!(leaf.get().is_flagged(), "a scope below one that was cancelled");
                }
            }),
        ];
        tree.root.cancel();
        assert!(leaf.is_flagged(), "a scope below one that was cancelled");
        for other in others {
            other.join().unwrap();
        }
    });
}

/// Scopes begin and end in a scope that is not the root, each with a lock of its parent, while another thread cancels
/// the root.
#[test]
fn models_cancel_meets_end_of_inner_scopes() {
    fn live(parent: &CancelScope) {
        let owner = Thread::new();
        // SAFETY: both live longer.
        let scope = unsafe { below(parent, &owner) };
        let never = Latch::new();
        owner.cx(&scope).wait(&LatchWait::new(&never), 1, reason());
    }
    explore("cancel, the end of scopes further below", Some(3), || {
        let tree = Tree::new();
        let owner = Thread::new();
        // SAFETY: both live longer.
        let middle = unsafe { below(&tree.root, &owner) };
        let lent = Lent(&raw const middle);
        let others = [spawn(&tree, Tree::cancel), spawn(&tree, move |_| live(lent.get()))];
        live(&middle);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// A scope with a deadline is cancelled with its parent too, and a shield keeps the cancellation out. In both cases a
/// look at one flag may not be enough.
#[test]
fn models_cancel_reaches_scopes_with_deadline() {
    explore("cancel, a deadline", None, || {
        let tree = Tree::new();
        let owner = Thread::new();
        // SAFETY: every scope outlives those below it.
        let timed = unsafe { CancelScope::timed_below(&tree.root, owner.waiter()) };
        // SAFETY: every scope outlives those below it.
        let timed_below = unsafe { below(&timed, &owner) };
        // SAFETY: every scope outlives those below it.
        let shield = unsafe { CancelScope::below(&timed_below, owner.waiter(), true) };
        // SAFETY: every scope outlives those below it.
        let shielded = unsafe { below(&shield, &owner) };
        for scope in [&timed, &timed_below, &shield, &shielded] {
            assert!(!scope.is_cancelled());
            enlist(&owner, scope);
        }
        assert!(!timed.is_plainly_active() && !timed_below.is_plainly_active());
        assert!(shield.is_plainly_active() && shielded.is_plainly_active());
        tree.root.cancel();
        assert!(timed.is_cancelled() && timed_below.is_cancelled());
        assert!(!shield.is_cancelled() && !shielded.is_cancelled());
    });
}
