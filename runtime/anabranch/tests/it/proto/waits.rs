//! Waits in conversations: cancelled, in futures, in selections and in sets.

use crate::common::{Counted, LONG, Tally, in_pools, pool, waits::Polled, watchdog};
use anabranch::{
    Cx, Operation, Pool, WaitError,
    channel::{Closed, ReceiverSet},
    proto,
    proto::{EndpointRecvError, EndpointTryRecvError},
    select,
};
use std::time::{Duration, Instant};

proto! { pub turns {
    Ask: send { ask(Counted) -> Answer, quit(Counted) -> ! }
    Answer: recv { answer(Counted) -> Ask }
}}

proto! { #[allow(endless)] pub flow {
    #[buffer(2)]
    Flow: send { next(Counted) -> Flow }
}}

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn cancelled_wait_returns_endpoint() {
    in_pools(|pool| {
        let tally = Tally::default();
        pool.run(|cx| {
            let (client, mut server) = turns::pipe();
            assert!(matches!(server.receiving().timeout(cx, SHORT), Err(WaitError::TimedOut)));
            assert!(matches!(server.receiving().deadline(cx, Instant::now() + SHORT), Err(WaitError::TimedOut)));
            let Err(EndpointTryRecvError::Empty(server)) = server.try_recv() else { panic!() };
            let mut kept = None;
            let late: Result<(), WaitError> = cx.timeout(SHORT, |cx| {
                let Err(EndpointRecvError::Cancelled(server)) = server.recv(cx) else { panic!() };
                kept = Some(server);
                cx.check()?;
                Ok(())
            });
            assert!(late.is_err());
            let mut client = client.ask(tally.make()).unwrap();
            let Ok(turns::server::AskMessage::Ask(_, server)) = kept.unwrap().recv(cx) else { panic!() };
            let _ = server.answer(tally.make()).unwrap();
            assert!(matches!(client.receiving().timeout(cx, LONG), Ok(Ok(_))));
        });
        tally.assert_all_dropped();
    });
}

#[test]
fn futures_may_be_dropped_or_ready() {
    let tally = Tally::default();
    let (client, mut server) = turns::pipe();
    drop(Polled::waiting(server.receiving().into_future()));
    let mut client = client.ask(tally.make()).unwrap();
    let Some(Ok(turns::server::AskMessage::Ask(_, server))) = Polled::new(server.receiving().into_future()).poll()
    else {
        panic!()
    };
    let mut waiting = Polled::waiting(client.receiving().into_future());
    let mut server = server.answer(tally.make()).unwrap();
    assert!(waiting.is_woken());
    let Some(Ok(turns::client::AnswerMessage::Answer(_, client))) = waiting.poll() else { panic!() };
    drop(Polled::waiting(server.receiving().into_future()));
    assert!(!client.is_closed(), "the endpoint outlives its future");
    drop(server);
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
fn endpoints_can_be_selected() {
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
fn endpoints_can_be_members_of_set() {
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

/// Of both transports, and however often it is asked.
#[test]
fn endpoint_is_ready_if_and_only_if_try_recv_receives() {
    fn is_ready<E: proto::ReceiveEndpoint>(end: &mut E, is_ready: impl Fn(&E) -> bool) -> bool {
        let mut answers = (0..3).map(|_| is_ready(end));
        let first = answers.next().unwrap();
        assert!(answers.all(|answer| answer == first));
        first
    }
    let tally = Tally::default();
    let (client, mut server) = turns::pipe();
    assert!(!is_ready(&mut server, |end| end.is_ready()));
    let Err(proto::EndpointTryRecvError::Empty(mut server)) = server.try_recv() else { panic!() };
    let client = client.ask(tally.make()).unwrap();
    for _ in 0..3 {
        assert!(is_ready(&mut server, |end| end.is_ready()));
    }
    assert!(server.try_recv().is_ok());
    assert!(client.is_ready(), "the other side is gone");

    let (flow, mut server) = flow::pipe();
    assert!(!is_ready(&mut server, |end| end.is_ready()));
    let Err(proto::EndpointTryRecvError::Empty(mut server)) = server.try_recv() else { panic!() };
    let flow = flow.try_next(tally.make()).unwrap();
    for _ in 0..3 {
        assert!(is_ready(&mut server, |end| end.is_ready()));
    }
    let Ok(flow::server::FlowMessage::Next(_, mut server)) = server.try_recv() else { panic!() };
    assert!(!is_ready(&mut server, |end| end.is_ready()));
    drop(flow);
    assert!(is_ready(&mut server, |end| end.is_ready()));
    assert!(matches!(server.try_recv(), Err(proto::EndpointTryRecvError::Closed)));
}

#[test]
fn endpoint_used_up_by_select_is_closed() {
    let tally = Tally::default();
    watchdog(LONG, || {
        let pool: Pool = pool(1);
        pool.run(|cx| {
            let (client, mut server) = turns::pipe();
            let _client = client.ask(tally.make()).unwrap();
            let heard = select!(cx, { heard = server.receiving() => heard }).unwrap();
            assert!(server.is_ready());
            assert!(matches!(select!(cx, { heard = server.receiving() => heard }), Ok(Err(Closed))));
            assert!(matches!(server.recv(cx), Err(EndpointRecvError::Closed)));
            drop(heard);
        });
    });
    tally.assert_all_dropped();
}

#[test]
fn debug_names_state_of_endpoint() {
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
