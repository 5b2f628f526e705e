//! Streams under pressure: slow readers, boundaries inside of a stream, halves, synchronous libraries.

use super::pair;
use crate::common::{
    LONG,
    fibers::{in_all_pools, on_fiber, with_every_cx},
    watchdog,
};
use anabranch::net::{TcpListener, TcpStream, is_cancelled};
use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    time::Duration,
};

/// More than the buffers of both sides hold.
const MUCH: usize = 8 << 20;

#[test]
fn slow_reader_delays_writer_and_loses_nothing() {
    in_all_pools(|pool| {
        on_fiber(pool, |cx| {
            let (client, server) = pair(cx);
            cx.scope(|s| {
                s.spawn(move |cx| {
                    let bytes: Vec<u8> = (0..MUCH).map(|index| (index / 3) as u8).collect();
                    server.write_all(cx, &bytes).unwrap();
                });
                let (mut buffer, mut read) = (vec![0; 300_000], 0);
                loop {
                    let count = client.read(cx, &mut buffer).unwrap();
                    if count == 0 {
                        break;
                    }
                    assert!(buffer[..count].iter().enumerate().all(|(at, &byte)| byte == ((read + at) / 3) as u8));
                    read += count;
                    if read % 7 == 0 {
                        cx.sleep(Duration::from_micros(50)).unwrap();
                    }
                }
                assert_eq!(read, MUCH);
            });
        });
    });
}

#[test]
fn both_directions_wait_at_once() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let (client, server) = (&client, &server);
        // Nobody reads before both writers wait for room, or have written all.
        cx.scope(|s| {
            for stream in [client, server] {
                s.spawn(move |cx| {
                    stream.write_all(cx, &vec![7; MUCH / 4]).unwrap();
                    stream.shutdown(std::net::Shutdown::Write).unwrap();
                });
                s.spawn(move |cx| {
                    let mut all = Vec::new();
                    assert_eq!(stream.read_to_end(cx, &mut all).unwrap(), MUCH / 4);
                });
            }
        });
    });
}

/// A read that ends at urgent data returns fewer bytes than asked for, although there are more.
#[cfg(target_os = "linux")]
#[test]
fn bytes_behind_urgent_data_are_read_without_another_event() {
    watchdog(LONG, || {
        anabranch::run(|cx| {
            let (client, server) = pair(cx);
            // Registers the socket: what comes from here on are events.
            let late = cx.timeout(Duration::from_millis(1), |cx| server.read(cx, &mut [0; 64]));
            late.unwrap_err();
            let options = socket2::SockRef::from(&client);
            options.send(b"ab").unwrap();
            options.send_out_of_band(b"!").unwrap();
            options.send(b"cd").unwrap();
            let mut all = Vec::new();
            while all.len() < 4 {
                let mut buffer = [0; 64];
                let count = server.read(cx, &mut buffer).unwrap();
                all.extend_from_slice(&buffer[..count]);
            }
            assert_eq!(all, b"abcd");
        });
    });
}

#[test]
fn end_of_stream_after_short_read_is_seen() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        cx.scope(|s| {
            s.spawn(move |cx| {
                for _ in 0..3 {
                    client.write_all(cx, b"abc").unwrap();
                    cx.yield_now();
                }
            });
            let mut all = Vec::new();
            let mut buffer = [0; 64];
            loop {
                match server.read(cx, &mut buffer).unwrap() {
                    0 => break,
                    count => all.extend_from_slice(&buffer[..count]),
                }
            }
            assert_eq!(all, b"abcabcabc");
        });
    });
}

#[test]
fn halves_work_on_two_fibers_and_reunite() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let (reader, writer) = server.into_split();
        let server = cx.scope(|s| {
            let reading = s.spawn(move |cx| {
                let mut word = [0; 4];
                reader.read_exact(cx, &mut word).unwrap();
                assert_eq!(&word, b"ping");
                reader
            });
            let writing = s.spawn(move |cx| {
                writer.write_all(cx, b"pong").unwrap();
                writer
            });
            client.write_all(cx, b"ping").unwrap();
            let mut word = [0; 4];
            client.read_exact(cx, &mut word).unwrap();
            assert_eq!(&word, b"pong");
            let (reader, writer) = (reading.join(cx).unwrap(), writing.join(cx).unwrap());
            reader.reunite(writer).unwrap()
        });
        // It was not shut down.
        server.write_all(cx, b"more").unwrap();
        let (other, _) = pair(cx).0.into_split();
        let (_, writer) = server.into_split();
        let error = other.reunite(writer).unwrap_err();
        assert_eq!(error.to_string(), "the halves belong to different streams");
        drop(error);
        let mut rest = String::new();
        client.read_to_string(cx, &mut rest).unwrap();
        assert_eq!(rest, "more");
    });
}

#[test]
fn synchronous_library_waits_on_fibers() {
    in_all_pools(|pool| {
        let lines = on_fiber(pool, |cx| {
            let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            cx.scope(|s| {
                s.spawn(move |cx| {
                    let (stream, _) = listener.accept(cx).unwrap();
                    let mut writer = stream.with(cx);
                    for line in BufReader::new(stream.with(cx)).lines() {
                        writeln!(writer, "got {}", line.unwrap()).unwrap();
                    }
                });
                let stream = TcpStream::connect(cx, address).unwrap();
                let mut lines = BufReader::new(stream.with(cx)).lines();
                let mut answers = Vec::new();
                for number in 0..50 {
                    writeln!(stream.with(cx), "{number}").unwrap();
                    answers.push(lines.next().unwrap().unwrap());
                }
                answers
            })
        });
        assert!(lines.iter().enumerate().all(|(number, line)| *line == format!("got {number}")), "{lines:?}");
    });
}

/// A library that keeps its stream gets another deadline for each part of the conversation.
#[test]
fn deadline_of_stream_that_library_keeps() {
    with_every_cx(|cx| {
        let (client, server) = pair(cx);
        let mut reader = BufReader::new(server.with(cx));
        let mut line = String::new();
        for _ in 0..2 {
            reader.get_mut().set_deadline(Some(cx.now() + Duration::from_micros(300)));
            let late = reader.read_line(&mut line).unwrap_err();
            assert_eq!(late.kind(), ErrorKind::TimedOut);
        }
        // It has passed, whether there are bytes or not.
        client.write_all(cx, b"one\n").unwrap();
        assert_eq!(reader.read_line(&mut line).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(reader.get_mut().write(b"x").unwrap_err().kind(), ErrorKind::TimedOut);
        reader.get_mut().set_deadline(Some(cx.now() + LONG));
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "one\n", "nothing is lost");
        // The scope is cancelled in spite of a later deadline.
        cx.cancellable(|cx, handle| {
            handle.cancel();
            let mut stream = server.with(cx);
            stream.set_deadline(Some(cx.now() + LONG));
            assert!(is_cancelled(&stream.read(&mut [0]).unwrap_err()));
        });
        reader.get_mut().set_deadline(None);
        let buffer = vec![0; MUCH];
        let late = cx.timeout(Duration::from_millis(1), |cx| {
            let mut writer = server.with(cx);
            writer.set_deadline(Some(cx.now() + LONG));
            let error = writer.write_all(&buffer).unwrap_err();
            assert!(is_cancelled(&error), "the deadline of the scope is the earlier one: {error:?}");
            Err::<(), _>(error)
        });
        assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
    });
}
