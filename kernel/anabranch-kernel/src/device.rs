//! A machine as the planner sees it.

use std::borrow::Cow;
use std::thread::available_parallelism;

use crate::{Plan, Shape, ZeroInShape};

/// A machine: its [`Shape`], its memory, and where the figures come from.
///
/// ```
/// use anabranch_kernel::{Device, Shape};
///
/// let shape = Shape { cores: 46, lanes: 32, resident_vectors: 48, max_block_vectors: 32 };
/// let card = Device::new("a card", shape)?.with_memory(12 << 30).with_bandwidth(504_000_000_000);
/// assert_eq!(card.plan(1 << 20).blocks(), 92);
/// # Ok::<_, anabranch_kernel::ZeroInShape>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    name: Cow<'static, str>,
    shape: Shape,
    memory: Option<u64>,
    bandwidth: Option<u64>,
    source: &'static str,
    place: Place,
    /// Whether the processor runs the kernels, also those of a driver such as lavapipe.
    is_processor: bool,
}

/// Where a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: it is a description.
    Described,
    /// It is the processor of the running program.
    Processor,
    /// It is the GPU with this number among the GPUs that were found.
    #[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "no GPU is found"))]
    Gpu(usize),
}

impl Device {
    /// Describes a machine with the given shape. Its memory and bandwidth are unknown.
    ///
    /// # Errors
    /// Returns [`ZeroInShape`] if a number of the shape is 0.
    pub fn new(name: impl Into<Cow<'static, str>>, shape: Shape) -> Result<Self, ZeroInShape> {
        let Shape { cores, lanes, resident_vectors, max_block_vectors } = shape;
        let numbers = [
            ("cores", cores),
            ("lanes", lanes),
            ("resident_vectors", resident_vectors),
            ("max_block_vectors", max_block_vectors),
        ];
        match numbers.iter().find(|(_, number)| *number == 0) {
            Some((field, _)) => Err(ZeroInShape { field }),
            None => Ok(Self {
                name: name.into(),
                shape,
                memory: None,
                bandwidth: None,
                source: "the program",
                place: Place::Described,
                is_processor: false,
            }),
        }
    }

    /// Describes a machine of the table. The table has no zeros, which a test checks.
    pub(crate) const fn in_table(
        name: &'static str,
        shape: Shape,
        memory: u64,
        bandwidth: u64,
        source: &'static str,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            shape,
            memory: Some(memory),
            bandwidth: Some(bandwidth),
            source,
            place: Place::Described,
            is_processor: false,
        }
    }

    /// Sets the memory, in bytes.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Sets the bandwidth of the memory, in bytes per second.
    #[must_use]
    pub fn with_bandwidth(self, bytes_per_second: u64) -> Self {
        Self { bandwidth: Some(bytes_per_second), ..self }
    }

    /// Describes the processor that the program runs on. A core is a hardware thread, and holds one vector.
    ///
    /// The number of cores comes from [`available_parallelism`], or 1 if the system does not tell. The lanes are 32-bit
    /// elements of the widest vector that the processor has; code that is compiled for older processors uses fewer.
    /// They are 1 on architectures other than x86, AArch64 and WebAssembly. Memory and bandwidth are unknown.
    ///
    /// ```
    /// use anabranch_kernel::Device;
    ///
    /// let cpu = Device::cpu();
    /// let plan = cpu.plan(1_000_000);
    /// assert_eq!(plan.blocks(), u64::from(cpu.shape().cores));
    /// ```
    #[must_use]
    pub fn cpu() -> Self {
        let cores = available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX));
        Self {
            name: Cow::Borrowed("this processor"),
            shape: Shape { cores, lanes: simd_lanes(), resident_vectors: 1, max_block_vectors: 1 },
            memory: None,
            bandwidth: None,
            source: "the operating system and the processor",
            place: Place::Processor,
            is_processor: true,
        }
    }

    /// Describes a GPU that was found, with the figures of `known` and the name that the system has for it.
    #[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "no GPU is found"))]
    pub(crate) fn found(known: Self, name: String, number: usize) -> Self {
        Self { name: Cow::Owned(name), place: Place::Gpu(number), ..known }
    }

    /// Sets the source of the figures.
    #[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "no GPU is found"))]
    pub(crate) fn with_source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// Says that the processor runs the kernels.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "drivers for processors are those of wgpu"))]
    pub(crate) fn on_processor(self) -> Self {
        Self { is_processor: true, ..self }
    }

    /// Returns the number of a GPU among those that were found.
    #[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "no GPU is found"))]
    pub(crate) fn gpu_number(&self) -> Option<usize> {
        match self.place {
            Place::Gpu(number) => Some(number),
            Place::Described | Place::Processor => None,
        }
    }

    /// Returns whether it is the processor of the running program.
    pub(crate) fn is_cpu(&self) -> bool {
        self.place == Place::Processor
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the shape of the machine: its parallel parts.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the memory in bytes, if it is known.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Returns the peak bandwidth of the memory in bytes per second, if it is known.
    #[must_use]
    pub fn bandwidth(&self) -> Option<u64> {
        self.bandwidth
    }

    /// Returns where the figures come from.
    #[must_use]
    pub fn source(&self) -> &str {
        self.source
    }

    /// Plans a launch over `n` elements: how many blocks, how many lanes per block, and how many elements per lane.
    ///
    /// ```
    /// use anabranch_kernel::Device;
    ///
    /// let v100: Device = "v100".parse()?;
    /// let plan = v100.plan(100_000_000);
    /// assert_eq!((plan.blocks(), plan.lanes_per_block(), plan.elements_per_lane()), (160, 1024, 611));
    /// # Ok::<_, anabranch_kernel::UnknownDevice>(())
    /// ```
    ///
    /// # Complexity
    /// O(R) for R resident vectors.
    #[must_use]
    pub fn plan(&self, n: u64) -> Plan {
        Plan::new(self.shape, n, !self.is_processor)
    }
}

/// Returns the 32-bit lanes of the processor's widest vectors.
fn simd_lanes() -> u32 {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            16
        } else if std::arch::is_x86_feature_detected!("avx") {
            8
        } else if std::arch::is_x86_feature_detected!("sse") {
            4
        } else {
            1
        }
    }
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    {
        if cfg!(any(target_arch = "aarch64", target_feature = "simd128")) { 4 } else { 1 }
    }
}
