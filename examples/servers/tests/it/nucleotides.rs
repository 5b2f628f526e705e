//! The server that computes: what it counts, and what it refuses.

use crate::{in_pools, programs::Server, served, watchdog};
use anabranch::{Cx, net::TcpStream, sync::Event};
use anabranch_servers::{
    Failure,
    nucleotides::{HELP, connection, sequence},
    serve::{Ends, Limits},
};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
};

fn handler(cx: &Cx<'_>, stream: &TcpStream, stop: &Event) -> Result<(), Failure> {
    connection(cx, stream, stop)
}

fn request(method_and_target: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("{method_and_target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// Sends a request on a connection of its own. Returns the status and the body of the answer.
fn asked(mut stream: impl Read + Write, method_and_target: &str, body: &[u8]) -> (u16, String) {
    stream.write_all(&request(method_and_target, body)).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head["HTTP/1.1 ".len()..][..3].parse().unwrap(), body.to_owned())
}

/// Counts the fragments one after the other.
fn expected(sequence: &[u8], length: usize) -> String {
    let mut counts = BTreeMap::<_, u32>::new();
    for fragment in sequence.windows(length) {
        *counts.entry(std::str::from_utf8(fragment).unwrap()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    // The sort is stable, so equal counts stay in the order of the alphabet.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().take(1000).map(|(fragment, count)| format!("{fragment} {count}\n")).collect()
}

#[test]
fn fragments_are_counted_beside_light_requests() {
    in_pools(|pool| {
        let (ends, ()) = served(pool, Limits::default(), handler, |cx, address, _| {
            cx.map_concurrent(8, 0..24, |cx, number| {
                let stream = TcpStream::connect(cx, address).unwrap();
                if number % 3 == 0 {
                    assert_eq!(asked(stream.with(cx), "GET /", b""), (200, HELP.to_owned()));
                } else {
                    // Also shorter than a piece, as long as one, and longer.
                    let sequence = sequence(number * 4096, number as u64);
                    let length = number % 10 + 1;
                    let answer = asked(stream.with(cx), &format!("POST /{length}"), &sequence);
                    assert_eq!(answer, (200, expected(&sequence, length)), "{number}");
                }
                Ok::<_, anabranch::Cancelled>(())
            })
            .unwrap();
        });
        assert_eq!(ends, Ends { regular: 24, ..Ends::default() });
    });
}

/// What is no query is refused, with the status that says why.
const REFUSED: [(&str, &[u8], u16); 6] = [
    ("POST /0", b"ACGT", 404),
    ("POST /11", b"ACGT", 404),
    ("POST /nonsense", b"ACGT", 404),
    ("GET /3", b"", 405),
    ("POST /3", b"ACGU", 400),
    ("POST /3", &[b'A'; (16 << 20) + 1], 413),
];

#[test]
fn requests_that_are_no_query_are_refused() {
    in_pools(|pool| {
        served(pool, Limits::default(), handler, |cx, address, _| {
            for (request, body, status) in REFUSED {
                let stream = TcpStream::connect(cx, address).unwrap();
                assert_eq!(asked(stream.with(cx), request, body).0, status, "{request}");
            }
            for (body, counts) in [(&b""[..], ""), (b"A", ""), (b"ac\r\nAC\n", "AC 2\nCA 1\n")] {
                let stream = TcpStream::connect(cx, address).unwrap();
                assert_eq!(asked(stream.with(cx), "POST /2", body), (200, counts.to_owned()));
            }
        });
    });
}

#[test]
fn both_programs_answer_the_same() {
    watchdog(|| {
        for program in [env!("CARGO_BIN_EXE_nucleotides"), env!("CARGO_BIN_EXE_nucleotides_tokio")] {
            let server = Server::start(program, &[]);
            let asked = |request: &str, body: &[u8]| {
                asked(std::net::TcpStream::connect(server.address).unwrap(), request, body)
            };
            let sequence = sequence(100_000, 3);
            assert_eq!(asked("GET /", b""), (200, HELP.to_owned()));
            assert_eq!(asked("POST /6", &sequence), (200, expected(&sequence, 6)));
            for (request, body, status) in REFUSED {
                assert_eq!(asked(request, body).0, status, "{program}: {request}");
            }
            assert!(server.end("-TERM").contains(" connections ended, 0 failed"), "{program}");
        }
    });
}
