//! The common part of TCP streams and Unix streams.

#[cfg(target_os = "linux")]
use crate::net::transfer;
use crate::{
    cx::Cx,
    net::{
        io::{Io, Socket},
        transfer::{done, send, send_vectored, transferred, used},
    },
    reactor::readiness::{Direction, Done},
    wait::suspend::WaitReason,
};
use std::{
    io::{self, IoSlice, IoSliceMut, Read},
    net::Shutdown,
    task::{Context, Poll},
};

/// A connected stream of bytes: a [`TcpStream`](crate::net::TcpStream) or a `UnixStream`. Only these implement it.
#[allow(private_bounds, reason = "sealed")]
pub trait Stream: Sealed {}

/// The operations behind a [`Stream`].
pub(crate) trait Sealed: Send + Sync + Sized + 'static {
    type System: Socket + Send + Sync;

    /// The names of the operations, for display.
    const READ: &'static &'static str;
    const WRITE: &'static &'static str;

    /// Whether a short transfer has always emptied or filled the buffer of the system. A Unix stream also stops at
    /// descriptors that are passed along.
    const HAS_NO_BOUNDARIES: bool;

    fn io(&self) -> &Io<Self::System>;

    fn shut_down(&self, how: Shutdown) -> io::Result<()>;

    fn reader(system: &Self::System) -> impl Read + '_;
}

#[track_caller]
fn reason<S: Sealed>(direction: Direction) -> WaitReason {
    WaitReason::new(if direction == Direction::Read { S::READ } else { S::WRITE })
}

/// Returns the result of a transfer over a stream of this kind.
fn count<S: Sealed>(count: usize, wanted: usize) -> Done<usize> {
    if S::HAS_NO_BOUNDARIES { transferred(count, wanted) } else { done(count) }
}

/// Receives what there is. On Linux by the system call alone: in a process with several threads libc surrounds it by
/// calls for the cancellation of threads.
#[inline]
fn receive<S: Sealed>(system: &S::System, buffer: &mut [u8]) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::net::recv(system, buffer, rustix::net::RecvFlags::empty())?.0);
    #[cfg(not(target_os = "linux"))]
    S::reader(system).read(buffer)
}

fn read_once<S: Sealed>(system: &S::System, buffer: &mut [u8]) -> io::Result<Done<usize>> {
    let wanted = buffer.len();
    #[cfg(target_os = "linux")]
    if !S::HAS_NO_BOUNDARIES {
        return transfer::read_to_boundary(system, &mut [IoSliceMut::new(buffer)], wanted);
    }
    Ok(count::<S>(receive::<S>(system, buffer)?, wanted))
}

fn read_vectored_once<S: Sealed>(
    system: &S::System,
    buffers: &mut [IoSliceMut<'_>],
    wanted: usize,
) -> io::Result<Done<usize>> {
    #[cfg(target_os = "linux")]
    if !S::HAS_NO_BOUNDARIES {
        return transfer::read_to_boundary(system, buffers, wanted);
    }
    Ok(count::<S>(S::reader(system).read_vectored(buffers)?, wanted))
}

fn write_once<S: Sealed>(system: &S::System, bytes: &[u8]) -> io::Result<Done<usize>> {
    Ok(count::<S>(send(system, bytes)?, bytes.len()))
}

/// Returns the result of a transfer of nothing, which does not wait until the stream is ready.
fn nothing(cx: &Cx<'_>) -> io::Result<usize> {
    cx.checkpoint()?;
    Ok(0)
}

#[inline]
#[track_caller]
pub(super) fn read<S: Sealed>(stream: &S, cx: &Cx<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    if buffer.is_empty() {
        return nothing(cx);
    }
    stream.io().perform(cx, Direction::Read, reason::<S>(Direction::Read), |system| read_once::<S>(system, buffer))
}

#[track_caller]
pub(super) fn read_vectored<S: Sealed>(stream: &S, cx: &Cx<'_>, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    let Some((used, wanted)) = used(buffers.iter().map(|buffer| buffer.len())) else { return nothing(cx) };
    let buffers = &mut buffers[used];
    stream.io().perform(cx, Direction::Read, reason::<S>(Direction::Read), |system| {
        read_vectored_once::<S>(system, buffers, wanted)
    })
}

#[track_caller]
pub(super) fn read_exact<S: Sealed>(stream: &S, cx: &Cx<'_>, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        match read(stream, cx, buffer)? {
            0 => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the stream has ended")),
            count => buffer = &mut buffer[count..],
        }
    }
    Ok(())
}

#[inline]
#[track_caller]
pub(super) fn write<S: Sealed>(stream: &S, cx: &Cx<'_>, bytes: &[u8]) -> io::Result<usize> {
    if bytes.is_empty() {
        return nothing(cx);
    }
    stream.io().perform(cx, Direction::Write, reason::<S>(Direction::Write), |system| write_once::<S>(system, bytes))
}

#[track_caller]
pub(super) fn write_vectored<S: Sealed>(stream: &S, cx: &Cx<'_>, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    let Some((used, wanted)) = used(buffers.iter().map(|buffer| buffer.len())) else { return nothing(cx) };
    let buffers = &buffers[used];
    stream.io().perform(cx, Direction::Write, reason::<S>(Direction::Write), |system| {
        Ok(count::<S>(send_vectored(system, buffers)?, wanted))
    })
}

#[track_caller]
pub(super) fn write_all<S: Sealed>(stream: &S, cx: &Cx<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match write(stream, cx, bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => bytes = &bytes[count..],
        }
    }
    Ok(())
}

pub(super) fn try_read<S: Sealed>(stream: &S, buffer: &mut [u8]) -> io::Result<usize> {
    stream.io().try_once(Direction::Read, |system| read_once::<S>(system, buffer))
}

pub(super) fn try_write<S: Sealed>(stream: &S, bytes: &[u8]) -> io::Result<usize> {
    stream.io().try_once(Direction::Write, |system| write_once::<S>(system, bytes))
}

pub(super) fn poll_read<S: Sealed>(
    stream: &S,
    context: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    if buffer.is_empty() {
        return Poll::Ready(Ok(0));
    }
    stream.io().poll(context, Direction::Read, |system| read_once::<S>(system, buffer))
}

pub(super) fn poll_write<S: Sealed>(stream: &S, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
    if bytes.is_empty() {
        return Poll::Ready(Ok(0));
    }
    stream.io().poll(context, Direction::Write, |system| write_once::<S>(system, bytes))
}

pub(super) async fn read_async<S: Sealed>(stream: &S, buffer: &mut [u8]) -> io::Result<usize> {
    if buffer.is_empty() {
        return Ok(0);
    }
    stream.io().perform_async(Direction::Read, |system| read_once::<S>(system, buffer)).await
}

pub(super) async fn write_async<S: Sealed>(stream: &S, bytes: &[u8]) -> io::Result<usize> {
    if bytes.is_empty() {
        return Ok(0);
    }
    stream.io().perform_async(Direction::Write, |system| write_once::<S>(system, bytes)).await
}
