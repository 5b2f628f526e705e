//! The driver wgpu: Vulkan, Metal, Direct3D 12.
//!
//! wgpu panics by default. Each call here is in an error scope of its thread, and a handler marks the device as lost if
//! an error comes from elsewhere.

pub(in crate::gpu) mod adapters;

use std::borrow::Cow;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::thread;

use anabranch::channel::oneshot;
use wgpu::{
    Adapter, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry,
    BindingResource, BindingType, Buffer, BufferBinding, BufferBindingType, BufferDescriptor, BufferSize, BufferUsages,
    CommandEncoder, CommandEncoderDescriptor, ComputePassDescriptor, ComputePipeline, ComputePipelineDescriptor,
    DeviceDescriptor, DeviceType, ErrorFilter, ExperimentalFeatures, Features, MapMode, MemoryHints,
    PipelineCompilationOptions, PipelineLayoutDescriptor, PollStatus, PollType, ShaderModuleDescriptor, ShaderSource,
    ShaderStages, SubmissionIndex, Trace,
};

use super::{Command, Launch, Limits, Memory, Source, Ticket, Use, check};
use crate::Error;
use crate::gpu::layout::IMMEDIATES;
use crate::gpu::poller::Poller;

/// An opened device.
pub(in crate::gpu) struct Driver {
    device: wgpu::Device,
    queue: wgpu::Queue,
    is_cpu: bool,
    lost: Arc<OnceLock<String>>,
    poller: Poller<SubmissionIndex>,
}

/// A compiled module.
pub(in crate::gpu) struct Pipeline {
    /// One for each entry point.
    entries: Vec<ComputePipeline>,
    layout: BindGroupLayout,
}

