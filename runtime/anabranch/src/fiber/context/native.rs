//! A context by our own [switch](crate::fiber::switch), for x86-64.
//!
//! | what runs    | `inside`                        | `outside`                      |
//! |--------------|---------------------------------|--------------------------------|
//! | the thread   | where the function continues    | old                            |
//! | the function | old                             | where the thread continues     |
//!
//! Both are in an [`Exit`] at the top of the function's stack. Below it is the function itself, until it begins. A
//! function that lets another continue in its place ([`prepare_switch_to`]) copies its `outside` to it. Each side
//! passes a word to the other in a register.

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

/// The stack pointers for the way out of the function and back into it.
pub(crate) struct Exit {
    inside: Cell<StackPointer>,
    outside: Cell<StackPointer>,
    is_done: Cell<bool>,
}

/// See the [module](super).
pub(crate) struct Context {
    exit: NonNull<Exit>,
    /// The stack, taken when the function is done. A function that is not done still uses it, so it is leaked then.
    stack: ManuallyDrop<FiberStack>,
}

impl Context {
    /// Prepares a function to be run on a stack. It must not unwind.
    pub(crate) fn new<F: FnOnce(&Exit) + 'static>(stack: FiberStack, function: F) -> Self {
        let top = ptr::with_exposed_provenance_mut::<u8>(stack.base().get());
        let exit = below::<Exit>(top);
        let place = below::<F>(exit.cast());
        let first = below::<First>(place.cast());
        // SAFETY: the addresses are within the stack, which is much larger than these values and belongs to this
        // context.
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
        // SAFETY: the `Exit` is on the stack, which lives as long as this context.
        unsafe { self.exit.as_ref() }
    }

    /// Runs the function until it, or one that went on in its place, leaves. Returns `Idle` also when the function has
    /// returned.
    #[inline]
    pub(crate) fn resume(&mut self) -> Left {
        self.enter(Resume::Continue)
    }

    #[inline]
    fn enter(&mut self, resume: Resume) -> Left {
        let exit = self.exit();
        debug_assert!(!exit.is_done.get(), "a function that has returned cannot go on");
        // SAFETY: the function is not running, so `inside` is where it continues: at its beginning, or where it left.
        let word = unsafe { switch(&exit.outside, exit.inside.get(), resume as usize) };
        if word == Left::Suspended as usize { Left::Suspended } else { Left::Idle }
    }

    /// Lets an idle function return and gives its stack back.
    ///
    /// # Panics
    /// Panics when the function does not return.
    pub(crate) fn into_stack(mut self) -> FiberStack {
        if !self.exit().is_done.get() {
            self.enter(Resume::End);
            assert!(self.exit().is_done.get(), "a function is ended only when it is idle");
        }
        // SAFETY: the stack is taken once, since this consumes `self`, which has no `Drop`.
        unsafe { ManuallyDrop::take(&mut self.stack) }
    }
}

impl Exit {
    /// Returns what the switch has saved, if the function has left.
    #[cfg(all(target_os = "linux", not(any(shuttle, miri))))]
    pub(super) fn inside(&self) -> StackPointer {
        self.inside.get()
    }

    /// Leaves the function until it is resumed.
    #[inline]
    pub(crate) fn suspend(&self, left: Left) -> Resume {
        // SAFETY: only this function uses its exit, so it is the one that runs, and `outside` is where the thread goes
        // on.
        let word = unsafe { switch(&self.inside, self.outside.get(), left as usize) };
        if word == Resume::Continue as usize { Resume::Continue } else { Resume::End }
    }
}

/// Prepares the switch by which a suspended function leaves, until it is resumed. `None` means that it has left and was
/// resumed.
#[inline]
pub(crate) fn prepare_switch(from: &Exit) -> Option<PendingSwitch> {
    const { assert!(Left::Suspended as usize == 0) };
    Some(PendingSwitch::new(&from.inside, from.outside.get()))
}

/// Whether [`prepare_switch_to`] exists.
pub(crate) const GOES_ACROSS: bool = true;

/// Prepares a switch from this function directly to another suspended one of this thread, not through the thread's own
/// stack. The thread sees no difference from having resumed the other.
#[inline]
pub(crate) fn prepare_switch_to(from: &Exit, to: &Exit) -> Option<PendingSwitch> {
    const { assert!(Resume::Continue as usize == 0) };
    to.outside.set(from.outside.get());
    Some(PendingSwitch::new(&from.inside, to.inside.get()))
}

/// Returns the address of the last `T` below `end`. Aligned to sixteen, as stack pointers are.
fn below<T>(end: *mut u8) -> *mut T {
    const { assert!(align_of::<T>() <= 16) };
    let address = end.wrapping_byte_sub(size_of::<T>());
    address.map_addr(|address| address & !15).cast()
}

/// The data that [`switch`] finds on a stack on which nothing has run.
#[repr(C)]
struct First {
    begin: unsafe extern "C" fn() -> !,
    /// `run` and `exit` lie where other stacks have their two saved registers.
    run: unsafe extern "C" fn(*const Exit, *mut (), usize) -> !,
    exit: *const Exit,
    function: *mut (),
    /// Ends the stack for code that walks it up.
    _end: [usize; 2],
}

/// Runs first on a stack: pops the fields of [`First`], and calls `run` with them and the word that [`switch`]
/// received. It never returns, which the `cfi` directives declare to the unwinder.
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
    // SAFETY: `begin` calls this once, with the function and the exit that `Context::new` wrote. The exit lives as long
    // as the stack.
    unsafe {
        let exit = &*exit;
        let function = function.cast::<F>().read();
        if resume == Resume::Continue as usize {
            // If this unwinds, the process ends, as at the end of every `extern "C"` function.
            function(exit);
        } else {
            drop(function);
        }
        exit.is_done.set(true);
        exit.suspend(Left::Idle);
    }
    unreachable!("a function that has returned cannot go on")
}
