//! An endpoint that is dropped on either side of a wire, in each state, is reported on the other side. A slow receiver
//! blocks its sender.

use super::wires::{Pipe, pipe};
use crate::common::{LONG, in_pools, pool, waits::Polled, watchdog};
use anabranch::{
    Cx, Operation, proto,
    proto::wire::{Connection, Wire, WireError},
};
use async_io::Async;
use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

proto! { #[wire(version = 1)] pub turns {
    Ask: send { ask(u32) -> Answer, quit -> ! }
    Answer: recv { answer(u32) -> Ask, enough -> ! }
}}

proto! { #[wire(version = 1)] pub flow {
    #[buffer(4)]
    Flow: send { next(Vec<u8>) -> Flow, stop -> Sum }
    Sum: recv { sum(u64) -> ! }
}}

proto! { #[wire(version = 1)] pub flood {
    #[unbounded]
    Flood: recv { drop(u32, Vec<u8>) -> Flood, stop -> ! }
}}

/// How far a conversation goes before one side leaves it.
const STEPS: u32 = 5;

/// Asks so many times.
fn asks(cx: &Cx<'_>, mut client: turns::client::Ask, steps: u32) -> Option<turns::client::Ask> {
    for number in 0..steps {
        let heard = client.ask(number).ok()?.recv(cx).ok()?;
        let turns::client::AnswerMessage::Answer(same, next) = heard else { panic!("not yet") };
        assert_eq!(same, number);
        client = next;
    }
    Some(client)
}

/// Answers so many times.
fn answers(cx: &Cx<'_>, mut server: turns::server::Ask, steps: u32) -> Option<turns::server::Ask> {
    for _ in 0..steps {
        let turns::server::AskMessage::Ask(number, answer) = server.recv(cx).ok()? else { panic!("not yet") };
        server = answer.answer(number).ok()?;
    }
    Some(server)
}

fn on_a_thread<P, S>(connection: Connection<P, S>) -> thread::JoinHandle<Result<(), WireError>>
where
    P: proto::wire::Script + 'static,
    Connection<P, S>: Send + 'static,
    S: Read + Write,
{
    thread::spawn(move || connection.run().map(drop))
}

type Both = (
    (turns::client::Ask, Connection<turns::Protocol, UnixStream>),
    (turns::server::Ask, Connection<turns::Protocol, UnixStream>),
);

fn both() -> Both {
    let (client, server) = UnixStream::pair().unwrap();
    let server = thread::spawn(|| turns::server::over(Wire::new(server)).unwrap());
    (turns::client::over(Wire::new(client)).unwrap(), server.join().unwrap())
}

fn is_gone(error: &WireError) -> bool {
    // A socket whose other end closed with unread bytes loses the last bytes that the other end sent.
    matches!(error, WireError::Left | WireError::Lost)
}

#[test]
fn dropped_endpoint_is_reported_in_each_state_on_threads() {
    watchdog(LONG, || {
        for steps in 0..STEPS {
            // The client is dropped when it is to send, and when it is to receive.
            for is_listening in [false, true] {
                let ((client, of_client), (server, of_server)) = both();
                let (of_client, of_server) = (on_a_thread(of_client), on_a_thread(of_server));
                let asking = thread::spawn(move || {
                    anabranch::run(|cx| {
                        let client = asks(cx, client, steps).unwrap();
                        if is_listening {
                            drop(client.ask(7).unwrap());
                        }
                    });
                });
                anabranch::run(|cx| {
                    let server = answers(cx, server, steps).unwrap();
                    if is_listening {
                        // Earlier messages are received, and later ones are not.
                        let turns::server::AskMessage::Ask(7, answer) = server.recv(cx).unwrap() else { panic!() };
                        let Ok(next) = answer.answer(8) else { return };
                        assert!(next.recv(cx).is_err());
                    } else {
                        assert!(matches!(server.recv(cx), Err(proto::EndpointRecvError::Closed)));
                    }
                });
                asking.join().unwrap();
                assert!(matches!(of_client.join().unwrap(), Err(WireError::Dropped)));
                let error = of_server.join().unwrap().unwrap_err();
                assert!(is_gone(&error) && (is_listening || matches!(error, WireError::Left)), "{error:?}");
            }
        }
    });
}

