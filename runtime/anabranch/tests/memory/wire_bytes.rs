//! Arbitrary bytes over a wire: an error that names the fault, never a panic, and memory in proportion to the bytes.

use crate::allocator::peak;
use crate::common::{self, LONG, waits::Polled, watchdog};
use crate::wires::{
    Played, frame, pipe, sentence,
    served::{Said, Tree, hello, many, serve},
};
use anabranch::{
    channel::Closed,
    proto,
    proto::wire::{Wire, WireError},
};
use proptest::prelude::*;
use std::sync::Arc;

/// The bytes of a client that sends all this, with its handshake and its end.
fn spoken(said: &[Said]) -> Vec<u8> {
    let (end, other) = pipe(usize::MAX);
    other.say(&hello(false));
    let (mut client, connection) = Polled::new(many::client::over_async(Wire::new(end))).poll().unwrap().unwrap();
    let mut running = Polled::new(connection.run_async());
    for said in said.iter().cloned() {
        let answer = match said {
            Said::Numbers(numbers) => client.numbers(numbers),
            Said::Nothing(nothing) => client.nothing(nothing),
            Said::Tree(tree) => client.tree(tree),
            Said::Mixed(name, mixed) => client.mixed(name, mixed),
            Said::Table(table, numbers) => client.table(table, numbers),
        };
        let mut answer = answer.unwrap();
        assert!(running.poll().is_none());
        other.say(&frame(&[0]));
        client = loop {
            // It yields now and then.
            assert!(running.poll().is_none());
            match answer.try_recv() {
                Ok(many::client::AnswerMessage::Yes(next)) => break next,
                Err(proto::EndpointTryRecvError::Empty(same)) => answer = same,
                other => panic!("{other:?}"),
            }
        };
    }
    let _done = client.quit().unwrap();
    while running.poll().is_none() {}
    other.heard()
}

const LIMIT: usize = 1 << 20;

/// A client that sends its handshake, and then these bytes.
fn served(bytes: &[u8]) -> WireError {
    let (heard, end, ended) = serve(&[hello(true), bytes.to_vec()].concat(), LIMIT);
    assert_eq!((heard, end), (Vec::new(), Err(Closed)));
    ended.expect_err("this is nothing to be understood")
}

/// A client that sends its handshake, and then this message.
fn served_message(body: &[u8]) -> WireError {
    served(&frame(body))
}

#[test]
fn messages_arrive_unchanged() {
    watchdog(LONG, || {
        let leaf = || Box::new(Tree::Leaf(7));
        let all = [
            Said::Numbers(vec![0, 1, u64::MAX]),
            Said::Numbers((0..100_000).collect()),
            Said::Nothing(vec![(); 1000]),
            Said::Tree(Tree::Wide(vec![Tree::Deep(leaf()), Tree::Named { name: "nö".into(), of: Some(leaf()) }])),
            Said::Mixed(String::new(), (true, '💧', i128::MIN, Some(-0.5), 255)),
            Said::Table([("a".to_owned(), vec![0; 300]), ("b".to_owned(), vec![])].into(), [1, 2, u16::MAX]),
        ];
        let (heard, end, ended) = serve(&spoken(&all), LIMIT);
        assert_eq!(heard, all);
        assert!(end.is_ok() && ended.is_ok(), "{ended:?}");
    });
}

#[test]
fn length_is_checked_before_allocation() {
    watchdog(LONG, || {
        for length in [LIMIT as u32 + 1, u32::MAX] {
            let (error, peak) = peak(|| served(&length.to_le_bytes()));
            assert!(matches!(error, WireError::TooLong { limit: LIMIT, .. }), "{error:?}");
            assert!(sentence(&error).contains(&length.to_string()));
            assert!(peak < 50_000, "{peak} bytes");
        }
        // The full length is announced, and few bytes arrive.
        let (error, peak) = peak(|| served(&[&(LIMIT as u32).to_le_bytes()[..], &[1; 10]].concat()));
        assert!(matches!(error, WireError::Lost), "{error:?}");
        assert!(peak < 50_000, "{peak} bytes");
        // A custom limit.
        let bytes = spoken(&[Said::Numbers(vec![1; 50])]);
        assert!(serve(&bytes, 52).2.is_ok());
        assert!(matches!(serve(&bytes, 51).2, Err(WireError::TooLong { length: 52, limit: 51 })));
    });
}

