//! The devices that wgpu finds, and the shapes that the planner sees.

use wgpu::{Adapter, AdapterInfo, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags};

use super::ready;
use crate::{Device, Shape};

/// The rounds after which llvmpipe ends the loops of a lane, all together. It reports no error.
const LLVMPIPE_ROUNDS: u32 = 65_535;

/// A device that wgpu finds.
pub(in crate::gpu) struct Found {
    pub(in crate::gpu) adapter: Adapter,
    pub(in crate::gpu) info: AdapterInfo,
    /// The kind of the adapter, without a name.
    pub(in crate::gpu) figures: Device,
    /// The most rounds of loops that a lane may run.
    pub(in crate::gpu) rounds: Option<u32>,
}

/// Looks for the devices of this machine.
pub(in crate::gpu) fn find() -> Vec<Found> {
    let backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
    let instance = Instance::new(InstanceDescriptor {
        backends,
        flags: InstanceFlags::empty(),
        ..InstanceDescriptor::new_without_display_handle()
    });
    let adapters = ready(instance.enumerate_adapters(backends)).unwrap_or_default();
    let found = adapters.into_iter().map(|adapter| {
        let info = adapter.get_info();
        let rounds = (info.driver == "llvmpipe").then_some(LLVMPIPE_ROUNDS);
        Found { adapter, figures: figures(&info), info, rounds }
    });
    found.collect()
}

/// Returns the figures of an adapter: by the table of known devices, else by a guess for its kind.
fn figures(info: &AdapterInfo) -> Device {
    if let Some(known) = Device::known_as(&info.name) {
        return known;
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
            Device::new("", shape).expect("no number is 0").with_source(source).on_processor()
        }
        DeviceType::IntegratedGpu => guess(16, "a guess for integrated GPUs"),
        DeviceType::DiscreteGpu => guess(64, "a guess for GPUs with memory of their own"),
        DeviceType::VirtualGpu | DeviceType::Other => guess(32, "a guess for GPUs of an unknown kind"),
    }
}
