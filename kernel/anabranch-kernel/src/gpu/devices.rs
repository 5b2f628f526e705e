//! The devices of this machine, of all drivers.
//!
//! A card that CUDA and Vulkan both have is listed once, with CUDA, with which a short operation takes half the time.

use std::sync::OnceLock;

use super::driver::{Driver, Limits};
use crate::Device;

/// A device, and how to open it.
pub(super) struct Found {
    pub(super) device: Device,
    source: Source,
}

enum Source {
    #[cfg(feature = "gpu")]
    Wgpu(Box<super::driver::wgpu::adapters::Found>),
    #[cfg(feature = "cuda")]
    Cuda(super::driver::cuda::Card),
}

impl Found {
    /// Opens the device. Returns the reason if it cannot be opened.
    pub(super) fn open(&self) -> Result<(Box<dyn Driver>, Limits), String> {
        match &self.source {
            #[cfg(feature = "gpu")]
            Source::Wgpu(found) => {
                let (driver, limits) = super::driver::wgpu::Driver::open(&found.adapter)?;
                Ok((Box::new(driver), limits))
            }
            #[cfg(feature = "cuda")]
            Source::Cuda(card) => {
                let (driver, limits) = super::driver::cuda::Driver::open(card)?;
                Ok((Box::new(driver), limits))
            }
        }
    }

    /// Returns the most rounds of loops that a lane may run, if the driver ends loops.
    pub(super) fn rounds(&self) -> Option<u32> {
        match &self.source {
            #[cfg(feature = "gpu")]
            Source::Wgpu(found) => found.rounds,
            #[cfg(feature = "cuda")]
            Source::Cuda(_) => None,
        }
    }
}

/// The devices of this machine, and why CUDA has no others.
struct All {
    devices: Vec<Found>,
    without_cuda: Option<String>,
}

/// Looks for the devices at the first call.
fn all() -> &'static All {
    static ALL: OnceLock<All> = OnceLock::new();
    ALL.get_or_init(|| {
        // The name, the figures, and the driver of each.
        let mut all: Vec<(String, Device, Source)> = Vec::new();
        #[cfg(feature = "cuda")]
        let (cards, without_cuda) = super::driver::cuda::cards();
        #[cfg(not(feature = "cuda"))]
        let without_cuda = None;
        #[cfg(feature = "gpu")]
        for found in super::driver::wgpu::adapters::find() {
            #[cfg(feature = "cuda")]
            if cards.iter().any(|card| card.is(&found.info.name, &found.info.device_pci_bus_id)) {
                continue;
            }
            all.push((found.info.name.clone(), found.figures.clone(), Source::Wgpu(Box::new(found))));
        }
        #[cfg(feature = "cuda")]
        all.splice(0..0, cards.into_iter().map(|card| (card.name.clone(), card.figures(), Source::Cuda(card))));
        let mut devices: Vec<Found> = Vec::with_capacity(all.len());
        let mut names = Vec::new();
        for (plain, figures, source) in all {
            let same = names.iter().filter(|name| **name == plain).count();
            let name = if same == 0 { plain.clone() } else { format!("{plain} (number {})", same + 1) };
            names.push(plain);
            let device = Device::found(figures, name, devices.len());
            devices.push(Found { device, source });
        }
        All { devices, without_cuda }
    })
}

/// Returns the devices of this machine. The first call looks for them.
pub(super) fn found() -> &'static [Found] {
    &all().devices
}

/// Returns why CUDA has no device, or not all cards, if it is a feature of this build.
pub(super) fn without_cuda() -> Option<&'static str> {
    all().without_cuda.as_deref()
}

/// Returns one of the devices, unless `device` is only a description.
pub(super) fn of(device: &Device) -> Option<&'static Found> {
    found().get(device.gpu_number()?)
}
