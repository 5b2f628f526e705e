//! Sockets between pools and workers: who polls for a worker that computes, and where a socket is registered.

use super::pair;
use crate::common::{
    LONG,
    fibers::{in_all_pools, on_fiber},
    watchdog,
};
use anabranch::{Pool, net::TcpStream};
use std::{
    io::Write,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

#[test]
fn socket_serves_waits_in_two_pools() {
    in_all_pools(|pool| {
        let other = Pool::builder().threads(1).build().unwrap();
        let (client, server) = on_fiber(pool, pair);
        let (client, server) = (Arc::new(client), Arc::new(server));
        let ping = |pool: &Pool| {
            let (one, two) = (Arc::clone(&client), Arc::clone(&server));
            let echo = other.spawn(move |cx| {
                let mut word = [0; 4];
                two.read_exact(cx, &mut word).unwrap();
                two.write_all(cx, &word).unwrap();
            });
            on_fiber(pool, move |cx| {
                one.write_all(cx, b"ping").unwrap();
                let mut word = [0; 4];
                one.read_exact(cx, &mut word).unwrap();
                assert_eq!(&word, b"ping");
            });
            other.run(|cx| echo.join(cx)).unwrap();
        };
        for _ in 0..30 {
            ping(pool);
            ping(&other);
        }
    });
}

#[test]
fn waiter_elsewhere_continues_when_pool_of_socket_ends() {
    watchdog(LONG, || {
        for threads in [1, 3] {
            let pool = Pool::builder().threads(threads).build().unwrap();
            // The fiber of this pool is the first to wait, so both sockets belong to its workers.
            let (client, server) = on_fiber(&pool, |cx| {
                let (client, server) = pair(cx);
                for stream in [&client, &server] {
                    cx.timeout(Duration::from_millis(1), |cx| stream.read(cx, &mut [0; 8])).unwrap_err();
                }
                (client, server)
            });
            let waiting = anabranch::spawn(move |cx| server.read(cx, &mut [0; 8]).unwrap());
            thread::sleep(Duration::from_millis(2));
            drop(pool);
            anabranch::run(|cx| {
                client.write_all(cx, b"late").unwrap();
                assert_eq!(waiting.join(cx).unwrap(), 4);
            });
        }
    });
}

/// The first worker computes without a fork or a wait. The fiber of the other one waits for a socket that is
/// registered at the first: the heartbeat worker polls it.
#[test]
fn event_reaches_fiber_although_worker_of_socket_computes() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).build().unwrap();
        let (client, server) = on_fiber(&pool, pair);
        let server = Arc::new(server);
        let (began, begun) = mpsc::channel();
        let (stop, stopped) = mpsc::channel::<()>();
        let busy = pool.spawn({
            let server = Arc::clone(&server);
            move |cx| {
                cx.timeout(Duration::from_millis(1), |cx| server.read(cx, &mut [0; 8])).unwrap_err();
                began.send(thread::current().id()).unwrap();
                while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                    std::hint::spin_loop();
                }
            }
        });
        let worker = begun.recv().unwrap();
        let reader = pool.spawn(move |cx| {
            assert_ne!(thread::current().id(), worker);
            server.read(cx, &mut [0; 8]).unwrap()
        });
        thread::sleep(Duration::from_millis(1));
        pool.run(|cx| {
            client.write_all(cx, b"event").unwrap();
            assert_eq!(reader.join(cx).unwrap(), 5);
            stop.send(()).unwrap();
            busy.join(cx).unwrap();
        });
    });
}

/// A worker blocks in a foreign call, and one waits in a compute `join`.
#[test]
fn event_reaches_plain_thread_although_all_workers_are_blocked() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).build().unwrap();
        let (client, server) = on_fiber(&pool, pair);
        on_fiber(&pool, |_| ());
        let blocked: Vec<_> = (0..2)
            .map(|_| {
                let (stop, stopped) = mpsc::channel::<()>();
                (stop, pool.spawn(move |_| stopped.recv().unwrap()))
            })
            .collect();
        thread::sleep(Duration::from_millis(2));
        thread::scope(|s| {
            s.spawn(|| {
                thread::sleep(Duration::from_millis(5));
                std::io::Write::write_all(&mut &client.into_std().unwrap(), b"event").unwrap();
            });
            pool.run(|cx| assert_eq!(server.read(cx, &mut [0; 8]).unwrap(), 5));
        });
        for (stop, fiber) in blocked {
            stop.send(()).unwrap();
            pool.run(|cx| fiber.join(cx)).unwrap();
        }
    });
}

#[test]
fn fork_join_inside_handlers_and_sockets_beside_compute_work() {
    fn sum(from: u64, to: u64) -> u64 {
        if to - from < 64 {
            return (from..to).sum();
        }
        let middle = from.midpoint(to);
        let (left, right) = anabranch::join(|| sum(from, middle), || sum(middle, to));
        left + right
    }
    in_all_pools(|pool| {
        on_fiber(pool, |cx| {
            cx.scope(|s| {
                for _ in 0..8 {
                    let (client, server) = pair(cx);
                    s.spawn(move |cx| {
                        let mut word = [0; 8];
                        while server.read_exact(cx, &mut word).is_ok() {
                            let answer = sum(0, u64::from_le_bytes(word));
                            server.write_all(cx, &answer.to_le_bytes()).unwrap();
                        }
                    });
                    s.spawn(move |cx| {
                        for round in 0..20u64 {
                            let number = 1_000 + round;
                            client.write_all(cx, &number.to_le_bytes()).unwrap();
                            let mut word = [0; 8];
                            client.read_exact(cx, &mut word).unwrap();
                            assert_eq!(u64::from_le_bytes(word), number * (number - 1) / 2);
                        }
                    });
                }
            });
        });
    });
}

/// In the middle of a compute `join` a thread waits by `run`, and on a fiber, too, which blocks its thread.
#[test]
fn thread_that_must_not_leave_its_stack_waits_for_socket() {
    in_all_pools(|pool| {
        let (client, server) = on_fiber(pool, pair);
        let fiber = pool.spawn(move |_| {
            anabranch::join(
                || anabranch::run(|cx| server.read_exact(cx, &mut [0; 4])).unwrap(),
                || anabranch::run(|cx| client.write_all(cx, b"ping")).unwrap(),
            );
        });
        pool.run(|cx| fiber.join(cx)).unwrap();
    });
}

/// The pool has no other thread that could poll for the blocked one, and no call into it that could become one.
#[test]
fn only_thread_of_a_pool_waits_for_socket_while_it_is_blocked() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(1).max_spare_threads(0).build().unwrap();
        let (client, server) = pair_of_system();
        let server = TcpStream::try_from(server).unwrap();
        let (begin, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let _fiber = pool.spawn(move |_| {
            anabranch::run(|cx| {
                begin.send(()).unwrap();
                server.read_exact(cx, &mut [0; 4]).unwrap();
            });
            end.send(()).unwrap();
        });
        begun.recv().unwrap();
        // Longer than any wait that is short.
        thread::sleep(Duration::from_millis(50));
        (&client).write_all(b"ping").unwrap();
        ended.recv().unwrap();
    });
}

/// Two connected streams of the standard library.
fn pair_of_system() -> (std::net::TcpStream, std::net::TcpStream) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}
