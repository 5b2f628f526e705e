//! The calls of the CUDA driver, behind types that cannot be misused.
//!
//! All work of an opened device, except large copies, is in one stream, so it runs in the order of the calls. Memory of
//! the device is also allocated and freed in this order, so it is freed after the work that was submitted before.
//! Memory of the host that a copy uses is neither read, written nor freed before the event that follows the copy.
//!
//! Large copies to and from the host have a stream for each direction, so that kernels run meanwhile. The stream of
//! kernels waits for an upload at once. A download waits for the work that the stream of kernels has when the download
//! begins. Memory that is downloaded keeps the event after that; the stream of kernels waits for this event before the
//! memory is freed or used again. An upload waits for the work of the last owner of its memory, or for the allocation
//! if it is new. So that this allocation does not wait for kernels, new memory for large uploads is allocated in a
//! fourth stream, for which the stream of kernels waits.
//!
//! The context is the primary one of the card, which the program's other users of CUDA share.

mod errors;
mod kernels;
mod memory;

use std::ffi::CStr;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult as Code};

use crate::Error;
use errors::{Meaning, meaning};

pub(in crate::gpu) use kernels::Kernels;
pub(in crate::gpu) use memory::{DeviceMemory, HostMemory};
pub(super) use memory::{LARGE, Receiving};

/// The oldest driver that has all calls, that of CUDA 11.4.
const OLDEST_DRIVER: i32 = 11_040;

/// Returns the number of cards. Returns the reason if there is no driver, an old one, or no card.
pub(super) fn count() -> Result<i32, String> {
    // SAFETY: loading the library of the driver runs its initializers, which have no requirements.
    if !unsafe { sys::is_culib_present() } {
        return Err("NVIDIA's driver, with its library `libcuda`, was not found".to_owned());
    }
    let failed = |error: DriverError| format!("NVIDIA's driver: {error}");
    let mut version = 0;
    // SAFETY: the driver writes one number.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(failed)?;
    if version < OLDEST_DRIVER {
        let version_of = |number: i32| format!("{}.{}", number / 1000, number % 1000 / 10);
        let (version, oldest) = (version_of(version), version_of(OLDEST_DRIVER));
        return Err(format!("NVIDIA's driver has CUDA {version}: update it to one with CUDA {oldest} or newer"));
    }
    result::init().map_err(failed)?;
    match result::device::get_count().map_err(failed)? {
        0 => Err("NVIDIA's driver has no card".to_owned()),
        count => Ok(count),
    }
}

/// Returns an attribute of a card.
pub(super) fn attribute(card: i32, attribute: Attribute) -> Option<u32> {
    let device = result::device::get(card).ok()?;
    // SAFETY: the driver returned the device.
    let value = unsafe { result::device::get_attribute(device, attribute) }.ok()?;
    u32::try_from(value).ok()
}

/// Returns the name of a card, its memory, and the number of its slot.
pub(super) fn identity(card: i32) -> Option<(String, u64, String)> {
    let device = result::device::get(card).ok()?;
    let name = result::device::get_name(device).ok()?;
    // SAFETY: the driver returned the device.
    let memory = unsafe { result::device::total_mem(device) }.ok()?;
    let mut slot = [0u8; 32];
    // SAFETY: the driver writes at most as many bytes as it is told, with a NUL at the end.
    let known = unsafe { sys::cuDeviceGetPCIBusId(slot.as_mut_ptr().cast(), 32, device) }.result();
    let slot = CStr::from_bytes_until_nul(&slot).ok().filter(|_| known.is_ok());
    Some((name, memory as u64, slot.map(|slot| slot.to_string_lossy().into_owned()).unwrap_or_default()))
}

/// A stream of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Kernels and small copies.
    Kernels,
    /// Large copies to the card.
    Uploads,
    /// Large copies from the card.
    Downloads,
    /// The allocation of memory for large uploads.
    Allocations,
}

/// An opened card: a context and its streams.
pub(super) struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// Those of [`Stream`].
    streams: [sys::CUstream; 4],
    /// Whether memory is allocated and freed in the order of the stream.
    is_ordered: bool,
    /// Events that are not in use.
    events: Mutex<Vec<RawEvent>>,
    /// Unused objects with which a thread sleeps until an event.
    sleeps: Mutex<Vec<Sleep>>,
    lost: OnceLock<String>,
}

struct RawEvent(sys::CUevent);

// SAFETY: the driver's handles may be used by any thread.
unsafe impl Send for RawEvent {}

/// A stream that waits for an event of another one, and an event there that wakes a thread.
///
/// An event that can wake a thread makes the card interrupt the host, whether or not a thread sleeps until then. So
/// only a wait that is not short records one.
struct Sleep {
    stream: sys::CUstream,
    event: sys::CUevent,
}

// SAFETY: the driver's handles may be used by any thread.
unsafe impl Send for Sleep {}

