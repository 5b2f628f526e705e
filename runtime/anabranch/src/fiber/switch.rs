//! The switch from one stack to another, for x86-64.
//!
//! The idea. A switch pushes the two registers that the compiler cannot be made to save, and the address at which to go
//! on. It exchanges stack pointers, and *jumps* to the address that is on top of the other stack. All other registers
//! are declared clobbered, so the compiler saves exactly what it needs.
//!
//! Why a jump. The usual way, as in corosensei, is to enter with a call and to leave with a return, so that the
//! processor's stack of return addresses predicts the target of the switch. But all fibers share that stack. The call
//! leaves an entry that is wrong for the first return that the function makes after it has continued. The function's
//! own last call left one that is wrong for the switch. Each costs about twenty cycles whenever a fiber waits within a
//! function that is not inlined, which is always the case. A jump does not use that stack, and is predicted by its
//! earlier targets. The same loop of resuming and suspending one call deep takes 3 ns with jumps and 20 ns with call
//! and return.
//!
//! Why a [`PendingSwitch`]. With jumps alone, the returns are predicted if the two sides wait in the same functions,
//! called from the same call sites: one side returns from a function that the other side called. Each return address
//! that differs costs one misprediction. So the functions that prepare a switch return first, and return a
//! `PendingSwitch`. The function that waits then makes the switch: all functions that it called have returned, so no
//! return address is mispredicted. Two fibers with loops of their own that yield to each other take 10 ns for each turn
//! this way, and 19 ns if the switch is made inside the preparing function.
//!
//! Not saved are the control words of the floating-point units. Code that changes them must restore them. Nothing
//! unwinds through a switch: a function that would unwind ends the process instead.

use std::{arch::asm, cell::Cell, ptr::NonNull};

pub(crate) type StackPointer = *mut usize;

/// A prepared switch to another stack.
#[must_use]
pub(crate) struct PendingSwitch {
    here: NonNull<Cell<StackPointer>>,
    there: StackPointer,
}

impl PendingSwitch {
    /// Prepares a switch that saves in `here` where this side continues, and continues at `there`, which receives 0.
    #[inline]
    pub(crate) fn new(here: &Cell<StackPointer>, there: StackPointer) -> Self {
        Self { here: NonNull::from(here), there }
    }

    /// Leaves the stack. Returns when another side switches back.
    ///
    /// # Safety
    /// As for [`switch`], `there` was saved by a switch or is a beginning, its stack is alive, and nothing else has
    /// continued from there. The stack for which this was made is the one that runs, so `here` is alive.
    #[inline(always)]
    pub(crate) unsafe fn go(self) {
        // SAFETY: the caller runs on the stack for which this was made, so `here` is alive. It guarantees that `there`
        // can be switched to.
        unsafe { switch(self.here.as_ref(), self.there, 0) };
    }
}

/// Saves in `here` where this side continues, and switches to the other side, which receives `word`. Returns the word
/// that this side receives when it continues.
///
/// # Safety
/// `there` was saved by this function, or points to what it finds on a stack on which nothing has run: the address of a
/// beginning and two words. Its stack is alive, and nothing else has continued from there.
#[inline(always)]
pub(crate) unsafe fn switch(here: &Cell<StackPointer>, there: StackPointer, word: usize) -> usize {
    let received;
    // SAFETY: the caller guarantees that `there` is a saved side or a beginning on a live stack, from which nothing
    // else has continued. All registers are saved here or declared clobbered, except the stack pointer, which is
    // restored when the other side switches back. Three words below the stack pointer are written, which the compiler
    // leaves free.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbp",
            "pop rbx",
            inout("rdi") here.as_ptr() => _,
            inout("rsi") there => _,
            inout("rdx") word => received,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("C"),
        );
    }
    received
}
