//! Calls at the end of the process.

use std::ffi::c_int;

unsafe extern "C" {
    /// Both the C library of Unix and that of Windows have it.
    safe fn atexit(function: extern "C" fn()) -> c_int;
}

/// Has `function` called when `main` returns or the process calls `exit`. Returns whether it will be. The function must
/// not unwind.
pub(crate) fn at_exit(function: extern "C" fn()) -> bool {
    atexit(function) == 0
}
