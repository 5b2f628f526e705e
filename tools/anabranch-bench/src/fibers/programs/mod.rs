//! The parts of the workloads that the peers run.

pub mod alarms;
pub mod crowd;
pub mod gathering;
pub mod waits;
