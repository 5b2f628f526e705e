//! A model of how long work takes on a device.
//!
//! An operation begins with a launch, moves its bytes through memory, and computes meanwhile. So it takes the time of
//! the launch plus the longer of the other two times. Before the first operation and after the last operation, vectors
//! move between the host and the device. The model only has to tell a processor from a GPU, which differ by factors, so
//! each constant is a round number.

use std::fmt;
use std::time::Duration;

use crate::Device;

/// Seconds until the threads of the processor work: they are woken by the system.
const CPU_LAUNCH: f64 = 5e-6;
/// Seconds until a GPU works, and until the waiting fiber knows the result. Drivers take 5 to 20 us for each.
const GPU_LAUNCH: f64 = 30e-6;
/// Bytes a second between the host and a GPU: PCI Express 4.0 with 16 lanes has 32e9, of which a copy reaches half.
const LINK: f64 = 16e9;
/// Bytes a second of a processor's memory: one channel of DDR4.
const CPU_BANDWIDTH: f64 = 20e9;
/// Bytes a second of a GPU's memory if it is not known: that of a small one.
const GPU_BANDWIDTH: f64 = 100e9;
/// Vectors that a core of a processor computes a second.
const CPU_CLOCK: f64 = 3e9;
/// Vectors that a core of a GPU computes a second. Some issue four at a time.
const GPU_CLOCK: f64 = 1.5e9;

/// The size of some work, by which [`Queue::choose`](crate::Queue::choose) chooses a device.
///
/// ```
/// use anabranch_kernel::{Device, Work};
///
/// // Each element: two floats read, one written, one multiplication and one addition.
/// let saxpy = Work::new(1_000).bytes(12).operations(2);
/// let (cpu, h100) = (Device::cpu(), "h100".parse::<Device>()?);
/// assert!(saxpy.time_on(&cpu).total() < saxpy.time_on(&h100).total());
/// # Ok::<_, anabranch_kernel::UnknownDevice>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    elements: u64,
    bytes: u64,
    operations: u64,
    repeats: u64,
}

impl Work {
    /// Returns work on `elements` elements. By default each element reads and writes a word, 8 bytes in all, takes one
    /// arithmetic operation, and is processed once.
    #[must_use]
    pub fn new(elements: u64) -> Self {
        Self { elements, bytes: 8, operations: 1, repeats: 1 }
    }

    /// Sets the bytes that are read and written for each element. The model assumes that they come from the host and
    /// return to it.
    #[must_use]
    pub fn bytes(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the arithmetic operations for each element.
    #[must_use]
    pub fn operations(self, operations: u64) -> Self {
        Self { operations, ..self }
    }

    /// Sets how many such operations follow one another on the same vectors, which move to the device and back once.
    #[must_use]
    pub fn repeats(self, repeats: u64) -> Self {
        Self { repeats, ..self }
    }

    /// Estimates the time that a device takes.
    ///
    /// For a processor the model assumes 5 us to wake its threads, 20 GB/s, and 3e9 vectors a second for each core. For
    /// any other device it assumes 30 us for a launch and its answer, 16 GB/s to the host and back,
    /// [`Device::bandwidth`] or else 100 GB/s, and 1.5e9 vectors a second for each core. These are round numbers, and
    /// real times differ by factors.
    ///
    /// ```
    /// use anabranch_kernel::{Device, Work};
    ///
    /// let h100: Device = "h100".parse()?;
    /// let time = Work::new(100_000_000).bytes(12).operations(2).time_on(&h100);
    /// assert_eq!(time.memory().as_micros(), 358);
    /// assert_eq!(time.transfer().as_millis(), 75);
    /// # Ok::<_, anabranch_kernel::UnknownDevice>(())
    /// ```
    #[must_use]
    pub fn time_on(&self, device: &Device) -> Estimate {
        let shape = device.shape();
        let [elements, bytes, operations, repeats] =
            [self.elements, self.bytes, self.operations, self.repeats].map(|number| number as f64);
        let (launch, bandwidth, clock) = match device.is_cpu() {
            true => (CPU_LAUNCH, CPU_BANDWIDTH, CPU_CLOCK),
            false => (GPU_LAUNCH, GPU_BANDWIDTH, GPU_CLOCK),
        };
        let bandwidth = device.bandwidth().map_or(bandwidth, |bandwidth| bandwidth as f64);
        // Fewer elements than a vector has lanes take as long as a whole vector, and fewer vectors than cores as long
        // as one for each.
        let vectors = (elements / f64::from(shape.lanes)).ceil();
        let turns = (vectors / f64::from(shape.cores)).ceil();
        Estimate {
            launch: repeats * launch,
            transfer: if device.is_cpu() { 0.0 } else { elements * bytes / LINK },
            memory: repeats * elements * bytes / bandwidth,
            compute: repeats * turns * operations / clock,
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elements, bytes, operations, repeats } = self;
        write!(f, "{elements} elements with {bytes} bytes and {operations} operations each")?;
        if *repeats == 1 { Ok(()) } else { write!(f, ", {repeats} times") }
    }
}

/// The parts of an estimated time. [`Work::time_on`] returns it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// All in seconds.
    launch: f64,
    transfer: f64,
    memory: f64,
    compute: f64,
}

impl Estimate {
    /// Returns the time of launches and their answers.
    #[must_use]
    pub fn launch(&self) -> Duration {
        duration(self.launch)
    }

    /// Returns the time of copies between the host and the device.
    #[must_use]
    pub fn transfer(&self) -> Duration {
        duration(self.transfer)
    }

    /// Returns the time that the memory of the device takes.
    #[must_use]
    pub fn memory(&self) -> Duration {
        duration(self.memory)
    }

    /// Returns the time that the arithmetic takes. It runs while the memory is read.
    #[must_use]
    pub fn compute(&self) -> Duration {
        duration(self.compute)
    }

    /// Returns the total time: the launches, the copies, and the longer of the times of memory and arithmetic.
    #[must_use]
    pub fn total(&self) -> Duration {
        duration(self.seconds())
    }

    fn seconds(&self) -> f64 {
        self.launch + self.transfer + self.memory.max(self.compute)
    }

    /// Returns the largest part, and what it is spent on.
    pub(crate) fn largest(&self) -> (Duration, &'static str) {
        let parts = [
            (self.launch, "launches"),
            (self.transfer, "copies from the host and back"),
            (self.memory, "memory"),
            (self.compute, "arithmetic"),
        ];
        let (seconds, name) = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or(parts[0]);
        (duration(seconds), name)
    }
}

/// Returns a duration that may be too long to be represented.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
