//! The queue of a device, and the vectors that belong to it.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::devices;
use super::driver::Ticket;
use super::memory::Block;
use super::opened::Opened;
use super::slots::TrapSet;
use crate::{Device, Error};

/// An opened device.
#[derive(Clone)]
pub(crate) struct GpuQueue {
    pub(super) opened: Arc<Opened>,
}

impl GpuQueue {
    /// Opens one of [`devices`](super::devices()).
    pub(crate) fn open(device: &Device) -> Result<Self, Error> {
        Ok(Self { opened: Opened::open(device, |_| ())? })
    }

    /// Returns the queue that an earlier call has opened, if it is in use and its device is not lost. Otherwise opens
    /// one of [`devices`](super::devices()).
    pub(crate) fn shared(device: &Device) -> Result<Self, Error> {
        static SHARED: OnceLock<Vec<Mutex<Weak<Opened>>>> = OnceLock::new();
        let of_all = || devices::found().iter().map(|_| Mutex::default()).collect();
        let number = device.gpu_number();
        let Some(shared) = number.and_then(|number| SHARED.get_or_init(of_all).get(number)) else {
            return Self::open(device);
        };
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
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

    pub(super) fn buffer(&self, block: Block, words: usize, written: Written) -> Buffer {
        Buffer { block, queue: self.clone(), words, written }
    }

    /// Returns [`Error::Queues`] if a vector is not of this queue.
    pub(crate) fn check_owner(&self, buffer: &Buffer) -> Result<(), Error> {
        if buffer.queue == *self {
            return Ok(());
        }
        let other = buffer.queue.device().name();
        Err(Error::queues(format!("another queue, of {other}"), self.device().name()))
    }
}

/// Words in the memory of a device.
pub struct Buffer {
    pub(super) block: Block,
    pub(super) queue: GpuQueue,
    pub(super) words: usize,
    pub(super) written: Written,
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("words", &self.words).finish_non_exhaustive()
    }
}

/// The launches that the words of a vector depend on.
#[derive(Clone, Default)]
pub(super) struct Written {
    /// The launches whose traps make the words invalid.
    pub(super) traps: TrapSet,
    /// The last submission that writes the words. `None` if there are no words.
    pub(super) submission: Option<Ticket>,
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

    /// Returns the number of bytes.
    pub(super) fn bytes(&self) -> u64 {
        4 * self.words as u64
    }
}
