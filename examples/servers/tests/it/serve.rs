//! The life of a server, whatever it serves.

use crate::{in_pools, reset, served, watchdog};
use anabranch::{
    Cx, Pool,
    net::{TcpListener, TcpStream},
    sync::Event,
};
use anabranch_servers::{
    Failure,
    serve::{Ends, Limits, serve},
    site::{self, Answer},
};
use std::{io::ErrorKind, sync::Arc, time::Duration};

fn echo(cx: &Cx<'_>, stream: &TcpStream, _: &Event) -> Result<(), Failure> {
    let mut byte = [0];
    while stream.read(cx, &mut byte)? > 0 {
        assert_ne!(&byte, b"!", "a bad byte");
        stream.write_all(cx, &byte)?;
    }
    Ok(())
}

fn is_served(cx: &Cx<'_>, stream: &TcpStream) -> bool {
    stream.write_all(cx, b"x").is_ok() && stream.read_exact(cx, &mut [0]).is_ok()
}

#[test]
fn ends_of_connections_are_counted() {
    in_pools(|pool| {
        let (ends, ()) = served(pool, Limits::default(), echo, |cx, address, _| {
            let connect = || TcpStream::connect(cx, address).unwrap();
            let (regular, failed, panicked) = (connect(), connect(), connect());
            assert!([&regular, &failed, &panicked].into_iter().all(|stream| is_served(cx, stream)));
            reset(&failed);
            drop((regular, failed));
            panicked.write_all(cx, b"!").unwrap();
            assert!(!matches!(panicked.read(cx, &mut [0]), Ok(1)), "the connection is closed");
            // The server goes on.
            assert!(is_served(cx, &connect()));
        });
        assert_eq!(ends, Ends { regular: 2, failed: 1, panicked: 1, cancelled: 0 });
    });
}

#[test]
fn connection_beyond_the_limit_waits_for_room() {
    in_pools(|pool| {
        let limits = Limits { connections: 2, ..Limits::default() };
        served(pool, limits, echo, |cx, address, _| {
            let mut open: Vec<_> = (0..3).map(|_| TcpStream::connect(cx, address).unwrap()).collect();
            let third = open.pop().unwrap();
            assert!(open.iter().all(|stream| is_served(cx, stream)));
            third.write_all(cx, b"x").unwrap();
            let late = cx.timeout(Duration::from_millis(5), |cx| third.read(cx, &mut [0]));
            assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
            open.pop();
            third.read_exact(cx, &mut [0]).unwrap();
        });
    });
}

#[test]
fn end_closes_listener_and_idle_connections_and_waits_for_answers() {
    in_pools(|pool| {
        let limits = Limits { grace: Duration::from_secs(3600), ..Limits::default() };
        let (begun, finish) = (Event::new(), Event::new());
        let handler = |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| {
            site::connection(cx, stream, stop, |cx, _, _| {
                begun.set();
                finish.wait(cx)?;
                Ok(Answer::new(200, "late"))
            })
        };
        let (ends, ()) = served(pool, limits, handler, |cx, address, stop| {
            let (idle, waiting) = (TcpStream::connect(cx, address).unwrap(), TcpStream::connect(cx, address).unwrap());
            waiting.write_all(cx, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            // The server accepts in order, so it has accepted the other one, too.
            begun.wait(cx).unwrap();
            stop.set();
            assert_eq!(idle.read(cx, &mut [0]).unwrap(), 0);
            let refused = loop {
                match TcpStream::connect(cx, address) {
                    Ok(_) => cx.yield_now(),
                    Err(error) => break error,
                }
            };
            assert!(matches!(refused.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset), "{refused}");
            finish.set();
            let mut answer = String::new();
            waiting.read_to_string(cx, &mut answer).unwrap();
            assert!(answer.contains("Connection: close") && answer.ends_with("late"), "{answer:?}");
        });
        assert_eq!(ends, Ends { regular: 2, ..Ends::default() });
    });
}

#[test]
fn connections_that_take_too_long_are_cancelled() {
    in_pools(|pool| {
        let limits = Limits { grace: Duration::from_millis(1), ..Limits::default() };
        let begun = Event::new();
        let handler = |cx: &Cx<'_>, _: &TcpStream, _: &Event| {
            begun.set();
            Ok(cx.sleep(Duration::from_secs(3600))?)
        };
        let (ends, stream) = served(pool, limits, handler, |cx, address, _| {
            let stream = TcpStream::connect(cx, address).unwrap();
            begun.wait(cx).unwrap();
            stream
        });
        assert_eq!(ends, Ends { cancelled: 1, ..Ends::default() });
        assert_eq!(pool.run(|cx| stream.read(cx, &mut [0])).unwrap(), 0);
    });
}

#[test]
fn dropped_pool_closes_open_connections() {
    watchdog(|| {
        for threads in [1, 3] {
            let pool = Pool::builder().threads(threads).build().unwrap();
            let value = Arc::new(());
            anabranch::run(|cx| {
                let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap();
                let held = Arc::clone(&value);
                let server = pool.spawn(move |cx| {
                    serve(cx, listener, Limits::default(), &Event::new(), |cx, stream, _| {
                        let _held = Arc::clone(&held);
                        echo(cx, stream, &Event::new())
                    })
                });
                let clients: Vec<_> = (0..20).map(|_| TcpStream::connect(cx, address).unwrap()).collect();
                assert!(clients.iter().all(|stream| is_served(cx, stream)));
                drop(pool);
                assert!(server.join(cx).is_ok_and(|ends| ends.is_err()), "the server was cancelled");
                for client in clients {
                    assert_eq!(client.read(cx, &mut [0]).unwrap(), 0);
                }
            });
            assert_eq!(Arc::strong_count(&value), 1, "nothing is leaked");
        }
    });
}

#[test]
fn handler_forks_and_joins() {
    fn sum(from: u64, to: u64) -> u64 {
        if to - from < 64 {
            return (from..to).sum();
        }
        let middle = from.midpoint(to);
        let (left, right) = anabranch::join(|| sum(from, middle), || sum(middle, to));
        left + right
    }
    in_pools(|pool| {
        let handler = |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| {
            site::connection(cx, stream, stop, |_, request, _| {
                let number = request.target[1..].parse()?;
                Ok(Answer::new(200, sum(0, number).to_string()))
            })
        };
        served(pool, Limits::default(), handler, |cx, address, _| {
            cx.map_concurrent(8, 1000..1040u64, |cx, number| {
                let stream = TcpStream::connect(cx, address)?;
                let request = format!("GET /{number} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
                stream.write_all(cx, request.as_bytes())?;
                let mut answer = String::new();
                stream.read_to_string(cx, &mut answer)?;
                assert!(answer.ends_with(&format!("\r\n\r\n{}", number * (number - 1) / 2)), "{answer:?}");
                Ok::<_, Failure>(())
            })
            .unwrap();
        });
    });
}
