//! Handles SIGINT (Ctrl-C), SIGTERM and SIGHUP.
//!
//! A separate thread waits for the signals. During a run it only stores the number of the first signal. The run checks
//! the number between its steps, stops, and cleans up as usual. On a second signal, or on one outside of a run, the
//! thread removes the temporary files and ends the program at once. A signal that the parent process ignores (`nohup`,
//! a background job of a script) stays ignored.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::exit::Failure;

/// The signal handler and its state. Clones share it.
#[derive(Clone, Default)]
pub struct Signals {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The number of the last signal, or 0.
    received: AtomicU8,
    /// Whether a run checks `received` often.
    watched: AtomicBool,
    /// Whether the thread ends the program without a message.
    #[cfg(feature = "mpi")]
    quiet: AtomicBool,
    /// The files that an immediate exit removes.
    temporary: Mutex<Vec<PathBuf>>,
}

impl Signals {
    /// Installs the handler.
    pub fn install() -> Result<Self, Failure> {
        let signals = Self::default();
        #[cfg(unix)]
        signals.listen().map_err(|error| Failure::Run(format!("cannot listen for signals: {error}")))?;
        Ok(signals)
    }

    /// Returns whether a signal asks the run to stop. Relaxed, because only the number itself is passed.
    pub fn is_interrupted(&self) -> bool {
        self.shared.received.load(Ordering::Relaxed) != 0
    }

    /// Returns an error if a signal was received.
    pub fn check(&self) -> Result<(), Failure> {
        match self.shared.received.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(Failure::Interrupted(signal)),
        }
    }

    /// Ends the program without a message from now on: `mpirun`, which has sent the signal, prints one.
    #[cfg(feature = "mpi")]
    pub fn be_quiet(&self) {
        self.shared.quiet.store(true, Ordering::SeqCst);
    }

    /// Runs `work`, which checks [`is_interrupted`](Self::is_interrupted) often.
    pub fn watch<R>(&self, work: impl FnOnce() -> R) -> R {
        self.shared.watched.store(true, Ordering::SeqCst);
        let result = work();
        self.shared.watched.store(false, Ordering::SeqCst);
        result
    }

    /// Creates a temporary file that an immediate exit removes. The thread cannot exit between the creation of the file
    /// and the storing of its path, because it takes the same lock first.
    pub fn remove_on_exit<T, E>(&self, create: impl FnOnce() -> Result<(PathBuf, T), E>) -> Result<T, E> {
        let mut temporary = self.temporary();
        let (path, file) = create()?;
        temporary.push(path);
        Ok(file)
    }

    fn temporary(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.shared.temporary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(unix)]
    fn listen(&self) -> std::io::Result<()> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !ignored(&status, signal));
        let mut incoming = signal_hook::iterator::Signals::new(wanted)?;
        let this = self.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in incoming.forever() {
                this.handle(signal as u8);
            }
        })?;
        Ok(())
    }

    #[cfg(unix)]
    fn handle(&self, signal: u8) {
        let first = self.shared.received.swap(signal, Ordering::SeqCst) == 0;
        if first && self.shared.watched.load(Ordering::SeqCst) {
            return;
        }
        for path in self.temporary().drain(..) {
            let _ = std::fs::remove_file(path);
        }
        #[cfg(feature = "mpi")]
        if self.shared.quiet.load(Ordering::SeqCst) {
            signal_hook::low_level::exit(128 + i32::from(signal));
        }
        if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
            crate::exit::print_line(""); // Ends the line that has `^C` or an unfinished bar.
        }
        crate::exit::print_message("interrupted");
        signal_hook::low_level::exit(128 + i32::from(signal));
    }
}

/// Returns whether the process ignores `signal`, according to the `SigIgn` mask in the text of `/proc/self/status`.
#[cfg(unix)]
fn ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_mask() {
        let status = "Name:\tx\nSigIgn:\t0000000000001003\nSigCgt:\t0000000000000000\n";
        assert!(ignored(status, 1) && ignored(status, 2) && ignored(status, 13));
        assert!(!ignored(status, 15));
        assert!(!ignored("", 1), "no mask: no signal is known to be ignored");
    }
}
