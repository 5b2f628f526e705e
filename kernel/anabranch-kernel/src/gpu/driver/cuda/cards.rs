//! The cards that CUDA finds, and the shapes that the planner sees.

use cudarc::driver::sys::CUdevice_attribute as Attribute;

use super::{api, compiler};
use crate::gpu::driver::Limits;
use crate::{Device, Shape};

/// The vectors of an operation. The parameters of a kernel have 4,096 bytes, of which 128 are the immediates, and a
/// vector has 16.
const BUFFERS: usize = 240;

/// A card.
pub(in crate::gpu) struct Card {
    pub(super) number: i32,
    pub(in crate::gpu) name: String,
    memory: u64,
    /// Where the card is, as in `0000:01:00.0`.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "no other driver may find the card"))]
    slot: String,
    shape: Shape,
    bandwidth: u64,
    pub(super) limits: Limits,
    /// The compute capability.
    pub(super) compute: (u32, u32),
}

/// Looks for cards. Also returns why there are none, or why some are left out.
pub(in crate::gpu) fn cards() -> (Vec<Card>, Option<String>) {
    let count = match api::count().and_then(|count| compiler::check().map(|()| count)) {
        Ok(count) => count,
        Err(reason) => return (Vec::new(), Some(reason)),
    };
    let (mut cards, mut reasons) = (Vec::new(), Vec::new());
    for number in 0..count {
        let Some(card) = card(number) else {
            reasons.push(format!("the driver does not describe card number {number}"));
            continue;
        };
        // Another driver may offer a card that NVRTC does not compile for.
        match compiler::target(card.compute) {
            Ok(_) => cards.push(card),
            Err(reason) => reasons.push(format!("{}: {reason}", card.name)),
        }
    }
    (cards, (!reasons.is_empty()).then(|| reasons.join("; ")))
}

fn card(number: i32) -> Option<Card> {
    let (name, memory, slot) = api::identity(number)?;
    let of = |attribute| api::attribute(number, attribute);
    let lanes = of(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?.max(1);
    let block = of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    let resident = of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?;
    let shape = Shape {
        cores: of(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1),
        lanes,
        resident_vectors: (resident / lanes).max(1),
        max_block_vectors: (block / lanes).max(1),
    };
    // Two words for each cycle, kilohertz and bits. Some drivers say 0.
    let clock = of(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE).unwrap_or(0);
    let width = of(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH).unwrap_or(0);
    let limits = Limits {
        blocks: of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
        lanes: block,
        shared_bytes: of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        buffers: BUFFERS,
        // The number of words of a vector is less than 2^32.
        buffer_bytes: memory.min(4 * u64::from(u32::MAX)),
        is_cpu: false,
    };
    let compute = (
        of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    let bandwidth = 2000 * u64::from(clock) * u64::from(width) / 8;
    Some(Card { number, name, memory, slot, shape, bandwidth, limits, compute })
}

impl Card {
    /// Returns the figures of the driver, and the bandwidth of the table of known devices if that has the same shape. A
    /// card of the name may be another variant, or a part of one (MIG).
    pub(in crate::gpu) fn figures(&self) -> Device {
        let known = Device::known_as(&self.name).filter(|known| known.shape() == self.shape);
        let (bandwidth, source) = match known.and_then(|known| known.bandwidth()) {
            Some(bandwidth) => (bandwidth, "the CUDA driver, and for the bandwidth the table of known devices"),
            None => (self.bandwidth, "the CUDA driver"),
        };
        let device = Device::new("", self.shape).expect("no number is 0").with_memory(self.memory).with_source(source);
        if bandwidth > 0 { device.with_bandwidth(bandwidth) } else { device }
    }

    /// Returns whether a device that wgpu finds is this card.
    #[cfg(feature = "gpu")]
    pub(in crate::gpu) fn is(&self, name: &str, slot: &str) -> bool {
        is_same((&self.name, &self.slot), (name, slot))
    }
}

/// Returns whether two names and slots are of one card. Without a slot, cards of one name count as one.
#[cfg(feature = "gpu")]
fn is_same((name, slot): (&str, &str), (other_name, other_slot): (&str, &str)) -> bool {
    // The functions of a card differ by what follows the point.
    let [slot, other] = [slot, other_slot].map(|slot| slot.split('.').next().unwrap_or_default());
    if slot.is_empty() || other.is_empty() { name == other_name } else { slot.eq_ignore_ascii_case(other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_driver_and_a_known_bandwidth_of_the_same_shape() {
        let card = |name: &str, cores, memory| Card {
            number: 0,
            name: name.to_owned(),
            memory,
            slot: String::new(),
            shape: Shape { cores, lanes: 32, resident_vectors: 64, max_block_vectors: 32 },
            bandwidth: 2_000_000_000_000,
            limits: Limits { blocks: 1, lanes: 1, shared_bytes: 0, buffers: BUFFERS, buffer_bytes: 4, is_cpu: false },
            compute: (9, 0),
        };
        for (name, cores, memory, bandwidth) in [
            ("NVIDIA H100 80GB HBM3", 132, 79 << 30, 3_350_000_000_000),
            ("NVIDIA H100 PCIe", 114, 79 << 30, 2_000_000_000_000),
            ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, 10 << 30, 2_000_000_000_000),
            ("NVIDIA L4", 132, 22 << 30, 2_000_000_000_000),
        ] {
            let figures = card(name, cores, memory).figures();
            let found = (figures.shape().cores, figures.memory(), figures.bandwidth());
            assert_eq!(found, (cores, Some(memory), Some(bandwidth)), "{name}");
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_card_is_known_by_its_slot_or_else_by_its_name() {
        let card = ("NVIDIA H200", "0000:0A:00.0");
        assert!(is_same(card, ("NVIDIA H200", "0000:0a:00.0")));
        assert!(!is_same(card, ("NVIDIA H200", "0000:0b:00.0")));
        assert!(is_same(card, ("NVIDIA H200", "")) && !is_same(card, ("llvmpipe", "")));
        assert!(is_same(("NVIDIA H200", ""), card));
    }
}
