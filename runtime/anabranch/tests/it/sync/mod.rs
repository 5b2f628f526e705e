//! Locks and other synchronisation of fibers, threads and futures.

mod barrier;
mod condvar;
mod event;
mod fairness;
mod future_steps;
mod monitor;
mod mutex;
mod notify;
mod once;
mod owned;
mod rwlock;
mod select;
mod semaphore;
mod semaphore_close;
