//! Memory of the card, and memory of the host for copies.

use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{result, sys};

use super::{Context, Event, Stream};
use crate::Error;

/// The bytes of a large copy, which runs beside kernels. Tests have more of them.
pub(in crate::gpu::driver::cuda) const LARGE: u64 = if cfg!(test) { 64 << 10 } else { 1 << 20 };

/// Memory of the card.
pub(in crate::gpu) struct DeviceMemory {
    address: sys::CUdeviceptr,
    bytes: u64,
    uses: Mutex<Uses>,
    context: Arc<Context>,
}

/// The work on memory that the next owner has to know.
#[derive(Default)]
struct Uses {
    /// The end of the allocation, or of the last owner's kernels, if the memory is large.
    kernels: Option<Arc<Event>>,
    /// The end of the last large download.
    download: Option<Arc<Event>>,
}

impl DeviceMemory {
    /// Allocates memory, not none. That for a large upload does not wait for the kernels so far.
    pub(in crate::gpu::driver::cuda) fn new(
        context: &Arc<Context>,
        bytes: u64,
        is_for_upload: bool,
    ) -> Result<Self, Error> {
        let _current = context.enter()?;
        let size = usize::try_from(bytes).map_err(|_| Error::OutOfMemory { bytes, is_host: false })?;
        let stream = if is_for_upload && bytes >= LARGE { Stream::Allocations } else { Stream::Kernels };
        let allocated = match context.is_ordered {
            // SAFETY: the stream belongs to the context. The contents are any words, which only kernels read.
            true => unsafe { result::malloc_async(context.raw(stream), size) },
            // SAFETY: as above.
            false => unsafe { result::malloc_sync(size) },
        };
        let address = context.checked(bytes, allocated)?;
        let memory = Self { address, bytes, uses: Mutex::default(), context: Arc::clone(context) };
        if bytes >= LARGE {
            // A large upload waits for the allocation, and so do the kernels.
            memory.uses().kernels = Some(context.record_before_kernels(stream)?);
        }
        Ok(memory)
    }

    /// Lets work on the memory of another owner wait for that of this one. Call it once this owner has submitted all
    /// of it.
    pub(in crate::gpu::driver::cuda) fn release(&self) -> Result<(), Error> {
        self.end_download()?;
        if self.bytes >= LARGE {
            self.uses().kernels = Some(self.context.record()?);
        }
        Ok(())
    }

    /// Lets later kernels wait for a large download.
    fn end_download(&self) -> Result<(), Error> {
        let mut uses = self.uses();
        if let Some(download) = &uses.download {
            self.context.wait_in(Stream::Kernels, download)?;
        }
        uses.download = None;
        Ok(())
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the address of a part.
    ///
    /// # Panics
    /// Panics if the part is not in the memory, or the memory not of this context.
    pub(super) fn part(&self, context: &Context, offset: u64, bytes: u64) -> sys::CUdeviceptr {
        assert!(ptr::eq(context, &*self.context));
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes), "a part is in its memory");
        self.address + offset
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let Ok(_current) = self.context.enter() else { return };
        if self.end_download().is_err() {
            self.context.synchronize();
        }
        // SAFETY: `new` allocated the memory, and no later work uses it. The stream of kernels has waited for the
        // allocation and the copies in the other streams. `free_sync` waits for earlier work.
        let _ = unsafe {
            match self.context.is_ordered {
                true => result::free_async(self.address, self.context.raw(Stream::Kernels)),
                false => result::free_sync(self.address),
            }
        };
    }
}

/// Memory of the host for copies.
pub(in crate::gpu) struct HostMemory {
    address: NonNull<u8>,
    bytes: u64,
    copies: Mutex<Copies>,
    context: Arc<Context>,
}

/// The copies that may still use memory of the host.
enum Copies {
    None,
    /// Some copies were submitted, without an event after them.
    Submitted,
    /// All copies were submitted before this event.
    Until(Arc<Event>),
}