#[test]
fn dropped_server_is_reported_in_each_state_in_async_code() {
    in_pools(|pool| {
        for steps in 0..STEPS {
            for is_listening in [false, true] {
                let (client, server) = Async::<UnixStream>::pair().unwrap();
                let serving = pool.spawn(move |cx| {
                    let (server, connection) =
                        cx.block_on(turns::server::over_async(Wire::new(server))).unwrap().unwrap();
                    let running = anabranch::spawn_async(connection.run_async());
                    let server = answers(cx, server, steps).unwrap();
                    if is_listening {
                        drop(server);
                    } else {
                        let turns::server::AskMessage::Ask(_, answer) = server.recv(cx).unwrap() else { panic!() };
                        drop(answer);
                    }
                    running.join(cx).unwrap().map(drop)
                });
                let asking = pool.spawn(move |cx| {
                    let (client, connection) =
                        cx.block_on(turns::client::over_async(Wire::new(client))).unwrap().unwrap();
                    let running = anabranch::spawn_async(connection.run_async());
                    let client = asks(cx, client, steps).unwrap();
                    if is_listening {
                        // It sends nothing, and learns of the close all the same.
                        assert!(matches!(running.join(cx).unwrap(), Err(WireError::Left)));
                        assert!(client.is_closed());
                        return;
                    }
                    assert!(matches!(client.ask(1).unwrap().recv(cx), Err(proto::EndpointRecvError::Closed)));
                    assert!(matches!(running.join(cx).unwrap(), Err(WireError::Left)));
                });
                pool.run(|cx| {
                    assert!(matches!(serving.join(cx).unwrap(), Err(WireError::Dropped)));
                    asking.join(cx).unwrap();
                });
            }
        }
    });
}

#[test]
fn dropped_endpoint_ends_connection_at_once() {
    in_pools(|pool| {
        // The server never answers. It is a bounded conversation, and then one over streams.
        let (client, server) = Async::<UnixStream>::pair().unwrap();
        let silent = pool.spawn(move |cx| cx.block_on(turns::server::over_async(Wire::new(server))).unwrap().unwrap());
        let asking = pool.spawn(move |cx| {
            let (client, connection) = cx.block_on(turns::client::over_async(Wire::new(client))).unwrap().unwrap();
            let running = anabranch::spawn_async(connection.run_async());
            let mut client = client.ask(1).unwrap();
            assert!(client.receiving().timeout(cx, Duration::from_millis(1)).is_err(), "nobody has gone");
            drop(client);
            running.join(cx).unwrap().map(drop)
        });
        let (_server, of_server) = pool.run(|cx| {
            let silent = silent.join(cx).unwrap();
            assert!(matches!(asking.join(cx).unwrap(), Err(WireError::Dropped)));
            silent
        });
        let running = pool.spawn_async(of_server.run_async());
        assert!(matches!(pool.run(|cx| running.join(cx)).unwrap(), Err(WireError::Left)));

        let (client, server) = Async::<UnixStream>::pair().unwrap();
        let silent = pool.spawn(move |cx| cx.block_on(flow::server::over_async(Wire::new(server))).unwrap().unwrap());
        let asking = pool.spawn(move |cx| {
            let (client, connection) = cx.block_on(flow::client::over_async(Wire::new(client))).unwrap().unwrap();
            let running = anabranch::spawn_async(connection.run_async());
            drop(client.stop(cx).unwrap());
            running.join(cx).unwrap().map(drop)
        });
        pool.run(|cx| {
            assert!(matches!(asking.join(cx).unwrap(), Err(WireError::Dropped)));
            drop(silent.join(cx).unwrap());
        });
    });
}

/// A pair of sockets on loopback.
fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn truncated_stream_is_reported_in_each_state_on_threads() {
    watchdog(LONG, || {
        for steps in 0..STEPS {
            for is_listening in [false, true] {
                let (client, server) = tcp();
                let scissors = server.try_clone().unwrap();
                let serving = thread::spawn(|| turns::server::over(Wire::new(server)).unwrap());
                let (client, of_client) = turns::client::over(Wire::new(client)).unwrap();
                let of_client = on_a_thread(of_client);
                let (server, of_server) = serving.join().unwrap();
                let of_server = on_a_thread(of_server);
                let (has_heard, heard) = mpsc::channel();
                let serving = thread::spawn(move || {
                    anabranch::run(|cx| {
                        let server = answers(cx, server, steps).unwrap();
                        let _server = is_listening.then(|| server.recv(cx).unwrap());
                        heard.recv().unwrap();
                        scissors.shutdown(Shutdown::Both).unwrap();
                    });
                });
                anabranch::run(|cx| {
                    let client = asks(cx, client, steps).unwrap();
                    has_heard.send(()).unwrap();
                    // It is not known whether this arrives.
                    if let Ok(answer) = client.ask(7) {
                        assert!(matches!(answer.recv(cx), Err(proto::EndpointRecvError::Closed)));
                    }
                });
                serving.join().unwrap();
                for connection in [of_client, of_server] {
                    let error = connection.join().unwrap().unwrap_err();
                    assert!(is_gone(&error) || matches!(error, WireError::Dropped), "{error:?}");
                }
            }
        }
    });
}

