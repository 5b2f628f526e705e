//! The table of known devices.
//!
//! Vendors write GB for memory, and mean 2^30 bytes. They write bandwidth in units of 10^9 or 10^12 bytes per second.
//! The maximum number of vectors in a block is the maximum number of lanes, 1,024 on each device here, divided by the
//! lanes of a vector.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::{Device, Shape};

/// The name by which [`Device::from_str`] finds the processor of the running program.
const THIS: &str = "this";

const GIB: u64 = 1 << 30;
const GB: u64 = 1_000_000_000;

/// A device of NVIDIA: 32 lanes in a warp, and at most 32 warps in a block.
const fn nvidia(
    name: &'static str,
    cores: u32,
    resident_vectors: u32,
    memory: u64,
    bandwidth: u64,
    source: &'static str,
) -> Device {
    let shape = Shape { cores, lanes: 32, resident_vectors, max_block_vectors: 32 };
    Device::in_table(name, shape, memory, bandwidth, source)
}

/// Each device with its short name.
static KNOWN: [(&str, Device); 7] = [
    (
        "h100",
        nvidia(
            "NVIDIA H100 SXM",
            132,
            64,
            80 * GIB,
            3350 * GB,
            "NVIDIA H100 datasheet and architecture whitepaper; CUDA programming guide, compute capability 9.0",
        ),
    ),
    (
        "h200",
        nvidia(
            "NVIDIA H200 SXM",
            132,
            64,
            141 * GIB,
            4800 * GB,
            "NVIDIA H200 datasheet; CUDA programming guide, compute capability 9.0",
        ),
    ),
    (
        "a100",
        nvidia(
            "NVIDIA A100 SXM 80 GB",
            108,
            64,
            80 * GIB,
            2039 * GB,
            "NVIDIA A100 datasheet and architecture whitepaper; CUDA programming guide, compute capability 8.0",
        ),
    ),
    (
        "v100",
        nvidia(
            "NVIDIA V100 SXM2 32 GB",
            80,
            64,
            32 * GIB,
            900 * GB,
            "NVIDIA V100 datasheet and Volta whitepaper; CUDA programming guide, compute capability 7.0",
        ),
    ),
    (
        "rtx4090",
        nvidia(
            "NVIDIA GeForce RTX 4090",
            128,
            48,
            24 * GIB,
            1008 * GB,
            "NVIDIA Ada whitepaper; CUDA programming guide, compute capability 8.9",
        ),
    ),
    (
        "mi300x",
        Device::in_table(
            "AMD Instinct MI300X",
            // A wavefront has 64 lanes. A compute unit has four SIMD units, each with eight resident wavefronts.
            Shape { cores: 304, lanes: 64, resident_vectors: 32, max_block_vectors: 16 },
            192 * GIB,
            5300 * GB,
            "AMD Instinct MI300X data sheet; LLVM's occupancy model of gfx942: 4 SIMDs a unit, 8 wavefronts each",
        ),
    ),
    (
        "max1550",
        Device::in_table(
            "Intel Data Center GPU Max 1550",
            // Both stacks. A core has eight vector engines, each with eight resident threads of 16 lanes.
            Shape { cores: 128, lanes: 16, resident_vectors: 64, max_block_vectors: 64 },
            128 * GIB,
            3_276_800_000_000,
            "Intel Data Center GPU Max Series overview; GPU occupancy calculator of the oneAPI samples, Xe HPC",
        ),
    ),
];

impl Device {
    /// Returns the table of known devices, each with the short name by which [`Device::from_str`] finds it.
    ///
    /// ```
    /// use anabranch_kernel::Device;
    ///
    /// let (_, h200) = Device::known().iter().find(|(name, _)| *name == "h200").unwrap();
    /// assert_eq!(h200.shape().cores, 132);
    /// ```
    #[must_use]
    pub fn known() -> &'static [(&'static str, Device)] {
        &KNOWN
    }

    /// Returns the figures of the table, if it has a device with the name that a driver reports.
    #[cfg(any(feature = "cuda", feature = "gpu"))]
    pub(crate) fn known_as(name: &str) -> Option<Self> {
        let plain: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        KNOWN.iter().find(|(short, _)| plain.contains(short)).map(|(_, known)| known.clone())
    }
}

impl FromStr for Device {
    type Err = UnknownDevice;

    /// Finds a device of the table by its short name, or the processor of the running program by the name `this`. Upper
    /// and lower case are not distinguished.
    fn from_str(name: &str) -> Result<Self, UnknownDevice> {
        if name.eq_ignore_ascii_case(THIS) {
            return Ok(Self::cpu());
        }
        let found = KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, device)| device.clone()).ok_or_else(|| UnknownDevice { name: name.to_owned() })
    }
}

/// There is no device with this name. The message lists the known names.
///
/// ```
/// use anabranch_kernel::Device;
///
/// let error = "h100000".parse::<Device>().unwrap_err();
/// assert!(error.to_string().starts_with("no device 'h100000' is known; the known ones are this, h100, "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDevice {
    name: String,
}

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no device '{}' is known; the known ones are {THIS}", self.name)?;
        KNOWN.iter().try_for_each(|(name, _)| write!(f, ", {name}"))
    }
}

impl Error for UnknownDevice {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_describes_possible_machines() {
        for (name, device) in &KNOWN {
            assert!(Device::new(device.name().to_owned(), device.shape()).is_ok(), "{name}");
            assert_eq!(device.shape().lanes * device.shape().max_block_vectors, 1024, "{name}");
            assert!(device.memory() >= Some(GIB) && device.bandwidth() >= Some(100 * GB), "{name}");
            assert!(!device.source().is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
            assert_eq!(name.to_uppercase().parse::<Device>().as_ref(), Ok(device));
        }
    }
}
