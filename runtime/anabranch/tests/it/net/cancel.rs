//! Cancellation and deadlines at each wait in turn. What was not transferred is transferred later.

use super::pair;
use crate::common::fibers::with_every_cx;
use anabranch::{
    Cx, Operation, WaitError,
    net::{TcpListener, TcpStream, UdpSocket, is_cancelled},
};
use std::{
    cell::Cell,
    io::{self, ErrorKind},
    time::Duration,
};

/// Cancels `wait` by each way in turn: before it begins, by a deadline, and by another fiber. The results must tell.
fn cancelled<R: std::fmt::Debug>(cx: &Cx<'_>, wait: impl Fn(&Cx<'_>) -> io::Result<R>) {
    let late = cx.timeout(Duration::from_micros(300), |cx| {
        let error = wait(cx).unwrap_err();
        assert!(is_cancelled(&error), "{error:?}");
        assert_ne!(error.kind(), ErrorKind::Interrupted, "callers would retry");
        Err::<(), _>(error)
    });
    assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
    let before = cx.cancellable(|cx, handle| {
        handle.cancel();
        wait(cx)
    });
    assert!(is_cancelled(&before.unwrap_err()));
    let during = cx.cancellable(|cx, handle| {
        cx.scope(|s| {
            s.spawn(move |cx| {
                cx.sleep(Duration::from_micros(200)).unwrap();
                handle.cancel();
            });
            wait(cx)
        })
    });
    assert!(is_cancelled(&during.unwrap_err()));
}

#[test]
fn cancelled_accept_loses_no_connection() {
    with_every_cx(|cx| {
        let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
        cancelled(cx, |cx| listener.accept(cx));
        let short = Duration::from_micros(300);
        assert_eq!(listener.accepting().timeout(cx, short).unwrap_err(), WaitError::TimedOut);
        assert_eq!(listener.readable().timeout(cx, short).unwrap_err(), WaitError::TimedOut);
        let client = TcpStream::connect(cx, listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept(cx).unwrap();
        client.write_all(cx, b"x").unwrap();
        server.read_exact(cx, &mut [0]).unwrap();
    });
}

#[test]
fn cancelled_read_and_peek_lose_no_byte() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let buffer = || [0; 8];
        cancelled(cx, |cx| server.read(cx, &mut buffer()));
        cancelled(cx, |cx| server.peek(cx, &mut buffer()));
        cancelled(cx, |cx| server.read_exact(cx, &mut buffer()));
        cancelled(cx, |cx| server.read_to_end(cx, &mut Vec::new()));
        client.write_all(cx, b"all").unwrap();
        let mut got = [0; 3];
        server.read_exact(cx, &mut got).unwrap();
        assert_eq!(&got, b"all");
    });
}

#[test]
fn cancelled_write_has_written_what_it_says() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let (sent, bytes) = (Cell::new(0), vec![7; 1 << 16]);
        let write_until_stopped = |cx: &Cx<'_>| -> io::Result<()> {
            loop {
                sent.set(sent.get() + client.write(cx, &bytes)?);
            }
        };
        // Fills the buffers of both sides. The system may still make room later, so each wait below writes again.
        cx.timeout(Duration::from_millis(5), write_until_stopped).unwrap_err();
        cancelled(cx, write_until_stopped);
        drop(client);
        let mut all = Vec::new();
        server.read_to_end(cx, &mut all).unwrap();
        assert_eq!(all.len(), sent.get());
    });
}

#[test]
fn cancelled_receive_loses_no_datagram() {
    with_every_cx(|cx| {
        let one = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
        let other = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
        cancelled(cx, |cx| one.recv_from(cx, &mut [0; 8]));
        cancelled(cx, |cx| one.recv(cx, &mut [0; 8]));
        other.send_to(cx, b"kept", one.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 8];
        assert_eq!(one.recv(cx, &mut buffer).unwrap(), 4);
    });
}

#[test]
fn deadline_ends_connect_to_full_listener() {
    anabranch::run(|cx| {
        // A backlog of one, and nobody accepts: the system answers no further connection on Linux.
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
        socket.listen(0).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        let mut clients = Vec::new();
        for _ in 0..8 {
            match cx.timeout(Duration::from_millis(20), |cx| TcpStream::connect(cx, address)) {
                Ok(client) => clients.push(client),
                Err(error) => return assert_eq!(error.kind(), ErrorKind::TimedOut),
            }
        }
        if cfg!(target_os = "linux") {
            panic!("all connections were accepted");
        }
    });
}

#[test]
fn race_of_two_reads_leaves_the_loser_usable() {
    with_every_cx(|cx| {
        let ((one, first), (other, second)) = (pair(cx), pair(cx));
        one.write_all(cx, b"1").unwrap();
        let won = cx.race((
            |cx: &Cx<'_>| first.read(cx, &mut [0; 8]).map(|_| 1),
            |cx: &Cx<'_>| second.read(cx, &mut [0; 8]).map(|_| 2),
        ));
        assert_eq!(won.unwrap(), 1);
        other.write_all(cx, b"2").unwrap();
        assert_eq!(second.read(cx, &mut [0; 8]).unwrap(), 1);
    });
}
