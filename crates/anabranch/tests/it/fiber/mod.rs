//! Fibers: spawning, joining, cancelling, time, limits and shutdown.

mod awaiting;
mod blocking;
mod cancel;
mod compute;
mod deadlines;
mod handles;
mod join;
mod join_panics;
mod limits;
mod list;
mod locals;
mod race;
mod random_programs;
mod scope;
mod shutdown;
mod spawn;
mod time;
mod try_scope;
mod unwinding;
