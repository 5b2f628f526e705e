//! Devices: GPUs through wgpu and CUDA.
//!
//! `devices` finds them, and `opened` opens one. A `driver` allocates, compiles and submits, with a thread of its own
//! (`poller`). Vectors are in blocks of `memory`, and `transfer` copies them. An operation (`operations`, `sort`) is a
//! skeleton in WGSL, whose placeholders `skeleton` replaces by functions that `lower` makes from the trees of lazy
//! vectors. `pipeline` keeps what was compiled, `geometry` follows the plan of the device, and `launch` dispatches.
//! `traps` says what went wrong.

mod devices;
mod driver;
mod geometry;
mod launch;
mod lower;
mod memory;
mod opened;
mod operations;
mod pipeline;
mod poller;
mod skeleton;
mod sort;
#[cfg(test)]
mod tests;
mod transfer;
mod traps;
mod writer;

use std::fmt;
use std::sync::{Arc, PoisonError};

use launch::Written;
use opened::Opened;

pub use memory::Buffer;
pub(crate) use transfer::Reply;

use crate::{Device, Error};

/// An opened device.
#[derive(Clone)]
pub(crate) struct GpuQueue {
    opened: Arc<Opened>,
}

/// Returns the devices that can be opened.
pub(crate) fn devices() -> Vec<Device> {
    devices::found().iter().map(|found| found.device.clone()).collect()
}

impl GpuQueue {
    /// Opens one of [`devices`].
    pub(crate) fn open(device: &Device) -> Result<Self, Error> {
        Ok(Self { opened: Opened::open(device, |_| ())? })
    }

    /// Returns the queue that an earlier call has opened, if it is in use and its device is not lost. Otherwise opens
    /// one of [`devices`].
    pub(crate) fn shared(device: &Device) -> Result<Self, Error> {
        let Some(found) = devices::of(device) else { return Self::open(device) };
        let mut shared = found.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = shared.upgrade().filter(|opened| opened.check().is_ok()) {
            return Ok(Self { opened });
        }
        let queue = Self::open(device)?;
        *shared = Arc::downgrade(&queue.opened);
        Ok(queue)
    }

    /// Returns the device.
    pub(crate) fn device(&self) -> &Device {
        &self.opened.description
    }

    fn buffer(&self, block: memory::Block, words: usize, written: Written) -> Buffer {
        Buffer { block, queue: self.clone(), words, written }
    }
}

impl PartialEq for GpuQueue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.opened, &other.opened)
    }
}

impl fmt::Debug for GpuQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuQueue").field("device", self.device()).finish_non_exhaustive()
    }
}

impl Buffer {
    /// Returns the queue that the buffer belongs to.
    pub(crate) fn queue(&self) -> &GpuQueue {
        &self.queue
    }

    /// Returns the number of words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }
}
