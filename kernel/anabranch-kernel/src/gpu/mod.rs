//! Devices: GPUs through wgpu and CUDA.
//!
//! `devices` finds them, and `opened` opens one. A `driver` allocates, compiles and submits, with a thread of its own
//! (`poller`). Vectors are in blocks of `memory`, and `transfer` copies them. An operation (`operations`, `sort`) is a
//! skeleton in WGSL, whose placeholders `skeleton` replaces by functions that `lower` makes from the trees of lazy
//! vectors. `compile` compiles the module, `pipeline` caches compiled operations, `geometry` follows the plan of the
//! device, and `launch` dispatches. A launch reports what went wrong in its slot (`slots`), as a code of `traps`.

mod compile;
mod devices;
mod driver;
mod free_memory;
mod geometry;
mod launch;
mod layout;
mod lower;
mod memory;
mod opened;
mod operations;
mod pipeline;
mod poller;
mod queue;
mod skeleton;
mod slots;
mod sort;
#[cfg(test)]
mod tests;
mod transfer;
mod traps;
mod writer;

pub use queue::Buffer;
pub(crate) use queue::GpuQueue;
pub(crate) use transfer::Reply;

use crate::Device;

/// Returns the devices that can be opened.
pub(crate) fn devices() -> Vec<Device> {
    devices::found().iter().map(|found| found.device.clone()).collect()
}
