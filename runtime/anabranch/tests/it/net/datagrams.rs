//! UDP sockets, and the sockets of Unix.

use crate::common::fibers::with_every_cx;
use anabranch::net::UdpSocket;
use std::{
    io::ErrorKind,
    sync::atomic::{AtomicUsize, Ordering},
};

#[test]
fn several_readers_of_one_socket_get_each_datagram_once() {
    with_every_cx(|cx| {
        const DATAGRAMS: usize = 60;
        let socket = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let (received, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
        cx.scope(|s| {
            for _ in 0..4 {
                s.spawn(|cx| {
                    let mut buffer = [0; 8];
                    // Each reader ends by a datagram of its own.
                    while let (8, _) = socket.recv_from(cx, &mut buffer).unwrap() {
                        received.fetch_add(1, Ordering::Relaxed);
                        sum.fetch_add(usize::from_le_bytes(buffer), Ordering::Relaxed);
                    }
                });
            }
            let sender = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
            sender.connect(cx, address).unwrap();
            for number in 0..DATAGRAMS {
                assert_eq!(sender.send(cx, &number.to_le_bytes()).unwrap(), 8);
                if number % 7 == 0 {
                    cx.yield_now();
                }
            }
            for _ in 0..4 {
                sender.send(cx, b"end").unwrap();
            }
        });
        assert_eq!(received.into_inner(), DATAGRAMS);
        assert_eq!(sum.into_inner(), (0..DATAGRAMS).sum::<usize>());
    });
}

#[test]
fn peeked_datagram_stays_and_long_one_is_cut() {
    with_every_cx(|cx| {
        let one = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
        let other = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
        other.send_to(cx, b"abcdef", one.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 3];
        let (count, sender) = one.peek_from(cx, &mut buffer).unwrap();
        assert_eq!((count, sender), (3, other.local_addr().unwrap()));
        assert_eq!(one.recv_from(cx, &mut buffer).unwrap(), (3, sender));
        assert_eq!(&buffer, b"abc");
        assert_eq!(one.try_recv_from(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(one.try_recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn refused_datagram_is_an_error_of_the_next_call() {
    with_every_cx(|cx| {
        let free = UdpSocket::bind(cx, "127.0.0.1:0").unwrap().local_addr().unwrap();
        let socket = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
        socket.connect(cx, free).unwrap();
        for _ in 0..2 {
            socket.send(cx, b"x").unwrap();
            assert_eq!(socket.recv(cx, &mut [0; 8]).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        }
        // The error is over, and the socket waits as before.
        let late = cx.timeout(std::time::Duration::from_micros(200), |cx| socket.recv(cx, &mut [0; 8]));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
    });
}

#[cfg(unix)]
mod unix {
    use super::*;
    use anabranch::net::{UnixDatagram, UnixListener, UnixStream};
    use std::{path::PathBuf, time::Duration};

    /// A path for a socket, whose file is removed at the end.
    struct Path(PathBuf);

    impl Path {
        fn new(name: &str) -> Self {
            static NUMBER: AtomicUsize = AtomicUsize::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            Self(std::env::temp_dir().join(format!("anabranch-{}-{number}-{name}", std::process::id())))
        }
    }

    impl Drop for Path {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn unix_streams_connect_and_transfer() {
        with_every_cx(|cx| {
            let path = Path::new("stream");
            let listener = UnixListener::bind(&path.0).unwrap();
            cx.scope(|s| {
                s.spawn(|cx| {
                    let (server, _) = listener.accept(cx).unwrap();
                    let mut text = String::new();
                    server.read_to_string(cx, &mut text).unwrap();
                    server.write_all(cx, text.to_uppercase().as_bytes()).unwrap();
                });
                let client = UnixStream::connect(cx, &path.0).unwrap();
                let (reader, writer) = client.split();
                writer.write_all(cx, b"some text").unwrap();
                client.shutdown(std::net::Shutdown::Write).unwrap();
                let mut text = [0; 9];
                reader.read_exact(cx, &mut text).unwrap();
                assert_eq!(&text, b"SOME TEXT");
            });
        });
    }

    #[test]
    fn connect_waits_while_queue_of_unix_listener_is_full() {
        anabranch::run(|cx| {
            let path = Path::new("full");
            let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
            socket.bind(&socket2::SockAddr::unix(&path.0).unwrap()).unwrap();
            socket.listen(0).unwrap();
            let first = UnixStream::connect(cx, &path.0).unwrap();
            let late = cx.timeout(Duration::from_millis(5), |cx| UnixStream::connect(cx, &path.0));
            assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
            let listener = UnixListener::from_std(std::os::fd::OwnedFd::from(socket).into()).unwrap();
            cx.scope(|s| {
                s.spawn(|cx| {
                    cx.sleep(Duration::from_millis(2)).unwrap();
                    (0..2).map(|_| listener.accept(cx).unwrap().0).collect::<Vec<_>>()
                });
                UnixStream::connect(cx, &path.0).unwrap();
            });
            drop(first);
        });
    }

    #[test]
    fn unix_datagrams_wait_for_room() {
        with_every_cx(|cx| {
            let path = Path::new("datagram");
            let server = UnixDatagram::bind(&path.0).unwrap();
            cx.scope(|s| {
                let sender = s.spawn(|cx| {
                    let client = UnixDatagram::unbound().unwrap();
                    for number in 0..100u8 {
                        client.send_to(cx, &[number], &path.0).unwrap();
                    }
                    client.connect(&path.0).unwrap();
                    for number in 100..200u8 {
                        client.send(cx, &[number]).unwrap();
                    }
                });
                for number in 0..200u8 {
                    let mut buffer = [0; 4];
                    assert_eq!(server.recv(cx, &mut buffer).unwrap(), 1);
                    assert_eq!(buffer[0], number);
                }
                sender.join(cx).unwrap();
            });
        });
    }
}
