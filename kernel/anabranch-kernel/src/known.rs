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
/// The name by which it finds the first GPU of this machine.
const AUTO: &str = "auto";
/// The lanes of the largest block, if a description does not say otherwise.
const LANES_OF_BLOCK: u32 = 1024;

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
static KNOWN: [(&str, Device); 8] = [
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
        "c2050",
        nvidia(
            "NVIDIA Tesla C2050",
            14,
            48,
            3 * GIB,
            144 * GB,
            "NVIDIA Tesla C2050 board specification and Fermi whitepaper; CUDA programming guide, compute capability 2.0",
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

    /// Finds a device of the table by its short name, the processor of the running program by the name `this`, or the
    /// first GPU of [`Device::gpus`] by the name `auto`. Upper and lower case are not distinguished.
    ///
    /// A text such as `cores=14,warps=48,lanes=32` describes a device: its cores, the vectors that are resident in a
    /// core, and the lanes of a vector. `block=32` adds the vectors of the largest block, which otherwise
    /// has 1,024 lanes.
    ///
    /// ```
    /// use anabranch_kernel::{Device, Shape};
    ///
    /// let device: Device = "cores=14,warps=48,lanes=32".parse()?;
    /// let fermi = Shape { cores: 14, lanes: 32, resident_vectors: 48, max_block_vectors: 32 };
    /// assert_eq!(device.shape(), fermi);
    /// assert_eq!("c2050".parse::<Device>()?.shape(), fermi);
    /// # Ok::<(), anabranch_kernel::UnknownDevice>(())
    /// ```
    fn from_str(name: &str) -> Result<Self, UnknownDevice> {
        if name.eq_ignore_ascii_case(THIS) {
            return Ok(Self::cpu());
        }
        if name.eq_ignore_ascii_case(AUTO) {
            return Self::gpus().into_iter().next().ok_or(UnknownDevice::NoGpu);
        }
        if name.contains('=') {
            return described(name).map_err(|reason| UnknownDevice::Description { text: name.to_owned(), reason });
        }
        let found = KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, device)| device.clone()).ok_or_else(|| UnknownDevice::Name(name.to_owned()))
    }
}

/// Returns the device that a text such as `cores=14,warps=48,lanes=32` describes.
fn described(text: &str) -> Result<Device, String> {
    let (mut cores, mut lanes, mut warps, mut block) = (None, None, None, None);
    for part in text.split(',') {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("'{part}' is not NAME=NUMBER"))?;
        let field = match key.trim() {
            "cores" => &mut cores,
            "lanes" => &mut lanes,
            "warps" => &mut warps,
            "block" => &mut block,
            key => return Err(format!("there is no '{key}': give cores, warps, lanes and perhaps block")),
        };
        let value = value.trim();
        let number = value.parse().ok().filter(|&number| number > 0);
        let number: u32 = number.ok_or_else(|| format!("'{value}' is not a whole number from 1 on"))?;
        if field.replace(number).is_some() {
            return Err(format!("{key} is given twice"));
        }
    }
    let given = |field: Option<u32>, name: &str| field.ok_or_else(|| format!("{name} is missing"));
    let (cores, warps, lanes) = (given(cores, "cores")?, given(warps, "warps")?, given(lanes, "lanes")?);
    let max_block_vectors = block.unwrap_or((LANES_OF_BLOCK / lanes).clamp(1, warps));
    let shape = Shape { cores, lanes, resident_vectors: warps, max_block_vectors };
    Device::new(text.to_owned(), shape).map_err(|error| error.to_string())
}

/// There is no such device. The message says why, or lists the known names.
///
/// ```
/// use anabranch_kernel::Device;
///
/// let error = "h100000".parse::<Device>().unwrap_err();
/// assert!(error.to_string().starts_with("no device 'h100000' is known; the known ones are this, auto, h100, "));
/// let error = "cores=14,lanes=32".parse::<Device>().unwrap_err();
/// assert_eq!(error.to_string(), "'cores=14,lanes=32' describes no device: warps is missing");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownDevice {
    /// No known device has this name.
    Name(String),
    /// This machine has no GPU that can be used.
    NoGpu,
    /// The text does not describe a device.
    #[non_exhaustive]
    Description {
        /// The text.
        text: String,
        /// Its mistake.
        reason: String,
    },
}

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => {
                write!(f, "no device '{name}' is known; the known ones are {THIS}, {AUTO}")?;
                KNOWN.iter().try_for_each(|(name, _)| write!(f, ", {name}"))?;
                f.write_str(", or describe one: cores=14,warps=48,lanes=32")
            }
            Self::NoGpu if cfg!(any(feature = "cuda", feature = "gpu")) => {
                f.write_str("no GPU was found: its driver or its library may be missing")
            }
            Self::NoGpu => {
                f.write_str("no GPU can be found, because this program was built without the features `cuda` and `gpu`")
            }
            Self::Description { text, reason } => write!(f, "'{text}' describes no device: {reason}"),
        }
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

    #[test]
    fn descriptions_are_read_and_mistakes_named() {
        let shape = |text: &str| text.parse::<Device>().map(|device| device.shape());
        let with = |lanes, max_block_vectors| Shape { cores: 7, lanes, resident_vectors: 48, max_block_vectors };
        assert_eq!(shape("lanes=32, cores=7, warps=48"), Ok(with(32, 32)));
        assert_eq!(shape("lanes=4096,cores=7,warps=48"), Ok(with(4096, 1)));
        assert_eq!(shape("lanes=1,cores=7,warps=48"), Ok(with(1, 48)), "no more than are resident");
        assert_eq!(shape("lanes=32,cores=7,warps=48,block=8"), Ok(with(32, 8)));
        for (text, mistake) in [
            ("cores=7", "warps is missing"),
            ("cores=7,cores=8", "cores is given twice"),
            ("cores=7,warps=0,lanes=1", "'0' is not a whole number from 1 on"),
            ("cores=7,warps=x,lanes=1", "'x' is not a whole number"),
            ("cores=7,warps", "'warps' is not NAME=NUMBER"),
            ("threads=7", "there is no 'threads'"),
        ] {
            let error = shape(text).unwrap_err().to_string();
            assert!(error.contains(mistake), "{error}");
        }
    }
}
