//! The devices that wgpu finds, and the shapes that the planner sees.

use std::sync::{Mutex, OnceLock, Weak};

use wgpu::{Adapter, AdapterInfo, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags};

use super::opened::{Opened, ready};
use crate::known::KNOWN;
use crate::{Device, Shape};

/// The rounds after which llvmpipe ends the loops of a lane, all together. It reports no error.
const LLVMPIPE_ROUNDS: u32 = 65_535;

/// An adapter of wgpu, and its description.
pub(super) struct Found {
    pub(super) adapter: Adapter,
    pub(super) device: Device,
    /// The most rounds of loops that a lane may run.
    pub(super) rounds: Option<u32>,
    /// What [`GpuQueue::shared`](super::GpuQueue::shared) has opened, while it is in use.
    pub(super) shared: Mutex<Weak<Opened>>,
}

/// Returns the devices of this machine. The first call looks for them.
pub(super) fn found() -> &'static [Found] {
    static FOUND: OnceLock<Vec<Found>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
        let instance = Instance::new(InstanceDescriptor {
            backends,
            flags: InstanceFlags::empty(),
            ..InstanceDescriptor::new_without_display_handle()
        });
        let adapters = ready(instance.enumerate_adapters(backends)).unwrap_or_default();
        let mut found: Vec<Found> = Vec::with_capacity(adapters.len());
        for adapter in adapters {
            let info = adapter.get_info();
            let same = found.iter().filter(|other| other.adapter.get_info().name == info.name).count();
            let name = if same == 0 { info.name.clone() } else { format!("{} (number {})", info.name, same + 1) };
            let device = Device::found(figures(&info), name, found.len());
            let rounds = (info.driver == "llvmpipe").then_some(LLVMPIPE_ROUNDS);
            found.push(Found { adapter, device, rounds, shared: Mutex::default() });
        }
        found
    })
}

/// Returns the adapter of a device, unless it is only a description.
pub(super) fn of(device: &Device) -> Option<&'static Found> {
    found().get(device.gpu_number()?)
}

/// Returns the figures of an adapter: by the table of known devices, else by a guess for its kind.
fn figures(info: &AdapterInfo) -> Device {
    let plain: String = info.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    if let Some((_, known)) = KNOWN.iter().find(|(short, _)| plain.contains(short)) {
        return known.clone();
    }
    let lanes = info.subgroup_max_size.max(1);
    // A core keeps 1,024 lanes resident, and a block has at most half of them. Those of the table have up to 2,048.
    let guess = |cores, source| {
        let (resident_vectors, max_block_vectors) = ((1024 / lanes).max(1), (512 / lanes).max(1));
        let shape = Shape { cores, lanes, resident_vectors, max_block_vectors };
        Device::new("", shape).expect("no number is 0").with_source(source)
    };
    match info.device_type {
        DeviceType::Cpu => {
            // A thread of the driver takes blocks from a queue, and runs one to its end. Of the geometries that were
            // measured with llvmpipe, tens of blocks for each core, of a few vectors, were best: blocks that follow
            // each other read the same cache lines.
            let shape = Shape { resident_vectors: 128, max_block_vectors: 4, ..Device::cpu().shape() };
            let source = "the processor that runs this driver, and measurements with llvmpipe";
            Device::new("", shape).expect("no number is 0").with_source(source)
        }
        DeviceType::IntegratedGpu => guess(16, "a guess for integrated GPUs"),
        DeviceType::DiscreteGpu => guess(64, "a guess for GPUs with memory of their own"),
        DeviceType::VirtualGpu | DeviceType::Other => guess(32, "a guess for GPUs of an unknown kind"),
    }
}
