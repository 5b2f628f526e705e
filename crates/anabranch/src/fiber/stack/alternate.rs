//! An alternate stack for signal handlers: where a thread has overflowed its own, there is no other to call a handler
//! on.

use crate::sys::memory::{self, Guard, Mapping};
use std::{cell::RefCell, io, mem, ops::Range, ptr};

thread_local! {
    /// The alternate stack that this thread was given here.
    static ALTERNATE: RefCell<Option<AlternateStack>> = const { RefCell::new(None) };
}

/// Gives this thread an alternate stack for signal handlers if it has none, until it ends. The standard library gives
/// one to the threads that it starts, others have none; without it the system cannot call the handler of an overflow.
///
/// # Errors
/// When the system refuses the memory.
pub(crate) fn ensure() -> io::Result<()> {
    ALTERNATE.with_borrow_mut(|alternate| {
        if current().ss_flags & libc::SS_DISABLE != 0 {
            *alternate = Some(AlternateStack::install()?);
        }
        Ok(())
    })
}

/// An alternate stack of this thread, above a guard; taken away when dropped.
struct AlternateStack {
    memory: Mapping,
}

/// Enough for handlers that were there before ours and that walk the stack.
const ALTERNATE_SIZE: usize = 64 << 10;

impl AlternateStack {
    fn install() -> io::Result<Self> {
        let guard = memory::page_size();
        let memory = Mapping::new(guard + alternate_size())?;
        let range = memory.range();
        let stack = stack_t(range.start + guard..range.end, 0);
        // SAFETY: the guard is the first page of a new mapping. The stack is the rest of it, which belongs to the
        // system until `drop` has taken it away.
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
        // Other code may have set another since.
        if self.memory.range().contains(&(current().ss_sp as usize)) {
            let none = stack_t(self.memory.range(), libc::SS_DISABLE);
            // SAFETY: this takes the alternate stack of this thread away, on which no handler runs: a handler does not
            // end threads.
            unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
        }
    }
}

/// Returns the size of an alternate stack: no smaller than what the registers of this processor need.
fn alternate_size() -> usize {
    #[cfg(target_os = "linux")]
    // SAFETY: `getauxval` has no preconditions; what the kernel does not know is 0.
    let least = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    #[cfg(not(target_os = "linux"))]
    let least = libc::SIGSTKSZ;
    (least + ALTERNATE_SIZE).next_multiple_of(memory::page_size())
}

fn current() -> libc::stack_t {
    let mut stack = stack_t(0..0, libc::SS_DISABLE);
    // SAFETY: `stack` is there to be written.
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
    fn a_thread_that_has_one_keeps_it() {
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
    fn a_thread_that_has_none_gets_one_and_loses_it_in_the_end() {
        thread::spawn(|| {
            let before = current();
            let none = stack_t(0..1 << 20, libc::SS_DISABLE);
            // SAFETY: this takes a stack away on which no handler runs; it is put back below.
            unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
            ensure().unwrap();
            let ours = current();
            assert!(ours.ss_flags & libc::SS_DISABLE == 0 && ours.ss_size >= ALTERNATE_SIZE);
            ensure().unwrap();
            assert_eq!(current().ss_sp, ours.ss_sp);
            // What the end of the thread does.
            ALTERNATE.take();
            assert_ne!(current().ss_flags & libc::SS_DISABLE, 0);
            // SAFETY: `before` is what the system gave.
            unsafe { libc::sigaltstack(&raw const before, ptr::null_mut()) };
        })
        .join()
        .unwrap();
    }
}