// SAFETY: the memory belongs to the value, and `copies` is locked while it is accessed.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates memory, not none.
    pub(in crate::gpu::driver::cuda) fn new(context: &Arc<Context>, bytes: u64) -> Result<Self, Error> {
        let _current = context.enter()?;
        let no_memory = Error::OutOfMemory { bytes, is_host: true };
        let Ok(size) = usize::try_from(bytes) else { return Err(no_memory) };
        // SAFETY: the context is current. `drop` frees the memory.
        let allocated = context.checked(bytes, unsafe { result::malloc_host(size, 0) });
        let address = match allocated.map(|address| NonNull::new(address.cast())) {
            Ok(Some(address)) => address,
            Ok(None) | Err(Error::OutOfMemory { .. }) => return Err(no_memory),
            Err(error) => return Err(error),
        };
        let memory = Self { address, bytes, copies: Mutex::new(Copies::None), context: Arc::clone(context) };
        // SAFETY: the memory has `size` bytes. So all of them have values that can be read.
        unsafe { ptr::write_bytes(address.as_ptr(), 0, size) };
        Ok(memory)
    }

    /// Begins copies to the memory. They come after those for an earlier caller that did not wait for their end. Those
    /// that continue a large download of the same memory do not wait for the kernels so far.
    pub(in crate::gpu::driver::cuda) fn receive(&self, continues: bool) -> Result<Receiving<'_>, Error> {
        let (copies, context) = (self.copies(), &self.context);
        match &*copies {
            Copies::Until(event) if !event.is_reached()? => {
                context.wait_in(Stream::Kernels, event)?;
                context.wait_in(Stream::Downloads, event)?;
            }
            Copies::Submitted => context.synchronize(),
            Copies::Until(_) | Copies::None => {}
        }
        Ok(Receiving { memory: self, copies, continues, large: None })
    }

    /// Returns whether no copy uses the memory.
    pub(in crate::gpu::driver::cuda) fn is_idle(&self) -> bool {
        self.copies().is_idle()
    }

    /// Copies words from the beginning, to one part after the other. Returns `false` if copies to the memory are still
    /// under way.
    pub(in crate::gpu::driver::cuda) fn read(&self, parts: [&mut [u32]; 2]) -> bool {
        let mut copies = self.copies();
        if !copies.is_idle() {
            return false;
        }
        *copies = Copies::None;
        let mut offset = 0;
        for part in parts {
            let bytes = size_of_val(part);
            assert!((offset + bytes) as u64 <= self.bytes, "a part is in its memory");
            // SAFETY: the bytes are in the memory, and `part` is as long. No copy writes them, and the lock keeps new
            // copies from it.
            unsafe { ptr::copy_nonoverlapping(self.address.as_ptr().add(offset), part.as_mut_ptr().cast(), bytes) };
            offset += bytes;
        }
        true
    }

    /// Writes `bytes` to the memory, once no copy uses it, and copies them to an offset in memory of the card. Blocks
    /// until earlier copies have ended. The copy is part of a large one if `is_large`.
    pub(in crate::gpu::driver::cuda) fn send(
        &self,
        bytes: &[u8],
        (to, offset): (&DeviceMemory, u64),
        is_large: bool,
    ) -> Result<Arc<Event>, Error> {
        let mut copies = self.copies();
        copies.wait(&self.context)?;
        assert!(bytes.len() as u64 <= self.bytes, "the bytes fit into the memory");
        // SAFETY: the memory has room for the bytes. No copy reads it, and the lock keeps new copies from it.
        let source = unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.address.as_ptr(), bytes.len());
            std::slice::from_raw_parts(self.address.as_ptr(), bytes.len())
        };
        let context = &self.context;
        let _current = context.enter()?;
        let stream = if is_large { Stream::Uploads } else { Stream::Kernels };
        let address = to.part(context, offset, bytes.len() as u64);
        if is_large {
            let uses = to.uses();
            context.wait_in(stream, uses.kernels.as_ref().expect("memory of a large upload is large"))?;
        }
        *copies = Copies::Submitted;
        // SAFETY: both have the bytes. This memory is not written or freed before the event, and that of the card is
        // freed in the stream of kernels, which waits for the event.
        context.checked(0, unsafe { result::memcpy_htod_async(address, source, context.raw(stream)) })?;
        let event = context.record_before_kernels(stream)?;
        *copies = Copies::Until(Arc::clone(&event));
        Ok(event)
    }

    fn copies(&self) -> MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Copies {
    fn is_idle(&self) -> bool {
        match self {
            Self::None => true,
            Self::Submitted => false,
            Self::Until(event) => event.is_reached().unwrap_or(false),
        }
    }

    /// Waits for the copies.
    fn wait(&mut self, context: &Context) -> Result<(), Error> {
        match self {
            Self::None => {}
            Self::Submitted => {
                context.synchronize();
                context.check_lost()?;
            }
            Self::Until(event) => event.wait()?,
        }
        *self = Self::None;
        Ok(())
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let waited = self.copies().wait(&self.context);
        // A copy may still use the memory of a lost device, so that is not freed.
        if waited.is_ok()
            && let Ok(_current) = self.context.enter()
        {
            // SAFETY: `new` allocated the memory, and no copy uses it.
            let _ = unsafe { result::free_host(self.address.as_ptr().cast()) };
        }
    }
}

