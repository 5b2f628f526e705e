//! The bank over a wire, on threads, on fibers and in async code.

// What the macro makes for wires, too, goes into crates that have no `unsafe` of their own.
#![forbid(unsafe_code)]

#[allow(clippy::duplicate_mod, reason = "it refers to the protocol of the module that includes it")]
#[path = "../../common/bank.rs"]
mod people;

use crate::common::{LONG, in_pools, watchdog};
use anabranch::{
    proto,
    proto::wire::{Wire, WireError},
};
use async_io::Async;
use bank::{client, server};
use people::{customer, teller};
use std::{
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    thread,
    time::{Duration, Instant},
};

proto! { #[wire(version = 1)] pub bank {
    Login: send { login(String, String) -> LoginResponse }
    LoginResponse: recv { ok -> Connected, invalid -> Login }
    Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
    Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
}}

// Types that come from another macro, and messages that are not there.
macro_rules! within {
    ($name:ident, $kind:ty) => {
        proto! { #[wire(version = 1)] $name { First: send {
            #[cfg(any())]
            none(anabranch::NotThere) -> !,
            first($kind, u8) -> !,
        } } }
    };
}

within! { by_macro, Vec<String> }

/// A pair of sockets on loopback.
fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

fn on_threads<S: std::io::Read + std::io::Write + Send + 'static>(client: Wire<S>, server: Wire<S>) -> [Wire<S>; 2] {
    let serving = thread::spawn(move || {
        let (server, connection) = server::over(server).unwrap();
        let running = thread::spawn(move || connection.run());
        let _done = anabranch::run(|cx| teller(cx, server)).unwrap();
        running.join().unwrap().unwrap()
    });
    let (client, connection) = client::over(client).unwrap();
    let running = thread::spawn(move || connection.run());
    assert_eq!(anabranch::run(|cx| customer(cx, client, 1000)).unwrap().0, 50);
    [running.join().unwrap().unwrap(), serving.join().unwrap()]
}

#[test]
fn wire_over_tcp_sends_small_packets_at_once() {
    let (client, server) = tcp();
    assert!(!client.nodelay().unwrap());
    assert!(Wire::new(client).get_ref().nodelay().unwrap());
    #[cfg(feature = "net")]
    {
        let server = anabranch::net::TcpStream::from_std(server.try_clone().unwrap()).unwrap();
        assert!(!server.nodelay().unwrap());
        assert!(Wire::new(server).get_ref().nodelay().unwrap());
    }
    // A borrowed stream of another type.
    Wire::new(&server);
}

#[test]
fn conversation_runs_over_wire_on_threads() {
    watchdog(LONG, || {
        let (client, server) = tcp();
        on_threads(Wire::new(client), Wire::new(server));
        let (client, server) = UnixStream::pair().unwrap();
        // A second conversation over the same wire.
        let [client, server] = on_threads(Wire::new(client), Wire::new(server));
        on_threads(client, server);
    });
}

#[test]
fn conversation_runs_over_wire_on_fibers() {
    in_pools(|pool| {
        let (client, server) = Async::<UnixStream>::pair().unwrap();
        let serving = pool.spawn(move |cx| {
            let (server, connection) = cx.block_on(server::over_async(Wire::new(server))).unwrap().unwrap();
            cx.join(|cx| cx.block_on(connection.run_async()).unwrap().map(drop), |cx| teller(cx, server).map(drop))
        });
        let buying = pool.spawn(move |cx| {
            let (client, connection) = cx.block_on(client::over_async(Wire::new(client))).unwrap().unwrap();
            let running = anabranch::spawn_async(connection.run_async());
            let (money, _) = customer(cx, client, 1000).unwrap();
            running.join(cx).unwrap().unwrap();
            money
        });
        pool.run(|cx| {
            assert_eq!(buying.join(cx).unwrap(), 50);
            assert!(matches!(serving.join(cx).unwrap(), (Ok(()), Ok(()))));
        });
    });
}