impl Sleep {
    /// Makes a stream and an event of the current context.
    fn new() -> Result<Self, DriverError> {
        let event = create_event(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32)?;
        match result::stream::create(result::stream::StreamKind::NonBlocking) {
            Ok(stream) => Ok(Self { stream, event }),
            Err(error) => {
                // SAFETY: nothing uses the event.
                let _ = unsafe { result::event::destroy(event) };
                Err(error)
            }
        }
    }

    /// Sleeps until an event of the same context, which was recorded.
    fn until(&self, event: sys::CUevent) -> Result<(), DriverError> {
        // SAFETY: the events and the stream are destroyed with the context.
        unsafe {
            result::stream::wait_event(self.stream, event, sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT)?;
            result::event::record(self.event, self.stream)?;
            result::event::synchronize(self.event)
        }
    }
}

// SAFETY: the calls of the driver are thread-safe. Each call here makes the context current for its thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// Makes an event of the current context that measures no time.
fn create_event(flags: u32) -> Result<sys::CUevent, DriverError> {
    let mut event = ptr::null_mut();
    let flags = flags | sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
    // SAFETY: the driver writes one handle.
    unsafe { sys::cuEventCreate(&raw mut event, flags) }.result()?;
    Ok(event)
}

impl Context {
    /// Opens a card.
    pub(super) fn open(card: i32) -> Result<Arc<Self>, String> {
        let failed = |error: DriverError| error.to_string();
        let device = result::device::get(card).map_err(failed)?;
        // SAFETY: the driver returned the device. `drop` releases the context.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(failed)?;
        let is_ordered = attribute(card, Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == Some(1);
        let mut opened = Self {
            device,
            context,
            streams: [ptr::null_mut(); 4],
            is_ordered,
            events: Mutex::default(),
            sleeps: Mutex::default(),
            lost: OnceLock::new(),
        };
        let _current = Current::enter(context).map_err(failed)?;
        for stream in &mut opened.streams {
            *stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(failed)?;
        }
        Ok(Arc::new(opened))
    }

    /// Makes the context current for the calls of this thread, until the guard is dropped.
    fn enter(&self) -> Result<Current, Error> {
        self.check_lost()?;
        self.checked(0, Current::enter(self.context))
    }

    fn check_lost(&self) -> Result<(), Error> {
        self.lost.get().map_or(Ok(()), |reason| Err(Error::Lost { reason: reason.clone() }))
    }

    /// Returns why the device is lost, if it is, and what to do.
    pub(super) fn lost(&self) -> Option<String> {
        self.lost.get().cloned()
    }

    /// Makes the device count as lost. The reason says what to do.
    pub(super) fn lose(&self, reason: &str) {
        let _ = self.lost.set(reason.to_owned());
    }

    /// Returns what a call has returned. An error that says nothing about the call alone loses the device.
    fn checked<T>(&self, bytes: u64, returned: Result<T, DriverError>) -> Result<T, Error> {
        returned.map_err(|error| match meaning(error.0) {
            Meaning::OutOfMemory => Error::OutOfMemory { bytes, is_host: false },
            Meaning::Refused(advice) => Error::Unsupported { reason: format!("the driver refuses: {error}{advice}") },
            Meaning::Lost(advice) => {
                let reason = format!("{error}{advice}");
                self.lose(&reason);
                Error::Lost { reason }
            }
        })
    }

    /// Returns the driver's handle of a stream, which is destroyed with the context.
    fn raw(&self, stream: Stream) -> sys::CUstream {
        self.streams[stream as usize]
    }

    /// Waits until all work has ended.
    pub(super) fn synchronize(&self) {
        if let Ok(_current) = self.enter() {
            for stream in self.streams {
                // SAFETY: the streams are destroyed in `drop`.
                let _ = self.checked(0, unsafe { result::stream::synchronize(stream) });
            }
        }
    }

    /// Returns an event at the end of the kernels and small copies so far.
    pub(super) fn record(self: &Arc<Self>) -> Result<Arc<Event>, Error> {
        self.record_in(Stream::Kernels)
    }

    /// Returns an event at the end of the work so far of a stream.
    fn record_in(self: &Arc<Self>, stream: Stream) -> Result<Arc<Event>, Error> {
        let _current = self.enter()?;
        let kept = self.events().pop();
        let raw = match kept {
            Some(RawEvent(raw)) => raw,
            None => self.checked(0, create_event(0))?,
        };
        let event = Event { raw, stream, context: Arc::clone(self) };
        // SAFETY: event and stream belong to the context, and are destroyed in its `drop`.
        self.checked(0, unsafe { result::event::record(raw, self.raw(stream)) })?;
        Ok(Arc::new(event))
    }

    /// Returns an event at the end of the work so far of a stream, for which later kernels wait. If that fails, waits
    /// for all work instead.
    fn record_before_kernels(self: &Arc<Self>, stream: Stream) -> Result<Arc<Event>, Error> {
        let recorded = self.record_in(stream).and_then(|event| {
            if stream != Stream::Kernels {
                self.wait_in(Stream::Kernels, &event)?;
            }
            Ok(event)
        });
        recorded.inspect_err(|_| self.synchronize())
    }

    /// Lets later work of a stream wait for an event.
    fn wait_in(&self, stream: Stream, event: &Event) -> Result<(), Error> {
        let _current = self.enter()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: event and stream are destroyed with the context.
        self.checked(0, unsafe { result::stream::wait_event(self.raw(stream), event.raw, flags) })
    }

    fn events(&self) -> MutexGuard<'_, Vec<RawEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleeps(&self) -> MutexGuard<'_, Vec<Sleep>> {
        self.sleeps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the first bytes of memory to 0.
    pub(super) fn clear(&self, memory: &DeviceMemory, bytes: u64) -> Result<(), Error> {
        let _current = self.enter()?;
        let address = memory.part(self, 0, bytes);
        // SAFETY: the bytes are in the memory, which is freed in the order of the stream.
        self.checked(0, unsafe { result::memset_d8_async(address, 0, bytes as usize, self.raw(Stream::Kernels)) })
    }

    /// Copies bytes from one memory to another one, from an offset to an offset.
    pub(super) fn copy(
        &self,
        (from, from_offset): (&DeviceMemory, u64),
        (to, to_offset): (&DeviceMemory, u64),
        bytes: u64,
    ) -> Result<(), Error> {
        let _current = self.enter()?;
        let (from, to) = (from.part(self, from_offset, bytes), to.part(self, to_offset, bytes));
        // SAFETY: the bytes are in both, which are freed in the order of the stream.
        self.checked(0, unsafe { result::memcpy_dtod_async(to, from, bytes as usize, self.raw(Stream::Kernels)) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: nothing that uses the context is left, because all of it has a reference. The driver ends the work
        // of a stream before it destroys it.
        unsafe {
            let current = Current::enter(self.context);
            for RawEvent(event) in self.events().drain(..) {
                let _ = result::event::destroy(event);
            }
            for Sleep { stream, event } in self.sleeps().drain(..) {
                let _ = result::event::destroy(event);
                let _ = result::stream::destroy(stream);
            }
            for stream in self.streams {
                if !stream.is_null() {
                    let _ = result::stream::synchronize(stream);
                    let _ = result::stream::destroy(stream);
                }
            }
            drop(current);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}

/// A context that is current for this thread. Dropped, it leaves the one that was current before, which may be none.
#[must_use]
struct Current {
    /// `None` if it is the same one.
    before: Option<sys::CUcontext>,
}

impl Current {
    fn enter(context: sys::CUcontext) -> Result<Self, DriverError> {
        let before = result::ctx::get_current()?.unwrap_or(ptr::null_mut());
        if before == context {
            return Ok(Self { before: None });
        }
        // SAFETY: the caller's context is retained.
        unsafe { result::ctx::set_current(context) }?;
        Ok(Self { before: Some(before) })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: the driver returned the context. The code that made it current keeps it as long as it is.
            let _ = unsafe { result::ctx::set_current(before) };
        }
    }
}

/// A point in a stream.
pub(in crate::gpu) struct Event {
    raw: sys::CUevent,
    stream: Stream,
    context: Arc<Context>,
}

// SAFETY: the driver's handles may be used by any thread.
unsafe impl Send for Event {}
// SAFETY: as above. It is recorded before it is shared.
unsafe impl Sync for Event {}

impl Event {
    /// Returns the stream.
    pub(super) fn stream(&self) -> Stream {
        self.stream
    }

    /// Returns whether the stream has reached the event.
    pub(super) fn is_reached(&self) -> Result<bool, Error> {
        let _current = self.context.enter()?;
        // SAFETY: the event is destroyed with the context.
        match unsafe { result::event::query(self.raw) } {
            Err(DriverError(Code::CUDA_ERROR_NOT_READY)) => Ok(false),
            returned => self.context.checked(0, returned).map(|()| true),
        }
    }

    /// Blocks until the stream has reached the event.
    pub(super) fn wait(&self) -> Result<(), Error> {
        if self.is_reached()? {
            return Ok(());
        }
        let context = &*self.context;
        let _current = context.enter()?;
        let kept = context.sleeps().pop();
        let Some(sleep) = kept.or_else(|| Sleep::new().ok()) else {
            // There is no memory for another one. The thread spins instead.
            // SAFETY: the event is destroyed with the context.
            return context.checked(0, unsafe { result::event::synchronize(self.raw) });
        };
        let waited = sleep.until(self.raw);
        context.sleeps().push(sleep);
        context.checked(0, waited)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        self.context.events().push(RawEvent(self.raw));
    }
}
