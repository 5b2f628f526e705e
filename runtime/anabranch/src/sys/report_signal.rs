//! The signal by which a user asks a running program for a report. Off unless the environment names a signal.
//!
//! The handler writes a byte to a socket, which is async-signal-safe. A thread that exists only with this option reads
//! it, and calls the functions that were added. So they may lock, allocate and wait, and they run also while all other
//! threads are blocked.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

/// The environment variable that names the signal: `USR1`, `SIGUSR1` or a number.
pub(crate) const VARIABLE: &str = "ANABRANCH_REPORT_SIGNAL";

static CALLBACKS: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// The number of the thread that calls the functions, or 0.
#[cfg_attr(
    any(not(target_os = "linux"), shuttle, sim, miri),
    allow(dead_code, reason = "only Linux shows all threads")
)]
static THREAD: AtomicU32 = AtomicU32::new(0);

/// Adds a function that the signal calls, after those that were added before. Each is called once for a signal, or for
/// several that come meanwhile.
pub(crate) fn add(callback: fn()) {
    let mut callbacks = CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner);
    if !callbacks.iter().any(|&other| std::ptr::fn_addr_eq(other, callback)) {
        callbacks.push(callback);
    }
}

/// Returns the system's number of the thread that waits for the signal, or 0 if there is none.
#[cfg_attr(
    any(not(target_os = "linux"), shuttle, sim, miri),
    allow(dead_code, reason = "only Linux shows all threads")
)]
pub(crate) fn thread() -> u32 {
    THREAD.load(Ordering::Relaxed)
}

/// Installs the handler and starts the thread, if the environment names a signal. Later calls do nothing.
pub(crate) fn start() {
    static START: std::sync::Once = std::sync::Once::new();
    START.call_once(|| {
        let Some(name) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) else { return };
        if let Err(reason) = listen(&name.to_string_lossy()) {
            crate::sys::diagnostics::warn(format_args!("{VARIABLE} has no effect: {reason}"));
        }
    });
}

#[cfg(not(all(unix, not(any(loom, shuttle, miri)))))]
fn listen(_: &str) -> Result<(), String> {
    Err("there are no signals here".into())
}

#[cfg(all(unix, not(any(loom, shuttle, miri))))]
use self::unix::listen;

#[cfg(all(unix, not(any(loom, shuttle, miri))))]
mod unix {
    use super::{CALLBACKS, THREAD};
    use crate::sys::thread;
    use std::{
        io::{self, Read},
        mem,
        os::{fd::IntoRawFd, unix::net::UnixStream},
        panic::catch_unwind,
        ptr,
        sync::{
            PoisonError,
            atomic::{AtomicI32, Ordering},
        },
    };

    /// Where the handler writes to. It is never closed.
    static BELL: AtomicI32 = AtomicI32::new(-1);

    const NAMES: [(&str, libc::c_int); 6] = [
        ("USR1", libc::SIGUSR1),
        ("USR2", libc::SIGUSR2),
        ("HUP", libc::SIGHUP),
        ("QUIT", libc::SIGQUIT),
        ("WINCH", libc::SIGWINCH),
        ("URG", libc::SIGURG),
    ];

    /// A program cannot continue after these, or cannot handle them.
    const REFUSED: [libc::c_int; 8] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
        libc::SIGKILL,
        libc::SIGSTOP,
    ];

    pub(super) fn parse(name: &str) -> Option<libc::c_int> {
        let name = name.trim().to_ascii_uppercase();
        let short = name.strip_prefix("SIG").unwrap_or(&name);
        let named = NAMES.iter().find(|(name, _)| *name == short).map(|(_, signal)| *signal);
        named.or_else(|| name.parse().ok()).filter(|signal| *signal > 0 && !REFUSED.contains(signal))
    }

    pub(super) fn listen(name: &str) -> Result<(), String> {
        let signal = parse(name).ok_or_else(|| format!("`{name}` is not a signal that can be used, such as USR1"))?;
        if has_handler(signal).map_err(|error| error.to_string())? {
            return Err(format!("the program has a handler for `{name}`"));
        }
        let (bell, ears) = UnixStream::pair().map_err(|error| error.to_string())?;
        bell.set_nonblocking(true).map_err(|error| error.to_string())?;
        thread::Builder::new()
            .name("anabranch-report".into())
            .spawn(move || serve(ears))
            .map_err(|error| error.to_string())?;
        BELL.store(bell.into_raw_fd(), Ordering::Release);
        install(signal).map_err(|error| error.to_string())
    }

    fn has_handler(signal: libc::c_int) -> io::Result<bool> {
        // SAFETY: zeroes are a value of this C type, and the call writes to `old` alone.
        unsafe {
            let mut old: libc::sigaction = mem::zeroed();
            if libc::sigaction(signal, ptr::null(), &raw mut old) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN)
        }
    }

    fn install(signal: libc::c_int) -> io::Result<()> {
        // SAFETY: zeroes are a value of this C type. `ring` is async-signal-safe and has the signature of a handler.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = ring as extern "C" fn(libc::c_int) as usize;
            // On the alternate stack: the thread may be on a fiber's stack, with little room left.
            action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            if libc::sigaction(signal, &raw const action, ptr::null_mut()) == 0 {
                Ok(())
            } else {
                Err(io::Error::last_os_error())
            }
        }
    }

    /// The handler. A full socket means that the thread has yet to read an earlier signal.
    extern "C" fn ring(_: libc::c_int) {
        // SAFETY: the descriptor is open for ever, and the buffer has one byte. `errno` is restored, since the
        // interrupted code may be about to read it.
        unsafe {
            let errno = errno();
            let before = errno.map(|errno| *errno);
            libc::write(BELL.load(Ordering::Acquire), [0u8].as_ptr().cast(), 1);
            if let (Some(errno), Some(before)) = (errno, before) {
                *errno = before;
            }
        }
    }

    /// Returns the address of the thread's `errno`, where it is known.
    fn errno() -> Option<*mut libc::c_int> {
        // SAFETY: the functions have no preconditions.
        #[cfg(target_os = "linux")]
        return Some(unsafe { libc::__errno_location() });
        // SAFETY: as above.
        #[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
        return Some(unsafe { libc::__error() });
        #[cfg(not(any(target_os = "linux", target_vendor = "apple", target_os = "freebsd")))]
        None
    }

    fn serve(mut ears: UnixStream) {
        THREAD.store(thread::number_of_current(), Ordering::Relaxed);
        let mut bytes = [0; 64];
        loop {
            match ears.read(&mut bytes) {
                Ok(0) => return,
                Ok(_) => {
                    let callbacks = CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    for callback in callbacks {
                        // The panic hook has reported it.
                        let _ = catch_unwind(callback);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::parse;

        #[test]
        fn names_and_numbers_are_signals() {
            assert_eq!(parse("USR1"), Some(libc::SIGUSR1));
            assert_eq!(parse(" sigusr2 "), Some(libc::SIGUSR2));
            assert_eq!(parse("1"), Some(libc::SIGHUP));
            for bad in ["", "USR3", "-1", "0", "SEGV", "11", "9", "KILL"] {
                assert_eq!(parse(bad), None, "{bad}");
            }
        }
    }
}
