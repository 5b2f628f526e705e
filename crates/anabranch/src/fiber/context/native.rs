//! A context by our own [switch](crate::fiber::switch), for x86-64.
//!
//! | who runs     | `inside`                        | `outside`                      |
//! |--------------|---------------------------------|--------------------------------|
//! | the thread   | where the function goes on      | old                            |
//! | the function | old                             | where the thread goes on       |
//!
//! Both are in an [`Exit`] at the top of the function's stack. Below it is the function itself, until it begins. A
//! function that lets another go on in its place ([`prepare_switch_to`]) leaves it the way out. What the one side tells
//! the other goes through a register.

use super::{Left, Resume};
use crate::fiber::{
    stack::pool::FiberStack,
    switch::{PendingSwitch, StackPointer, switch},
};
use corosensei::stack::Stack;
use std::{
    arch::naked_asm,
    cell::Cell,
    mem::ManuallyDrop,
    ptr::{self, NonNull},
};

/// The function's way out, and the thread's way in.
pub(crate) struct Exit {
    inside: Cell<StackPointer>,
    outside: Cell<StackPointer>,
    is_done: Cell<bool>,
}

/// See the [module](super).
pub(crate) struct Context {
    exit: NonNull<Exit>,
    /// Taken when the function is done. One that is not would still refer to it, so it is leaked then.
    stack: ManuallyDrop<FiberStack>,
}

impl Context {
    /// Prepares a function to be run on a stack. It must not unwind.
    pub(crate) fn new<F: FnOnce(&Exit) + 'static>(stack: FiberStack, function: F) -> Self {
        let top = ptr::with_exposed_provenance_mut::<u8>(stack.base().get());
        let exit = below::<Exit>(top);
        let place = below::<F>(exit.cast());
        let first = below::<First>(place.cast());
        // SAFETY: within the stack, which is larger than this by far, and nobody else's.
        unsafe {
            place.write(function);
            first.write(First { begin, run: run::<F>, exit, function: place.cast(), _end: [0; 2] });
            exit.write(Exit {
                inside: Cell::new(first.cast()),
                outside: Cell::new(ptr::null_mut()),
                is_done: Cell::new(false),
            });
            Self { exit: NonNull::new_unchecked(exit), stack: ManuallyDrop::new(stack) }
        }
    }

    fn exit(&self) -> &Exit {
        // SAFETY: on the stack, which is there as long as this.
        unsafe { self.exit.as_ref() }
    }

    /// Runs the function until it leaves, or one that went on in its place. `Idle` also when it has returned.
    #[inline]
    pub(crate) fn resume(&mut self) -> Left {
        self.enter(Resume::GoOn)
    }

    #[inline]
    fn enter(&mut self, resume: Resume) -> Left {
        let exit = self.exit();
        debug_assert!(!exit.is_done.get(), "a function that has returned cannot go on");
        // SAFETY: the function is not running, so `inside` is where it goes on: at its beginning, or where it left.
        let word = unsafe { switch(&exit.outside, exit.inside.get(), resume as usize) };
        if word == Left::Suspended as usize { Left::Suspended } else { Left::Idle }
    }

    /// Lets an idle function return and gives its stack back.
    ///
    /// # Panics
    /// When the function does not return.
    pub(crate) fn into_stack(mut self) -> FiberStack {
        if !self.exit().is_done.get() {
            self.enter(Resume::End);
            assert!(self.exit().is_done.get(), "a function is ended only when it is idle");
        }
        // SAFETY: once, since `self` ends here; it has no `Drop`.
        unsafe { ManuallyDrop::take(&mut self.stack) }
    }
}

impl Exit {
    /// Leaves the function until it is resumed.
    #[inline]
    pub(crate) fn suspend(&self, left: Left) -> Resume {
        // SAFETY: the function is what runs, as others do not leave by its way, so `outside` is where the thread goes
        // on.
        let word = unsafe { switch(&self.inside, self.outside.get(), left as usize) };
        if word == Resume::GoOn as usize { Resume::GoOn } else { Resume::End }
    }
}

/// How a function leaves in the middle of something, until it is resumed. `None`: it has, and was.
#[inline]
pub(crate) fn prepare_switch(from: &Exit) -> Option<PendingSwitch> {
    const { assert!(Left::Suspended as usize == 0) };
    Some(PendingSwitch::new(&from.inside, from.outside.get()))
}

/// Whether there is [`prepare_switch_to`].
pub(crate) const GOES_ACROSS: bool = true;

/// How a function leaves for another that was left in the middle of something on this thread, without a detour through
/// the thread's own stack. To the thread it is as if it had resumed the other.
#[inline]
pub(crate) fn prepare_switch_to(from: &Exit, to: &Exit) -> Option<PendingSwitch> {
    const { assert!(Resume::GoOn as usize == 0) };
    to.outside.set(from.outside.get());
    Some(PendingSwitch::new(&from.inside, to.inside.get()))
}

/// Where the last `T` below `end` lies. Aligned to sixteen, as stack pointers are.
fn below<T>(end: *mut u8) -> *mut T {
    const { assert!(align_of::<T>() <= 16) };
    let address = end.wrapping_byte_sub(size_of::<T>());
    address.map_addr(|address| address & !15).cast()
}

/// What [`switch`] finds on a stack on which nothing has run.
#[repr(C)]
struct First {
    begin: unsafe extern "C" fn() -> !,
    /// In the places of the two registers.
    run: unsafe extern "C" fn(*const Exit, *mut (), usize) -> !,
    exit: *const Exit,
    function: *mut (),
    /// For those who walk up a stack: there is nothing more.
    _end: [usize; 2],
}

/// The first thing that runs on a stack: fetches what [`First`] has, and calls `run`, also with what [`switch`] was
/// told. There is no way back, and the unwinder is told so.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "pop rax",
        "pop rdi",
        "pop rsi",
        "xor ebp, ebp",
        "call rax",
        "ud2",
        ".cfi_endproc",
    )
}

/// # Safety
/// Called by `begin`, with what `Context::new` has put there.
unsafe extern "C" fn run<F: FnOnce(&Exit)>(exit: *const Exit, function: *mut (), resume: usize) -> ! {
    // SAFETY: the caller's word; `exit` is there as long as the stack.
    unsafe {
        let exit = &*exit;
        let function = function.cast::<F>().read();
        if resume == Resume::GoOn as usize {
            // Where this would unwind it ends the process, as everywhere at the end of `extern "C"`.
            function(exit);
        } else {
            drop(function);
        }
        exit.is_done.set(true);
        exit.suspend(Left::Idle);
    }
    unreachable!("a function that has returned cannot go on")
}
