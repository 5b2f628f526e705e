//! The meaning of the driver's errors for a device.

use cudarc::driver::sys::CUresult as Code;

/// The meaning of an error, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    OutOfMemory,
    /// The driver refuses the call.
    Refused(&'static str),
    /// The error is not about this call alone, so it is not known which results are missing.
    Lost(&'static str),
}

/// Returns what an error means.
pub(super) fn meaning(code: Code) -> Meaning {
    match code {
        Code::CUDA_ERROR_OUT_OF_MEMORY => Meaning::OutOfMemory,
        Code::CUDA_ERROR_NO_BINARY_FOR_GPU | Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            Meaning::Refused("; update NVIDIA's driver, or use an older NVRTC")
        }
        Code::CUDA_ERROR_INVALID_VALUE
        | Code::CUDA_ERROR_INVALID_IMAGE
        | Code::CUDA_ERROR_INVALID_PTX
        | Code::CUDA_ERROR_INVALID_SOURCE
        | Code::CUDA_ERROR_JIT_COMPILATION_DISABLED
        | Code::CUDA_ERROR_JIT_COMPILER_NOT_FOUND
        | Code::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
        | Code::CUDA_ERROR_NOT_FOUND
        | Code::CUDA_ERROR_NOT_SUPPORTED
        | Code::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
        | Code::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND => Meaning::Refused(""),
        // By the documentation of the driver they leave the process in an inconsistent state.
        Code::CUDA_ERROR_ILLEGAL_ADDRESS
        | Code::CUDA_ERROR_LAUNCH_TIMEOUT
        | Code::CUDA_ERROR_HARDWARE_STACK_ERROR
        | Code::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | Code::CUDA_ERROR_MISALIGNED_ADDRESS
        | Code::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | Code::CUDA_ERROR_INVALID_PC
        | Code::CUDA_ERROR_LAUNCH_FAILED => Meaning::Lost("; CUDA works again only in a new process"),
        _ => Meaning::Lost("; open it again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_after_which_the_process_cannot_use_cuda_says_so() {
        let sticky = [700, 702, 714, 715, 716, 717, 718, 719];
        let codes = [
            Code::CUDA_ERROR_ILLEGAL_ADDRESS,
            Code::CUDA_ERROR_LAUNCH_TIMEOUT,
            Code::CUDA_ERROR_HARDWARE_STACK_ERROR,
            Code::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            Code::CUDA_ERROR_MISALIGNED_ADDRESS,
            Code::CUDA_ERROR_INVALID_ADDRESS_SPACE,
            Code::CUDA_ERROR_INVALID_PC,
            Code::CUDA_ERROR_LAUNCH_FAILED,
        ];
        assert_eq!(codes.map(|code| code as u32), sticky);
        for code in codes {
            assert_eq!(meaning(code), Meaning::Lost("; CUDA works again only in a new process"), "{code:?}");
        }
        assert_eq!(meaning(Code::CUDA_ERROR_ECC_UNCORRECTABLE), Meaning::Lost("; open it again"));
    }

    #[test]
    fn a_driver_that_is_older_than_nvrtc_is_to_be_updated() {
        for code in [Code::CUDA_ERROR_NO_BINARY_FOR_GPU, Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION] {
            let Meaning::Refused(advice) = meaning(code) else { panic!("{code:?}") };
            assert!(advice.contains("update NVIDIA's driver"), "{advice}");
        }
        assert_eq!(meaning(Code::CUDA_ERROR_INVALID_PTX), Meaning::Refused(""));
    }
}
