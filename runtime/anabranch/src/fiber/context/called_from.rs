//! Calls a function in such a way that a suspended function seems to be its caller, to find the stack of the latter.
//!
//! The unwinder of the system can only begin at the function that calls it. It finds the caller of each function with
//! tables, which say where that function has saved the registers of its caller. [`below`] is a function whose table
//! says that the registers are where [`switch`](crate::fiber::switch) has saved them, on the stack of the suspended
//! function. So the unwinder goes on there. The suspended function does not run: nothing is written to its stack, its
//! size does not matter, and its waiter is not touched.
//!
//! | offset from `inside` | word there                                             |
//! |----------------------|--------------------------------------------------------|
//! | 0                    | the address at which the suspended function continues  |
//! | 8                    | its `rbp`                                              |
//! | 16                   | its `rbx`                                              |
//! | 24                   | the end of what `switch` has pushed                    |
//!
//! It has saved the other registers itself, since `switch` declares them clobbered.

use super::Exit;
use crate::sys::unwind::AbortOnUnwind;
use std::{arch::naked_asm, mem};

/// Calls `function` once, as if the suspended function had called it. Returns `false` where that is impossible.
///
/// # Safety
/// The function of this exit has left, and does not continue during the call.
pub(crate) unsafe fn call_from(exit: &Exit, function: &mut dyn FnMut()) -> bool {
    unsafe extern "C" fn run(function: *mut &mut dyn FnMut()) {
        // Nothing may unwind into the suspended function.
        let abort = AbortOnUnwind;
        // SAFETY: `call_from` passes a pointer to its own variable, and waits for this.
        unsafe { (*function)() };
        mem::forget(abort);
    }
    let mut function = function;
    // SAFETY: the function of this exit has left, so `inside` is what `switch` has saved. `below` only passes the
    // pointers on, and `run` has the type that it calls.
    unsafe { below(exit.inside(), run, &raw mut function) };
    true
}

/// Calls `run` with `function`. While it does, its table describes the frame that `switch` has left at `inside`.
///
/// # Safety
/// As for [`call_from`], and `run` does not unwind.
#[unsafe(naked)]
unsafe extern "C" fn below(
    inside: *const usize,
    run: unsafe extern "C" fn(*mut &mut dyn FnMut()),
    function: *mut &mut dyn FnMut(),
) {
    naked_asm!(
        ".cfi_startproc",
        "push rbx",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbx, -16",
        "mov rbx, rdi",
        "mov rdi, rdx",
        ".cfi_remember_state",
        ".cfi_def_cfa rbx, 24",
        ".cfi_offset rip, -24",
        ".cfi_offset rbp, -16",
        ".cfi_offset rbx, -8",
        "call rsi",
        "nop",
        ".cfi_restore_state",
        "pop rbx",
        ".cfi_def_cfa_offset 8",
        ".cfi_restore rbx",
        "ret",
        ".cfi_endproc",
    )
}
