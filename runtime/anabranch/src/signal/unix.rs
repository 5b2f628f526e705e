//! Signals of Unix.

use crate::{cx::Cx, net::UnixStream, wait::future::count_ready};
use signal_hook::{
    SigId, flag,
    low_level::{pipe, unregister},
};
use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A stream of signals.
///
/// If several fibers or tasks share the stream, each signal is received by one of them. Signals of one number that come
/// before the first of them is received count as one, as in the system itself.
///
/// ```
/// use anabranch::signal::Signals;
///
/// const SIGUSR1: i32 = 10;
/// const SIGHUP: i32 = 1;
///
/// let signals = Signals::new([SIGUSR1, SIGHUP]).unwrap();
/// # if !cfg!(target_os = "linux") { return; }
/// // Another process would use `kill`.
/// # std::process::Command::new("kill").args(["-USR1", &std::process::id().to_string()]).status().unwrap();
/// let number = anabranch::run(|cx| signals.recv(cx));
/// assert_eq!(number.unwrap(), SIGUSR1);
/// ```
pub struct Signals {
    /// Each signal sets its flag, and then writes a byte to the other end. A receiver reads one byte before it looks at
    /// the flags again. So there are at least as many bytes and receivers that look as flags, and no receiver consumes
    /// the wake-up of another one.
    stream: UnixStream,
    flags: Vec<(i32, Arc<AtomicBool>)>,
    ids: Vec<SigId>,
}

impl Signals {
    /// Registers for the signals of these numbers.
    ///
    /// # Errors
    /// Returns the errors of the system.
    ///
    /// # Panics
    /// Panics for signals that must not be handled: `SIGKILL`, `SIGSTOP`, and those that report a fault of the program
    /// (`SIGILL`, `SIGFPE`, `SIGSEGV`).
    pub fn new(signals: impl IntoIterator<Item = i32>) -> io::Result<Self> {
        let (reader, writer) = std::os::unix::net::UnixStream::pair()?;
        let mut all = Self { stream: UnixStream::from_std(reader)?, flags: Vec::new(), ids: Vec::new() };
        for signal in signals {
            let flag = Arc::new(AtomicBool::new(false));
            // The handler runs the actions in this order, so a reader of the byte finds the flag.
            all.ids.push(flag::register(signal, Arc::clone(&flag))?);
            all.flags.push((signal, flag));
            all.ids.push(pipe::register(signal, writer.try_clone()?)?);
        }
        Ok(all)
    }

    /// Waits for a signal, and returns its number.
    ///
    /// # Errors
    /// Returns the errors of the system, and an error for which [`is_cancelled`](crate::net::is_cancelled) holds if the
    /// scope is cancelled.
    #[track_caller]
    pub fn recv(&self, cx: &Cx<'_>) -> io::Result<i32> {
        loop {
            if let Some(signal) = self.try_recv() {
                return Ok(signal);
            }
            self.stream.read(cx, &mut [0])?;
        }
    }

    /// Like [`recv`](Self::recv), for async code. The future may be dropped at any time.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub async fn recv_async(&self) -> io::Result<i32> {
        count_ready().await;
        loop {
            if let Some(signal) = self.try_recv() {
                return Ok(signal);
            }
            self.stream.read_async(&mut [0]).await?;
        }
    }

    /// Returns the number of a signal that has come, if there is one.
    pub fn try_recv(&self) -> Option<i32> {
        self.flags.iter().find(|(_, flag)| flag.swap(false, Ordering::SeqCst)).map(|(signal, _)| *signal)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            unregister(id);
        }
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.flags.iter().map(|(signal, _)| signal)).finish()
    }
}