#[test]
fn read_timeout_ends_connection() {
    watchdog(LONG, || {
        let ((client, connection), _silent) = both();
        connection.get_ref().set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let running = on_a_thread(connection);
        let answer = client.ask(1).unwrap();
        assert!(matches!(anabranch::run(|cx| answer.recv(cx)), Err(proto::EndpointRecvError::Closed)));
        assert!(matches!(running.join().unwrap(), Err(WireError::Io(_))));
    });
}

#[test]
fn dropped_connection_closes_endpoint() {
    watchdog(LONG, || {
        pool(2).run(|cx| {
            let ((client, connection), (server, of_server)) = both();
            drop(connection);
            assert!(client.is_closed() && client.ask(1).is_err());
            let of_server = on_a_thread(of_server);
            assert!(matches!(server.recv(cx), Err(proto::EndpointRecvError::Closed)));
            assert!(matches!(of_server.join().unwrap(), Err(WireError::Lost)));

            // Cancelled while it waits for the other side, and for its own.
            let (client, server) = pipe(1000);
            let mut begin = Polled::new(turns::client::over_async(Wire::new(client)));
            assert!(begin.poll().is_none());
            let (server, of_server) = cx.block_on(turns::server::over_async(Wire::new(server))).unwrap().unwrap();
            let (client, of_client) = begin.poll().unwrap().unwrap();
            let answer = client.ask(1).unwrap();
            let short = Duration::from_millis(1);
            let timed_out = cx.timeout(short, |cx| Ok::<_, anabranch::WaitError>(cx.block_on(of_client.run_async())?));
            assert!(matches!(timed_out, Err(anabranch::WaitError::TimedOut)));
            assert!(matches!(answer.recv(cx), Err(proto::EndpointRecvError::Closed)));
            // Earlier messages have arrived.
            let ended = cx.block_on(of_server.run_async()).unwrap();
            assert!(matches!(ended, Err(WireError::Lost)), "{ended:?}");
            let turns::server::AskMessage::Ask(1, answer) = server.recv(cx).unwrap() else { panic!() };
            assert!(answer.is_closed());
        });
    });
}

#[test]
fn lost_wire_is_reported_on_both_sides() {
    watchdog(LONG, || {
        for steps in 0..STEPS {
            for is_listening in [false, true] {
                let (client, server) = pipe(1000);
                let (mut begin_client, mut begin_server) = (
                    Polled::new(turns::client::over_async(Wire::new(client))),
                    Polled::new(turns::server::over_async(Wire::new(server))),
                );
                assert!(begin_client.poll().is_none());
                let (mut server, of_server) = begin_server.poll().unwrap().unwrap();
                let (mut client, of_client) = begin_client.poll().unwrap().unwrap();
                let (mut of_client, mut of_server) =
                    (Polled::new(of_client.run_async()), Polled::new(of_server.run_async()));
                for number in 0..steps {
                    let answer = client.ask(number).unwrap();
                    assert!(of_client.poll().is_none() && of_server.poll().is_none());
                    let turns::server::AskMessage::Ask(_, next) = server.try_recv().unwrap() else { panic!() };
                    server = next.answer(number).unwrap();
                    assert!(of_server.poll().is_none() && of_client.poll().is_none());
                    let turns::client::AnswerMessage::Answer(_, next) = answer.try_recv().unwrap() else { panic!() };
                    client = next;
                }
                // The other side's process dies, and with it its end of the wire.
                if is_listening {
                    let answer = client.ask(0).unwrap();
                    assert!(of_client.poll().is_none() && of_server.poll().is_none());
                    drop(of_server.forsake());
                    assert!(matches!(of_client.poll(), Some(Err(WireError::Lost))));
                    assert!(matches!(answer.try_recv(), Err(proto::EndpointTryRecvError::Closed)));
                    // Messages that had arrived are received.
                    let turns::server::AskMessage::Ask(0, answer) = server.try_recv().unwrap() else { panic!() };
                    assert!(answer.answer(0).is_err());
                } else {
                    drop(of_server.forsake());
                    assert!(matches!(of_client.poll(), Some(Err(WireError::Lost))));
                    assert!(client.is_closed() && client.ask(0).is_err());
                    assert!(matches!(server.try_recv(), Err(proto::EndpointTryRecvError::Closed)));
                }
            }
        }
    });
}

/// A connection that is run by hand, to its end and beyond.
struct Runs<F: Future>(Option<Polled<F>>);

impl<F: Future<Output = Result<Wire<Pipe>, WireError>>> Runs<F> {
    fn new(future: F) -> Self {
        Self(Some(Polled::new(future)))
    }