/// The token of `thread::park` belongs to the program.
#[test]
fn connection_on_thread_leaves_park_token() {
    const LIMIT: Duration = Duration::from_secs(10);
    watchdog(LONG, || {
        let (client, server) = tcp();
        let serving = thread::spawn(move || {
            let (server, connection) = server::over(Wire::new(server)).unwrap();
            let running = thread::spawn(move || connection.run());
            let _done = anabranch::run(|cx| teller(cx, server)).unwrap();
            running.join().unwrap().unwrap();
        });
        let (client, connection) = client::over(Wire::new(client)).unwrap();
        let speaking = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            anabranch::run(|cx| customer(cx, client, 1000)).unwrap().0
        });
        thread::current().unpark();
        connection.run().unwrap();
        let since = Instant::now();
        thread::park_timeout(LIMIT);
        assert!(since.elapsed() < LIMIT);
        assert_eq!(speaking.join().unwrap(), 50);
        serving.join().unwrap();
    });
}

#[test]
fn thread_client_works_with_async_server() {
    in_pools(|pool| {
        let (client, server) = tcp();
        let serving = pool.spawn(move |cx| {
            let server = Wire::new(Async::new(server).unwrap());
            let (server, connection) = cx.block_on(server::over_async(server)).unwrap().unwrap();
            let running = anabranch::spawn_async(connection.run_async());
            let _done = teller(cx, server).unwrap();
            running.join(cx).unwrap().map(drop)
        });
        let (client, connection) = client::over(Wire::new(client)).unwrap();
        let running = thread::spawn(move || connection.run());
        assert_eq!(pool.run(|cx| customer(cx, client, 1000)).unwrap().0, 50);
        running.join().unwrap().unwrap();
        assert!(matches!(pool.run(|cx| serving.join(cx)).unwrap(), Ok::<(), WireError>(())));
    });
}

#[test]
fn endpoint_over_wire_supports_all_operations() {
    in_pools(|pool| {
        let (client, server) = Async::<UnixStream>::pair().unwrap();
        let service = pool.spawn(move |cx| {
            let (server, connection) = cx.block_on(server::over_async(Wire::new(server))).unwrap().unwrap();
            let running = anabranch::spawn_async(connection.run_async());
            // Through a set.
            let mut doors = anabranch::channel::ReceiverSet::new();
            doors.insert(server);
            let (_, Ok(server::LoginMessage::Login(_, _, answer))) = doors.recv(cx).unwrap() else { panic!() };
            let mut desk = answer.ok().unwrap();
            let running_desk = cx.block_on(async {
                let server::ConnectedMessage::Deposit(100, desk) = desk.receiving().await.unwrap() else { panic!() };
                desk
            });
            let server::ConnectedMessage::Quit(done) = running_desk.unwrap().recv(cx).unwrap() else { panic!() };
            running.join(cx).unwrap().unwrap();
            done
        });
        pool.run(|cx| {
            let (client, connection) = cx.block_on(client::over_async(Wire::new(client))).unwrap().unwrap();
            let running = anabranch::spawn_async(connection.run_async());
            let mut waiting = client.login("me".into(), "1".into()).unwrap();
            // In a selection.
            let heard = anabranch::select!(cx, { heard = waiting.receiving() => heard }).unwrap().unwrap();
            let client::LoginResponseMessage::Ok(bank) = heard else { panic!() };
            let bank = bank.try_deposit(100).unwrap();
            let _done = cx.block_on(bank.quit_async()).unwrap().unwrap();
            running.join(cx).unwrap().unwrap();
            _ = service.join(cx).unwrap();
        });
    });
}

#[test]
fn omitted_message_keeps_its_number() {
    watchdog(LONG, || {
        let (client, server) = UnixStream::pair().unwrap();
        let saying = thread::spawn(move || {
            let (client, connection) = by_macro::client::over(Wire::new(client)).unwrap();
            let _done = client.first(vec!["a".into()], 7).unwrap();
            connection.run().map(Wire::into_inner)
        });
        let (server, connection) = by_macro::server::over(Wire::new(server)).unwrap();
        connection.run().unwrap();
        let by_macro::server::FirstMessage::First(texts, 7, _) = server.try_recv().unwrap() else { panic!() };
        assert_eq!(texts, ["a"]);
        saying.join().unwrap().unwrap();
    });
}
