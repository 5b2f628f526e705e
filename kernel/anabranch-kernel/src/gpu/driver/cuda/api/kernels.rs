//! Kernels: loading and launching them.

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anabranch_kernel_ir::CudaSource;
use cudarc::driver::{result, sys};

use super::{Context, DeviceMemory, Stream};
use crate::Error;
use crate::gpu::layout::Immediates;

impl Context {
    /// Loads what [`compile`](super::super::compiler::compile) has made of a source, in this process or before.
    pub(in crate::gpu::driver::cuda) fn load(
        self: &Arc<Self>,
        image: &[u8],
        source: CudaSource,
        entries: usize,
        lanes: u32,
    ) -> Result<Kernels, Error> {
        let _current = self.enter()?;
        // PTX ends with a NUL.
        let image = [image, &[0]].concat();
        // SAFETY: the image is machine code, or PTX with a NUL: NVRTC made it, in this process or, by the checksum of
        // its file, in an earlier one.
        let module = self.checked(0, unsafe { result::module::load_data(image.as_ptr().cast()) })?;
        let context = Arc::clone(self);
        let was_launched = AtomicBool::new(false);
        let mut kernels = Kernels { module, functions: Vec::new(), source, lanes, was_launched, context };
        for entry in 0..entries {
            let name = CString::new(format!("entry{entry}")).expect("the name has no NUL");
            // SAFETY: the module is loaded, and unloaded in the `drop` of `kernels`.
            kernels.functions.push(self.checked(0, unsafe { result::module::get_function(module, name) })?);
        }
        Ok(kernels)
    }

    /// Runs a dispatch. `buffers` are those of the source in order, each with the bytes that the kernel may access.
    pub(in crate::gpu::driver::cuda) fn launch(
        &self,
        kernels: &Kernels,
        entry: usize,
        blocks: u32,
        buffers: &[(&DeviceMemory, u64)],
        immediates: &Immediates,
    ) -> Result<(), Error> {
        let _current = self.enter()?;
        assert!(ptr::eq(self, &*kernels.context) && buffers.len() == kernels.source.buffers.len());
        let parameters = buffers.iter().zip(&kernels.source.buffers).map(|((memory, bytes), buffer)| {
            let count = u32::try_from(bytes / u64::from(buffer.stride)).unwrap_or(u32::MAX);
            assert!(count > 0, "a buffer has an element");
            (memory.part(self, 0, *bytes), count)
        });
        let parameters: Vec<(u64, u32)> = parameters.collect();
        let mut pointers: Vec<*mut c_void> = Vec::with_capacity(2 * parameters.len() + 1);
        for (address, count) in &parameters {
            pointers.push((&raw const *address).cast_mut().cast());
            pointers.push((&raw const *count).cast_mut().cast());
        }
        if kernels.source.immediates > 0 {
            assert!(kernels.source.immediates as usize <= size_of::<Immediates>());
            pointers.push((&raw const *immediates).cast_mut().cast());
        }
        kernels.was_launched.store(true, Ordering::Relaxed);
        let (grid, block) = ((blocks, 1, 1), (kernels.lanes, 1, 1));
        // SAFETY: the pointers are to values of the types of the kernel's parameters, which `CudaSource` lists. The
        // kernel accesses memory only through these parameters, and only elements below their counts: `write_cuda`
        // replaces other indices, and the image was made of its text. A file of the cache has this text, in a folder
        // that other users may not write to: `create` of the cache makes it so, and the documentation of the crate asks
        // for it. This memory is freed, and the kernel unloaded, after the work of the stream.
        self.checked(0, unsafe {
            result::launch_kernel(kernels.functions[entry], grid, block, 0, self.raw(Stream::Kernels), &mut pointers)
        })
    }
}

/// The kernels of a module.
pub(in crate::gpu) struct Kernels {
    module: sys::CUmodule,
    functions: Vec<sys::CUfunction>,
    source: CudaSource,
    lanes: u32,
    was_launched: AtomicBool,
    context: Arc<Context>,
}

// SAFETY: the driver's handles may be used by any thread.
unsafe impl Send for Kernels {}
// SAFETY: as above.
unsafe impl Sync for Kernels {}

impl Kernels {
    /// Returns the numbers of the storage variables in the order of the parameters.
    pub(in crate::gpu::driver::cuda) fn bindings(&self) -> impl Iterator<Item = u32> {
        self.source.buffers.iter().map(|buffer| buffer.binding)
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        if *self.was_launched.get_mut() {
            // The stream may still run one of them.
            self.context.synchronize();
        }
        if let Ok(_current) = self.context.enter() {
            // SAFETY: `load` loaded the module, and no kernel of it runs.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}
