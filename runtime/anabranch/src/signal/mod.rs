//! Signals of the system: Ctrl-C, and the request to end.
//!
//! From the first use of a signal here, that signal no longer ends the process. Two waits for the same signal both end
//! by it. A signal that comes while nobody waits for it is lost, unless a `Signals` for it exists (Unix).
//!
//! | function      | Unix      | Windows                                                            |
//! |---------------|-----------|--------------------------------------------------------------------|
//! | [`ctrl_c`]    | `SIGINT`  | Ctrl-C and Ctrl-Break                                              |
//! | [`terminate`] | `SIGTERM` | the window is closed, the user logs off, or the system shuts down  |
//!
//! ```no_run
//! use anabranch::{net::TcpListener, signal};
//! use std::io;
//!
//! anabranch::run(|cx| -> io::Result<()> {
//!     let listener = TcpListener::bind(cx, "127.0.0.1:8080")?;
//!     cx.scope(|s| {
//!         s.spawn(|cx| {
//!             for stream in listener.incoming(cx) {
//!                 drop(stream);
//!             }
//!         });
//!         // Then it stops accepting.
//!         signal::ctrl_c(cx)?;
//!         s.cancel();
//!         Ok(())
//!     })
//! }).unwrap();
//! ```

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use crate::cx::Cx;
use std::io;
#[cfg(unix)]
pub use unix::Signals;

/// Waits for Ctrl-C.
///
/// # Errors
/// Returns the errors of the system, and an error for which [`is_cancelled`](crate::net::is_cancelled) holds if the
/// scope is cancelled.
#[track_caller]
pub fn ctrl_c(cx: &Cx<'_>) -> io::Result<()> {
    #[cfg(unix)]
    return Signals::new([signal_hook::consts::SIGINT])?.recv(cx).map(drop);
    #[cfg(windows)]
    return windows::INTERRUPT.wait(cx);
}

/// Waits for the request to end that service managers send.
///
/// On Windows the process ends some seconds after such a request, whatever it does.
///
/// # Errors
/// As for [`ctrl_c`].
#[track_caller]
pub fn terminate(cx: &Cx<'_>) -> io::Result<()> {
    #[cfg(unix)]
    return Signals::new([signal_hook::consts::SIGTERM])?.recv(cx).map(drop);
    #[cfg(windows)]
    return windows::END.wait(cx);
}
