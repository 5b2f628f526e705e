//! The driver CUDA: NVIDIA's GPUs, with kernels that NVRTC compiles.
//!
//! The libraries are loaded at run time, so a program with this driver also starts where they do not exist.
//! `write_cuda` writes a module as CUDA C++, `compiler` compiles that, `cache` keeps the result for other processes,
//! and `api` has the calls and all `unsafe` code beside them.

mod api;
mod cache;
mod cards;
mod compiler;
#[cfg(test)]
mod tests;
mod uploads;

use std::sync::Arc;

use anabranch::channel::oneshot;
use anabranch_kernel_ir::write_cuda;

use super::{Command, Launch, Limits, Pipeline, Source, Ticket, Use};
use crate::Error;
use crate::gpu::poller::Poller;
use api::{Context, DeviceMemory, HostMemory, LARGE, Receiving, Stream};
use cache::Cache;
use compiler::Target;
use uploads::{PART, Uploads};

pub(in crate::gpu) use api::{Event, Kernels};
pub(in crate::gpu) use cards::{Card, cards};

/// The bytes of a download that are copied at once. Locked memory for all of a large one takes longer to get than the
/// copy.
const DOWNLOAD_PART: usize = 4 * LARGE as usize;

/// Memory.
#[derive(Clone)]
pub(in crate::gpu) enum Memory {
    Device(Arc<DeviceMemory>),
    Host(Arc<HostMemory>),
}

/// An opened card.
pub(in crate::gpu) struct Driver {
    /// Those of kernels, uploads and downloads: only the work of one stream ends in the order of its submission.
    pollers: [Poller<Arc<Event>>; 3],
    context: Arc<Context>,
    target: Target,
    cache: Cache,
    uploads: Uploads<HostMemory>,
}

impl Driver {
    /// Opens a card. Returns the reason if it cannot be opened.
    pub(in crate::gpu) fn open(card: &Card) -> Result<(Self, Limits), String> {
        let context = Context::open(card.number)?;
        let poller = || {
            let poller = Poller::start(|event: &Arc<Event>| event.wait().is_ok());
            poller.map_err(|error| format!("no thread for it: {error}"))
        };
        let pollers = [poller()?, poller()?, poller()?];
        let (target, cache, uploads) = (compiler::target(card.compute)?, Cache::of_user(), Uploads::default());
        Ok((Self { pollers, context, target, cache, uploads }, card.limits.clone()))
    }

    /// Returns what is sent once an event is reached.
    fn end_of_event(&self, event: Arc<Event>) -> oneshot::Receiver<()> {
        let poller = match event.stream() {
            Stream::Kernels => 0,
            Stream::Uploads => 1,
            Stream::Downloads => 2,
            Stream::Allocations => unreachable!("no caller waits for an allocation"),
        };
        self.pollers[poller].end_of(event)
    }

    /// Submits the commands. Those that copy to memory of the host do so by `receiving`.
    fn submit_to(&self, commands: Vec<Command>, mut receiving: Option<&mut Receiving<'_>>) -> Result<(), Error> {
        for command in commands {
            match command {
                Command::Clear { memory, bytes } => self.context.clear(device_memory(&memory), bytes)?,
                Command::Copy { from, to, bytes } => {
                    let from = (device_memory(&from.0), from.1);
                    match (memory(&to.0), &mut receiving) {
                        (Memory::Device(memory), _) => self.context.copy(from, (memory, to.1), bytes)?,
                        (Memory::Host(_), Some(receiving)) => receiving.copy(from, to.1, bytes)?,
                        (Memory::Host(_), None) => unreachable!("only downloads copy to the host"),
                    }
                }
                Command::Launch(launch) => self.launch(&launch)?,
            }
        }
        Ok(())
    }

    fn launch(&self, launch: &Launch) -> Result<(), Error> {
        let kernels = kernels(&launch.pipeline);
        let buffers = kernels.bindings().map(|binding| {
            let bound = launch.bindings.iter().find(|(number, _, _)| *number == binding);
            let (_, memory, bytes) = bound.expect("each variable that a kernel uses is bound");
            (device_memory(memory), *bytes)
        });
        let buffers: Vec<_> = buffers.collect();
        launch.dispatches.iter().try_for_each(|dispatch| {
            self.context.launch(kernels, dispatch.entry, dispatch.blocks, &buffers, &dispatch.immediates)
        })
    }
}

impl Drop for Driver {
    /// Waits for the work, so that nothing of it is left when the device is closed.
    fn drop(&mut self) {
        self.context.synchronize();
    }
}

impl super::Driver for Driver {
    fn allocate(&self, kind: Use, bytes: u64) -> Result<super::Memory, Error> {
        Ok(super::Memory::Cuda(match kind {
            Use::Storage | Use::Upload => {
                Memory::Device(Arc::new(DeviceMemory::new(&self.context, bytes, kind == Use::Upload)?))
            }
            Use::Download => Memory::Host(Arc::new(HostMemory::new(&self.context, bytes)?)),
        }))
    }

