//! What each kind of socket does, with each kind of `Cx`.

use super::pair;
use crate::common::{LONG, fibers::with_every_cx};
use anabranch::{
    Cx,
    net::{TcpListener, TcpStream, lookup_host},
};
use socket2::{Domain, Socket, Type};
use std::{
    io::{self, ErrorKind, IoSlice, IoSliceMut},
    net::{Ipv4Addr, SocketAddr},
};

/// Answers each message of four bytes until the other side closes.
fn echo(cx: &Cx<'_>, stream: &TcpStream) -> io::Result<usize> {
    let mut messages = 0;
    let mut message = [0; 4];
    loop {
        match stream.read_exact(cx, &mut message) {
            Ok(()) => stream.write_all(cx, &message)?,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(messages),
            Err(error) => return Err(error),
        }
        messages += 1;
    }
}

#[test]
fn ping_pong_with_every_kind_of_cx() {
    with_every_cx(|cx| {
        let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        cx.scope(|s| {
            let server = s.spawn(move |cx| echo(cx, &listener.accept(cx)?.0));
            let client = TcpStream::connect(cx, address).unwrap();
            for round in 0..20u32 {
                client.write_all(cx, &round.to_le_bytes()).unwrap();
                let mut answer = [0; 4];
                client.read_exact(cx, &mut answer).unwrap();
                assert_eq!(u32::from_le_bytes(answer), round);
            }
            drop(client);
            assert_eq!(server.join(cx).unwrap().unwrap(), 20);
        });
    });
}

#[test]
fn many_connections_at_once_are_served() {
    with_every_cx(|cx| {
        let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        cx.scope(|s| {
            s.spawn(move |cx| {
                cx.scope(|s| {
                    for stream in listener.incoming(cx).take(40) {
                        let stream = stream.unwrap();
                        s.spawn(move |cx| echo(cx, &stream).unwrap());
                    }
                });
            });
            for _ in 0..40 {
                s.spawn(move |cx| {
                    let client = TcpStream::connect(cx, address).unwrap();
                    for round in 0..10u32 {
                        client.write_all(cx, &round.to_le_bytes()).unwrap();
                        let mut answer = [0; 4];
                        client.read_exact(cx, &mut answer).unwrap();
                        assert_eq!(u32::from_le_bytes(answer), round);
                    }
                });
            }
        });
    });
}

#[test]
fn peek_leaves_bytes_and_vectored_calls_transfer_all() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let sent = client.write_vectored(cx, &[IoSlice::new(b"ab"), IoSlice::new(b"cde")]).unwrap();
        assert_eq!(sent, 5);
        let mut peeked = [0; 8];
        assert_eq!(server.peek(cx, &mut peeked).unwrap(), 5);
        let (mut one, mut two) = ([0; 3], [0; 8]);
        let read = server.read_vectored(cx, &mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)]).unwrap();
        assert_eq!((read, &one, &two[..2]), (5, b"abc", &b"de"[..]));
        assert_eq!(server.try_read(&mut one).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(server.read(cx, &mut []).unwrap(), 0);
    });
}

#[test]
fn connect_tries_each_address_and_reports_last_error() {
    anabranch::run(|cx| {
        // Nothing listens at a port that was free a moment ago.
        let free = TcpListener::bind(cx, "127.0.0.1:0").unwrap().local_addr().unwrap();
        let listener = TcpListener::bind(cx, (Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(cx, [free, address]).unwrap();
        assert_eq!(client.peer_addr().unwrap(), address);
        let refused = TcpStream::connect(cx, [free]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let none: [SocketAddr; 0] = [];
        assert_eq!(TcpStream::connect(cx, none).unwrap_err().kind(), ErrorKind::InvalidInput);
        let name = format!("localhost:{}", address.port());
        let client = TcpStream::connect(cx, name.as_str()).unwrap();
        assert_eq!(client.peer_addr().unwrap().port(), address.port());
    });
}

#[test]
fn names_and_addresses_resolve() {
    with_every_cx(|cx| {
        assert_eq!(lookup_host(cx, "127.0.0.1:7").unwrap(), ["127.0.0.1:7".parse().unwrap()]);
        assert_eq!(lookup_host(cx, "[::1]:7").unwrap(), ["[::1]:7".parse().unwrap()]);
        assert_eq!(lookup_host(cx, ("127.0.0.1", 7)).unwrap(), ["127.0.0.1:7".parse().unwrap()]);
        let found = lookup_host(cx, ("localhost".to_owned(), 7)).unwrap();
        assert!(!found.is_empty() && found.iter().all(|address| address.ip().is_loopback()), "{found:?}");
        for wrong in ["127.0.0.1", "localhost:x", "localhost:70000", ""] {
            assert_eq!(lookup_host(cx, wrong).unwrap_err().kind(), ErrorKind::InvalidInput, "{wrong}");
        }
    });
}

#[test]
fn streams_send_small_packets_at_once() {
    anabranch::run(|cx| {
        let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || TcpStream::connect(cx, address).unwrap();
        let client = connect();
        let accepted = [
            listener.accept(cx).unwrap().0,
            {
                let _other = connect();
                cx.block_on(listener.accepting()).unwrap().unwrap().0
            },
            {
                let _other = connect();
                anabranch::select!(cx, { new = listener.accepting() => new }).unwrap().unwrap().0
            },
            {
                let _other = connect();
                listener.incoming(cx).next().unwrap().unwrap()
            },
        ];
        assert!(client.nodelay().unwrap() && accepted.iter().all(|stream| stream.nodelay().unwrap()));
        let late = cx.timeout(LONG, |cx| TcpStream::connect(cx, address)).unwrap();
        assert!(late.nodelay().unwrap());
        // A socket that was made elsewhere keeps its option.
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        assert!(!TcpStream::connect_with(cx, socket, address).unwrap().nodelay().unwrap());
        let stream = std::net::TcpStream::connect(address).unwrap();
        let stream = TcpStream::from_std(stream).unwrap();
        assert!(!stream.nodelay().unwrap());
        let stream = stream.into_std().unwrap();
        assert!(!stream.nodelay().unwrap());
    });
}

#[test]
fn options_and_conversions_keep_the_socket() {
    anabranch::run(|cx| {
        let (client, server) = pair(cx);
        client.set_nodelay(false).unwrap();
        assert!(!client.nodelay().unwrap());
        client.set_ttl(9).unwrap();
        assert_eq!(client.ttl().unwrap(), 9);
        let options = socket2::SockRef::from(&client);
        options.set_keepalive(true).unwrap();
        assert!(options.keepalive().unwrap());
        // A read that waits registers the socket, which then becomes one of `std`, in blocking mode, and back.
        server.write_all(cx, b"x").unwrap();
        client.read_exact(cx, &mut [0]).unwrap();
        let late = cx.timeout(std::time::Duration::from_millis(1), |cx| client.read(cx, &mut [0]));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
        let client = client.into_std().unwrap();
        server.write_all(cx, b"y").unwrap();
        io::Read::read_exact(&mut &client, &mut [0]).unwrap();
        let client = TcpStream::from_std(client).unwrap();
        assert_eq!(client.try_read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        server.write_all(cx, b"z").unwrap();
        client.read_exact(cx, &mut [0]).unwrap();
    });
}
