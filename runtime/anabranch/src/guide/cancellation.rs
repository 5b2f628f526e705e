//! Scopes and cancellation: what a scope waits for, what cancels it, and what a cancelled wait returns.
//!
//! # Scopes
//! A [`Cx`](crate::Cx) stands for a scope. These calls open a scope within it. They return when everything that was
//! started in the new scope has ended:
//!
//! | | cancelled by |
//! |---|---|
//! | [`Cx::scope`](crate::Cx::scope) | a panic in it; [`FiberScope::cancel`](crate::fiber::FiberScope::cancel) |
//! | [`Cx::join`](crate::Cx::join) | a panic in one half |
//! | [`Cx::try_join`](crate::Cx::try_join), [`Cx::map_concurrent`](crate::Cx::map_concurrent) | the first error, or a panic |
//! | [`Cx::race`](crate::Cx::race) | the first result |
//! | [`Cx::race_ok`](crate::Cx::race_ok) | the first success |
//! | [`Cx::timeout`](crate::Cx::timeout), [`Cx::with_deadline`](crate::Cx::with_deadline) | the time |
//! | [`Cx::cancellable`](crate::Cx::cancellable) | its [`CancelHandle`](crate::fiber::CancelHandle), from any thread |
//!
//! The cancellation of a scope also cancels the scopes within it. A fiber of [`spawn`](crate::spawn) is in no scope. It
//! is cancelled via its handle, or when its pool is dropped.
//!
//! # The result of a cancelled wait
//! A wait in a cancelled scope returns [`Cancelled`](crate::Cancelled) at once, and so does every later wait there.
//! Cancellation does not unwind. Pass the error on with `?`.
//! ```
//! use anabranch::Cancelled;
//! use std::time::Duration;
//!
//! let handle = anabranch::spawn(|cx| {
//!     let first = cx.sleep(Duration::from_secs(3600));
//!     let second = cx.sleep(Duration::from_secs(3600));           // does not wait either
//!     (first, second)
//! });
//! handle.cancel();
//! let ended = anabranch::run(|cx| handle.join(cx)).unwrap();
//! assert_eq!(ended, (Err(Cancelled), Err(Cancelled)));
//! ```
//! A cancelled wait loses no value. A value that was not received is still in the channel, and a value that was not
//! sent is in the error.
//!
//! Code that does not wait should check for cancellation. [`Cx::check`](crate::Cx::check) returns the error, and
//! [`Cx::is_cancelled`](crate::Cx::is_cancelled) returns a `bool`.
//!
//! # Errors, and time limits
//! A function that waits returns `Result<_, E>` where `E: From<Cancelled>`. [`WaitError`](crate::WaitError) adds
//! `TimedOut`, which `timeout` returns. Both convert to `io::Error` and to [`Error`](crate::Error). To limit one wait,
//! use [`Operation::timeout`](crate::Operation::timeout).
//! ```
//! use anabranch::{Cx, WaitError};
//! use std::{io, time::Duration};
//!
//! fn slow(cx: &Cx<'_>) -> io::Result<()> {
//!     cx.sleep(Duration::from_secs(3600))?;
//!     Ok(())
//! }
//!
//! anabranch::run(|cx| {
//!     let late = cx.timeout(Duration::from_millis(1), slow);
//!     assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
//!
//!     let inner: Result<(), _> = cx.timeout(Duration::from_millis(1), |cx| {
//!         cx.timeout(Duration::from_secs(3600), |cx| Ok(cx.sleep(Duration::from_secs(7200))?))
//!     });
//!     assert_eq!(inner, Err(WaitError::TimedOut));                // the outer limit
//! });
//! ```
//! The time limit replaces only errors. If the closure succeeds after the deadline, `timeout` returns its result.
//!
//! # The first error, the first result
//! ```
//! use anabranch::{Cx, WaitError};
//! use std::time::Duration;
//!
//! #[derive(Debug, PartialEq)]
//! enum Failure {
//!     NotFound,
//!     Cancelled,
//! }
//! impl From<anabranch::Cancelled> for Failure {
//!     fn from(_: anabranch::Cancelled) -> Self {
//!         Self::Cancelled
//!     }
//! }
//!
//! anabranch::run(|cx| {
//!     let both: Result<((), ()), _> = cx.try_join(
//!         |cx| Ok(cx.sleep(Duration::from_secs(3600))?),          // cancelled by the error below
//!         |_| Err(Failure::NotFound),
//!     );
//!     assert_eq!(both, Err(Failure::NotFound));
//!
//!     let mirror = cx.race_ok((
//!         |_: &Cx<'_>| Err::<&str, _>(Failure::NotFound),
//!         |cx: &Cx<'_>| Ok(cx.sleep(Duration::from_millis(1)).map(|()| "second")?),
//!     ));
//!     assert_eq!(mirror, Ok("second"));
//! });
//! ```
//!
//! # Stopping from outside
//! ```
//! use std::{thread, time::Duration};
//!
//! let outcome = anabranch::run(|cx| {
//!     cx.cancellable(|cx, handle| {
//!         thread::spawn(move || handle.cancel());              // a signal handler's thread, say
//!         cx.map_concurrent(10, 0.., |cx, _: u64| cx.sleep(Duration::from_secs(1))).map(|_| ())
//!     })
//! });
//! assert_eq!(outcome, Err(anabranch::Cancelled));
//! ```
//!
//! # Waits that must complete
//! [`Cx::shield`](crate::Cx::shield) opens a scope that no cancellation and no deadline reaches. Use it to send a last
//! message, or to release a resource.
//! ```
//! use anabranch::channel;
//!
//! let (goodbyes, goodbye) = channel::bounded(1);
//! let handle = anabranch::spawn(move |cx| {
//!     let stopped = cx.sleep(std::time::Duration::from_secs(3600));
//!     cx.shield(|cx| goodbyes.send(cx, "stopped").unwrap());
//!     stopped
//! });
//! handle.cancel();
//! anabranch::run(|cx| assert_eq!(goodbye.recv(cx), Ok("stopped")));
//! ```
//!
//! # Panics
//! A panic in a scope cancels the scope. The scope waits for everything that was started in it, and then the panic
//! continues in the caller. If several fibers panic, the caller gets one of the panics, and the others go to
//! [`Builder::on_panic`](crate::Builder::on_panic). A wait in a `Drop` during unwinding blocks the thread or is
//! cancelled: see [`hazards`](super::hazards).
