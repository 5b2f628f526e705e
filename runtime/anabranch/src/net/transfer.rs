//! The system calls that move bytes, and what a short transfer implies for the next transfer.
//!
//! A short transfer has emptied or filled the buffer of the system, unless something else has cut it: urgent data, a
//! descriptor that is passed along, a boundary between messages, or the limits of the system on one call.
//!
//! No call raises `SIGPIPE` after the other side has closed, whatever the process does about that signal: the caller
//! gets an error. Apple's systems have an option of the socket for that, and the others a flag of the call.

use crate::{
    reactor::readiness::Done,
    sys::poller::{AsSource, SHORT_MEANS_EMPTY},
};
#[cfg(target_os = "linux")]
use std::io::IoSliceMut;
use std::{
    io::{self, IoSlice},
    ops::Range,
};

/// How many buffers the system accepts in one call.
const MAX_BUFFERS: usize = 1024;

/// How many bytes Linux moves in one call, whatever the buffers have.
const MAX_BYTES: usize = 0x7FFF_F000;

/// Returns a result that says nothing about the next call.
pub(super) fn done<R>(value: R) -> Done<R> {
    Done { value, is_short: false }
}

/// Returns the result of a transfer of bytes over a stream that has no boundaries.
pub(super) fn transferred(count: usize, wanted: usize) -> Done<usize> {
    Done { value: count, is_short: SHORT_MEANS_EMPTY && 0 < count && count < wanted.min(MAX_BYTES) }
}

/// Returns which of the buffers one call uses, and their total length. `None` if all buffers are empty. Buffers beyond
/// the limit of the system do not count, because a transfer that leaves them out is not short.
pub(super) fn used(lens: impl Iterator<Item = usize> + Clone) -> Option<(Range<usize>, usize)> {
    let start = lens.clone().position(|len| len > 0)?;
    let used = lens.skip(start).take(MAX_BUFFERS);
    Some((start..start + used.clone().count(), used.fold(0, usize::saturating_add)))
}

/// Returns whether a socket that was made elsewhere is a plain stream of bytes. The types of std also accept others:
/// sequenced packets as a Unix stream, or SCTP as a TCP stream. A read of these ends after each message.
#[cfg(target_os = "linux")]
pub(super) fn is_stream_of_bytes(socket: &impl AsSource) -> bool {
    use rustix::net::{SocketType, ipproto, sockopt};
    matches!(sockopt::socket_type(socket), Ok(SocketType::STREAM))
        && matches!(sockopt::socket_protocol(socket), Ok(None | Some(ipproto::TCP)))
}

/// Reads from a stream that also stops at descriptors or credentials that are passed along. There is no room for these,
/// so the system drops them and reports so. Any other short read has emptied the buffer of the system.
#[cfg(target_os = "linux")]
pub(super) fn read_to_boundary(
    system: &impl AsSource,
    buffers: &mut [IoSliceMut<'_>],
    wanted: usize,
) -> io::Result<Done<usize>> {
    use rustix::net::{RecvAncillaryBuffer, RecvFlags, ReturnFlags, recvmsg};
    let received = recvmsg(system, buffers, &mut RecvAncillaryBuffer::default(), RecvFlags::empty())?;
    let is_cut = received.flags.contains(ReturnFlags::CTRUNC);
    Ok(if is_cut { done(received.bytes) } else { transferred(received.bytes, wanted) })
}

/// Sends what there is room for. On Linux by the system call alone, because in a process with several threads libc
/// surrounds it by calls for the cancellation of threads.
#[cfg(target_os = "linux")]
#[inline]
pub(super) fn send(system: &impl AsSource, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(system, bytes, rustix::net::SendFlags::NOSIGNAL)?)
}

/// Sends what there is room for.
#[cfg(not(target_os = "linux"))]
#[inline]
pub(super) fn send(system: &impl AsSource, bytes: &[u8]) -> io::Result<usize> {
    socket2::SockRef::from(system).send_with_flags(bytes, NO_SIGNAL)
}

/// Sends what there is room for from several buffers.
pub(super) fn send_vectored(system: &impl AsSource, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    {
        use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
        Ok(sendmsg(system, buffers, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?)
    }
    #[cfg(not(target_os = "linux"))]
    socket2::SockRef::from(system).send_vectored_with_flags(buffers, NO_SIGNAL)
}

#[cfg(all(unix, not(any(target_os = "linux", target_vendor = "apple"))))]
const NO_SIGNAL: i32 = libc::MSG_NOSIGNAL;
/// See [`disable_signal`]. Windows has no signals.
#[cfg(any(windows, target_vendor = "apple"))]
const NO_SIGNAL: i32 = 0;

/// Sets the option that takes the place of the flag. An error means that the other side has closed already: then the
/// calls fail without a signal.
#[cfg(target_vendor = "apple")]
pub(super) fn disable_signal(socket: &impl AsSource) {
    let _ = socket2::SockRef::from(socket).set_nosigpipe(true);
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, transferred};

    #[cfg(all(target_os = "linux", not(anabranch_portable_poller)))]
    #[test]
    fn only_transfer_below_limit_of_system_is_short() {
        assert!(transferred(5, 6).is_short);
        assert!(transferred(MAX_BYTES - 1, usize::MAX).is_short);
        assert!(!transferred(MAX_BYTES, usize::MAX).is_short);
        assert!(!transferred(6, 6).is_short);
    }
}
