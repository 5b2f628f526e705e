//! Our own switch, for x86-64.
//!
//! The idea. To switch is to push what the compiler cannot be told to save (two registers) and the address at which to go on,
//! to exchange stack pointers, and to *jump* to the address that is on top of the other stack. Everything else that is
//! in a register is declared lost, so the compiler saves what it needs, and nothing if it needs nothing.
//!
//! Why a jump. The usual way is to go in by a call and to leave by a return, as in corosensei, so that the processor's stack of
//! return addresses foretells where the switch leads. But that stack is one for all of ours: the call leaves an entry that
//! is wrong for the first return that the function makes after it has gone on, and the function's own last call left
//! one that is wrong for the switch. Each costs about twenty cycles, whenever a fiber waits within a function that is not
//! inlined: always. A jump leaves that stack alone, and is foretold by where it led before. The same loop of resuming and
//! suspending one call deep takes 3 ns by jumps and 20 ns by call and return.
//!
//! | who runs     | `inside`                        | `outside`                      |
//! |--------------|---------------------------------|--------------------------------|
//! | the thread   | where the function goes on      | old                            |
//! | the function | old                             | where the thread goes on       |
//!
//! Both are in an [`Exit`] at the top of the function's stack. Below it is the function itself, until it begins.
//!
//! What is not saved: the control words of the floating-point units, which nobody may change without changing them back.
//! Nothing unwinds through a switch: a function that would ends the process.

use super::{Left, Resume};
use crate::fiber::stack::FiberStack;
use corosensei::stack::Stack;
use std::{
    arch::{asm, naked_asm},
    cell::Cell,
    mem::ManuallyDrop,
    ptr::{self, NonNull},
};

type StackPointer = *mut usize;

/// The function's way out, and the thread's way in.
pub(crate) struct Exit {
    inside: Cell<StackPointer>,
    outside: Cell<StackPointer>,
    resume: Cell<Resume>,
    left: Cell<Left>,
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
                resume: Cell::new(Resume::GoOn),
                left: Cell::new(Left::Idle),
                is_done: Cell::new(false),
            });
            Self { exit: NonNull::new_unchecked(exit), stack: ManuallyDrop::new(stack) }
        }
    }

    fn exit(&self) -> &Exit {
        // SAFETY: on the stack, which is there as long as this.
        unsafe { self.exit.as_ref() }
    }

    /// Runs the function until it leaves. `Idle` also when it has returned.
    #[inline]
    pub(crate) fn resume(&mut self) -> Left {
        let exit = self.exit();
        debug_assert!(!exit.is_done.get(), "a function that has returned cannot go on");
        // SAFETY: the function is not running, so `inside` is where it goes on: at its beginning, or in `suspend`.
        unsafe { switch(&exit.outside, exit.inside.get()) };
        self.exit().left.get()
    }

    /// Lets an idle function return and gives its stack back.
    ///
    /// # Panics
    /// When the function does not return.
    pub(crate) fn into_stack(mut self) -> FiberStack {
        if !self.exit().is_done.get() {
            self.exit().resume.set(Resume::End);
            self.resume();
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
        self.left.set(left);
        // SAFETY: an `Exit` is reached by its function alone, so that is what runs, and `outside` is where the thread goes on.
        unsafe { switch(&self.inside, self.outside.get()) };
        self.resume.get()
    }
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
    run: unsafe extern "C" fn(*const Exit, *mut ()) -> !,
    exit: *const Exit,
    function: *mut (),
    /// For those who walk up a stack: there is nothing more.
    _end: [usize; 2],
}

/// The first thing that runs on a stack: fetches what [`First`] has, and calls `run`. There is no way back, and the unwinder
/// is told so.
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
unsafe extern "C" fn run<F: FnOnce(&Exit)>(exit: *const Exit, function: *mut ()) -> ! {
    // SAFETY: the caller's word; `exit` is there as long as the stack.
    unsafe {
        let exit = &*exit;
        let function = function.cast::<F>().read();
        if exit.resume.get() == Resume::GoOn {
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

/// Saves in `here` where this side goes on, and lets the other go on.
///
/// # Safety
/// `there` was saved by this function, or points to a [`First`]; its stack is alive, and nothing else has gone on from there.
#[inline(always)]
unsafe fn switch(here: &Cell<StackPointer>, there: StackPointer) {
    // SAFETY: the caller's word. All registers are saved here or lost, but the stack pointer, which is what it was when the
    // other side switches back. Three words below the stack pointer are written, which the compiler leaves free.
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
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("C"),
        );
    }
}
