//! Waiting for sockets: readiness, sources, and the reactor of each worker.
//!
//! Each worker has a reactor of its own, made when a socket is first waited for there: a poller, and the sources that
//! are registered at it. A worker that has nothing to do waits in its poller instead of at its parker. So the thread
//! that an event wakes is mostly the one whose fiber waits, since a fiber that has begun stays on its worker. A socket
//! is registered at the reactor of the worker that first waits with it, and moves when another worker keeps waiting.
//!
//! | the worker                                | who polls its reactor                                              |
//! |-------------------------------------------|--------------------------------------------------------------------|
//! | is idle; waits in a compute `join`        | it waits in it (`Slot::park`)                                      |
//! | blocks in `run`, or with a fiber          | it waits in it                                                     |
//! | runs fibers                               | it polls after some dozens of switches, if [`BUSY`] has passed     |
//! | searches for work                         | it polls once in each round of looks                               |
//! | computes, or blocks in a foreign call     | the heartbeat worker, at each of its looks                         |
//!
//! The last line needs a heartbeat worker, and there is one: a worker that computes or blocks is a root that is open
//! (`pool::sleep`). A worker that waits in its poller is not a root. So if all workers wait, no thread wakes at
//! intervals.
//!
//! [`BUSY`]: slot

#[cfg(all(feature = "net", any(unix, windows), not(any(loom, shuttle))))]
#[expect(clippy::module_inception, reason = "the reactor itself, beside its sources")]
pub(crate) mod reactor;
#[cfg(not(all(feature = "net", any(unix, windows), not(any(loom, shuttle)))))]
#[path = "absent.rs"]
#[expect(clippy::module_inception, reason = "the reactor itself, beside its sources")]
pub(crate) mod reactor;
pub(crate) mod readiness;
pub(crate) mod slot;
#[cfg(all(feature = "net", any(unix, windows), not(any(loom, shuttle))))]
pub(crate) mod source;
