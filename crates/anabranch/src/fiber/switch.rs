//! The switch from one stack to another, for x86-64.
//!
//! The idea. To switch is to push what the compiler cannot be told to save (two registers) and the address at which to
//! go on, to exchange stack pointers, and to *jump* to the address that is on top of the other stack. Everything else
//! that is in a register is declared lost, so the compiler saves what it needs, and nothing if it needs nothing.
//!
//! Why a jump. The usual way is to go in by a call and to leave by a return, as in corosensei, so that the processor's
//! stack of return addresses foretells where the switch leads. But that stack is one for all of ours: the call leaves
//! an entry that is wrong for the first return that the function makes after it has gone on, and the function's own
//! last call left one that is wrong for the switch. Each costs about twenty cycles, whenever a fiber waits within a
//! function that is not inlined: always. A jump leaves that stack alone, and is foretold by where it led before. The
//! same loop of resuming and suspending one call deep takes 3 ns by jumps and 20 ns by call and return.
//!
//! Why a [`PendingSwitch`]. With jumps alone, all is well while the two sides have waited in the same functions, called
//! from the same places: what the one called, the other returns from. Two that differ in one return address pay for
//! that one. So the functions that make ready to leave return first, and what they return is how to leave; it is gone
//! by in the function of whoever waits, where all that is called has returned, and no return address is taken for
//! another's. Two fibers with loops of their own that yield to each other take 10 ns for each turn so, and 19 ns if the
//! switch is made where the preparations are.
//!
//! What is not saved: the control words of the floating-point units, which nobody may change without changing them
//! back. Nothing unwinds through a switch: a function that would ends the process.

use std::{arch::asm, cell::Cell, ptr::NonNull};

pub(crate) type StackPointer = *mut usize;

/// How to leave a stack on which all is ready for that.
#[must_use]
pub(crate) struct PendingSwitch {
    here: NonNull<Cell<StackPointer>>,
    there: StackPointer,
}

impl PendingSwitch {
    /// Saves in `here` where this side goes on, and goes on at `there`, where it is told 0.
    #[inline]
    pub(crate) fn new(here: &Cell<StackPointer>, there: StackPointer) -> Self {
        Self { here: NonNull::from(here), there }
    }

    /// Leaves, until somebody switches back.
    ///
    /// # Safety
    /// As for [`switch`]: what this was made for is what runs.
    #[inline(always)]
    pub(crate) unsafe fn go(self) {
        // SAFETY: the caller's word.
        unsafe { switch(self.here.as_ref(), self.there, 0) };
    }
}

/// Saves in `here` where this side goes on, and lets the other go on, which is told `word`. What this one is told in
/// the end.
///
/// # Safety
/// `there` was saved by this function, or points to what it finds on a stack on which nothing has run: the address of a
/// beginning and two words. Its stack is alive, and nothing else has gone on from there.
#[inline(always)]
pub(crate) unsafe fn switch(here: &Cell<StackPointer>, there: StackPointer, word: usize) -> usize {
    let told;
    // SAFETY: the caller's word. All registers are saved here or lost, but the stack pointer, which is what it was when
    // the other side switches back. Three words below the stack pointer are written, which the compiler leaves free.
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
            inout("rdx") word => told,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("C"),
        );
    }
    told
}
