//! Conversations that are left early: every message is received once or dropped once.

use crate::common::{Counted, Tally, in_pools};
use anabranch::{
    channel::Closed,
    proto,
    proto::{EndpointRecvError, EndpointTryRecvError},
};
use std::panic::{AssertUnwindSafe, catch_unwind};

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

#[test]
fn dropped_peer_is_reported_in_each_state() {
    let tally = Tally::default();
    // A speaker that goes; a listener that goes.
    let (client, server) = turns::pipe();
    drop(client);
    assert!(matches!(server.try_recv(), Err(EndpointTryRecvError::Closed)));
    let (client, server) = turns::pipe();
    assert!(!client.is_closed());
    drop(server);
    assert!(client.is_closed());
    assert!(matches!(client.ask(tally.make()), Err(Closed)));
    // Sent and not received, by a client that is still there, and by one that was dropped.
    let (client, server) = turns::pipe();
    let client = client.ask(tally.make()).unwrap();
    drop(server);
    assert!(client.is_ready() && matches!(client.try_recv(), Err(EndpointTryRecvError::Closed)));
    let (client, server) = turns::pipe();
    drop(client.ask(tally.make()).unwrap());
    drop(server);
    // Messages sent before the sender was dropped are received.
    let (client, server) = turns::pipe();
    drop(client.ask(tally.make()).unwrap());
    let turns::server::AskMessage::Ask(value, server) = server.try_recv().unwrap() else { unreachable!() };
    drop(value);
    assert!(server.is_closed());
    assert!(server.answer(tally.make()).is_err());
    // The last message, received and not received.
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
fn messages_are_dropped_once_in_each_state() {
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
fn consecutive_messages_arrive_in_order() {
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
fn message_may_panic_when_dropped() {
    let tally = Tally::default();
    let (client, server) = bad::pipe();
    let _ = client.one(Bad(&tally, true)).unwrap().two(Bad(&tally, false)).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(server))).is_err());
    assert_eq!(tally.made(), 2);
    tally.assert_all_dropped();
}

#[test]
fn peer_sees_panic_as_close() {
    in_pools(|pool| {
        let (client, service) =
            proto::spawn_service_in(pool, turns::pipe, |cx, server| -> Result<turns::Done, EndpointRecvError<_>> {
                let _asked = server.recv(cx)?;
                panic!("in the middle of a conversation");
            });
        let tally = Tally::default();
        let answer = client.ask(tally.make()).unwrap();
        assert!(matches!(pool.run(|cx| answer.recv(cx)), Err(EndpointRecvError::Closed)));
        assert!(pool.run(|cx| service.join(cx)).is_err());
        tally.assert_all_dropped();
    });
}
