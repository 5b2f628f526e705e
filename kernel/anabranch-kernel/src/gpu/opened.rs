//! An opened device: the state that all its queues share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anabranch::channel::RecvError;

use super::devices;
use super::driver::{self, Driver, Limits};
use super::free_memory::FreeMemory;
use super::pipeline::Pipelines;
use super::traps::{Known, Traps};
use crate::{Device, Error};

/// The state that all clones of a queue, and all its vectors, share.
pub(super) struct Opened {
    /// Dropped first: it waits for the work on the rest.
    pub(super) driver: Box<dyn Driver>,
    pub(super) description: Device,
    pub(super) limits: Limits,
    /// The most rounds of loops that a lane may run, if the driver ends loops.
    pub(super) rounds: Option<u32>,
    memory: Mutex<FreeMemory>,
    pub(super) pipelines: Pipelines,
    traps: Mutex<Traps>,
}

impl Opened {
    /// Opens a device of [`devices::found`] with all that it offers, as changed by `restrict`.
    pub(super) fn open(description: &Device, restrict: impl FnOnce(&mut Limits)) -> Result<Arc<Self>, Error> {
        let no_device = |reason: String| Error::no_device(description, reason);
        let found = devices::of(description)
            .ok_or_else(|| no_device(not_found(devices::found().is_empty(), devices::without_cuda())))?;
        let (driver, mut limits) = found.open().map_err(no_device)?;
        restrict(&mut limits);
        Ok(Arc::new(Self {
            driver,
            description: description.clone(),
            limits,
            rounds: found.rounds(),
            memory: Mutex::default(),
            pipelines: Pipelines::default(),
            traps: Mutex::default(),
        }))
    }

    /// Returns an error if the device is lost.
    pub(super) fn check(&self) -> Result<(), Error> {
        driver::check(&*self.driver)
    }

    /// The error of a reply that does not come.
    pub(super) fn no_reply(&self) -> Error {
        let dropped = || Error::Lost { reason: "the driver has dropped a wait; open it again".to_owned() };
        self.check().err().unwrap_or_else(dropped)
    }

    /// The error of a wait that does not end with a reply.
    pub(super) fn wait_error(&self, error: RecvError) -> Error {
        match error {
            RecvError::Cancelled => Error::Cancelled,
            RecvError::Closed => self.no_reply(),
        }
    }

    /// Returns the program of a kernel.
    pub(super) fn program(&self, name: &'static str, bytes: &'static [u8]) -> Result<Known, Error> {
        if bytes.is_empty() {
            let reason = format!("the kernel `{name}` runs on the processor only: write it with `#[kernel]`");
            return Err(Error::Unsupported { reason });
        }
        let known = self.traps().program(name, bytes);
        known.map_err(|reason| Error::Unsupported { reason: format!("`{name}`: {reason}") })
    }

    /// Locks the codes of traps.
    pub(super) fn traps(&self) -> MutexGuard<'_, Traps> {
        self.traps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the free memory.
    pub(super) fn memory(&self) -> MutexGuard<'_, FreeMemory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the reason why a device was not found, with the one why CUDA has none.
fn not_found(none: bool, without_cuda: Option<&str>) -> String {
    let reason = match none {
        true => format!("no GPU was found; a driver for {DRIVERS} is needed"),
        false => "it is not one of `Device::gpus()`".to_owned(),
    };
    match without_cuda {
        Some(without) => format!("{reason}; CUDA: {without}"),
        None => reason,
    }
}

/// The drivers that the features of this build look for.
const DRIVERS: &str = match (cfg!(feature = "gpu"), cfg!(feature = "cuda")) {
    (true, true) => "CUDA, Vulkan, Metal or Direct3D 12",
    (true, false) => "Vulkan, Metal or Direct3D 12",
    (false, _) => "CUDA, with its library NVRTC,",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_found_has_the_reason_of_cuda() {
        let reason = not_found(false, Some("the library of NVRTC (`libnvrtc`) was not found: install it"));
        assert!(reason.starts_with("it is not one of `Device::gpus()`; CUDA: the library of NVRTC"), "{reason}");
        assert!(not_found(true, None).ends_with("is needed"));
        // Without a card there is a reason.
        let described = "h200".parse().unwrap();
        let Err(error) = Opened::open(&described, |_| ()) else { panic!("a description is opened") };
        let has_reason = error.to_string().contains("; CUDA: ");
        assert_eq!(has_reason, devices::without_cuda().is_some(), "{error}");
        assert!(has_reason || !cfg!(feature = "cuda") || !devices::found().is_empty(), "{error}");
    }
}
