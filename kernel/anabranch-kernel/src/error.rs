//! The errors of operations.

use std::borrow::Cow;
use std::error;
use std::fmt;

use anabranch::{Cancelled, TimedOut, WaitError};

use crate::Device;

/// Why an operation failed.
///
/// It converts into [`anabranch::Error`], and from [`Cancelled`] and [`TimedOut`]. So the closures of scopes and
/// timeouts can return it.
///
/// ```
/// use anabranch_kernel::{Device, Error, Queue, Shape};
///
/// let shape = Shape { cores: 46, lanes: 32, resident_vectors: 48, max_block_vectors: 32 };
/// let error = Queue::open(&Device::new("a card", shape).unwrap()).unwrap_err();
/// assert!(matches!(error, Error::NoDevice { .. }));
/// assert!(error.to_string().starts_with("cannot open a card: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The device cannot be opened.
    #[non_exhaustive]
    NoDevice {
        /// The name of the device.
        device: String,
        /// Why not.
        reason: String,
    },
    /// The device does not have enough memory, or the host does not have enough memory for copies.
    #[non_exhaustive]
    OutOfMemory {
        /// The bytes that were asked for. 0 if the call that failed names no number.
        bytes: u64,
        /// Whether it is memory of the host, which CUDA locks for copies, instead of memory of the device.
        is_host: bool,
    },
    /// The device has stopped working. Its vectors are lost.
    ///
    /// Open it again. After some errors of CUDA it works only in a new process, and the reason says so.
    #[non_exhaustive]
    Lost {
        /// The message of the system, and what to do.
        reason: String,
    },
    /// Vectors have lengths that do not match.
    #[non_exhaustive]
    Lengths {
        /// Which ones, and what to do.
        reason: String,
    },
    /// A vector does not belong to the queue of the operation, or is in host memory while the operation runs on a
    /// device.
    #[non_exhaustive]
    Queues {
        /// Where the vector is.
        vector: String,
        /// Where the operation runs.
        operation: String,
    },
    /// A kernel has no result for one of the elements: it panicked, or an index is out of range.
    Trap(Trap),
    /// The scope of the wait or of the operation was cancelled.
    Cancelled,
    /// The deadline of the wait or of the operation has passed.
    TimedOut,
    /// The device or the program cannot do this.
    #[non_exhaustive]
    Unsupported {
        /// The missing ability, and what to do instead.
        reason: String,
    },
}

/// The reason why a kernel has no result for an element.
///
/// ```
/// use anabranch_kernel::{Error, Queue, Vector, gather};
///
/// let (values, numbers) = ([1.5f32, 2.5], [0u32, 7]);
/// let error = gather(&values, &numbers).collect(&Queue::cpu()).unwrap_err();
/// let Error::Trap(trap) = error else { panic!("{error}") };
/// assert_eq!((trap.kernel(), trap.what()), ("gather", "index 7 is out of range for 2 elements"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    kernel: Cow<'static, str>,
    what: Cow<'static, str>,
    line: Option<u32>,
}

impl Trap {
    pub(crate) fn new(kernel: impl Into<Cow<'static, str>>, what: impl Into<Cow<'static, str>>) -> Self {
        Self { kernel: kernel.into(), what: what.into(), line: None }
    }

    /// Adds the line of the kernel, counted from 1 at its first line.
    #[cfg_attr(not(any(feature = "cuda", feature = "gpu")), allow(dead_code, reason = "only a device knows it"))]
    pub(crate) fn at_line(self, line: u32) -> Self {
        Self { line: Some(line), ..self }
    }

    /// Returns the name of the kernel or of the operation. If kernels run in the same loop on the processor, it is the
    /// name of the outermost kernel, since the loop cannot tell which of them panicked.
    #[must_use]
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Returns what happened. On the processor it is the message of the panic.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Returns the line in the source of the kernel, if it is known. A panic on the processor reports its place on the
    /// standard error stream instead.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.line
    }
}

impl Error {
    pub(crate) fn no_device(device: &Device, reason: impl Into<String>) -> Self {
        Self::NoDevice { device: device.name().to_owned(), reason: reason.into() }
    }

    pub(crate) fn lengths(reason: impl Into<String>) -> Self {
        Self::Lengths { reason: reason.into() }
    }

    pub(crate) fn queues(vector: impl Into<String>, operation: impl Into<String>) -> Self {
        Self::Queues { vector: vector.into(), operation: operation.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice { device, reason } => write!(f, "cannot open {device}: {reason}"),
            Self::OutOfMemory { bytes, is_host: true } => write!(
                f,
                "the host has no {bytes} bytes left that CUDA can lock for copies: free memory of the host, raise its \
                 limit of locked memory, or work on parts"
            ),
            Self::OutOfMemory { bytes: 0, .. } => {
                f.write_str("the device has no memory left: drop vectors, or work on parts")
            }
            Self::OutOfMemory { bytes, .. } => {
                write!(f, "the device has no {bytes} bytes left: drop vectors, or work on parts")
            }
            Self::Lost { reason } => write!(f, "the device is lost: {reason}"),
            Self::Lengths { reason } | Self::Unsupported { reason } => f.write_str(reason),
            Self::Queues { vector, operation } => write!(
                f,
                "a vector is in {vector}, and the operation runs on {operation}: upload the vector to the queue of the \
                 operation"
            ),
            Self::Trap(trap) => trap.fmt(f),
            Self::Cancelled => Cancelled.fmt(f),
            Self::TimedOut => TimedOut.fmt(f),
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, what, line } = self;
        match line {
            Some(line) => write!(f, "`{kernel}`, line {line}: {what}"),
            None => write!(f, "`{kernel}`: {what}"),
        }
    }
}

impl error::Error for Error {}

impl From<Trap> for Error {
    fn from(trap: Trap) -> Self {
        Self::Trap(trap)
    }
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<TimedOut> for Error {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl From<WaitError> for Error {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Cancelled => Self::Cancelled,
            WaitError::TimedOut => Self::TimedOut,
        }
    }
}

impl From<Error> for anabranch::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Cancelled => Cancelled.into(),
            Error::TimedOut => TimedOut.into(),
            error => Self::other(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_names_the_memory_and_what_to_do() {
        let text = |bytes, is_host| Error::OutOfMemory { bytes, is_host }.to_string();
        assert_eq!(text(8, false), "the device has no 8 bytes left: drop vectors, or work on parts");
        assert_eq!(text(0, false), "the device has no memory left: drop vectors, or work on parts");
        let host = text(8, true);
        assert!(host.starts_with("the host has no 8 bytes left") && host.contains("limit of locked memory"), "{host}");
    }
}
