//! Conversations that end before their end, or wait in vain: every message is received once or dropped once, whoever goes.

mod common;
#[path = "common/waits.rs"]
mod waits;

use anabranch::{
    Cx, Pool, WaitError,
    channel::{Closed, ReceiverSet, RecvTimeoutError as RecvTimeoutErrorOfChannels},
    proto,
    proto::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError},
    select,
};
use common::{Counted, LONG, Tally, in_pools, pool, watchdog};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};
use waits::Polled;

proto! { pub turns {
    Ask: send { ask(Counted) -> Answer, quit(Counted) -> ! }
    Answer: recv { answer(Counted) -> Ask }
}}

// Three messages of the client may follow each other, and two of the server.
proto! { pub bursts {
    One: send { one(Counted) -> Two, skip -> Heard }
    Two: send { two(Counted) -> Three, last(Counted) -> ! }
    Three: send { three(Counted) -> Heard }
    Heard: recv { heard(Counted) -> More }
    More: recv { more(Counted) -> One, enough -> ! }
}}

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
fn the_other_side_goes_at_each_step() {
    let tally = Tally::default();
    // A speaker that goes; a listener that goes.
    let (client, server) = turns::pipe();
    drop(client);
    assert!(matches!(server.try_recv(), Err(TryRecvError::Closed)));
    let (client, server) = turns::pipe();
    assert!(!client.is_closed());
    drop(server);
    assert!(client.is_closed());
    assert!(matches!(client.ask(tally.make()), Err(Closed)));
    // Said and not heard, by a client that is there still, and one that is not.
    let (client, server) = turns::pipe();
    let client = client.ask(tally.make()).unwrap();
    drop(server);
    assert!(client.is_ready() && matches!(client.try_recv(), Err(TryRecvError::Closed)));
    let (client, server) = turns::pipe();
    drop(client.ask(tally.make()).unwrap());
    drop(server);
    // What was said before its speaker went is heard.
    let (client, server) = turns::pipe();
    drop(client.ask(tally.make()).unwrap());
    let turns::server::AskMessage::Ask(value, server) = server.try_recv().unwrap() else { unreachable!() };
    drop(value);
    assert!(server.is_closed());
    assert!(server.answer(tally.make()).is_err());
    // The last message, heard and not.
    let (client, server) = turns::pipe();
    let done = client.quit(tally.make()).unwrap();
    let turns::server::AskMessage::Quit(value, heard) = server.try_recv().unwrap() else { unreachable!() };
    assert_eq!(done, heard);
    drop(value);
    let (client, server) = turns::pipe();
    let _ = client.quit(tally.make()).unwrap();
    drop(server);
    let (client, server) = turns::pipe();
    drop(server);
    assert!(client.quit(tally.make()).is_err());
    tally.assert_all_dropped();
}

/// Goes through `bursts` until the choices are over: the server's then the client's ends are dropped where they are.
fn bursts(tally: &Tally, mut choices: impl Iterator<Item = u8>) -> Option<()> {
    let (mut one, mut server) = bursts::pipe();
    loop {
        let heard = match choices.next()? % 3 {
            0 => one.skip().unwrap(),
            1 => {
                let two = one.one(tally.make()).unwrap();
                choices.next()?;
                let three = two.two(tally.make()).unwrap();
                choices.next()?;
                three.three(tally.make()).unwrap()
            }
            _ => {
                let _ = one.one(tally.make()).unwrap().last(tally.make()).unwrap();
                choices.next()?;
                return None;
            }
        };
        choices.next()?;
        let answering = match server.try_recv().unwrap() {
            bursts::server::OneMessage::Skip(next) => next,
            bursts::server::OneMessage::One(_, next) => {
                choices.next()?;
                let bursts::server::TwoMessage::Two(_, next) = next.try_recv().unwrap() else { unreachable!() };
                choices.next()?;
                let bursts::server::ThreeMessage::Three(_, next) = next.try_recv().unwrap();
                next
            }
        };
        choices.next()?;
        let more = answering.heard(tally.make()).unwrap();
        choices.next()?;
        if choices.next()? % 4 == 0 {
            let _ = more.enough().unwrap();
            choices.next()?;
            let bursts::client::HeardMessage::Heard(_, next) = heard.try_recv().unwrap();
            let bursts::client::MoreMessage::Enough(_) = next.try_recv().unwrap() else { unreachable!() };
            return Some(());
        }
        server = more.more(tally.make()).unwrap();
        choices.next()?;
        let bursts::client::HeardMessage::Heard(_, next) = heard.try_recv().unwrap();
        choices.next()?;
        let bursts::client::MoreMessage::More(_, next) = next.try_recv().unwrap() else { unreachable!() };
        one = next;
    }
}

