//! NVRTC, which compiles CUDA C++ at run time.
//!
//! The compiler must not contract `a * b + c` to one rounding, because Rust does not. Its other defaults are IEEE
//! arithmetic: denormal numbers, and divisions and roots that are rounded correctly.

use std::ffi::CString;

use cudarc::nvrtc::{result, sys};

/// The oldest NVRTC that has all calls.
const OLDEST: (i32, i32) = (11, 2);

/// Returns whether the library was found, and is not too old.
pub(super) fn is_available() -> bool {
    // SAFETY: loading NVRTC runs its initializers, which have no requirements.
    if !unsafe { sys::is_culib_present() } {
        return false;
    }
    let mut version = (0, 0);
    // SAFETY: NVRTC writes two numbers.
    let known = unsafe { sys::nvrtcVersion(&raw mut version.0, &raw mut version.1) }.result();
    known.is_ok() && version >= OLDEST
}

/// A program of NVRTC.
struct Program {
    raw: sys::nvrtcProgram,
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: `create_program` returned the program, and nothing else destroys it.
        let _ = unsafe { result::destroy_program(self.raw) };
    }
}

/// Compiles a text for a device with this compute capability. Returns what [`Context::load`](super::api::Context::load)
/// takes: machine code, or PTX if NVRTC is older than the device.
pub(super) fn compile(text: &str, (major, minor): (u32, u32)) -> Result<Vec<u8>, String> {
    let failed = |error: result::NvrtcError| format!("NVRTC: {error}");
    let wanted = major * 10 + minor;
    let newest = architectures()?.into_iter().filter(|known| *known <= wanted).max();
    let newest = newest.ok_or_else(|| format!("NVRTC does not know the compute capability {major}.{minor}"))?;
    let kind = if newest == wanted { "sm" } else { "compute" };
    let text = CString::new(text).expect("the text has no NUL");
    let program = Program { raw: result::create_program(&text, None).map_err(failed)? };
    let options = [&*format!("--gpu-architecture={kind}_{newest}"), "--fmad=false", "--std=c++17"];
    // SAFETY: the program is not destroyed yet, and `text` outlives it.
    if let Err(error) = unsafe { result::compile_program(program.raw, &options) } {
        // SAFETY: the program is not destroyed yet.
        let log = unsafe { result::get_program_log(program.raw) }.unwrap_or_default();
        let log: Vec<u8> = log.into_iter().map(|byte| byte as u8).take_while(|byte| *byte != 0).collect();
        return Err(format!("NVRTC: {error}: {}", String::from_utf8_lossy(&log)));
    }
    let image = if newest == wanted {
        let mut size = 0;
        // SAFETY: the program is compiled, and NVRTC writes one number.
        unsafe { sys::nvrtcGetCUBINSize(program.raw, &raw mut size) }.result().map_err(failed)?;
        let mut image = vec![0; size];
        // SAFETY: the program is compiled, and `image` has the bytes that NVRTC writes.
        unsafe { sys::nvrtcGetCUBIN(program.raw, image.as_mut_ptr()) }.result().map_err(failed)?;
        image
    } else {
        // SAFETY: the program is compiled.
        unsafe { result::get_ptx(program.raw) }.map_err(failed)?
    };
    Ok(image.into_iter().map(|byte| byte as u8).collect())
}

/// Returns the compute capabilities that NVRTC knows, as numbers of two or three digits.
fn architectures() -> Result<Vec<u32>, String> {
    let failed = |error: result::NvrtcError| format!("NVRTC: {error}");
    let mut count = 0;
    // SAFETY: NVRTC writes one number.
    unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) }.result().map_err(failed)?;
    let mut all = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: NVRTC writes as many numbers as it has said.
    unsafe { sys::nvrtcGetSupportedArchs(all.as_mut_ptr()) }.result().map_err(failed)?;
    Ok(all.into_iter().filter_map(|number| u32::try_from(number).ok()).collect())
}
