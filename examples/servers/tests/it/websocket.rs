//! WebSockets by tungstenite: its own clients on fibers, and raw bytes.

use crate::{in_pools, reset, served, served_in_no_time};
use anabranch::{
    Cx,
    net::{TcpStream, With},
    sync::Event,
};
use anabranch_servers::{
    serve::{Ends, Limits},
    websocket::{Rules, connection},
};
use std::{
    io::{Read, Write},
    net::SocketAddr,
};
use tungstenite::{
    Error, Message, WebSocket,
    protocol::{
        CloseFrame,
        frame::{
            Frame,
            coding::{CloseCode, Data, OpCode},
        },
    },
};

const RULES: Rules = Rules {
    max_message: 1000,
    accepts: |request| {
        assert_ne!(request.uri().path(), "/panic", "a callback that panics");
        request.uri().path() == "/echo"
    },
};

fn handler(cx: &Cx<'_>, stream: &TcpStream, stop: &Event) -> Result<(), anabranch_servers::Failure> {
    connection(cx, stream, RULES, stop)
}

fn open<'a>(
    cx: &'a Cx<'a>,
    stream: &'a TcpStream,
    address: SocketAddr,
    path: &str,
) -> Result<WebSocket<With<'a, TcpStream>>, String> {
    let opened = tungstenite::client(format!("ws://{address}{path}"), stream.with(cx));
    opened.map(|(socket, _)| socket).map_err(|error| error.to_string())
}

