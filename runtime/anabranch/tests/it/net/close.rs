//! Connections that end in every way: half-closed, reset, shut down or closed under a wait, thousands at once.

use super::pair;
use crate::common::{
    LONG,
    fibers::{in_all_pools, on_fiber, until_waiting, with_every_cx},
    watchdog,
};
use anabranch::{
    Pool,
    net::{TcpListener, TcpStream},
};
use std::{
    io::ErrorKind,
    net::Shutdown,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

#[test]
fn half_closed_connection_carries_the_other_direction() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        client.write_all(cx, b"question").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut question = String::new();
        server.read_to_string(cx, &mut question).unwrap();
        assert_eq!(question, "question");
        assert_eq!(server.read(cx, &mut [0; 8]).unwrap(), 0, "the end stays");
        server.write_all(cx, b"answer").unwrap();
        drop(server);
        let mut answer = String::new();
        client.read_to_string(cx, &mut answer).unwrap();
        assert_eq!(answer, "answer");
        assert_eq!(client.write(cx, b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn reset_ends_waits_of_both_directions() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let server = &server;
        cx.scope(|s| {
            let reader = s.spawn(move |cx| server.read(cx, &mut [0; 8]));
            let writer = s.spawn(move |cx| server.write_all(cx, &vec![0; 16 << 20]));
            cx.sleep(Duration::from_millis(1)).unwrap();
            socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
            drop(client);
            // One of them gets the error of the socket, and the other one that the connection is gone.
            let reader = reader.join(cx).unwrap();
            let writer = writer.join(cx).unwrap().unwrap_err();
            assert!(matches!(writer.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{writer:?}");
            match reader {
                Ok(count) => assert_eq!(count, 0),
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
            }
        });
    });
}

#[test]
fn shutdown_ends_waits_of_other_fibers() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let server = &server;
        cx.scope(|s| {
            let readers: Vec<_> = (0..3).map(|_| s.spawn(move |cx| server.read(cx, &mut [0; 8]))).collect();
            let writer = s.spawn(move |cx| server.write_all(cx, &vec![0; 16 << 20]));
            cx.sleep(Duration::from_millis(1)).unwrap();
            server.shutdown(Shutdown::Both).unwrap();
            for reader in readers {
                assert_eq!(reader.join(cx).unwrap().unwrap(), 0);
            }
            assert_eq!(writer.join(cx).unwrap().unwrap_err().kind(), ErrorKind::BrokenPipe);
        });
        drop(client);
    });
}

/// The program breaks a rule: it closes the connection behind a socket, by putting a file in its place. A wait that has
/// begun ends by its deadline, and later calls return the error of the system.
#[cfg(unix)]
#[test]
fn descriptor_closed_under_wait_ends_at_deadline() {
    use std::os::fd::AsRawFd;
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let file = std::fs::File::open("/dev/null").unwrap();
        cx.scope(|s| {
            let server = &server;
            let reader = s.spawn(move |cx| cx.timeout(Duration::from_millis(4), |cx| server.read(cx, &mut [0; 8])));
            cx.sleep(Duration::from_millis(1)).unwrap();
            // SAFETY: both descriptors are open, and owned by the two values.
            assert_ne!(unsafe { libc::dup2(file.as_raw_fd(), server.as_raw_fd()) }, -1);
            assert_eq!(client.read(cx, &mut [0; 8]).unwrap(), 0, "the connection is closed");
            // The other errors if the reader had not begun to wait, or begins to do so at another worker.
            let error = reader.join(cx).unwrap().unwrap_err();
            let others = [Some(libc::ENOTSOCK), Some(libc::EPERM)];
            assert!(error.kind() == ErrorKind::TimedOut || others.contains(&error.raw_os_error()), "{error:?}");
        });
        assert!(server.try_read(&mut [0; 8]).is_err());
        drop(server);
    });
}

#[test]
fn two_thousand_connections_dropped_at_once_end_their_fibers() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).build().unwrap();
        on_fiber(&pool, |cx| {
            let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            cx.scope(|s| {
                let clients: Vec<_> = (0..2_000)
                    .map(|_| {
                        let client = TcpStream::connect(cx, address).unwrap();
                        let (server, _) = listener.accept(cx).unwrap();
                        s.spawn(move |cx| assert_eq!(server.read(cx, &mut [0; 8]).unwrap(), 0));
                        client
                    })
                    .collect();
                drop(clients);
            });
        });
    });
}

#[test]
fn dropped_pool_cancels_waits_and_closes_connections() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = Pool::builder().threads(threads).build().unwrap();
            let clients = on_fiber(&pool, |cx| (0..20).map(|_| pair(cx)).collect::<Vec<_>>());
            let mut outside = Vec::new();
            for (client, server) in clients {
                outside.push(client);
                let fiber = pool.spawn(move |cx| server.read(cx, &mut [0; 8]).map_err(|error| error.kind()));
                drop(fiber);
            }
            until_waiting(&pool, 20);
            drop(pool);
            // The other ends go on in the default pool, although the pool at which they were made has ended.
            anabranch::run(|cx| {
                for client in outside {
                    assert_eq!(client.read(cx, &mut [0; 8]).unwrap(), 0);
                }
            });
        }
    });
}

#[test]
fn panic_in_callback_of_library_closes_connection_and_reaches_join() {
    /// A library that calls back for each byte.
    fn for_each_byte(mut reader: impl std::io::Read, mut call: impl FnMut(u8)) {
        let mut byte = [0];
        while reader.read(&mut byte).unwrap() > 0 {
            call(byte[0]);
        }
    }
    in_all_pools(|pool| {
        on_fiber(pool, |cx| {
            let (client, server) = pair(cx);
            let result = catch_unwind(AssertUnwindSafe(|| {
                cx.scope(|s| {
                    s.spawn(move |cx| for_each_byte(server.with(cx), |byte| assert_ne!(byte, b'!', "bad byte")));
                    client.write_all(cx, b"ab!").unwrap();
                    // The panic cancels the scope, and drops the stream of the server.
                    let mut rest = Vec::new();
                    let _ = client.read_to_end(cx, &mut rest);
                });
            }));
            let panic = result.unwrap_err();
            assert!(panic.downcast_ref::<String>().unwrap().contains("bad byte"));
            let end = client.read(cx, &mut [0; 8]);
            assert!(matches!(end, Ok(0)) || end.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
        });
    });
}
