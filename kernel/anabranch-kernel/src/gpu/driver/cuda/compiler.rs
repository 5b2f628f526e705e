//! NVRTC, which compiles CUDA C++ at run time.
//!
//! The compiler must not contract `a * b + c` to one rounding, because Rust does not. Its other defaults are IEEE
//! arithmetic: denormal numbers, and divisions and roots that are rounded correctly.

use std::ffi::CString;

use cudarc::nvrtc::{result, sys};

/// The oldest NVRTC that has all calls.
const OLDEST: (i32, i32) = (11, 2);

/// Returns the reason if the library was not found, or is too old.
pub(super) fn check() -> Result<(), String> {
    // SAFETY: loading NVRTC runs its initializers, which have no requirements.
    if !unsafe { sys::is_culib_present() } {
        return Err("the library of NVRTC (`libnvrtc`) was not found: install it".to_owned());
    }
    let version = version()?;
    if version < OLDEST {
        let ((major, minor), oldest) = (version, OLDEST);
        return Err(format!("NVRTC {major}.{minor} is too old: install {}.{} or newer", oldest.0, oldest.1));
    }
    Ok(())
}

fn version() -> Result<(i32, i32), String> {
    let mut version = (0, 0);
    // SAFETY: NVRTC writes two numbers.
    let known = unsafe { sys::nvrtcVersion(&raw mut version.0, &raw mut version.1) }.result();
    known.map(|()| version).map_err(|error| format!("NVRTC: {error}"))
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

/// The target that NVRTC compiles for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The version of NVRTC.
    version: (i32, i32),
    /// A compute capability, as a number of two or three digits.
    number: u32,
    /// Whether it is that of the device. Otherwise NVRTC makes PTX, which the driver compiles for the device.
    is_exact: bool,
}

/// Returns what NVRTC compiles for, on a device with this compute capability. Returns the reason if NVRTC is too new
/// for the device.
pub(super) fn target(compute: (u32, u32)) -> Result<Target, String> {
    target_of(version()?, &architectures()?, compute)
}

fn target_of(version: (i32, i32), architectures: &[u32], (major, minor): (u32, u32)) -> Result<Target, String> {
    let wanted = major * 10 + minor;
    let newest = architectures.iter().copied().filter(|known| *known <= wanted).max();
    let number = newest.ok_or_else(|| {
        format!(
            "NVRTC does not compile for the compute capability {major}.{minor}: install an older NVRTC, or use the \
             feature `gpu`"
        )
    })?;
    Ok(Target { version, number, is_exact: number == wanted })
}

/// Returns the options for a target.
fn options(target: &Target) -> [String; 3] {
    let kind = if target.is_exact { "sm" } else { "compute" };
    let architecture = format!("--gpu-architecture={kind}_{}", target.number);
    [architecture, "--fmad=false".to_owned(), "--std=c++17".to_owned()]
}

/// Returns the text with the options and the version of NVRTC that [`compile`] uses.
pub(super) fn key(text: &str, target: &Target) -> String {
    let (major, minor) = target.version;
    format!("NVRTC {major}.{minor} {}\n{text}", options(target).join(" "))
}

/// Compiles a text. Returns what [`Context::load`](super::api::Context::load) takes: machine code, or PTX if NVRTC is
/// older than the device.
pub(super) fn compile(text: &str, target: &Target) -> Result<Vec<u8>, String> {
    let failed = |error: result::NvrtcError| format!("NVRTC: {error}");
    let text = CString::new(text).expect("the text has no NUL");
    let program = Program { raw: result::create_program(&text, None).map_err(failed)? };
    // SAFETY: the program is not destroyed yet, and `text` outlives it.
    if let Err(error) = unsafe { result::compile_program(program.raw, &options(target)) } {
        // SAFETY: the program is not destroyed yet.
        let log = unsafe { result::get_program_log(program.raw) }.unwrap_or_default();
        let log: Vec<u8> = log.into_iter().map(|byte| byte as u8).take_while(|byte| *byte != 0).collect();
        return Err(format!("NVRTC: {error}: {}", String::from_utf8_lossy(&log)));
    }
    let image = if target.is_exact {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_of_one_text_version_and_target() {
        let target = |version, number, is_exact| Target { version, number, is_exact };
        let keys = [
            key("text", &target((13, 0), 90, true)),
            key("text ", &target((13, 0), 90, true)),
            key("text", &target((13, 1), 90, true)),
            key("text", &target((12, 0), 90, true)),
            key("text", &target((13, 0), 80, true)),
            key("text", &target((13, 0), 90, false)),
        ];
        assert_eq!(keys[0], "NVRTC 13.0 --gpu-architecture=sm_90 --fmad=false --std=c++17\ntext");
        for (number, key) in keys.iter().enumerate() {
            assert!(!keys[..number].contains(key), "{key}");
        }
    }

    #[test]
    fn the_target_is_the_newest_architecture_that_the_device_has() {
        let version = (13, 0);
        let of = |compute| target_of(version, &[75, 80, 90, 100], compute);
        assert_eq!(of((9, 0)), Ok(Target { version, number: 90, is_exact: true }));
        assert_eq!(of((8, 9)), Ok(Target { version, number: 80, is_exact: false }));
        assert_eq!(of((12, 0)), Ok(Target { version, number: 100, is_exact: false }));
        let too_old = of((6, 1)).unwrap_err();
        assert!(too_old.contains("6.1: install an older NVRTC, or use the feature `gpu`"), "{too_old}");
    }
}