/// Copies to memory of the host that are being submitted.
pub(in crate::gpu::driver::cuda) struct Receiving<'a> {
    memory: &'a HostMemory,
    copies: MutexGuard<'a, Copies>,
    continues: bool,
    /// The end of the copies so far, if the last one is large.
    large: Option<Arc<Event>>,
}

impl Receiving<'_> {
    /// Copies bytes from an offset in memory of the card to an offset here.
    pub(in crate::gpu::driver::cuda) fn copy(
        &mut self,
        (from, offset): (&DeviceMemory, u64),
        to: u64,
        bytes: u64,
    ) -> Result<(), Error> {
        let context = &self.memory.context;
        let _current = context.enter()?;
        assert!(to.checked_add(bytes).is_some_and(|end| end <= self.memory.bytes), "a part is in its memory");
        let address = from.part(context, offset, bytes);
        // Those after a large one end later.
        let mut uses = from.uses();
        let continues = self.continues && uses.download.is_some();
        let is_large = bytes >= LARGE || continues || self.large.is_some();
        let stream = if is_large { Stream::Downloads } else { Stream::Kernels };
        if is_large && !continues {
            context.wait_in(stream, &*context.record()?)?;
        }
        *self.copies = Copies::Submitted;
        // SAFETY: both have the bytes. This memory is not read or freed before an event after the copy, and that of
        // the card is freed in the stream of kernels, which waits for the event. The stream of the copy has waited for
        // its allocation: that of downloads at the first large copy, which is the one that `continues` asks for.
        let copied = unsafe {
            let to = self.memory.address.as_ptr().add(to as usize).cast();
            sys::cuMemcpyDtoHAsync_v2(to, address, bytes as usize, context.raw(stream))
        };
        context.checked(0, copied.result())?;
        if is_large {
            // Under the lock, so that no earlier event takes the place of a later one.
            let event = context.record_in(stream).inspect_err(|_| context.synchronize())?;
            uses.download = Some(Arc::clone(&event));
            self.large = Some(event);
        }
        Ok(())
    }

    /// Ends the copies. Returns the event after them.
    pub(in crate::gpu::driver::cuda) fn end(mut self) -> Result<Arc<Event>, Error> {
        let event = match self.large.take() {
            Some(event) => event,
            None => self.memory.context.record()?,
        };
        *self.copies = Copies::Until(Arc::clone(&event));
        Ok(event)
    }
}
