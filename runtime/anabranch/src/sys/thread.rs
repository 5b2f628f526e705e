//! Threads: starting them, thread-locals, and the system's information about them.

#[cfg(not(any(shuttle, sim)))]
pub(crate) use std::{
    thread::{Builder, JoinHandle, current, yield_now},
    thread_local,
};

#[cfg(shuttle)]
pub(crate) use self::shuttled::{Builder, LocalCell, thread_local};
#[cfg(shuttle)]
pub(crate) use shuttle::thread::{JoinHandle, current, yield_now};

#[cfg(sim)]
pub(crate) use anabranch_sim::thread::{
    Builder, JoinHandle, core, cores, current, identity, number as number_of_current, thread_local, yield_now,
};

/// Returns an address that belongs to the calling thread while it lives.
///
/// On Linux on x86-64 this is the address of the thread's control block, which the ABI stores at the start of that
/// block. Reading it is one load, also if this is inlined into another crate. A thread-local would need a call there.
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, shuttle, sim, miri))))]
#[inline(always)]
pub(crate) fn identity() -> *mut () {
    let block: *mut ();
    // SAFETY: the ABI keeps this word readable and constant for as long as the thread lives. Running code stays on its
    // thread.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) block, options(pure, nomem, nostack, preserves_flags)) };
    block
}

/// Returns an address that belongs to the calling thread while it lives.
#[cfg(not(any(all(target_os = "linux", target_arch = "x86_64", not(any(shuttle, miri))), loom, sim)))]
#[inline(always)]
pub(crate) fn identity() -> *mut () {
    #[cfg(shuttle)]
    shuttle::thread_local! {
        static PLACE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }
    #[cfg(not(shuttle))]
    std::thread_local! {
        static PLACE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }
    PLACE.with(|place| place.as_ptr().cast())
}

/// Returns a number instead of an address. A new thread could reuse the address of one that has ended, and a model
/// would then have fewer threads than it states.
#[cfg(loom)]
pub(crate) fn identity() -> *mut () {
    use std::sync::atomic::{AtomicUsize, Ordering};
    // From std, so that loom does not see it.
    static LAST: AtomicUsize = AtomicUsize::new(0);
    loom::thread_local! {
        static NUMBER: usize = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    }
    /// The distance between two numbers, like that of real addresses, for callers that shorten them.
    const APART: usize = 64;
    NUMBER.with(|number| std::ptr::without_provenance_mut(number * APART))
}

/// Whether this system can start threads. If not, the calling thread does everything.
pub(crate) const CAN_START: bool =
    !cfg!(all(target_family = "wasm", any(target_os = "unknown", not(target_feature = "atomics"))));

/// Returns the number of threads that the machine runs at a time for this process.
#[cfg(not(sim))]
pub(crate) fn cores() -> usize {
    #[cfg(shuttle)]
    return crate::sys::chance::up_to(4);
    #[cfg(not(shuttle))]
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(shuttle)]
mod shuttled {
    use crate::sys::chance;
    use shuttle::thread::{self, JoinHandle, LocalKey};
    use std::{cell::Cell, io};

    /// A thread builder like that of std. The system may refuse it a thread, while shuttle's never fails.
    pub(crate) struct Builder(thread::Builder);

    impl Builder {
        pub(crate) fn new() -> Self {
            Self(thread::Builder::new())
        }

        pub(crate) fn name(self, name: String) -> Self {
            Self(self.0.name(name))
        }

        pub(crate) fn stack_size(self, bytes: usize) -> Self {
            Self(self.0.stack_size(bytes))
        }

        pub(crate) fn spawn(self, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
            if chance::is_refused() { Err(io::ErrorKind::WouldBlock.into()) } else { self.0.spawn(body) }
        }
    }

    /// The methods that std has on `LocalKey<Cell<T>>` and shuttle lacks.
    pub(crate) struct LocalCell<T: 'static>(pub(crate) &'static LocalKey<Cell<T>>);

    impl<T: Copy> LocalCell<T> {
        pub(crate) fn get(&'static self) -> T {
            self.0.with(Cell::get)
        }
    }

    impl<T> LocalCell<T> {
        pub(crate) fn set(&'static self, value: T) {
            self.0.with(|cell| cell.set(value));
        }

        pub(crate) fn replace(&'static self, value: T) -> T {
            self.0.with(|cell| cell.replace(value))
        }
    }

    macro_rules! local_cells {
        ($($(#[$meta:meta])* static $name:ident: Cell<$value:ty> = const { $init:expr };)*) => {$(
            $(#[$meta])*
            static $name: $crate::sys::thread::LocalCell<$value> = {
                shuttle::thread_local! {
                    static KEY: Cell<$value> = const { $init };
                }
                $crate::sys::thread::LocalCell(&KEY)
            };
        )*};
    }
    pub(crate) use local_cells as thread_local;
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::identity;

    #[test]
    fn each_thread_has_its_own_address() {
        let own = identity().addr();
        let barrier = std::sync::Barrier::new(3);
        let other = || {
            barrier.wait();
            let address = identity().addr();
            barrier.wait();
            assert_eq!(identity().addr(), address);
            address
        };
        let others = std::thread::scope(|s| {
            [s.spawn(other), s.spawn(other), s.spawn(other)].map(|thread| thread.join().unwrap())
        });
        assert_eq!(identity().addr(), own);
        assert!(own != 0 && own.is_multiple_of(8));
        assert!(!others.contains(&own) && others[0] != others[1] && others[1] != others[2] && others[0] != others[2]);
    }
}

/// Returns the system's number of the calling thread, or 0 if it has none that is useful here.
#[cfg(not(sim))]
pub(crate) fn number_of_current() -> u32 {
    #[cfg(shuttle)]
    return usize::from(current().id()) as u32 + 1;
    #[cfg(all(target_os = "linux", not(shuttle)))]
    // SAFETY: the call has no preconditions.
    return unsafe { libc::gettid() } as u32;
    #[cfg(not(any(target_os = "linux", shuttle)))]
    0
}

/// Returns the number of the core that runs the calling thread, or 0 if the system does not tell.
#[cfg(not(sim))]
pub(crate) fn core() -> usize {
    #[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
    // SAFETY: the call has no preconditions. It fails, with -1, only on a kernel that lacks it.
    return unsafe { libc::sched_getcpu() }.max(0) as usize;
    #[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
    0
}

/// Returns how long the calling thread has run, in nanoseconds.
#[cfg(all(unix, not(any(loom, shuttle, sim))))]
pub(crate) fn cpu_time() -> Option<u64> {
    clock_time(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns what a clock of the system shows, in nanoseconds, or `None` if there is no such clock.
#[cfg(all(unix, not(any(loom, shuttle, sim))))]
pub(crate) fn clock_time(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live timespec, which the call writes.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) } != 0;
    (!failed).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Returns `None`: on this system the time that a thread has run is too coarse to be of use.
#[cfg(not(all(unix, not(any(loom, shuttle, sim)))))]
pub(crate) fn cpu_time() -> Option<u64> {
    None
}
