//! Pools without work: their threads sleep and wake up only when there is a reason.

#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod fibers;
#[cfg(target_os = "linux")]
mod switches;
#[cfg(target_os = "linux")]
mod threads;
mod wakeups;