    fn release(&self, memory: &super::Memory) -> bool {
        match self::memory(memory) {
            Memory::Device(memory) => memory.release().is_ok(),
            Memory::Host(_) => true,
        }
    }

    fn upload(&self, to: &super::Memory, bytes: &[u8]) -> Result<Ticket, Error> {
        let mut last = None;
        for (number, part) in (0..).zip(bytes.chunks(PART)) {
            let make = |bytes| HostMemory::new(&self.context, bytes);
            let chunk = self.uploads.chunk(bytes.len(), HostMemory::is_idle, make)?;
            last = Some(chunk.send(part, (device_memory(to), number * PART as u64), bytes.len() as u64 >= LARGE)?);
        }
        Ok(Ticket::Cuda(last.expect("an upload has bytes")))
    }

    fn compile(&self, source: Source<'_>) -> Result<Pipeline, Error> {
        let unsupported = |reason| Error::Unsupported { reason };
        let written = write_cuda(&source.module).map_err(unsupported)?;
        let lanes = source.module.entry_points.first().map_or(1, |entry| entry.workgroup_size[0]);
        let load = |image: &[u8]| self.context.load(image, written.clone(), source.entries.len(), lanes);
        let key = compiler::key(&written.text, &self.target);
        let kept = self.cache.get(&key).and_then(|image| load(&image).ok());
        let kernels = match kept {
            Some(kernels) => kernels,
            None => {
                let image = compiler::compile(&written.text, &self.target).map_err(unsupported)?;
                let kernels = load(&image)?;
                self.cache.keep(&key, &image);
                kernels
            }
        };
        Ok(Pipeline::Cuda(kernels))
    }

    fn submit(&self, commands: Vec<Command>) -> Result<Ticket, Error> {
        self.submit_to(commands, None)?;
        self.context.record().map(Ticket::Cuda)
    }

    fn submit_download(
        &self,
        commands: Vec<Command>,
        to: &super::Memory,
        continues: bool,
    ) -> Result<oneshot::Receiver<()>, Error> {
        let mut receiving = host_memory(to).receive(continues)?;
        self.submit_to(commands, Some(&mut receiving))?;
        Ok(self.end_of_event(receiving.end()?))
    }

    fn download_part(&self) -> usize {
        DOWNLOAD_PART
    }

    fn read(&self, memory: &super::Memory, parts: [&mut [u32]; 2]) -> bool {
        host_memory(memory).read(parts)
    }

    fn maps_downloads(&self) -> bool {
        false
    }

    fn end_of(&self, ticket: &Ticket) -> oneshot::Receiver<()> {
        self.end_of_event(Arc::clone(event(ticket)))
    }

    fn look(&self) {
        self.pollers.iter().for_each(|poller| poller.look(|event| event.is_reached().unwrap_or(false)));
    }

    fn wake(&self) {
        self.pollers.iter().for_each(Poller::wake);
    }

    fn lost(&self) -> Option<String> {
        self.context.lost()
    }

    #[cfg(test)]
    fn lose(&self) {
        self.context.synchronize();
        self.context.lose("a test has lost it; open it again");
    }

    #[cfg(test)]
    fn thread_alive(&self) -> Box<dyn Fn() -> bool> {
        let alive = self.pollers.each_ref().map(Poller::alive);
        Box::new(move || alive.iter().any(|alive| alive()))
    }
}

fn memory(memory: &super::Memory) -> &Memory {
    match memory {
        super::Memory::Cuda(memory) => memory,
        #[cfg(feature = "gpu")]
        super::Memory::Wgpu(_) => unreachable!("a queue uses memory of its own driver"),
    }
}

fn device_memory(of: &super::Memory) -> &DeviceMemory {
    match memory(of) {
        Memory::Device(memory) => memory,
        Memory::Host(_) => unreachable!("kernels and copies read memory of the device"),
    }
}

fn host_memory(of: &super::Memory) -> &HostMemory {
    match memory(of) {
        Memory::Host(memory) => memory,
        Memory::Device(_) => unreachable!("a download is to memory of the host"),
    }
}

fn event(ticket: &Ticket) -> &Arc<Event> {
    match ticket {
        Ticket::Cuda(event) => event,
        #[cfg(feature = "gpu")]
        Ticket::Wgpu(_) => unreachable!("a queue waits for submissions of its own driver"),
    }
}

fn kernels(pipeline: &Pipeline) -> &Kernels {
    match pipeline {
        Pipeline::Cuda(kernels) => kernels,
        #[cfg(feature = "gpu")]
        Pipeline::Wgpu(_) => unreachable!("a queue has pipelines of its own driver"),
    }
}
