//! The memory of conversations: one block if it is bounded, none for a message, and all of it freed.

use crate::allocator::{allocations, blocks};
use crate::common::{self, LONG, watchdog};
use anabranch::proto;

proto! { pub ping_pong {
    Ping: send { ping([u64; 4]) -> Pong, quit -> ! }
    Pong: recv { pong([u64; 4]) -> Ping }
}}

proto! { #[allow(endless)] pub flow {
    #[buffer(8)]
    Flow: send { next(u64) -> Flow }
}}

#[test]
fn bounded_conversation_is_one_allocation() {
    watchdog(LONG, || {
        let (before, live) = (allocations(), blocks());
        let (mut client, mut server) = ping_pong::pipe();
        assert_eq!(allocations(), before + 1);
        for _ in 0..1000 {
            let pong = client.ping([1; 4]).unwrap();
            let Ok(ping_pong::server::PingMessage::Ping(_, next)) = server.try_recv() else { panic!() };
            server = next.pong([2; 4]).unwrap();
            let Ok(ping_pong::client::PongMessage::Pong(_, next)) = pong.try_recv() else { panic!() };
            client = next;
        }
        let _ = client.quit().unwrap();
        drop(server);
        assert_eq!(allocations(), before + 1);
        assert_eq!(blocks(), live, "all of it is freed");
    });
}

#[test]
fn waiting_for_message_does_not_allocate() {
    watchdog(LONG, || {
        // Both fibers on one thread, so that its count is that of both.
        let pool = common::one_thread().build().unwrap();
        let (mut client, mut server) = ping_pong::pipe();
        let serving = pool.spawn(move |cx| {
            loop {
                server = match server.recv(cx).unwrap() {
                    ping_pong::server::PingMessage::Ping(value, pong) => pong.pong(value).unwrap(),
                    ping_pong::server::PingMessage::Quit(_) => return,
                };
            }
        });
        let asking = pool.spawn(move |cx| {
            let mut before = 0;
            for round in 0..1000 {
                // The first rounds begin the other fiber.
                if round == 10 {
                    before = allocations();
                }
                let ping_pong::client::PongMessage::Pong(_, next) = client.ping([0; 4]).unwrap().recv(cx).unwrap();
                client = next;
            }
            let count = allocations() - before;
            let _ = client.quit().unwrap();
            count
        });
        pool.run(|cx| {
            assert_eq!(asking.join(cx).unwrap(), 0);
            serving.join(cx).unwrap();
        });
    });
}

#[test]
fn buffered_message_does_not_allocate() {
    watchdog(LONG, || {
        let live = blocks();
        let (mut client, mut server) = flow::pipe();
        let before = allocations();
        for number in 0..1000 {
            client = client.try_next(number).unwrap();
            let Ok(flow::server::FlowMessage::Next(got, next)) = server.try_recv() else { panic!() };
            assert_eq!(got, number);
            server = next;
        }
        client = client.try_next(0).unwrap();
        assert_eq!(allocations(), before);
        drop((client, server));
        assert_eq!(blocks(), live, "all of it is freed");
    });
}
