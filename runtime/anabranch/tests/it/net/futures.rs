//! Async code that waits for sockets: `AsyncRead` and `AsyncWrite`, futures that are dropped, selections.

use super::pair;
use crate::common::{LONG, fibers::with_every_cx, watchdog};
use anabranch::{
    channel,
    net::{TcpListener, TcpStream, UdpSocket},
    select,
    sync::Event,
};
use futures_io::{AsyncRead, AsyncWrite};
use std::{
    future::{Future, poll_fn},
    io::ErrorKind,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

async fn write_all(mut stream: impl AsyncWrite + Unpin, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let count = poll_fn(|context| Pin::new(&mut stream).poll_write(context, bytes)).await.unwrap();
        bytes = &bytes[count..];
    }
    poll_fn(|context| Pin::new(&mut stream).poll_flush(context)).await.unwrap();
    poll_fn(|context| Pin::new(&mut stream).poll_close(context)).await.unwrap();
}

async fn read_to_end(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), [0; 1000]);
    loop {
        match poll_fn(|context| Pin::new(&mut stream).poll_read(context, &mut buffer)).await.unwrap() {
            0 => return all,
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

#[test]
fn async_streams_transfer_more_than_fits() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        cx.scope(|s| {
            s.spawn(move |cx| cx.block_on(write_all(&server, &vec![3; 5 << 20])).unwrap());
            let all = cx.block_on(read_to_end(client)).unwrap();
            assert!(all.len() == 5 << 20 && all.iter().all(|&byte| byte == 3));
        });
    });
}

/// Outside of any pool: the default pool's threads wait for the socket.
#[test]
fn futures_on_a_foreign_runtime_are_woken() {
    watchdog(LONG, || {
        let echoed = futures_lite_block_on(async {
            let listener = anabranch::run(|cx| TcpListener::bind(cx, "127.0.0.1:0")).unwrap();
            let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let client = TcpStream::from_std(client).unwrap();
            let (server, _) = listener.accepting().await.unwrap();
            assert_eq!(client.write_async(b"ping").await.unwrap(), 4);
            server.readable().await.unwrap();
            let mut buffer = [0; 8];
            let count = server.read_async(&mut buffer).await.unwrap();
            buffer[..count].to_vec()
        });
        assert_eq!(echoed, b"ping");
    });
}

/// Runs a future on this thread, which parks meanwhile.
fn futures_lite_block_on<R>(future: impl Future<Output = R>) -> R {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(std::sync::Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn dropped_future_loses_nothing() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let mut buffer = [0; 8];
        for _ in 0..3 {
            let mut reading = Box::pin(server.read_async(&mut buffer));
            assert!(reading.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        client.write_all(cx, b"kept").unwrap();
        assert_eq!(server.read(cx, &mut buffer).unwrap(), 4);
    });
}

#[test]
fn selection_takes_what_is_ready_first() {
    with_every_cx(|cx| {
        let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
        let socket = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
        let (sender, receiver) = channel::unbounded::<u8>();
        let stop = Event::new();
        let mut got = Vec::new();
        cx.scope(|s| {
            let (address, udp) = (listener.local_addr().unwrap(), socket.local_addr().unwrap());
            let stop = &stop;
            s.spawn(move |cx| {
                TcpStream::connect(cx, address).unwrap();
                UdpSocket::bind(cx, "127.0.0.1:0").unwrap().send_to(cx, b"udp", udp).unwrap();
                sender.send(cx, 7).unwrap();
            });
            while got.len() < 3 {
                let next = select!(cx, {
                    accepted = listener.accepting() => accepted.map(|_| "tcp").unwrap(),
                    ready = socket.readable() => {
                        ready.unwrap();
                        match socket.try_recv(&mut [0; 8]) {
                            Ok(_) => "udp",
                            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                            Err(error) => panic!("{error}"),
                        }
                    },
                    value = receiver.receiving() => match value {
                        Ok(_) => "value",
                        Err(_) => continue,
                    },
                    () = stop.waiting() => unreachable!(),
                });
                got.push(next.unwrap());
            }
        });
        got.sort_unstable();
        assert_eq!(got, ["tcp", "udp", "value"]);
    });
}
