//! Fibers measured side by side: anabranch, its peers, and threads.
//!
//! As for fork-join there is one file for each workload ([`workloads`]) and one for each peer ([`peers`]), and the same
//! harness runs them. But here a workload is not written once for all: code that waits looks different in every
//! library, `async` in one, a goroutine in the next. So a workload says how much of what is done, with whom, and what
//! comes out, and [`peers::Peer`] has one function for each of them, written as a user of that library would.

pub mod peers;
pub mod workloads;
