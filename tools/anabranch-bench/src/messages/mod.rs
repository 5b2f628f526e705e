//! The benches of messages: anabranch's channels and those of its peers, between fibers, tasks and threads.
//!
//! There is one file for each workload ([`workloads`]) and one for each library ([`peers`]). A workload defines the
//! senders and receivers, once for blocking code ([`blocking`]: fibers, coroutines, threads) and once for `async` code
//! ([`tasks`]). A library defines how to create one of its channels, how to send and how to receive. So all peers do
//! the same, with the flavour of channel that their authors made for it: for links between two ends, the channel with
//! one sender and one receiver if there is one.
//!
//! A message is a number of eight bytes. The receiver adds up the numbers, and every sample checks the sum.

pub mod blocking;
pub mod peers;
mod runs;
#[cfg(feature = "peers")]
pub mod tasks;
pub mod workloads;
