//! Fibers: spawning, joining, cancelling, time, limits and shutdown.

mod async_budget;
mod awaiting;
mod balance;
mod blocking;
mod cancel;
mod compute;
mod deadlines;
mod handles;
mod hooks;
mod join;
mod join_panics;
mod join_set;
mod limits;
mod list;
mod locals;
mod places;
mod race;
mod random_programs;
mod scope;
mod shutdown;
mod spawn;
mod supervise;
mod time;
#[cfg(unix)]
mod tokio;
mod try_scope;
mod unwinding;
