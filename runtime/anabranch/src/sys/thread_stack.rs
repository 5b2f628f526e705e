//! Captures the stacks of other threads, for a report of a hang: a signal makes each capture its own.
//!
//! The handler allocates, which a handler must not do in general. So the caller asks only threads that have been asleep
//! in a wait for another thread. Such a thread is not inside the allocator, and the system resumes its wait after the
//! handler. The signal is `SIGURG`, whose default action is to do nothing, so one that comes late does no harm. A
//! program that handles the signal itself gets no stacks.

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, sim, miri)))))]
pub(crate) fn capture(_: &[u32]) -> Vec<(u32, std::backtrace::Backtrace)> {
    Vec::new()
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle, sim, miri))))]
pub(crate) use self::linux::capture;

#[cfg(all(target_os = "linux", not(any(loom, shuttle, sim, miri))))]
mod linux {
    use crate::sys::thread;
    use std::{
        backtrace::Backtrace,
        mem, ptr,
        sync::{
            Mutex, PoisonError,
            atomic::{AtomicPtr, AtomicU32, Ordering},
        },
        time::{Duration, Instant},
    };

    /// How long a thread has for its answer.
    const MAX_WAIT: Duration = Duration::from_secs(1);

    /// The number of the thread that is asked, or 0.
    static ASKED: AtomicU32 = AtomicU32::new(0);

    /// The answer: an [`Answer`] in a box, or null.
    static ANSWER: AtomicPtr<Answer> = AtomicPtr::new(ptr::null_mut());

    type Answer = (u32, Backtrace);

    /// Returns the stacks of those threads of this process that answer within a second.
    ///
    /// The caller has seen that each of them is asleep in a wait for another thread, see the [module](super).
    pub(crate) fn capture(threads: &[u32]) -> Vec<Answer> {
        static CAPTURING: Mutex<()> = Mutex::new(());
        let _capturing = CAPTURING.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(_handler) = Handler::install() else { return Vec::new() };
        threads.iter().filter_map(|&thread| ask(thread)).collect()
    }

    fn ask(thread: u32) -> Option<Answer> {
        ASKED.store(thread, Ordering::SeqCst);
        // SAFETY: the call takes no pointers. The process has a handler for the signal.
        let sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGURG) } == 0;
        let start = Instant::now();
        let answer = loop {
            let answer = ANSWER.swap(ptr::null_mut(), Ordering::Acquire);
            if !answer.is_null() {
                // SAFETY: the handler has made it from a box, and the swap has taken it from all others.
                let answer = unsafe { Box::from_raw(answer) };
                // It may be the late one of another thread.
                if answer.0 == thread {
                    break Some(*answer);
                }
            }
            if !sent || start.elapsed() >= MAX_WAIT {
                break None;
            }
            std::thread::sleep(Duration::from_micros(100));
        };
        ASKED.store(0, Ordering::SeqCst);
        answer
    }

    /// The handler, until it is dropped.
    struct Handler {
        before: libc::sigaction,
    }

    impl Handler {
        /// Returns `None` if the program has a handler.
        fn install() -> Option<Self> {
            // SAFETY: zeroes are a value of this C type, and the calls read and write the live values alone. The
            // function has the signature of a handler; the module describes when it runs.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                let mut before: libc::sigaction = mem::zeroed();
                if libc::sigaction(libc::SIGURG, ptr::null(), &raw mut before) != 0
                    || ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction)
                {
                    return None;
                }
                action.sa_sigaction = capture_on_signal as extern "C" fn(libc::c_int) as usize;
                action.sa_flags = libc::SA_RESTART;
                libc::sigemptyset(&raw mut action.sa_mask);
                (libc::sigaction(libc::SIGURG, &raw const action, ptr::null_mut()) == 0).then_some(Self { before })
            }
        }
    }

    impl Drop for Handler {
        fn drop(&mut self) {
            // SAFETY: the call reads a value that it has written before.
            unsafe { libc::sigaction(libc::SIGURG, &raw const self.before, ptr::null_mut()) };
        }
    }

    /// The handler. `errno` is restored, since the interrupted code may be about to read it.
    extern "C" fn capture_on_signal(_: libc::c_int) {
        // SAFETY: the function has no preconditions.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: it is the thread's own variable.
        let before = unsafe { *errno };
        let me = thread::number_of_current();
        if ASKED.compare_exchange(me, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            let stack = Box::into_raw(Box::new((me, Backtrace::force_capture())));
            let late = ANSWER.swap(stack, Ordering::AcqRel);
            if !late.is_null() {
                // SAFETY: as in `ask`.
                drop(unsafe { Box::from_raw(late) });
            }
        }
        // SAFETY: as above.
        unsafe { *errno = before };
    }

    #[cfg(test)]
    mod tests {
        use super::capture;
        use crate::{pool::sysmon, sys::thread::number_of_current};
        use std::{sync::mpsc, thread};

        #[inline(never)]
        fn wait_for_end(end: &mpsc::Receiver<()>) -> bool {
            std::hint::black_box(end.recv().is_err())
        }

        #[test]
        fn stack_of_blocked_thread_is_captured_and_its_wait_goes_on() {
            let (sender, number) = mpsc::channel();
            let (end, ended) = mpsc::channel();
            let blocked = thread::spawn(move || {
                sender.send(number_of_current()).unwrap();
                wait_for_end(&ended)
            });
            let number = number.recv().unwrap();
            while sysmon::waits_for_thread(number) != Some(true) {
                thread::yield_now();
            }
            for _ in 0..2 {
                let stacks = capture(&[number, u32::MAX >> 4]);
                assert_eq!(stacks.len(), 1, "no thread has the second number");
                let text = stacks[0].1.to_string();
                assert!(stacks[0].0 == number && text.contains("wait_for_end"), "{text}");
                assert!(!blocked.is_finished());
            }
            drop(end);
            assert!(blocked.join().unwrap());
        }
    }
}
