//! Messages measured side by side: anabranch's channels and those of its peers, between fibers, tasks and threads.
//!
//! There is one file for each workload ([`workloads`]) and one for each library ([`peers`]). A workload says who sends
//! what to whom, once for code that blocks ([`blocking`]: fibers, coroutines, threads) and once for code that is
//! `async` ([`tasks`]). A library says how one of its channels is made, sent to and received from. So everybody does
//! the same, in the flavour that its authors made for it: the channel of one sender and one receiver, where there is
//! such, for links between two.
//!
//! A message is a number of eight bytes. Whoever receives adds them up, and the sum is checked in every sample.

pub mod blocking;
pub mod peers;
mod runs;
pub mod tasks;
pub mod workloads;