#[test]
fn nothing_is_lost_wherever_a_conversation_is_left() {
    let tally = Tally::default();
    let mut ended = 0;
    for seed in 0..200u64 {
        for length in 0..60 {
            let choice = move |step: u64| ((seed * 64 + step).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8;
            ended += usize::from(bursts(&tally, (0..length).map(choice)).is_some());
        }
    }
    assert!(ended > 0, "none came to its end");
    tally.assert_all_dropped();
}

#[test]
fn a_burst_is_heard_in_its_order() {
    in_pools(|pool| {
        let tally = Tally::default();
        let (mut client, mut server) = bursts::pipe();
        let made = tally.clone();
        let speaking = pool.spawn(move |cx| {
            for _ in 0..200 {
                let heard = client.one(made.make())?.two(made.make())?.three(made.make())?;
                let bursts::client::HeardMessage::Heard(_, more) = heard.recv(cx)?;
                let bursts::client::MoreMessage::More(_, next) = more.recv(cx)? else { unreachable!() };
                client = next;
            }
            drop(client);
            Ok::<_, anabranch::channel::RecvError>(())
        });
        let rounds = pool.run(|cx| {
            let mut rounds = 0;
            loop {
                let bursts::server::OneMessage::One(_, two) = (match server.recv(cx) {
                    Ok(heard) => heard,
                    Err(_) => return rounds,
                }) else {
                    unreachable!()
                };
                let bursts::server::TwoMessage::Two(_, three) = two.recv(cx).unwrap() else { unreachable!() };
                let bursts::server::ThreeMessage::Three(_, answer) = three.recv(cx).unwrap();
                server = answer.heard(tally.make()).unwrap().more(tally.make()).unwrap();
                rounds += 1;
            }
        });
        assert_eq!(rounds, 200);
        pool.run(|cx| speaking.join(cx)).unwrap().unwrap();
        tally.assert_all_dropped();
    });
}

struct Bad<'a>(&'a Tally, bool);

impl Drop for Bad<'_> {
    fn drop(&mut self) {
        drop(self.0.make());
        assert!(!self.1, "dropped badly");
    }
}

proto! { bad {
    One: send<'a> { one(self::Bad<'a>) -> Two<'a> }
    Two: send<'a> { two(self::Bad<'a>) -> ! }
}}

#[test]
fn a_message_whose_drop_panics_hinders_none() {
    let tally = Tally::default();
    let (client, server) = bad::pipe();
    let _ = client.one(Bad(&tally, true)).unwrap().two(Bad(&tally, false)).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(server))).is_err());
    assert_eq!(tally.made(), 2);
    tally.assert_all_dropped();
}

#[test]
fn a_panic_is_seen_as_going_away() {
    in_pools(|pool| {
        let (client, service) =
            proto::spawn_service_in(pool, turns::pipe, |cx, server| -> Result<turns::Done, RecvError<_>> {
                let _asked = server.recv(cx)?;
                panic!("in the middle of a conversation");
            });
        let tally = Tally::default();
        let answer = client.ask(tally.make()).unwrap();
        assert!(matches!(pool.run(|cx| answer.recv(cx)), Err(RecvError::Closed)));
        assert!(pool.run(|cx| service.join(cx)).is_err());
        tally.assert_all_dropped();
    });
}

#[test]
fn a_wait_that_is_given_up_gives_the_endpoint_back() {
    in_pools(|pool| {
        let tally = Tally::default();
        pool.run(|cx| {
            let (client, server) = turns::pipe();
            let Err(RecvTimeoutError::TimedOut(server)) = server.recv_timeout(cx, SHORT) else { panic!() };
            let Err(RecvTimeoutError::TimedOut(server)) = server.recv_until(cx, Instant::now() + SHORT) else {
                panic!()
            };
            let Err(TryRecvError::Empty(server)) = server.try_recv() else { panic!() };
            let mut kept = None;
            let late: Result<(), WaitError> = cx.timeout(SHORT, |cx| {
                let Err(RecvError::Cancelled(server)) = server.recv(cx) else { panic!() };
                kept = Some(server);
                cx.check()?;
                Ok(())
            });
            assert!(late.is_err());
            let client = client.ask(tally.make()).unwrap();
            let Ok(turns::server::AskMessage::Ask(_, server)) = kept.unwrap().recv(cx) else { panic!() };
            let _ = server.answer(tally.make()).unwrap();
            assert!(client.recv_timeout(cx, LONG).is_ok());
        });
        tally.assert_all_dropped();
    });
}

