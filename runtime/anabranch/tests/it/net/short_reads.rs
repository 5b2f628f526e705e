//! Transfers of fewer bytes than asked for: what they say about the next one.

use super::pair;
use crate::common::fibers::with_every_cx;
use anabranch::{net::UnixStream, select};
use futures_io::AsyncRead;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, send, sendmsg,
    socketpair,
};
use std::{
    future::poll_fn,
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::AsFd,
    pin::Pin,
    time::Duration,
};

/// A short read shows that nothing is left, so the next one waits for an event and does not look.
#[cfg(not(anabranch_portable_poller))]
#[test]
fn nothing_is_ready_after_short_read() {
    macro_rules! check {
        ($cx:ident, $writer:expr, $reader:expr) => {
            // Registers the socket: what comes from here on are events.
            let late = $cx.timeout(Duration::from_millis(1), |cx| $reader.read(cx, &mut [0; 64]));
            late.unwrap_err();
            $writer.write_all($cx, b"short").unwrap();
            assert_eq!($reader.read($cx, &mut [0; 64]).unwrap(), 5);
            let is_ready = select!($cx, { ready = $reader.readable() => ready.is_ok(), default => false });
            assert!(!is_ready.unwrap());
            // Without waiting, and by a future.
            $writer.write_all($cx, b"short").unwrap();
            select!($cx, { ready = $reader.readable() => ready.unwrap() }).unwrap();
            assert_eq!($reader.try_read(&mut [0; 64]).unwrap(), 5);
            let is_ready = select!($cx, { ready = $reader.readable() => ready.is_ok(), default => false });
            assert!(!is_ready.unwrap());
            $writer.write_all($cx, b"short").unwrap();
            let mut buffer = [0; 64];
            let read = poll_fn(|context| AsyncRead::poll_read(Pin::new(&mut &$reader), context, &mut buffer));
            assert_eq!($cx.block_on(read).unwrap().unwrap(), 5);
            let is_ready = select!($cx, { ready = $reader.readable() => ready.is_ok(), default => false });
            assert!(!is_ready.unwrap());
        };
    }
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        check!(cx, client, server);
        let (client, server) = UnixStream::pair().unwrap();
        check!(cx, client, server);
    });
}

/// A read of a Unix stream ends where descriptors were passed along, although there are more bytes.
#[test]
fn bytes_behind_passed_descriptor_are_read_without_another_event() {
    with_every_cx(|cx| {
        let (client, server) = UnixStream::pair().unwrap();
        let late = cx.timeout(Duration::from_millis(1), |cx| server.read(cx, &mut [0; 64]));
        late.unwrap_err();
        let (descriptors, mut space) = ([client.as_fd()], [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))]);
        let mut passed = SendAncillaryBuffer::new(&mut space);
        assert!(passed.push(SendAncillaryMessage::ScmRights(&descriptors)));
        sendmsg(&client, &[IoSlice::new(b"ab")], &mut passed, SendFlags::empty()).unwrap();
        client.try_write(b"cd").unwrap();
        let mut all = Vec::new();
        while all.len() < 4 {
            let mut buffer = [0; 64];
            let count = server.read(cx, &mut buffer).unwrap();
            all.extend_from_slice(&buffer[..count]);
        }
        assert_eq!(all, b"abcd");
    });
}

/// The system uses 1024 of the buffers, so the read is not short.
#[test]
fn bytes_beyond_limit_of_buffers_are_read_without_another_event() {
    macro_rules! check {
        ($cx:ident, $writer:expr, $reader:expr) => {
            let late = $cx.timeout(Duration::from_millis(1), |cx| $reader.read(cx, &mut [0; 64]));
            late.unwrap_err();
            $writer.write_all($cx, &[7; 1500]).unwrap();
            let (mut bytes, mut read) = (vec![0; 1500], 0);
            while read < bytes.len() {
                let mut buffers: Vec<_> = bytes[read..].chunks_mut(1).map(IoSliceMut::new).collect();
                buffers.insert(0, IoSliceMut::new(&mut []));
                read += $reader.read_vectored($cx, &mut buffers).unwrap();
            }
            assert_eq!(bytes, [7; 1500]);
        };
    }
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        check!(cx, client, server);
        let (client, server) = UnixStream::pair().unwrap();
        check!(cx, client, server);
    });
}

/// The system uses 1024 of the buffers, so the write has not filled its buffer.
#[test]
fn bytes_beyond_limit_of_buffers_are_written_without_another_event() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        // Registers the socket: what comes from here on are events.
        while client.try_write(&[7; 1 << 16]).is_ok() {}
        cx.scope(|s| {
            s.spawn(|cx| while server.read(cx, &mut [0; 1 << 16]).is_ok() {});
            client.write_all(cx, &[7; 1 << 20]).unwrap();
            let (bytes, mut written) = ([8; 1500], 0);
            while written < bytes.len() {
                let buffers: Vec<_> = bytes[written..].chunks(1).map(IoSlice::new).collect();
                written += client.write_vectored(cx, &buffers).unwrap();
            }
            s.cancel();
        });
    });
}

/// A read of sequenced packets ends with its packet, although there is another one.
#[test]
fn sequenced_packet_behind_short_read_is_read_without_another_event() {
    with_every_cx(|cx| {
        let flags = SocketFlags::CLOEXEC;
        let (client, server) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        let client = UnixStream::from_std(client.into()).unwrap();
        let server = UnixStream::from_std(server.into()).unwrap();
        let late = cx.timeout(Duration::from_millis(1), |cx| server.read(cx, &mut [0; 64]));
        late.unwrap_err();
        client.write_all(cx, b"first").unwrap();
        client.write_all(cx, b"second").unwrap();
        assert_eq!(server.read(cx, &mut [0; 64]).unwrap(), 5);
        assert_eq!(server.read(cx, &mut [0; 64]).unwrap(), 6);
    });
}

/// A read of a Unix stream ends before an urgent byte, if the system has these, although there are more bytes.
#[test]
fn bytes_behind_urgent_byte_of_unix_stream_are_read_without_another_event() {
    with_every_cx(|cx| {
        let (client, server) = UnixStream::pair().unwrap();
        let late = cx.timeout(Duration::from_millis(1), |cx| server.read(cx, &mut [0; 64]));
        late.unwrap_err();
        client.write_all(cx, b"ab").unwrap();
        if send(&client, b"!", SendFlags::OOB).is_err() {
            return;
        }
        client.write_all(cx, b"cd").unwrap();
        let mut all = Vec::new();
        while !all.ends_with(b"cd") {
            let mut buffer = [0; 64];
            let count = server.read(cx, &mut buffer).unwrap();
            all.extend_from_slice(&buffer[..count]);
        }
    });
}