#[test]
fn claimed_lengths_and_depths_are_refused() {
    watchdog(LONG, || {
        // A sequence of 2^60 numbers, of 2^60 nothings, of trees; a table; a text.
        let many = [128, 128, 128, 128, 128, 128, 128, 128, 16];
        let why = |body: &[u8]| {
            let (error, peak) = peak(|| served_message(body));
            assert!(peak < 100_000, "{peak} bytes for {error}");
            assert!(sentence(&error).contains("`Ask`"));
            let WireError::BadMessage { state: "Ask", why, .. } = error else { panic!("{error:?}") };
            why
        };
        for start in [&[0][..], &[2, 1], &[3], &[4], &[4, 1]] {
            assert_eq!(why(&[start, &many].concat()), "it ends before its values do");
        }
        assert_eq!(why(&[&[1][..], &many].concat()), "it has more values than so few bytes can have");
        // A tree of a thousand `Deep`, and one of so many `Wide` that have one tree each.
        assert_eq!(why(&[&[2][..], &[2; 1000], &[0, 0]].concat()), "its values lie too deep in each other");
        assert_eq!(why(&[&[2][..], &[1; 1000], &[0, 0]].concat()), "its values lie too deep in each other");
        assert_eq!(why(&[2, 2, 2, 2, 9, 0]), "a type of it refuses the value");
        assert_eq!(why(&[3, 1, 0xFF]), "a text in it is no UTF-8");
        assert_eq!(why(&[3, 0, 7]), "a byte in it is neither 0 nor 1");
        assert_eq!(
            why(&[0, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
            "a number in it is none, or too large"
        );
        assert_eq!(why(&[0, 1, 5, 5]), "it has bytes left over");
    });
}

mod large {
    anabranch::proto! { #[wire(version = 1)] pub gaps { Ask: send { gaps(Vec<Option<[[u64; 8]; 8]>>) -> ! } } }
}

/// Each is absent, which takes one byte.
#[test]
fn absent_large_values_are_limited() {
    watchdog(LONG, || {
        let gaps = |count: u8| {
            let body = [&[0, count & 0x7F | 0x80, count >> 7][..], &[0; 255][..count.into()]].concat();
            let hello = hello_of(|wire| large::gaps::client::over(wire).map(drop));
            let played = Played::new([&hello[..], &frame(&body)].concat(), hello.len());
            let (server, connection) = large::gaps::server::over(Wire::new(played)).unwrap();
            let result = connection.run().map(drop);
            drop(server);
            result
        };
        assert!(gaps(100).is_ok());
        let WireError::BadMessage { why, .. } = gaps(255).unwrap_err() else { panic!("let in") };
        assert_eq!(why, "its values take more memory than so few bytes may");
    });
}

/// Elements without a size, empty collections, collections of one element, and boxes: each takes one byte or none.
mod sparse {
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    pub struct Big([[u64; 16]; 8]);

    pub type Rare = Option<Big>;

    anabranch::proto! {
        #[wire(version = 1)] pub sparse {
            Ask: send {
                nothings(std::collections::LinkedList<()>) -> !,
                lists(Vec<std::collections::LinkedList<()>>) -> !,
                boxes(Vec<Box<super::Rare>>) -> !,
                lone_box(Vec<(u8, Option<Box<super::Rare>>)>) -> !,
                ones(Vec<std::collections::BTreeSet<u128>>) -> !,
                tables(std::collections::HashMap<u32, Vec<()>>) -> !,
                numbers(std::collections::LinkedList<u8>) -> !,
            }
        }
    }
}
use sparse::Rare;

/// Whatever the bytes claim, the values take at most the documented multiple of their number.
#[test]
fn memory_of_sparse_values_is_limited() {
    watchdog(LONG, || {
        let hello = hello_of(|wire| sparse::sparse::client::over(wire).map(drop));
        let run = |message: u8, count: u32, each: &dyn Fn(u32, &mut Vec<u8>)| {
            let mut body = vec![message];
            number(count, &mut body);
            (0..count).for_each(|index| each(index, &mut body));
            let bytes = body.len();
            let played = Played::new([&hello[..], &frame(&body)].concat(), hello.len());
            let (server, connection) = sparse::sparse::server::over(Wire::new(played)).unwrap();
            let (result, peak) = peak(|| connection.run().map(drop));
            drop(server);
            // With the buffers for the message.
            let most = 256 * bytes + (256 << 10) + 4 * bytes + 50_000;
            assert!(peak < most, "message {message}: {peak} bytes of memory for {bytes} on the wire");
            match result {
                Ok(()) => None,
                Err(WireError::BadMessage { why, .. }) => Some(why),
                Err(error) => panic!("{error:?}"),
            }
        };
        const TOO_LARGE: Option<&str> = Some("its values take more memory than so few bytes may");
        const MANY: u32 = 100_000;
        let nothing: &dyn Fn(u32, &mut Vec<u8>) = &|_, _| {};
        let zero: &dyn Fn(u32, &mut Vec<u8>) = &|_, body| body.push(0);
        assert_eq!(run(0, 1000, nothing), None);
        assert!(run(0, MANY, nothing).is_some());
        assert_eq!(run(1, MANY, zero), None);
        assert_eq!(run(1, MANY, &|_, body| body.push(50)), TOO_LARGE);
        assert_eq!(run(2, 10, zero), None);
        assert_eq!(run(2, MANY, zero), TOO_LARGE);
        assert_eq!(run(3, MANY, &|_, body| body.extend([0, 1, 0])), TOO_LARGE);
        assert_eq!(run(3, MANY, &|_, body| body.extend([0, 0])), None);
        assert_eq!(run(4, MANY, zero), None);
        assert_eq!(run(4, MANY, &|_, body| body.extend([1, 0])), None);
        assert_eq!(
            run(5, MANY, &|index, body| {
                number(index, body);
                body.push(0);
            }),
            None
        );
        assert_eq!(run(6, MANY, zero), None);
    });
}

/// Writes a number as postcard does.
fn number(mut number: u32, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// The handshake of a side that begins a conversation like this and gets no answer.
fn hello_of(begin: impl FnOnce(Wire<Played>) -> Result<(), WireError>) -> Vec<u8> {
    let played = Played::default();
    let heard = Arc::clone(&played.heard);
    begin(Wire::new(played)).unwrap_err();
    heard.lock().unwrap().clone()
}

#[test]
fn deep_values_do_not_overflow_fiber_stack() {
    watchdog(LONG, || {
        // In a pool of the usual stacks, as deep as can be.
        common::pool(1).run(|cx| {
            let deep = |count: usize| [&[2][..], &vec![2; count], &[0, 0]].concat();
            for count in [10, 40, 80, 200, 100_000] {
                let serving = anabranch::spawn(move |_| {
                    let (heard, _, error) = serve(&[hello(true), frame(&deep(count))].concat(), LIMIT);
                    (heard.len(), error.unwrap_err())
                });
                let (heard, error) = serving.join(cx).unwrap();
                match error {
                    WireError::Lost => assert_eq!(heard, 1),
                    WireError::BadMessage { .. } => assert!(heard == 0 && count > 100),
                    other => panic!("{other:?}"),
                }
            }
        });
    });
}

#[test]
fn unexpected_messages_are_refused() {
    watchdog(LONG, || {
        for (body, number) in [(&[6][..], 6), (&[127], 127), (&[255, 255, 255, 255, 15], u32::MAX)] {
            let error = served_message(body);
            assert!(matches!(error, WireError::UnknownMessage { state: "Ask", number: n } if n == number), "{error:?}");
            assert!(sentence(&error).contains("`Ask`"));
        }
        assert!(matches!(served_message(&[255]), WireError::BadMessage { message: None, .. }));
        // The client leaves; the last message with something behind it.
        assert!(matches!(served(&[0; 4]), WireError::Left));
        assert!(matches!(served_message(&[5, 0]), WireError::BadMessage { message: Some("quit"), .. }));
        // A second message without an answer to the first.
        let (heard, other) = pipe(usize::MAX);
        other.say(&[hello(true), frame(&[0, 0]), frame(&[0, 0])].concat());
        let (server, connection) = Polled::new(many::server::over_async(Wire::new(heard))).poll().unwrap().unwrap();
        let error = Polled::new(connection.run_async()).poll().unwrap().unwrap_err();
        assert!(matches!(error, WireError::OutOfTurn { state: "Answer" }), "{error:?}");
        sentence(&error);
        // Earlier messages are received.
        let many::server::AskMessage::Numbers(numbers, server) = server.try_recv().unwrap() else { panic!() };
        assert!(numbers.is_empty() && server.yes().is_err());
    });
}

#[test]
fn truncated_stream_is_an_error_at_every_byte() {
    watchdog(LONG, || {
        let said = [Said::Numbers(vec![300; 3]), Said::Mixed("ab".into(), (false, 'é', -1, None, 0))];
        let bytes = spoken(&said);
        for length in 0..bytes.len() {
            let (heard, end, ended) = serve(&bytes[..length], LIMIT);
            assert!(said.starts_with(&heard) && heard.len() < 3);
            assert!(matches!((end, ended), (Err(Closed), Err(WireError::Lost))), "after {length} bytes");
        }
        assert!(matches!(serve(&bytes, LIMIT), (_, Ok(()), Ok(()))));
    });
}

#[test]
fn truncated_stream_is_an_error_at_every_byte_on_thread() {
    watchdog(LONG, || {
        // A client that asks and quits, to whom all answers have come before.
        let bytes = [hello(false), frame(&[1, 3, b'n', b'o', b't'])].concat();
        for length in 0..=bytes.len() {
            let played = Played::new(&bytes[..length], 0);
            let heard = Arc::clone(&played.heard);
            let result = many::client::over(Wire::new(played));
            if length < hello(false).len() {
                assert!(matches!(result, Err(WireError::Lost)), "after {length} bytes");
                continue;
            }
            let (client, connection) = result.unwrap();
            let answer = client.tree(Tree::Leaf(1)).unwrap();
            let running = std::thread::spawn(move || connection.run());
            let answer = anabranch::run(|cx| answer.recv(cx));
            if length < bytes.len() {
                assert!(matches!(answer, Err(proto::EndpointRecvError::Closed)), "after {length} bytes");
                assert!(matches!(running.join().unwrap(), Err(WireError::Lost)));
            } else {
                let many::client::AnswerMessage::Why(text, client) = answer.unwrap() else { panic!() };
                assert_eq!(text, "not");
                let _done = client.quit().unwrap();
                running.join().unwrap().unwrap();
                assert!(heard.lock().unwrap().ends_with(&[frame(&[2, 0, 1]), frame(&[5])].concat()));
            }
        }
    });
}

mod other_name {
    anabranch::proto! { #[wire(version = 3)] pub mani { Ask: send { numbers(Vec<u64>) -> ! } } }
}

mod other_version {
    anabranch::proto! { #[wire(version = 4)] pub many { Ask: send { numbers(Vec<u64>) -> ! } } }
}

mod other_text {
    anabranch::proto! { #[wire(version = 3)] pub many { Ask: send { numbers(Vec<u64>) -> ! } } }
}

#[test]
fn handshake_refuses_other_peers() {
    watchdog(LONG, || {
        let refusal = |says: &[u8]| match many::server::over(Wire::new(Played::new(says, 0))) {
            Ok(_) => panic!("let in"),
            Err(error) => (sentence(&error), error),
        };
        let (text, error) = refusal(b"GET / HTTP/1.1\r\n");
        assert!(matches!(error, WireError::Stranger(_)) && text.contains("\"GET / HTT\""), "{text}");
        // By its first wrong byte, also if it waits then.
        let (text, _) = refusal(b"an\n");
        assert!(text.contains("\"an\\n\""), "{text}");
        let (text, error) = refusal(b"anabranch\x07");
        assert!(matches!(error, WireError::Format(7)) && text.contains("format 7"), "{text}");
        let (text, error) = refusal(&hello_of(|wire| other_name::mani::client::over(wire).map(drop)));
        assert!(matches!(error, WireError::OtherProtocol { ours: "many", .. }), "{error:?}");
        assert!(text.contains("\"mani\"") && text.contains("`many`"), "{text}");
        let (text, error) = refusal(&hello_of(|wire| other_version::many::client::over(wire).map(drop)));
        assert!(matches!(error, WireError::OtherVersion { protocol: "many", ours: 3, theirs: 4 }), "{error:?}");
        assert!(text.contains("version 4") && text.contains("version 3"), "{text}");
        let (text, error) = refusal(&hello_of(|wire| other_text::many::client::over(wire).map(drop)));
        assert!(matches!(error, WireError::OtherText { protocol: "many" }) && text.contains("`many`"), "{text}");
        let (text, error) = refusal(&hello(false));
        assert!(matches!(error, WireError::SameSide("server")) && text.contains("its server"), "{text}");
        let same = many::client::over(Wire::new(Played::new(hello(true), 0))).map(drop);
        assert!(matches!(same, Err(WireError::SameSide("client"))));
        // A name that is not UTF-8, and one with terminal escapes.
        let mut strange = hello(true);
        let at = strange.len() - 4;
        strange[at..].copy_from_slice(b"\x1b[3\xFF");
        let (text, _) = refusal(&strange);
        assert!(!text.contains('\u{1b}'), "{text}");
        // A peer that sends nothing.
        assert!(matches!(refusal(b"").1, WireError::Lost));
    });
}

#[test]
fn message_too_long_to_send_ends_connection() {
    watchdog(LONG, || {
        let (end, other) = pipe(usize::MAX);
        other.say(&hello(false));
        let wire = Wire::new(end).max_message(100);
        let (client, connection) = Polled::new(many::client::over_async(wire)).poll().unwrap().unwrap();
        let answer = client.numbers(vec![1; 200]).unwrap();
        let error = Polled::new(connection.run_async()).poll().unwrap().unwrap_err();
        assert!(matches!(error, WireError::TooLong { limit: 100, .. }), "{error:?}");
        sentence(&error);
        assert!(matches!(answer.try_recv(), Err(proto::EndpointTryRecvError::Closed)));
        // The other side receives the end of the conversation, and nothing of the message.
        assert_eq!(other.heard(), [&hello(true)[..], &[0; 4]].concat());
    });
}

fn tree() -> impl Strategy<Value = Tree> {
    any::<u32>().prop_map(Tree::Leaf).prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Tree::Wide),
            inner.clone().prop_map(|of| Tree::Deep(Box::new(of))),
            (".{0,8}", prop::option::of(inner)).prop_map(|(name, of)| Tree::Named { name, of: of.map(Box::new) }),
        ]
    })
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        prop::collection::vec(any::<u64>(), 0..40).prop_map(Said::Numbers),
        (0..300usize).prop_map(|count| Said::Nothing(vec![(); count])),
        tree().prop_map(Said::Tree),
        (".{0,20}", any::<(bool, char, i128, Option<u32>, u8)>())
            .prop_map(|(name, (a, b, c, d, e))| Said::Mixed(name, (a, b, c, d.map(f64::from), e))),
        (prop::collection::btree_map(".{0,5}", prop::collection::vec(any::<u8>(), 0..20), 0..6), any::<[u16; 3]>())
            .prop_map(|(table, numbers)| Said::Table(table, numbers)),
    ]
}

/// What may be allocated for so many bytes: a tree of four words for each two of them, in vectors that double, and
/// buffers.
fn is_worth(peak: usize, bytes: usize) -> bool {
    peak < 100_000 + 200 * bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_conversation_arrives_unchanged(said in prop::collection::vec(said(), 0..8)) {
        let (heard, end, ended) = serve(&spoken(&said), LIMIT);
        prop_assert_eq!(heard, said);
        prop_assert!(end.is_ok() && ended.is_ok());
    }

    #[test]
    fn random_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), is_framed: bool, message in 0..7u8) {
        let rest = if is_framed { frame(&[&[message], &bytes[..]].concat()) } else { bytes };
        let ((_, _, ended), peak) = peak(|| serve(&[hello(true), rest.clone()].concat(), LIMIT));
        prop_assert!(is_worth(peak, rest.len()), "{} bytes of memory for {} on the wire", peak, rest.len());
        if let Err(error) = ended {
            sentence(&error);
        }
    }

    #[test]
    fn changed_bytes_are_an_error_or_another_message(
        said in prop::collection::vec(said(), 1..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..4),
    ) {
        let mut bytes = spoken(&said);
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.drain(at..at + 1)),
            }
        }
        let ((_, _, ended), peak) = peak(|| serve(&bytes, LIMIT));
        prop_assert!(is_worth(peak, bytes.len()), "{} bytes of memory for {} on the wire", peak, bytes.len());
        if let Err(error) = ended {
            sentence(&error);
        }
    }
}
