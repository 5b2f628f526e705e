//! Keeps the stacks of loom's threads from one execution to the next.
//!
//! loom runs each thread of each execution on a stack that it maps, protects and unmaps. With the page faults of the
//! fresh stack, that is two thirds of the CPU time of a model. So the test program has functions of its own in place of
//! the C library's `mmap`, `munmap` and `mprotect`: they keep stacks, with their guard pages, and reuse them. The C
//! library itself does not call them.

use libc::{c_int, c_long, c_void, off_t, size_t};
use std::{
    ptr,
    sync::{Mutex, MutexGuard, PoisonError},
};

const STACK: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;

/// A mapping for a stack. Its lowest page is a guard page once `is_guarded`.
struct Stack {
    address: usize,
    len: usize,
    is_used: bool,
    is_guarded: bool,
}

/// All stacks that were mapped: as many as the threads of the largest models that run at a time.
static STACKS: Mutex<Vec<Stack>> = Mutex::new(Vec::new());

fn stacks() -> MutexGuard<'static, Vec<Stack>> {
    STACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
/// As for the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    let is_stack = address.is_null() && flags == STACK;
    if is_stack && let Some(stack) = stacks().iter_mut().find(|stack| !stack.is_used && stack.len == len) {
        stack.is_used = true;
        return ptr::with_exposed_provenance_mut(stack.address);
    }
    // SAFETY: the caller upholds the contract of the system call.
    let mapped = unsafe { libc::syscall(libc::SYS_mmap, address, len, protection, flags, file, offset) };
    if is_stack && mapped != -1 {
        stacks().push(Stack { address: mapped as usize, len, is_used: true, is_guarded: false });
    }
    ptr::with_exposed_provenance_mut(mapped as usize)
}

/// # Safety
/// As for the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, len: size_t) -> c_int {
    if let Some(stack) = stacks().iter_mut().find(|stack| stack.address == address.addr()) {
        assert!(stack.is_used && stack.len == len, "a stack is unmapped as a whole, and once");
        stack.is_used = false;
        return 0;
    }
    // SAFETY: the caller upholds the contract of the system call.
    done(unsafe { libc::syscall(libc::SYS_munmap, address, len) })
}

/// # Safety
/// As for the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn mprotect(address: *mut c_void, len: size_t, protection: c_int) -> c_int {
    let mut stacks = stacks();
    let stack = stacks.iter_mut().find(|stack| stack.address == address.addr());
    if stack.as_ref().is_some_and(|stack| stack.is_guarded) && protection == libc::PROT_NONE {
        return 0;
    }
    // SAFETY: the caller upholds the contract of the system call.
    let result = done(unsafe { libc::syscall(libc::SYS_mprotect, address, len, protection) });
    if let Some(stack) = stack {
        stack.is_guarded = result == 0 && protection == libc::PROT_NONE;
    }
    result
}

fn done(result: c_long) -> c_int {
    c_int::try_from(result).expect("0 or -1")
}