    /// Returns whether it has ended.
    fn step(&mut self) -> bool {
        if let Some(end) = self.0.as_mut().and_then(Polled::poll) {
            end.unwrap();
            self.0 = None;
        }
        self.0.is_none()
    }
}

#[test]
fn slow_receiver_blocks_sender_over_wire() {
    watchdog(LONG, || {
        const LENGTH: usize = 5000;
        // A wire of small capacity. The reader reads at most a chunk ahead.
        let (client, server) = pipe(100);
        let mut begin_client = Polled::new(flow::client::over_async(Wire::new(client)));
        let mut begin_server = Polled::new(flow::server::over_async(Wire::new(server)));
        assert!(begin_client.poll().is_none());
        let (server, of_server) = begin_server.poll().unwrap().unwrap();
        let (mut client, of_client) = begin_client.poll().unwrap().unwrap();
        let (mut of_client, mut of_server) = (Runs::new(of_client.run_async()), Runs::new(of_server.run_async()));
        let mut sent = 0;
        let mut stuck = 0;
        // No peer receives, so the sender stops.
        while stuck < 1000 {
            match client.try_next(vec![1; LENGTH]) {
                Ok(next) => {
                    client = next;
                    sent += 1;
                    stuck = 0;
                }
                Err(proto::EndpointTrySendError::Full(same, _)) => {
                    client = same;
                    stuck += 1;
                }
                Err(error) => panic!("{error}"),
            }
            of_client.step();
            of_server.step();
        }
        // Four in each half, two that are gathered to be written, one that waits for capacity, two that were read
        // ahead.
        assert!((8..=16).contains(&sent), "{sent} messages under way");
        // Now the peer receives.
        let (mut client, mut server, mut waiting, mut left, mut sum) =
            (Some(client), Some(server), None, 100 - sent, 0);
        loop {
            of_client.step();
            of_server.step();
            if let Some(speaking) = client.take() {
                if left == 0 {
                    match speaking.try_stop() {
                        Ok(listening) => waiting = Some(listening),
                        Err(proto::EndpointTrySendError::Full(same, ())) => client = Some(same),
                        Err(error) => panic!("{error}"),
                    }
                } else {
                    match speaking.try_next(vec![1; LENGTH]) {
                        Ok(next) => {
                            left -= 1;
                            client = Some(next);
                        }
                        Err(proto::EndpointTrySendError::Full(same, _)) => client = Some(same),
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            if let Some(listening) = server.take() {
                match listening.try_recv() {
                    Ok(flow::server::FlowMessage::Next(bytes, next)) => {
                        sum += bytes.len() as u64;
                        server = Some(next);
                    }
                    Ok(flow::server::FlowMessage::Stop(adding)) => drop(adding.sum(sum).unwrap()),
                    Err(proto::EndpointTryRecvError::Empty(same)) => server = Some(same),
                    Err(error) => panic!("{error}"),
                }
            }
            if let Some(listening) = waiting.take() {
                match listening.try_recv() {
                    Ok(flow::client::SumMessage::Sum(sum, _done)) => break assert_eq!(sum, 100 * LENGTH as u64),
                    Err(proto::EndpointTryRecvError::Empty(same)) => waiting = Some(same),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    });
}

#[test]
fn wire_buffer_is_bounded_for_unbounded_protocol() {
    watchdog(LONG, || {
        let (client, server) = pipe(usize::MAX);
        let taken = Arc::clone(&client.from);
        let mut begin_client = Polled::new(flood::client::over_async(Wire::new(client)));
        let mut begin_server = Polled::new(flood::server::over_async(Wire::new(server)));
        assert!(begin_client.poll().is_none());
        let (mut server, of_server) = begin_server.poll().unwrap().unwrap();
        let (mut client, of_client) = begin_client.poll().unwrap().unwrap();
        let (mut of_client, mut of_server) = (Runs::new(of_client.run_async()), Runs::new(of_server.run_async()));
        for number in 0..1000 {
            server = server.drop(number, vec![7; 1000]).unwrap();
        }
        let _done = server.stop().unwrap();
        while !of_server.step() {}
        for _ in 0..1000 {
            assert!(!of_client.step());
        }
        // Sixteen of a kilobyte, one more, and two chunks of eight.
        let read = taken.lock().unwrap().taken;
        assert!((16_000..40_000).contains(&read), "{read} bytes were read");
        let mut next = 0;
        loop {
            of_client.step();
            client = match client.try_recv() {
                Ok(flood::client::FloodMessage::Drop(number, _, then)) => {
                    assert_eq!(number, next);
                    next += 1;
                    then
                }
                Ok(flood::client::FloodMessage::Stop(_)) => break assert_eq!(next, 1000),
                Err(proto::EndpointTryRecvError::Empty(same)) => same,
                Err(error) => panic!("{error}"),
            };
        }
    });
}
