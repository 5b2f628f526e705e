//! What a conversation allocates: one block if it is bounded, and nothing for a message; and all of it is freed.

mod common;

use anabranch::proto;
use common::{LONG, watchdog};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

struct Counting;

thread_local! {
    /// Those of this thread that have not been freed by it.
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LIVE.set(LIVE.get() + 1);
        // SAFETY: the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - 1);
        // SAFETY: the caller's word.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

proto! { pub ping_pong {
    Ping: send { ping([u64; 4]) -> Pong, quit -> ! }
    Pong: recv { pong([u64; 4]) -> Ping }
}}

proto! { #[allow(endless)] pub flow {
    #[buffer(8)]
    Flow: send { next(u64) -> Flow }
}}

#[test]
fn a_bounded_conversation_is_one_allocation() {
    watchdog(LONG, || {
        let (before, live) = (ALLOCATIONS.get(), LIVE.get());
        let (mut client, mut server) = ping_pong::pipe();
        assert_eq!(ALLOCATIONS.get(), before + 1);
        for _ in 0..1000 {
            let pong = client.ping([1; 4]).unwrap();
            let Ok(ping_pong::server::PingMessage::Ping(_, next)) = server.try_recv() else { panic!() };
            server = next.pong([2; 4]).unwrap();
            let Ok(ping_pong::client::PongMessage::Pong(_, next)) = pong.try_recv() else { panic!() };
            client = next;
        }
        let _ = client.quit().unwrap();
        drop(server);
        assert_eq!(ALLOCATIONS.get(), before + 1);
        assert_eq!(LIVE.get(), live, "all of it is freed");
    });
}

#[test]
fn waiting_for_a_message_allocates_nothing_either() {
    watchdog(LONG, || {
        // Both fibers on one thread, so that its count is that of both.
        let pool = common::pool(1);
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
                    before = ALLOCATIONS.get();
                }
                let ping_pong::client::PongMessage::Pong(_, next) = client.ping([0; 4]).unwrap().recv(cx).unwrap();
                client = next;
            }
            let count = ALLOCATIONS.get() - before;
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
fn a_buffered_conversation_allocates_nothing_for_a_message() {
    watchdog(LONG, || {
        let live = LIVE.get();
        let (mut client, mut server) = flow::pipe();
        let before = ALLOCATIONS.get();
        for number in 0..1000 {
            client = client.try_next(number).unwrap();
            let Ok(flow::server::FlowMessage::Next(got, next)) = server.try_recv() else { panic!() };
            assert_eq!(got, number);
            server = next;
        }
        client = client.try_next(0).unwrap();
        assert_eq!(ALLOCATIONS.get(), before);
        drop((client, server));
        assert_eq!(LIVE.get(), live, "all of it is freed");
    });
}
