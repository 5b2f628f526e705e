//! Channels: each kind, what they share, and how they are selected from.

mod bugs_of_other_crates;
mod direct_handoff;
mod drop_panics;
mod ends;
mod every_operation;
mod fairness;
mod large_messages;
mod linearisability;
mod local_waits;
mod mpmc;
mod mpmc_close;
mod mpmc_permits;
mod oneshot;
mod plain_threads;
mod random_programs;
mod random_threads;
mod receive_results;
mod reentrant_wakers;
mod rendezvous;
mod select;
mod select_arms;
mod select_async;
mod select_reuse;
mod send_and_sync;
mod set;
mod spsc;
mod spsc_close;
#[cfg(feature = "futures")]
mod streams;
mod watch_and_broadcast;