#[test]
fn a_buffer_that_is_full_holds_its_sender_back() {
    in_pools(|pool| {
        let tally = Tally::default();
        pool.run(|cx| {
            let (flow, mut server) = flow::pipe();
            let flow = flow.next(cx, tally.make()).unwrap().try_next(tally.make()).unwrap();
            let Err(TrySendError::Full(flow, value)) = flow.try_next(tally.make()) else { panic!() };
            let mut kept = None;
            let late: Result<(), WaitError> = cx.timeout(SHORT, |cx| {
                let Err(SendError::Cancelled(flow, value)) = flow.next(cx, value) else { panic!() };
                kept = Some((flow, value));
                cx.check()?;
                Ok(())
            });
            assert!(late.is_err());
            let (mut flow, value) = kept.unwrap();
            let flag = select!(cx, {
                () = flow.room() => true,
                _ = cx.sleeping(SHORT) => false,
            });
            assert_eq!(flag, Ok(false));
            let flow::server::FlowMessage::Next(_, next) = server.recv(cx).unwrap();
            server = next;
            assert_eq!(select!(cx, { () = flow.room() => true, default => false }), Ok(true));
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
fn a_send_waits_for_room_no_longer_than_it_may() {
    in_pools(|pool| {
        let tally = Tally::default();
        pool.run(|cx| {
            let (flow, mut server) = flow::pipe();
            let soon = || Instant::now() + LONG;
            // With room there is nothing to wait for, even if the time has passed.
            let flow = flow.next_timeout(cx, tally.make(), Duration::ZERO).unwrap();
            let flow = flow.next_until(cx, tally.make(), Instant::now()).unwrap();
            let Err(SendTimeoutError::TimedOut(flow, value)) = flow.next_timeout(cx, tally.make(), SHORT) else {
                panic!()
            };
            let Err(SendTimeoutError::TimedOut(flow, value)) = flow.next_until(cx, value, Instant::now() + SHORT)
            else {
                panic!()
            };
            let mut kept = None;
            let late: Result<(), WaitError> = cx.timeout(SHORT, |cx| {
                let Err(SendTimeoutError::Cancelled(flow, value)) = flow.next_until(cx, value, soon()) else {
                    panic!()
                };
                kept = Some((flow, value));
                cx.check()?;
                Ok(())
            });
            assert!(late.is_err());
            let (flow, value) = kept.unwrap();
            // Room comes while it waits.
            let sending = pool.spawn(move |cx| flow.next_timeout(cx, value, LONG));
            cx.sleep(SHORT).unwrap();
            for _ in 0..3 {
                let flow::server::FlowMessage::Next(_, next) = server.recv(cx).unwrap();
                server = next;
            }
            let flow = sending.join(cx).unwrap().unwrap();
            drop(server);
            let closed = flow.next_until(cx, tally.make(), soon());
            assert!(matches!(closed, Err(SendTimeoutError::Closed)), "{closed:?}");
            assert_eq!(
                closed.map_err(RecvTimeoutErrorOfChannels::from).err(),
                Some(RecvTimeoutErrorOfChannels::Closed)
            );
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
fn fields_may_have_the_names_of_what_methods_take() {
    in_pools(|pool| {
        pool.run(|cx| {
            let (client, server) = names::pipe();
            let client = client.none_timeout(cx, LONG).unwrap();
            let late = client.move_timeout(cx, 1, 2, 3, 4, SHORT);
            let Err(SendTimeoutError::TimedOut(client, values)) = late else { panic!("{late:?}") };
            assert_eq!(values, (1, 2, 3, 4));
            let Err(SendTimeoutError::TimedOut(client, ())) = client.none_until(cx, Instant::now()) else { panic!() };
            let names::server::NamesMessage::None(server) = server.recv(cx).unwrap() else { panic!() };
            let _client = client.r#move(cx, 1, 2, 3, 4).unwrap();
            assert!(matches!(server.recv(cx), Ok(names::server::NamesMessage::Move(1, 2, 3, 4, _))));
        });
    });
}

#[test]
fn many_pass_through_a_buffer_and_a_flood() {
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
        // More than a stack is deep, and nobody receives them.
        let (client, mut server) = flood::pipe();
        for _ in 0..100_000 {
            server = server.next(tally.make()).unwrap();
        }
        drop(client);
        assert!(server.next(tally.make()).is_err());
        tally.assert_all_dropped();
    });
}

#[test]
fn futures_that_are_dropped_and_that_are_ready() {
    let tally = Tally::default();
    let (client, mut server) = turns::pipe();
    drop(Polled::waiting(server.ready_async()));
    let client = client.ask(tally.make()).unwrap();
    assert_eq!(Polled::new(server.ready_async()).poll(), Some(()));
    let Some(Ok(turns::server::AskMessage::Ask(_, server))) = Polled::new(server.recv_async()).poll() else { panic!() };
    let mut waiting = Polled::waiting(client.recv_async());
    let server = server.answer(tally.make()).unwrap();
    assert!(waiting.is_woken());
    let Some(Ok(turns::client::AnswerMessage::Answer(_, client))) = waiting.poll() else { panic!() };
    drop(Polled::waiting(server.recv_async()));
    assert!(client.is_closed());
    // Back-pressure.
    let (flow, server) = flow::pipe();
    let flow = flow.try_next(tally.make()).unwrap().try_next(tally.make()).unwrap();
    let mut waiting = Polled::waiting(flow.next_async(tally.make()));
    let Ok(flow::server::FlowMessage::Next(..)) = server.try_recv() else { panic!() };
    assert!(waiting.is_woken());
    assert!(waiting.poll().unwrap().is_err(), "the server was dropped with what it received");
    drop(waiting);
    tally.assert_all_dropped();
}

#[test]
fn endpoints_stand_in_select() {
    in_pools(|pool| {
        let tally = Tally::default();
        pool.run(|cx| {
            let (client, mut server) = turns::pipe();
            let (_other, mut silent) = turns::pipe();
            let waiting = select!(cx, {
                _ = server.receiving() => false,
                _ = cx.sleeping(SHORT) => true,
            });
            assert_eq!(waiting, Ok(true));
            let made = tally.clone();
            let asking = pool.spawn(move |_| client.ask(made.make()).unwrap());
            let server = select!(cx, {
                heard = server.receiving() => match heard {
                    Ok(turns::server::AskMessage::Ask(_, next)) => next,
                    _ => panic!(),
                },
                _ = silent.receiving() => panic!("nothing was said here"),
            });
            let _ = server.unwrap().answer(tally.make()).unwrap();
            assert!(asking.join(cx).unwrap().recv(cx).is_ok());
        });
        tally.assert_all_dropped();
    });
}

#[test]
fn endpoints_are_members_of_a_set() {
    in_pools(|pool| {
        let tally = Tally::default();
        pool.run(|cx| {
            let mut set = ReceiverSet::new();
            let clients: Vec<_> = (0..10)
                .map(|_| {
                    let (client, server) = turns::pipe();
                    set.insert(server);
                    client
                })
                .collect();
            let made = tally.clone();
            let talking = pool.spawn(move |cx: &Cx<'_>| {
                for (nth, mut client) in clients.into_iter().enumerate() {
                    for _ in 0..nth {
                        let heard = client.ask(made.make()).unwrap().recv(cx);
                        let Ok(turns::client::AnswerMessage::Answer(_, next)) = heard else { panic!() };
                        client = next;
                    }
                    if nth % 2 == 0 {
                        let _ = client.quit(made.make()).unwrap();
                    }
                }
            });
            let (mut asked, mut quit, mut gone) = (0, 0, 0);
            while let Ok((_, heard)) = set.recv(cx) {
                match heard {
                    Ok(turns::server::AskMessage::Ask(_, next)) => {
                        asked += 1;
                        set.insert(next.answer(tally.make()).unwrap());
                    }
                    Ok(turns::server::AskMessage::Quit(..)) => quit += 1,
                    Err(Closed) => gone += 1,
                }
            }
            assert_eq!((asked, quit, gone), (45, 5, 5));
            talking.join(cx).unwrap();
        });
        tally.assert_all_dropped();
    });
}

#[test]
fn an_endpoint_that_a_select_has_used_up_is_closed() {
    let tally = Tally::default();
    watchdog(LONG, || {
        let pool: Pool = pool(1);
        pool.run(|cx| {
            let (client, mut server) = turns::pipe();
            let _client = client.ask(tally.make()).unwrap();
            let heard = select!(cx, { heard = server.receiving() => heard }).unwrap();
            assert!(server.is_ready());
            assert!(matches!(select!(cx, { heard = server.receiving() => heard }), Ok(Err(Closed))));
            assert!(matches!(server.recv(cx), Err(RecvError::Closed)));
            drop(heard);
        });
    });
    tally.assert_all_dropped();
}

#[test]
fn endpoints_say_what_they_are() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }

    let (client, server) = is_send(turns::pipe());
    assert_eq!(format!("{client:?} {server:?}"), "turns::client::Ask turns::server::Ask");
    let tally = Tally::default();
    let client = client.ask(tally.make()).unwrap();
    assert_eq!(format!("{:?}", server.try_recv()), "Ok(turns::server::AskMessage::Ask)");
    assert_eq!(format!("{client:?}"), "turns::client::Answer");
    let pool = pool(1);
    let (_client, server) = turns::pipe();
    let waiting = pool.spawn(move |cx| server.recv(cx).map(drop).is_err());
    watchdog(LONG, || {
        while !pool.fibers().iter().any(|fiber| fiber.waits_for() == Some("turns::server::Ask::recv")) {
            std::thread::yield_now();
        }
    });
    drop(_client);
    assert!(pool.run(|cx| waiting.join(cx)).unwrap());
}