/// Reads to the end, and returns what the server has said last.
fn close_frame(socket: &mut WebSocket<With<'_, TcpStream>>) -> Option<CloseFrame> {
    let mut frame = None;
    loop {
        match socket.read() {
            Ok(Message::Close(close)) => frame = close,
            Ok(_) => {}
            Err(Error::ConnectionClosed) => return frame,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn texts_bytes_pings_and_fragments_come_back_and_both_sides_close() {
    in_pools(|pool| {
        let (ends, ()) = served(pool, Limits::default(), handler, |cx, address, _| {
            cx.map_concurrent(10, 0..20, |cx, _| {
                let stream = TcpStream::connect(cx, address).unwrap();
                let mut socket = open(cx, &stream, address, "/echo")?;
                let long = "ü".repeat(500);
                for message in
                    [Message::text("text"), Message::binary(vec![0, 255]), Message::text(""), Message::text(long)]
                {
                    socket.send(message.clone()).unwrap();
                    assert_eq!(socket.read().unwrap(), message);
                }
                socket.send(Message::Ping("here".into())).unwrap();
                assert_eq!(socket.read().unwrap(), Message::Pong("here".into()));
                // A message in two frames, with a ping between.
                socket.write(Message::Frame(Frame::message("frag", OpCode::Data(Data::Text), false))).unwrap();
                socket.write(Message::Ping("".into())).unwrap();
                socket.write(Message::Frame(Frame::message("ment", OpCode::Data(Data::Continue), true))).unwrap();
                socket.flush().unwrap();
                assert_eq!(socket.read().unwrap(), Message::Pong("".into()));
                assert_eq!(socket.read().unwrap(), Message::text("fragment"));
                socket.close(Some(CloseFrame { code: CloseCode::Normal, reason: "done".into() })).unwrap();
                assert_eq!(close_frame(&mut socket).unwrap().code, CloseCode::Normal);
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
            })
            .unwrap();
        });
        assert_eq!(ends, Ends { regular: 20, ..Ends::default() });
    });
}

#[test]
fn messages_that_are_too_long_or_wrong_close_with_a_reason() {
    in_pools(|pool| {
        let (ends, ()) = served(pool, Limits::default(), handler, |cx, address, _| {
            let code = |frames: &[Frame]| {
                let stream = TcpStream::connect(cx, address).unwrap();
                let mut socket = open(cx, &stream, address, "/echo").unwrap();
                for frame in frames {
                    socket.write(Message::Frame(frame.clone())).unwrap();
                }
                socket.flush().unwrap();
                close_frame(&mut socket).unwrap().code
            };
            let data = |bytes: Vec<u8>, kind, is_last| Frame::message(bytes, OpCode::Data(kind), is_last);
            assert_eq!(code(&[data(vec![b'x'; 1001], Data::Text, true)]), CloseCode::Size);
            assert_eq!(code(&[data(vec![0; 100 << 10], Data::Binary, true)]), CloseCode::Size);
            let parts = [data(vec![0; 600], Data::Binary, false), data(vec![0; 600], Data::Continue, true)];
            assert_eq!(code(&parts), CloseCode::Size);
            assert_eq!(code(&[data(vec![255], Data::Text, true)]), CloseCode::Invalid);
            assert_eq!(code(&[data(vec![0], Data::Continue, true)]), CloseCode::Protocol);
        });
        assert_eq!((ends.failed, ends.panicked), (5, 0), "{ends}");
    });
}

#[test]
fn panic_in_header_callback_ends_one_connection() {
    in_pools(|pool| {
        let (ends, ()) = served(pool, Limits::default(), handler, |cx, address, _| {
            let stream = TcpStream::connect(cx, address).unwrap();
            assert!(open(cx, &stream, address, "/panic").is_err());
            let stream = TcpStream::connect(cx, address).unwrap();
            let refused = open(cx, &stream, address, "/elsewhere").unwrap_err();
            assert!(refused.contains("404"), "{refused}");
            let stream = TcpStream::connect(cx, address).unwrap();
            let mut socket = open(cx, &stream, address, "/echo").unwrap();
            socket.send(Message::text("still here")).unwrap();
            assert_eq!(socket.read().unwrap(), Message::text("still here"));
            // In the middle of a frame.
            stream.write_all(cx, &[0x81]).unwrap();
            reset(&stream);
        });
        assert_eq!((ends.panicked, ends.failed), (1, 2), "{ends}");
    });
}

#[test]
fn server_that_stops_closes_sockets() {
    in_pools(|pool| {
        let (ends, ()) = served(pool, Limits::default(), handler, |cx, address, stop| {
            let stream = TcpStream::connect(cx, address).unwrap();
            let mut socket = open(cx, &stream, address, "/echo").unwrap();
            // Both are read at once, so one of them waits in the buffer of the library.
            socket.write(Message::text("one")).unwrap();
            socket.write(Message::text("two")).unwrap();
            socket.flush().unwrap();
            assert_eq!(socket.read().unwrap(), Message::text("one"));
            assert_eq!(socket.read().unwrap(), Message::text("two"));
            stop.set();
            assert_eq!(close_frame(&mut socket).unwrap().code, CloseCode::Away);
        });
        assert_eq!(ends, Ends { regular: 1, ..Ends::default() });
    });
}

#[test]
fn silent_client_gets_ping_and_is_closed() {
    let request = "GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let (ends, all) = served_in_no_time(handler, move |mut stream| {
        stream.write_all(request.as_bytes()).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all
    });
    assert!(
        all.starts_with(b"HTTP/1.1 101 ") && all.ends_with(b"\r\n\r\n\x89\0"),
        "{:?}",
        String::from_utf8_lossy(&all)
    );
    assert_eq!(ends.failed, 1);
    let (_, read) = served_in_no_time(handler, |mut stream| {
        stream.write_all(b"GET / HT").unwrap();
        stream.read(&mut [0]).unwrap()
    });
    assert_eq!(read, 0, "a head that does not come");
}

#[test]
fn page_is_served_beside_sockets() {
    in_pools(|pool| {
        served(pool, Limits::default(), handler, |cx, address, _| {
            let get = |text: &str| {
                let stream = TcpStream::connect(cx, address).unwrap();
                stream.write_all(cx, text.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(cx, &mut answer).unwrap();
                answer
            };
            assert!(get("GET / HTTP/1.1\r\nHost: x\r\n\r\n").contains("new WebSocket("));
            assert!(get("GET /x HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 404 "));
            assert!(get("POST / HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 405 "));
            assert!(get("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
        });
    });
}
