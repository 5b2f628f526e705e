//! Fibers measured side by side: anabranch, its peers, and threads.
//!
//! As for fork-join, there is one file for each workload ([`workloads`]) and one for each peer ([`peers`]), and the
//! same harness runs them. But a workload is not written once for all peers, because code that waits looks different in
//! every library: `async` in one, a goroutine in the next. So a workload defines the operations, their number and the
//! expected result. [`peers::Peer`] has one function for each workload, written as a user of that library would write
//! it.

pub mod done;
pub mod peers;
pub mod programs;
pub mod workloads;
