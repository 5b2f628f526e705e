//! The interface that the operations need of a driver, and the drivers.
//!
//! A driver allocates memory, compiles modules of naga, and runs lists of [`Command`]s in the order of their
//! submissions. The lists of several threads may come in any order, and the commands of one list keep their order.
//! Large uploads may run beside earlier commands, and large downloads beside later commands. Memory may be dropped, or
//! [released](Driver::release) for another owner, as soon as the last command on it is submitted. A caller waits for a
//! one-shot channel, to which a thread of the driver sends, or a fiber that polls the device.

#[cfg(feature = "cuda")]
pub(super) mod cuda;
#[cfg(feature = "gpu")]
pub(super) mod wgpu;

use std::sync::Arc;
use std::time::Duration;

use anabranch::channel::oneshot;

use super::layout::Immediates;
use crate::Error;

/// How long a fiber looks at a device before it suspends. In a virtual machine the interrupt, the thread of the device
/// and the worker take 200 us and more to wake: saxpy of 10^8 elements took 740 us with 100 us of looks, and takes 600.
pub(super) const LOOKS: Duration = Duration::from_micros(500);

/// The limits of a device, and whether it is the processor.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// The blocks of a dispatch.
    pub(super) blocks: u32,
    /// The lanes of a block.
    pub(super) lanes: u32,
    /// The bytes of the memory of a block.
    pub(super) shared_bytes: u32,
    /// The vectors that an operation reads and writes.
    pub(super) buffers: usize,
    /// The bytes of a vector.
    pub(super) buffer_bytes: u64,
    /// Whether the driver runs kernels on the processor.
    pub(super) is_cpu: bool,
}

/// The purpose of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// Kernels.
    Storage,
    /// Kernels, after an upload.
    Upload,
    /// Transfers to the host.
    Download,
}

/// Memory of a driver. A clone is the same memory.
#[derive(Clone)]
pub(super) enum Memory {
    #[cfg(feature = "gpu")]
    Wgpu(::wgpu::Buffer),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Memory),
}

/// A compiled module of a driver.
pub(super) enum Pipeline {
    #[cfg(feature = "gpu")]
    Wgpu(wgpu::Pipeline),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Kernels),
}

/// A submission of a driver.
#[derive(Clone)]
pub(super) enum Ticket {
    #[cfg(feature = "gpu")]
    Wgpu(::wgpu::SubmissionIndex),
    #[cfg(feature = "cuda")]
    Cuda(Arc<cuda::Event>),
}

/// A module to compile.
pub(super) struct Source<'a> {
    pub(super) module: naga::Module,
    pub(super) entries: &'a [&'a str],
    /// The numbers of the storage variables, and whether they are only read.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "CUDA finds them in the module"))]
    pub(super) bindings: &'a [(u32, bool)],
}

/// A command of a list.
pub(super) enum Command {
    /// Sets the first `bytes` to 0.
    Clear { memory: Memory, bytes: u64 },
    /// Copies `bytes` from an offset in memory to an offset in other memory.
    Copy { from: (Memory, u64), to: (Memory, u64), bytes: u64 },
    /// Runs dispatches of a compiled module.
    Launch(Launch),
}

/// Dispatches on the same memory.
pub(super) struct Launch {
    pub(super) pipeline: Arc<Pipeline>,
    /// The number of each storage variable, its memory, and the bytes of it that the module may access.
    pub(super) bindings: Vec<(u32, Memory, u64)>,
    pub(super) dispatches: Vec<Dispatch>,
}

/// One dispatch: the number of the entry point, the blocks, and the immediates.
pub(super) struct Dispatch {
    pub(super) entry: usize,
    pub(super) blocks: u32,
    pub(super) immediates: Immediates,
}

/// An opened device of a driver.
pub(super) trait Driver: Send + Sync {
    /// Allocates memory. Its contents are any words.
    fn allocate(&self, kind: Use, bytes: u64) -> Result<Memory, Error>;

    /// Takes memory back whose owner has submitted all work on it. Returns whether another owner may use it.
    fn release(&self, memory: &Memory) -> bool;

    /// Copies `bytes`, not none, to the beginning of memory.
    fn upload(&self, to: &Memory, bytes: &[u8]) -> Result<Ticket, Error>;

    /// Compiles a module.
    fn compile(&self, source: Source<'_>) -> Result<Pipeline, Error>;

    /// Submits commands.
    fn submit(&self, commands: Vec<Command>) -> Result<Ticket, Error>;

    /// Submits commands that copy to `memory`, which is for [`Use::Download`]. The channel, like that of
    /// [`end_of`](Self::end_of), reports when it can be read. Copies that continue a large download of the same memory
    /// need not wait for the commands that came after its first part.
    fn submit_download(
        &self,
        commands: Vec<Command>,
        memory: &Memory,
        continues: bool,
    ) -> Result<oneshot::Receiver<()>, Error>;

    /// Returns the bytes of a download that are best copied at once.
    fn download_part(&self) -> usize;

    /// Copies the words of memory that a [`submit_download`](Self::submit_download) has reported, to one part after the
    /// other. Returns `false` if they are not there. They can be read once.
    fn read(&self, memory: &Memory, parts: [&mut [u32]; 2]) -> bool;

    /// Returns whether memory for downloads cannot be used again between a submission and the [`read`](Self::read).
    fn maps_downloads(&self) -> bool;

    /// Returns what is sent at the end of a submission, once a caller [looks](Self::look) or has
    /// [woken](Self::wake) the threads of the device. It closes if the device is lost.
    fn end_of(&self, ticket: &Ticket) -> oneshot::Receiver<()>;

    /// Sends what is to be sent for submissions that have ended. May yield the thread first.
    fn look(&self);

    /// Lets the threads of the device wait for all submissions so far, and send.
    fn wake(&self);

    /// Returns why the device is lost, if it is, and what to do.
    fn lost(&self) -> Option<String>;

    /// Makes the device count as lost.
    #[cfg(test)]
    fn lose(&self);

    /// Returns a function that returns whether a thread of the device still runs.
    #[cfg(test)]
    fn thread_alive(&self) -> Box<dyn Fn() -> bool>;
}

/// Returns an error if the device is lost.
pub(super) fn check(driver: &dyn Driver) -> Result<(), Error> {
    driver.lost().map_or(Ok(()), |reason| Err(Error::Lost { reason }))
}