impl Driver {
    /// Opens a device with all that it offers. Returns the reason if it cannot be opened.
    pub(in crate::gpu) fn open(adapter: &Adapter) -> Result<(Self, Limits), String> {
        if !adapter.features().contains(Features::IMMEDIATES) {
            return Err("its driver has no push constants".to_owned());
        }
        let mut limits = adapter.limits();
        limits.max_immediate_size = IMMEDIATES.min(limits.max_immediate_size);
        let descriptor = DeviceDescriptor {
            label: None,
            required_features: Features::IMMEDIATES,
            required_limits: limits.clone(),
            experimental_features: ExperimentalFeatures::disabled(),
            memory_hints: MemoryHints::Performance,
            trace: Trace::Off,
        };
        let (device, queue) = ready(adapter.request_device(&descriptor))
            .ok_or_else(|| "its driver does not answer at once".to_owned())?
            .map_err(|error| error.to_string())?;
        let lost = Arc::new(OnceLock::new());
        let told = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, message| {
            let _ = told.set(message);
        });
        // wgpu would panic. What a call does wrong is reported to that call by `checked`, and this is for the rest: the
        // device then counts as lost, because it is not known which results are missing.
        let told = Arc::clone(&lost);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let _ = told.set(error.to_string());
        }));
        let of_thread = device.clone();
        let wait = move |submission: &SubmissionIndex| {
            let wait = PollType::Wait { submission_index: Some(submission.clone()), timeout: None };
            of_thread.poll(wait).is_ok()
        };
        let poller = Poller::start(wait).map_err(|error| format!("no thread for it: {error}"))?;
        let limits = Limits {
            blocks: limits.max_compute_workgroups_per_dimension,
            lanes: limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x),
            shared_bytes: limits.max_compute_workgroup_storage_size,
            buffers: limits.max_storage_buffers_per_shader_stage as usize,
            buffer_bytes: limits.max_buffer_size.min(limits.max_storage_buffer_binding_size),
            is_cpu: adapter.get_info().device_type == DeviceType::Cpu,
        };
        let is_cpu = limits.is_cpu;
        Ok((Self { device, queue, is_cpu, lost, poller }, limits))
    }

    /// Calls wgpu, and returns what it reports during the call. `bytes` are those that the call asks for.
    fn checked<T>(&self, bytes: u64, call: impl FnOnce() -> T) -> Result<T, Error> {
        let scopes = [ErrorFilter::OutOfMemory, ErrorFilter::Internal, ErrorFilter::Validation]
            .map(|filter| self.device.push_error_scope(filter));
        let value = call();
        // The last one is popped first. All of them are, in this order.
        let errors: Vec<_> = scopes.into_iter().rev().map(|scope| ready(scope.pop()).flatten()).collect();
        check(self)?;
        match errors.into_iter().flatten().next() {
            None => Ok(value),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(Error::OutOfMemory { bytes, is_host: false }),
            Some(error) => Err(Error::Unsupported { reason: format!("the driver refuses: {error}") }),
        }
    }

    /// Submits commands. Calls `also` after that.
    fn submit_and(&self, commands: Vec<Command>, also: impl FnOnce()) -> Result<SubmissionIndex, Error> {
        self.checked(0, || {
            let encoder = (!commands.is_empty()).then(|| self.encode(commands).finish());
            let index = self.queue.submit(encoder);
            also();
            index
        })
    }

    fn encode(&self, commands: Vec<Command>) -> CommandEncoder {
        let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor { label: None });
        for command in commands {
            match command {
                Command::Clear { memory, bytes } => encoder.clear_buffer(buffer(&memory), 0, Some(bytes)),
                Command::Copy { from, to, bytes } => {
                    encoder.copy_buffer_to_buffer(buffer(&from.0), from.1, buffer(&to.0), to.1, Some(bytes));
                }
                Command::Launch(launch) => self.encode_launch(&mut encoder, &launch),
            }
        }
        encoder
    }

    fn encode_launch(&self, encoder: &mut CommandEncoder, launch: &Launch) {
        let pipeline = pipeline(&launch.pipeline);
        let entries = launch.bindings.iter().map(|(binding, memory, bytes)| {
            let (buffer, size) = (buffer(memory), BufferSize::new(*bytes));
            BindGroupEntry {
                binding: *binding,
                resource: BindingResource::Buffer(BufferBinding { buffer, offset: 0, size }),
            }
        });
        let entries: Vec<_> = entries.collect();
        let descriptor = BindGroupDescriptor { label: None, layout: &pipeline.layout, entries: &entries };
        let group = self.device.create_bind_group(&descriptor);
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        pass.set_bind_group(0, &group, &[]);
        for dispatch in &launch.dispatches {
            pass.set_pipeline(&pipeline.entries[dispatch.entry]);
            pass.set_immediates(0, bytemuck::cast_slice(&dispatch.immediates));
            pass.dispatch_workgroups(dispatch.blocks, 1, 1);
        }
    }
}

