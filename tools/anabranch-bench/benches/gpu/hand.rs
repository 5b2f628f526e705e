//! Saxpy and a sum in WGSL, written by hand for wgpu, with any geometry.
//!
//! All memory is allocated before, and the commands of a run are one submission. The caller's thread waits for them.

use std::collections::HashMap;

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{
    Adapter, Backends, BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingType, Buffer, BufferBindingType, BufferDescriptor, BufferUsages,
    ComputePassDescriptor, ComputePipeline, ComputePipelineDescriptor, Device, DeviceDescriptor, DeviceType, Features,
    Instance, InstanceDescriptor, Limits, MapMode, PipelineCompilationOptions, PipelineLayout,
    PipelineLayoutDescriptor, PollType, Queue, ShaderModule, ShaderModuleDescriptor, ShaderSource, ShaderStages,
};

/// Blocks, and lanes of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub blocks: u32,
    pub lanes: u32,
}

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Saxpy,
    Sum,
}

impl Program {
    /// All programs.
    pub const ALL: [Program; 2] = [Program::Saxpy, Program::Sum];

    /// Returns the name, which is that of the first entry point.
    pub fn name(self) -> &'static str {
        match self {
            Program::Saxpy => "saxpy",
            Program::Sum => "sum",
        }
    }

    /// Returns the bytes that it reads and writes for an element.
    pub fn bytes(self) -> f64 {
        match self {
            Program::Saxpy => 12.0,
            Program::Sum => 4.0,
        }
    }
}

/// An opened device with compiled programs.
pub struct Hand {
    device: Device,
    queue: Queue,
    module: ShaderModule,
    bindings: BindGroupLayout,
    layout: PipelineLayout,
    pipelines: HashMap<(&'static str, u32), ComputePipeline>,
    is_cpu: bool,
}

/// The vectors of runs.
pub struct Vectors {
    n: u32,
    group: BindGroup,
    /// The sums of the blocks.
    partial: Buffer,
    staging: Buffer,
}

impl Hand {
    /// Opens the adapter with a name.
    pub fn open(name: &str) -> Option<Hand> {
        let backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
        let instance =
            Instance::new(InstanceDescriptor { backends, ..InstanceDescriptor::new_without_display_handle() });
        let adapters: Vec<Adapter> = ready(instance.enumerate_adapters(backends));
        let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name)?;
        let required_limits = Limits { max_immediate_size: 16, ..adapter.limits() };
        let descriptor = DeviceDescriptor {
            required_features: Features::IMMEDIATES,
            required_limits,
            ..DeviceDescriptor::default()
        };
        let (device, queue) = ready(adapter.request_device(&descriptor)).ok()?;
        let source = ShaderSource::Wgsl(include_str!("hand.wgsl").into());
        let module = device.create_shader_module(ShaderModuleDescriptor { label: None, source });
        let entry = |binding| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer {
                ty: BufferBindingType::Storage { read_only: binding < 2 },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries = [0, 1, 2, 3].map(entry);
        let bindings = device.create_bind_group_layout(&BindGroupLayoutDescriptor { label: None, entries: &entries });
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 16,
        });
        let is_cpu = adapter.get_info().device_type == DeviceType::Cpu;
        Some(Hand { device, queue, module, bindings, layout, pipelines: HashMap::new(), is_cpu })
    }

    /// Returns whether the driver runs programs on the processor.
    pub fn is_cpu(&self) -> bool {
        self.is_cpu
    }

    /// Returns the most lanes of a block.
    pub fn most_lanes(&self) -> u32 {
        self.device.limits().max_compute_invocations_per_workgroup
    }

    /// Compiles the entry points of a program for a number of lanes.
    pub fn compile(&mut self, program: Program, lanes: u32) {
        let entries: &[&'static str] = match program {
            Program::Saxpy => &["saxpy"],
            Program::Sum => &["sum", "finish"],
        };
        for entry in entries {
            let Hand { device, module, layout, pipelines, .. } = self;
            pipelines.entry((entry, lanes)).or_insert_with(|| {
                device.create_compute_pipeline(&ComputePipelineDescriptor {
                    label: None,
                    layout: Some(layout),
                    module,
                    entry_point: Some(entry),
                    compilation_options: PipelineCompilationOptions {
                        constants: &[("LANES", lanes.into())],
                        ..PipelineCompilationOptions::default()
                    },
                    cache: None,
                })
            });
        }
    }

    /// Copies vectors to the device.
    pub fn vectors(&self, x: &[f32], y: &[f32]) -> Vectors {
        let filled = |elements: &[f32]| {
            let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
            let usage = BufferUsages::STORAGE;
            self.device.create_buffer_init(&BufferInitDescriptor { label: None, contents: &bytes, usage })
        };
        let empty = |size, usage| {
            self.device.create_buffer(&BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let result = empty(4 * x.len() as u64, BufferUsages::STORAGE);
        let partial = empty(4 << 16, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let staging = empty(4, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let n = x.len() as u32;
        let buffers = [&filled(x), &filled(y), &result, &partial];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = self.device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &self.bindings,
            entries: &entries,
        });
        Vectors { n, group, partial, staging }
    }

    /// Prepares a program with a geometry: what a program that runs often does once.
    pub fn launch<'a>(&'a self, program: Program, vectors: &'a Vectors, geometry: Geometry) -> Launch<'a> {
        let Geometry { blocks, lanes } = geometry;
        let stage = |entry: &'static str, blocks, n: u32| Stage {
            pipeline: &self.pipelines[&(entry, lanes)],
            blocks,
            words: [n, blocks * lanes, super::A.to_bits(), 0],
        };
        let stages = match program {
            Program::Saxpy => vec![stage("saxpy", blocks, vectors.n)],
            Program::Sum if blocks == 1 => vec![stage("sum", 1, vectors.n)],
            Program::Sum => vec![stage("sum", blocks, vectors.n), stage("finish", 1, blocks)],
        };
        Launch { hand: self, vectors, program, stages }
    }
}

struct Stage<'a> {
    pipeline: &'a ComputePipeline,
    blocks: u32,
    words: [u32; 4],
}

/// A prepared program.
pub struct Launch<'a> {
    hand: &'a Hand,
    vectors: &'a Vectors,
    program: Program,
    stages: Vec<Stage<'a>>,
}

impl Launch<'_> {
    /// Runs the program, and waits for it. Returns the sum, or 0.
    pub fn run(&self) -> f32 {
        let Hand { device, queue, .. } = self.hand;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        let Vectors { group, partial, staging, .. } = self.vectors;
        for Stage { pipeline, blocks, words } in &self.stages {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            pass.set_immediates(0, &bytes);
            pass.dispatch_workgroups(*blocks, 1, 1);
        }
        drop(pass);
        let reads = self.program == Program::Sum;
        if reads {
            encoder.copy_buffer_to_buffer(partial, 0, staging, 0, Some(4));
        }
        let submission = queue.submit([encoder.finish()]);
        if reads {
            staging.map_async(MapMode::Read, .., |mapped| mapped.expect("the device works"));
        }
        let waits = PollType::Wait { submission_index: Some(submission), timeout: None };
        device.poll(waits).expect("the device works");
        if !reads {
            return 0.0;
        }
        let sum = {
            let view = staging.slice(..).get_mapped_range().expect("it is mapped");
            f32::from_le_bytes(view[..4].try_into().expect("there are four bytes"))
        };
        staging.unmap();
        sum
    }
}

/// Returns the value of a future of wgpu. Those of the systems' own drivers are ready at once.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the driver does not answer at once"),
    }
}
