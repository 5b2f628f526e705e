//! The servers, in this process and as programs: what they answer, and what clients can do to them.

mod crawler;
mod http;
mod nucleotides;
mod programs;
mod proxy;
mod serve;
mod tls;
mod websocket;

use anabranch::{Cx, Pool, net::TcpStream, sync::Event, time::ManualClock};
use anabranch_servers::{
    Failure,
    serve::{Ends, Limits, beside},
};
use std::{io::Write, net::SocketAddr, sync::mpsc, thread, time::Duration};

/// Runs `body`. If it has not returned after minutes, ends the process with the name of the test.
fn watchdog<R>(body: impl FnOnce() -> R) -> R {
    let test = thread::current().name().unwrap_or("unnamed").to_owned();
    let (ended, end) = mpsc::channel::<()>();
    thread::spawn(move || {
        if end.recv_timeout(Duration::from_secs(120)) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = writeln!(std::io::stderr(), "test `{test}` hangs");
            std::process::abort();
        }
    });
    let result = body();
    drop(ended);
    result
}

/// Runs the check in pools of several sizes.
fn in_pools(check: impl Fn(&Pool)) {
    watchdog(|| [1, 2, 4].map(|threads| check(&Pool::builder().threads(threads).build().unwrap())));
}

/// Serves while `clients` runs, in the pool.
fn served<R>(
    pool: &Pool,
    limits: Limits,
    handler: impl Fn(&Cx<'_>, &TcpStream, &Event) -> Result<(), Failure> + Send + Sync,
    clients: impl FnOnce(&Cx<'_>, SocketAddr, &Event) -> R,
) -> (Ends, R) {
    let stop = Event::new();
    let handler = |cx: &Cx<'_>, stream: &TcpStream, _| handler(cx, stream, &stop);
    pool.run(|cx| beside(cx, limits, &stop, handler, |cx, address| Ok(clients(cx, address, &stop)))).unwrap()
}

/// Serves by the time of a clock that advances again and again, while `client` runs on a plain thread with a plain
/// socket. So all time limits pass quickly, however long they are.
fn served_in_no_time<R: Send + 'static>(
    handler: impl Fn(&Cx<'_>, &TcpStream, &Event) -> Result<(), Failure> + Send + Sync,
    client: impl FnOnce(std::net::TcpStream) -> R + Send + 'static,
) -> (Ends, R) {
    watchdog(|| {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(clock.clock()).build().unwrap();
        served(&pool, Limits::default(), handler, |cx, address, _| {
            let client = thread::spawn(move || client(std::net::TcpStream::connect(address).unwrap()));
            // On a thread of its own: the server needs that of the pool.
            let advancing = || {
                while !client.is_finished() {
                    thread::sleep(Duration::from_millis(2));
                    clock.advance(Duration::from_secs(1));
                }
                client.join().unwrap()
            };
            cx.blocking(advancing).unwrap()
        })
    })
}

/// Ends a connection by a reset.
fn reset(stream: &TcpStream) {
    socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
}
