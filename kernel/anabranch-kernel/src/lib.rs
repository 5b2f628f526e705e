//! Data-parallel programs that choose no launch geometry.
//!
//! A *kernel* is a plain Rust function of elements. Applied to vectors it results in a *lazy vector*, and an operation
//! runs the whole expression as one loop: on the cores of the processor, using the parallel iterators of [`anabranch`],
//! or on a GPU.
//!
//! ```
//! use anabranch_kernel::{Queue, Vector, Work, kernel};
//!
//! #[kernel]
//! fn saxpy(a: f32, x: f32, y: f32) -> f32 {
//!     a * x + y
//! }
//!
//! assert_eq!(saxpy(2.0, 10.0, 1.0), 21.0); // It is still a function.
//!
//! let queue = Queue::choose(Work::new(3).bytes(12).operations(2)).into_queue();
//! let (x, y) = (queue.upload(&[1.0, 2.0, 3.0])?, queue.upload(&[0.5, 0.5, 0.5])?);
//! let results = saxpy::map(2.0, &x, &y).collect(&queue)?;
//! anabranch::run(|cx| {
//!     assert_eq!(results.download(cx)?, [2.5, 4.5, 6.5]);
//!     Ok::<_, anabranch_kernel::Error>(())
//! })?;
//! # Ok::<_, anabranch_kernel::Error>(())
//! ```
//!
//! | I want to | use |
//! |---|---|
//! | write a function for both | [`kernel`](macro@kernel) |
//! | apply it to vectors | its function `map`, which returns a [`Map`]; [`Argument`] lists what it accepts |
//! | store the results | [`Vector::collect`] |
//! | combine all elements to one | [`Vector::reduce`], [`sum`](Vector::sum), [`min`](Vector::min), [`max`](Vector::max) |
//! | combine each element with the elements before it | [`Vector::scan`], [`Vector::exclusive_scan`] |
//! | keep some elements | [`Vector::compact`] |
//! | read or write elements at given indices | [`gather`], [`Vector::scatter`], [`indices`] |
//! | count values | [`Vector::histogram`] |
//! | sort | [`sort_by_key`] |
//! | give each element a slice: a matrix row, the neighbours of a vertex | [`rows`], [`segments`], [`whole`] |
//! | run on the processor, on a GPU, or where it is faster | [`Queue::cpu`], [`Queue::open`], [`Queue::choose`] |
//! | know why a device was chosen | [`Choice::reason`] |
//! | move vectors to a device and back | [`Queue::upload`], [`DeviceVec::download`] |
//! | wait for a device in a fiber, a race or a future | [`Pending`], [`DeviceVec::download`], [`DeviceVec::wait`] |
//! | get a result of the processor without waiting | [`Pending::into_value`], [`DeviceVec::into_vec`] |
//! | stop an operation when a scope is cancelled or its deadline passes | [`Queue::cancelled_by`] |
//! | know how a launch is laid out, and why | [`Device::plan`], [`Plan::reason`] |
//!
//! # Lazy vectors
//! A lazy vector computes nothing by itself. An argument of a kernel can be lazy too, and then both kernels run in the
//! same loop: `multiply::map(&x, &y).sum(&queue)` reads `x` and `y` once, and stores no products. The elements of a
//! loop are computed in any order, and on several threads.
//!
//! A slice of the program is an argument on each queue. A device gets a copy of it for each operation, so upload
//! elements that several operations read.
//!
//! On the processor an operation has ended when it returns. To stop it before its end, pass
//! [`queue.cancelled_by(cx)`](Queue::cancelled_by) instead of `&queue`. Then it returns soon after the scope of `cx`
//! was cancelled or its deadline has passed. On a GPU it has only begun: operations run in the order of the calls, and
//! only [`DeviceVec::download`], [`DeviceVec::wait`], [`Pending::wait`] and [`Vector::compact`] wait. A fiber that
//! waits leaves its worker to other fibers, and takes part in scopes, timeouts and races.
//!
//! # Errors
//! A kernel that panics, divides by zero or reads beyond a slice is an [`Error::Trap`] of the operation. So is a number
//! out of range in [`gather`], [`Vector::scatter`] and [`Vector::histogram`]. Nothing is undefined, and nothing is
//! leaked. On the processor, the threads check between blocks of elements whether another thread has trapped, and stop.
//!
//! # The rule of launches
//! A GPU is a vector processor. It has cores, each core runs vectors of a fixed width, and it keeps several vectors
//! resident to hide the latency of its memory. A [`Device`] is such a machine, and [`Device::plan`] gives the shape of
//! a launch for a number of elements: how many blocks, and how many lanes each.
//!
//! ```
//! use anabranch_kernel::Device;
//!
//! let h100: Device = "h100".parse()?;
//! let plan = h100.plan(10_000);
//! assert_eq!((plan.blocks(), plan.lanes_per_block()), (157, 64));
//! println!("{}", plan.reason());
//! # Ok::<_, anabranch_kernel::UnknownDevice>(())
//! ```
//!
//! 1. **Fill the cores.** A block is as large as possible while each core gets a block.
//! 2. **Then residency.** Blocks stop growing at a size at which a core holds a whole number of blocks, at least two.
//! 3. **Then stride.** Once all cores are full, no more blocks are launched, and each lane takes several elements.
//!
//! Every plan runs in one wave: all its blocks are resident at the same time. [`Plan`] lists what holds for each plan.
//! (A [`collect`](Vector::collect) of many elements on a GPU has up to 32 times as many blocks.)
//!
//! # Machines
//! [`Device::known`] is a table of devices with the source of their figures. [`Device::cpu`] is the processor that the
//! program runs on, and [`Device::gpus`] lists the GPUs that can be opened. [`Device::new`] describes any other
//! machine. The command `anabranch plan` of [anabranch-cli](https://docs.rs/anabranch-cli) shows a plan and its reason.
//!
//! # GPUs
//! With the feature `gpu`, [`Device::gpus`] lists the GPUs that have a driver for Vulkan, Metal or Direct3D 12, and
//! with the feature `cuda` the GPUs that have CUDA. [`Queue::open`] opens one. An operation on such a queue is launched
//! and returns, and [`DeviceVec::download`] and [`Pending::wait`] wait for it: a fiber suspends, and its worker runs
//! other fibers. For the first half of a millisecond the worker also polls the GPU, so that a short operation wakes no
//! thread.
//!
//! ```
//! use anabranch_kernel::{Device, Queue, Vector, indices};
//!
//! let gpu = Device::gpus().into_iter().next();
//! let queue = gpu.map_or(Ok(Queue::cpu()), |gpu| Queue::open(&gpu))?;
//! let numbers = indices(1_000_000).collect(&queue)?;
//! println!("{} on {}", numbers.len(), queue.device().name());
//! # Ok::<_, anabranch_kernel::Error>(())
//! ```
//!
//! A vector has at most 2^32 - 1 elements, and at most the bytes that the driver allows for one, often 2 to 4 GiB. An
//! expression that is only reduced has only the first limit. Floats are IEEE single precision, and denormal numbers may
//! be taken as 0.
//!
//! lavapipe, a driver for processors, counts as a GPU. It ends loops early: a kernel whose loops have more than 65,535
//! rounds for one element has wrong results there.
//!
//! # Features
//! - `gpu`, off by default: GPUs, via Vulkan, Metal and Direct3D 12.
//! - `cuda`, off by default: NVIDIA's GPUs, via CUDA. Short operations take a fifth to half of the time that they take
//!   with Vulkan. The libraries of CUDA's driver (of CUDA 11.4 or newer) and of NVRTC, `libcuda` and `libnvrtc`, are
//!   loaded at run time: without them the program starts, but finds no such GPU. The error of [`Queue::open`] says what
//!   is missing. With both features a card is listed once, with CUDA. An upload is copied in parts of 1 MiB. It blocks
//!   its thread, and cannot be cancelled, while 16 parts wait for work before them (4,096 parts, if they have up to 4
//!   KiB). Uploads and downloads of 1 MiB and more run beside kernels. Compiled kernels are kept in files: in
//!   `anabranch-kernel` in `$XDG_CACHE_HOME`, or in `~/.cache`, or in `%LOCALAPPDATA%` on Windows. Do not let other
//!   users write to this folder. It can be removed at any time. `CUDA_CACHE_DISABLE=1` disables this cache and the
//!   caches of CUDA. Floats are IEEE single precision with denormal numbers, and no multiplication is contracted with
//!   an addition.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod arguments;
mod choice;
mod cpu;
mod device;
mod device_vec;
mod element;
mod error;
#[cfg_attr(not(any(feature = "cuda", feature = "gpu")), path = "no_gpu.rs")]
mod gpu;
mod graph;
mod kernel;
mod key;
mod known;
mod number;
mod pending;
mod plan;
mod queue;
mod reason;
mod shape;
mod sort;
mod source;
mod tree;
mod vector;
mod work;

pub use anabranch_kernel_macros::kernel;
pub use arguments::{
    Argument, Gather, Indices, Map, Rows, Segments, Values, Whole, gather, indices, rows, segments, whole,
};
pub use choice::Choice;
pub use device::Device;
pub use device_vec::DeviceVec;
pub use element::{Element, Item};
pub use error::{Error, Trap};
pub use kernel::{Kernel, Param, ParamList, Slice};
pub use key::Key;
pub use known::UnknownDevice;
pub use number::Number;
pub use pending::Pending;
pub use plan::{Plan, Rule};
pub use queue::{AsQueue, Queue, ScopedQueue};
pub use reason::Reason;
pub use shape::{Shape, ZeroInShape};
pub use sort::sort_by_key;
pub use vector::Vector;
pub use work::{Estimate, Work};