impl super::Driver for Driver {
    fn allocate(&self, kind: Use, bytes: u64) -> Result<Memory, Error> {
        let usage = match kind {
            Use::Storage | Use::Upload => BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            Use::Download => BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        };
        let descriptor = BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: false };
        self.checked(bytes, || self.device.create_buffer(&descriptor)).map(Memory::Wgpu)
    }

    /// Work runs in the order of the submissions.
    fn release(&self, _: &super::Memory) -> bool {
        true
    }

    fn upload(&self, to: &Memory, bytes: &[u8]) -> Result<Ticket, Error> {
        self.checked(bytes.len() as u64, || self.queue.write_buffer(buffer(to), 0, bytes))?;
        // wgpu writes with the next submission.
        self.submit(Vec::new())
    }

    fn compile(&self, source: Source<'_>) -> Result<super::Pipeline, Error> {
        let entry = |&(binding, read_only): &(u32, bool)| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer {
                ty: BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = source.bindings.iter().map(entry).collect();
        self.checked(0, || {
            let module = ShaderSource::Naga(Cow::Owned(source.module));
            let module = self.device.create_shader_module(ShaderModuleDescriptor { label: None, source: module });
            let layout = BindGroupLayoutDescriptor { label: None, entries: &entries };
            let layout = self.device.create_bind_group_layout(&layout);
            let pipeline_layout = self.device.create_pipeline_layout(&PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: IMMEDIATES,
            });
            let entries = source.entries.iter().map(|entry| {
                self.device.create_compute_pipeline(&ComputePipelineDescriptor {
                    label: None,
                    layout: Some(&pipeline_layout),
                    module: &module,
                    entry_point: Some(entry),
                    compilation_options: PipelineCompilationOptions::default(),
                    cache: None,
                })
            });
            super::Pipeline::Wgpu(Pipeline { entries: entries.collect(), layout })
        })
    }

    fn submit(&self, commands: Vec<Command>) -> Result<Ticket, Error> {
        self.submit_and(commands, || ()).map(Ticket::Wgpu)
    }

    fn submit_download(
        &self,
        commands: Vec<Command>,
        memory: &Memory,
        _: bool,
    ) -> Result<oneshot::Receiver<()>, Error> {
        let (sender, receiver) = oneshot::channel();
        let submission = self.submit_and(commands, || {
            buffer(memory).map_async(MapMode::Read, .., move |mapped| {
                if mapped.is_ok() {
                    // The receiver may be gone.
                    let _ = sender.send(());
                }
            });
        })?;
        // The callback runs in this wait.
        self.poller.watch(submission);
        Ok(receiver)
    }

    /// Parts would wait for the commands of other threads.
    fn download_part(&self) -> usize {
        usize::MAX
    }

    fn read(&self, memory: &Memory, parts: [&mut [u32]; 2]) -> bool {
        let bytes = 4 * parts.iter().map(|part| part.len() as u64).sum::<u64>();
        let buffer = buffer(memory);
        let Ok(view) = buffer.slice(..bytes).get_mapped_range() else { return false };
        let mut rest = &view[..];
        for part in parts {
            let (bytes, others) = rest.split_at(size_of_val(part));
            bytemuck::cast_slice_mut(part).copy_from_slice(bytes);
            rest = others;
        }
        drop(view);
        buffer.unmap();
        true
    }

    fn maps_downloads(&self) -> bool {
        true
    }

    fn end_of(&self, ticket: &Ticket) -> oneshot::Receiver<()> {
        self.poller.end_of(submission(ticket).clone())
    }

    fn look(&self) {
        if self.is_cpu {
            // A driver that runs on the processor needs the cores itself.
            thread::yield_now();
        }
        // A wait with a timeout of 0 would say whether a submission is over. But wgpu 30 panics if another thread polls
        // in the middle of it. This poll reports the downloads that are over, and whether all submissions are. So a
        // wait for anything but a download may go on to the thread of the device although it is over.
        self.poller.look(|_| matches!(self.device.poll(PollType::Poll), Ok(PollStatus::QueueEmpty)));
    }

    fn wake(&self) {
        self.poller.wake();
    }

    fn lost(&self) -> Option<String> {
        self.lost.get().map(|reason| format!("{reason}; open it again"))
    }

    #[cfg(test)]
    fn lose(&self) {
        self.device.destroy();
        // wgpu reports the loss once all work has ended.
        let _ = self.device.poll(PollType::Wait { submission_index: None, timeout: None });
    }

    #[cfg(test)]
    fn thread_alive(&self) -> Box<dyn Fn() -> bool> {
        self.poller.alive()
    }
}

fn buffer(memory: &Memory) -> &Buffer {
    match memory {
        Memory::Wgpu(buffer) => buffer,
        #[cfg(feature = "cuda")]
        Memory::Cuda(_) => unreachable!("a queue uses memory of its own driver"),
    }
}

fn pipeline(pipeline: &super::Pipeline) -> &Pipeline {
    match pipeline {
        super::Pipeline::Wgpu(pipeline) => pipeline,
        #[cfg(feature = "cuda")]
        super::Pipeline::Cuda(_) => unreachable!("a queue has pipelines of its own driver"),
    }
}

fn submission(ticket: &Ticket) -> &SubmissionIndex {
    match ticket {
        Ticket::Wgpu(submission) => submission,
        #[cfg(feature = "cuda")]
        Ticket::Cuda(_) => unreachable!("a queue waits for submissions of its own driver"),
    }
}

/// Returns the value of a future of wgpu. Those of the systems' own drivers are ready at once.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
