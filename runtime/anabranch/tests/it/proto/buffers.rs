//! Buffered and unbounded conversations: senders that wait for capacity, and senders that do not.

use crate::common::{Counted, LONG, Tally, in_pools};
use anabranch::{
    Operation, WaitError,
    channel::RecvError,
    proto,
    proto::{EndpointSendError, EndpointTrySendError},
    select,
};
use std::time::{Duration, Instant};

proto! { #[allow(endless)] pub flow {
    #[buffer(2)]
    Flow: send { next(Counted) -> Flow }
}}

proto! { #[allow(endless)] pub flood {
    #[unbounded]
    Flood: recv<T: Send> { next(T) -> Flood<T> }
}}

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn full_buffer_blocks_sender() {
    in_pools(|pool| {
        let tally = Tally::default();
        pool.run(|cx| {
            let (flow, mut server) = flow::pipe();
            let flow = flow.next(cx, tally.make()).unwrap().try_next(tally.make()).unwrap();
            let Err(EndpointTrySendError::Full(flow, value)) = flow.try_next(tally.make()) else { panic!() };
            let mut kept = None;
            let late: Result<(), WaitError> = cx.timeout(SHORT, |cx| {
                let Err(EndpointSendError::Cancelled(flow, value)) = flow.next(cx, value) else { panic!() };
                kept = Some((flow, value));
                cx.check()?;
                Ok(())
            });
            assert!(late.is_err());
            let (mut flow, value) = kept.unwrap();
            let flag = select!(cx, {
                () = flow.writable() => true,
                _ = cx.sleeping(SHORT) => false,
            });
            assert_eq!(flag, Ok(false));
            let flow::server::FlowMessage::Next(_, next) = server.recv(cx).unwrap();
            server = next;
            assert_eq!(select!(cx, { () = flow.writable() => true, default => false }), Ok(true));
            let flow = flow.try_next(value).unwrap();
            let made = tally.clone();
            let sending = pool.spawn(move |cx| flow.next(cx, made.make()).map(drop).is_err());
            drop(server);
            assert!(sending.join(cx).unwrap() || tally.made() == 4);
        });
        tally.assert_all_dropped();
    });
}

#[test]
fn send_waits_for_capacity_until_deadline() {
    in_pools(|pool| {
        let tally = Tally::default();
        pool.run(|cx| {
            let (flow, mut server) = flow::pipe();
            let soon = || Instant::now() + LONG;
            // With free capacity a send does not wait, even if the deadline has passed.
            let mut flow = flow;
            assert_eq!(flow.writable().timeout(cx, Duration::ZERO), Ok(()));
            let mut flow = flow.next(cx, tally.make()).unwrap();
            assert_eq!(flow.writable().deadline(cx, Instant::now()), Ok(()));
            let mut flow = flow.next(cx, tally.make()).unwrap();
            assert_eq!(flow.writable().timeout(cx, SHORT), Err(WaitError::TimedOut));
            assert_eq!(flow.writable().deadline(cx, Instant::now() + SHORT), Err(WaitError::TimedOut));
            let mut kept = None;
            let late: Result<(), WaitError> = cx.timeout(SHORT, |cx| {
                assert_eq!(flow.writable().deadline(cx, soon()), Err(WaitError::Cancelled));
                let Err(EndpointSendError::Cancelled(flow, value)) = flow.next(cx, tally.make()) else { panic!() };
                kept = Some((flow, value));
                cx.check()?;
                Ok(())
            });
            assert!(late.is_err());
            let (mut flow, value) = kept.unwrap();
            // Capacity becomes free during the wait.
            let sending = pool.spawn(move |cx| {
                flow.writable().timeout(cx, LONG).unwrap();
                flow.try_next(value)
            });
            cx.sleep(SHORT).unwrap();
            for _ in 0..3 {
                let flow::server::FlowMessage::Next(_, next) = server.recv(cx).unwrap();
                server = next;
            }
            let flow = sending.join(cx).unwrap().unwrap();
            drop(server);
            let mut flow = flow;
            assert_eq!(flow.writable().deadline(cx, soon()), Ok(()));
            let closed = flow.next(cx, tally.make());
            assert!(matches!(closed, Err(EndpointSendError::Closed)), "{closed:?}");
            assert_eq!(closed.map_err(RecvError::from).err(), Some(RecvError::Closed));
        });
        tally.assert_all_dropped();
    });
}

// Names in which all that the methods have of their own occurs.
proto! { #[allow(endless)] pub names {
    #[buffer(1)]
    Names: send { r#move(cx: u8, error: u16, instant: u32, timeout: u64) -> Names, none -> Names }
}}

#[test]
fn fields_may_be_named_like_method_parameters() {
    in_pools(|pool| {
        pool.run(|cx| {
            let (client, server) = names::pipe();
            let client = client.none(cx).unwrap();
            let full = client.try_move(1, 2, 3, 4);
            let Err(EndpointTrySendError::Full(client, values)) = full else { panic!("{full:?}") };
            assert_eq!(values, (1, 2, 3, 4));
            let Err(EndpointTrySendError::Full(client, ())) = client.try_none() else { panic!() };
            let names::server::NamesMessage::None(server) = server.recv(cx).unwrap() else { panic!() };
            let _client = client.r#move(cx, 1, 2, 3, 4).unwrap();
            assert!(matches!(server.recv(cx), Ok(names::server::NamesMessage::Move(1, 2, 3, 4, _))));
        });
    });
}

#[test]
fn many_messages_pass_bounded_and_unbounded_buffers() {
    in_pools(|pool| {
        let tally = Tally::default();
        let (mut flow, mut server) = flow::pipe();
        let made = tally.clone();
        let sending = pool.spawn(move |cx| {
            for _ in 0..1000 {
                flow = flow.next(cx, made.make()).unwrap();
            }
        });
        let mut count = 0;
        pool.run(|cx| {
            while let Ok(flow::server::FlowMessage::Next(_, next)) = server.recv(cx) {
                count += 1;
                server = next;
            }
            sending.join(cx).unwrap();
        });
        assert_eq!(count, 1000);
        // More than the stack could hold recursively, and none is received.
        let (client, mut server) = flood::pipe();
        for _ in 0..100_000 {
            server = server.next(tally.make()).unwrap();
        }
        drop(client);
        assert!(server.next(tally.make()).is_err());
        tally.assert_all_dropped();
    });
}
