//! An alternate stack for signal handlers. When a thread has overflowed its own stack, a handler can only run on
//! another stack.

use crate::sys::memory::{self, Guard, Mapping};
use std::{cell::RefCell, io, mem, ops::Range, ptr};

thread_local! {
    /// The alternate stack that this module gave to this thread.
    static ALTERNATE: RefCell<Option<AlternateStack>> = const { RefCell::new(None) };
}

/// Gives this thread an alternate stack for signal handlers until the thread ends, unless it has one. The standard
/// library gives one to the threads that it starts; other threads have none. Without it the system cannot call the
/// handler of an overflow.
///
/// # Errors
/// Fails when the system refuses the memory.
pub(crate) fn ensure() -> io::Result<()> {
    ALTERNATE.with_borrow_mut(|alternate| {
        if current().ss_flags & libc::SS_DISABLE != 0 {
            *alternate = Some(AlternateStack::install()?);
        }
        Ok(())
    })
}

/// An alternate stack of this thread, above a guard. Dropping it removes it from the thread.
struct AlternateStack {
    memory: Mapping,
}

/// Enough for handlers that were installed before ours and that walk the stack.
const ALTERNATE_SIZE: usize = 64 << 10;

impl AlternateStack {
    fn install() -> io::Result<Self> {
        let guard = memory::page_size();
        let memory = Mapping::new(guard + alternate_size())?;
        let range = memory.range();
        let stack = stack_t(range.start + guard..range.end, 0);
        // SAFETY: the guard is the first page of a new mapping. The stack is the rest of the mapping, which belongs to
        // the system until `drop` has removed it from the thread.
        unsafe {
            memory::install_guard(range.start..range.start + guard, Guard::Protection)?;
            if libc::sigaltstack(&raw const stack, ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(Self { memory })
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        // Other code may have set another alternate stack since.
        if self.memory.range().contains(&(current().ss_sp as usize)) {
            let none = stack_t(self.memory.range(), libc::SS_DISABLE);
            // SAFETY: this removes the alternate stack of this thread. No handler runs on it, because a handler does
            // not end threads.
            unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
        }
    }
}

/// Returns the size of an alternate stack, at least the minimum that this processor's registers need.
fn alternate_size() -> usize {
    #[cfg(target_os = "linux")]
    // SAFETY: `getauxval` has no preconditions. It returns 0 for a value that the kernel does not know.
    let least = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    #[cfg(not(target_os = "linux"))]
    let least = libc::SIGSTKSZ;
    (least + ALTERNATE_SIZE).next_multiple_of(memory::page_size())
}

fn current() -> libc::stack_t {
    let mut stack = stack_t(0..0, libc::SS_DISABLE);
    // SAFETY: `stack` is a live `stack_t`, which the call writes.
    unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) };
    stack
}

fn stack_t(range: Range<usize>, flags: libc::c_int) -> libc::stack_t {
    // SAFETY: a `stack_t` of zeros is a valid one.
    let mut stack: libc::stack_t = unsafe { mem::zeroed() };
    stack.ss_sp = range.start as *mut _;
    stack.ss_size = range.len();
    stack.ss_flags = flags;
    stack
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn existing_alternate_stack_is_kept() {
        thread::spawn(|| {
            let before = current();
            assert_eq!(before.ss_flags & libc::SS_DISABLE, 0, "the standard library has given one to this thread");
            ensure().unwrap();
            assert_eq!(current().ss_sp, before.ss_sp);
            ALTERNATE.with_borrow(|ours| assert!(ours.is_none()));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn missing_alternate_stack_is_installed_and_removed() {
        thread::spawn(|| {
            let before = current();
            let none = stack_t(0..1 << 20, libc::SS_DISABLE);
            // SAFETY: this removes a stack on which no handler runs; it is restored below.
            unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
            ensure().unwrap();
            let ours = current();
            assert!(ours.ss_flags & libc::SS_DISABLE == 0 && ours.ss_size >= ALTERNATE_SIZE);
            ensure().unwrap();
            assert_eq!(current().ss_sp, ours.ss_sp);
            // This is what the end of the thread does.
            ALTERNATE.take();
            assert_ne!(current().ss_flags & libc::SS_DISABLE, 0);
            // SAFETY: the system returned `before`, so it is a valid `stack_t`.
            unsafe { libc::sigaltstack(&raw const before, ptr::null_mut()) };
        })
        .join()
        .unwrap();
    }
}
