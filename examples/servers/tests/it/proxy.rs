//! Both proxies, as programs, between backends and clients of this process.

use crate::{
    programs::{PROXY, PROXY_TOKIO, Server},
    reset, watchdog,
};
use anabranch::{
    Cx,
    net::{TcpListener, TcpStream},
    sync::Event,
};
use anabranch_servers::{
    Failure,
    http::{Response, copy_body, encode, read_head},
    serve::{Limits, serve},
    site::{self, Answer},
};
use std::{
    io::{BufReader, Read, Write},
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

/// Starts a backend for each handler, and a proxy before them, and runs `clients` with its address.
fn before<H>(program: &str, deadline: Option<&str>, handlers: Vec<H>, clients: impl FnOnce(&Cx<'_>, SocketAddr))
where
    H: Fn(&Cx<'_>, &TcpStream) -> Result<(), Failure> + Send + Sync,
{
    watchdog(|| {
        anabranch::run(|cx| {
            let stop = Event::new();
            cx.scope(|s| {
                let mut arguments = Vec::new();
                for handler in handlers {
                    let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
                    arguments.extend(["--backend".to_owned(), listener.local_addr().unwrap().to_string()]);
                    let stop = &stop;
                    s.spawn(move |cx| {
                        let limits = Limits { grace: Duration::ZERO, ..Limits::default() };
                        serve(cx, listener, limits, stop, |cx, stream, _| handler(cx, stream))
                    });
                }
                if let Some(deadline) = deadline {
                    arguments.extend(["--deadline".to_owned(), deadline.to_owned()]);
                }
                let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
                let proxy = Server::start(program, &arguments);
                clients(cx, proxy.address);
                drop(proxy);
                stop.set();
                s.cancel();
            });
        });
    });
}

/// A backend that answers with the head and the body that it has got.
fn mirror(cx: &Cx<'_>, stream: &TcpStream) -> Result<(), Failure> {
    site::connection(cx, stream, &Event::new(), |_, request, body| {
        let answer = Answer::new(200, [&request.to_bytes(), body].concat());
        Ok(Answer { is_chunked: request.target.contains("chunked"), ..answer })
    })
}

/// Sends a request, and returns all that comes until the proxy closes.
fn all(cx: &Cx<'_>, address: SocketAddr, request: &[u8]) -> String {
    let stream = TcpStream::connect(cx, address).unwrap();
    stream.write_all(cx, request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(cx, &mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Reads a response.
fn response(reader: &mut BufReader<impl Read>, method: &str) -> (Response, Vec<u8>) {
    let head = read_head(reader).unwrap().expect("a response");
    let response = Response::parse(&head).unwrap();
    let mut body = Vec::new();
    copy_body(reader, response.framing(method).unwrap(), &mut body, false).unwrap();
    (response, body)
}

#[test]
fn heads_and_bodies_are_passed_on_over_connections_that_stay() {
    for program in [PROXY, PROXY_TOKIO] {
        before(program, None, vec![mirror], |cx, address| {
            let stream = TcpStream::connect(cx, address).unwrap();
            let (mut reader, mut writer) = (BufReader::new(stream.with(cx)), stream.with(cx));
            let bytes: Vec<u8> = (0..70_000u32).map(|index| (index % 251) as u8).collect();
            for (path, len, is_chunked) in [
                ("/", 0, false),
                ("/chunked", 10, false),
                ("/", 70_000, false),
                ("/chunked", 70_000, true),
                ("/", 1, true),
            ] {
                let body = &bytes[..len];
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: here\r\nX-Forwarded-For: 10.0.0.1\r\nX-Forwarded-For: 10.0.0.2\r\n\
                     Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nX-End: 2\r\n"
                );
                let mut request = head.into_bytes();
                if is_chunked {
                    request.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                    body.chunks(999).for_each(|part| encode(part, true, &mut request));
                    encode(b"", true, &mut request);
                } else {
                    request.extend_from_slice(format!("Content-Length: {len}\r\n\r\n").as_bytes());
                    request.extend_from_slice(body);
                }
                cx.scope(|s| {
                    s.spawn(|cx| stream.write_all(cx, &request).unwrap());
                    let (response, answer) = response(&mut reader, "POST");
                    assert_eq!(response.status, 200);
                    assert!(response.headers.has("Connection", "keep-alive"));
                    assert_eq!(response.headers.has("Transfer-Encoding", "chunked"), path == "/chunked");
                    let split = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
                    let head = String::from_utf8_lossy(&answer[..split]);
                    assert!(&answer[split..] == body, "{head}");
                    assert!(head.contains("X-Forwarded-For: 10.0.0.1, 10.0.0.2, 127.0.0.1\r\n"), "{head}");
                    assert!(head.contains("Via: 1.1 anabranch\r\n") && head.contains("X-End: 2\r\n"), "{head}");
                    assert!(head.contains("Host: here\r\n"), "{head}");
                    for hop in ["X-Hop", "Keep-Alive", "TE:", "Connection"] {
                        assert!(!head.contains(hop), "{hop} was passed on: {head}");
                    }
                });
            }
            // A head alone, and an end by the client's wish.
            writer
                .write_all(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .unwrap();
            assert_eq!(response(&mut reader, "HEAD").0.status, 200);
            assert!(response(&mut reader, "GET").0.headers.has("Connection", "close"));
            assert_eq!(reader.read(&mut [0]).unwrap(), 0);
            // A client of HTTP/1.0 knows no chunks.
            let old = all(cx, address, b"GET /chunked HTTP/1.0\r\n\r\n");
            assert!(!old.contains("Transfer-Encoding") && old.contains("\r\n\r\nGET /chunked HTTP/1.1\r\n"), "{old}");
            // A client that closes its direction gets its answer.
            let half = TcpStream::connect(cx, address).unwrap();
            half.write_all(cx, b"GET /half HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            half.shutdown(std::net::Shutdown::Write).unwrap();
            let mut answer = String::new();
            half.read_to_string(cx, &mut answer).unwrap();
            assert!(answer.contains("GET /half"), "{answer}");
        });
    }
}

#[test]
fn what_is_not_clear_is_refused() {
    for program in [PROXY, PROXY_TOKIO] {
        before(program, None, vec![mirror], |cx, address| {
            let status = |request: &str| all(cx, address, request.as_bytes())[9..12].parse::<u16>().unwrap();
            for wrong in [
                "nonsense\r\n\r\n",
                "GET / HTTP/1.1\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
            ] {
                assert_eq!(status(wrong), 400, "{wrong:?}");
            }
            assert_eq!(status("CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n"), 501);
            assert_eq!(status(&format!("GET /{} HTTP/1.1\r\n", "x".repeat(20_000))), 431);
            // They concern no one else.
            assert_eq!(status("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 200);
        });
    }
}

#[test]
fn backends_that_are_late_wrong_or_gone() {
    fn misbehave(cx: &Cx<'_>, stream: &TcpStream) -> Result<(), Failure> {
        let mut reader = BufReader::new(stream.with(cx));
        let head = read_head(&mut reader)?.unwrap_or_default();
        let answer = match &*String::from_utf8_lossy(&head[..10.min(head.len())]) {
            "GET /late " => return Ok(cx.sleep(Duration::from_secs(3600))?),
            "GET /cut H" => "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            "GET /mad H" => "nonsense\r\n\r\n",
            "GET /101 H" => "HTTP/1.1 101 -\r\nUpgrade: x\r\n\r\n",
            "GET /end H" => "HTTP/1.1 200 OK\r\n\r\nto the end",
            "GET /103 H" => "HTTP/1.1 103 -\r\nLink: </x>\r\n\r\nHTTP/1.1 204 -\r\n\r\n",
            // The second half does not come in time.
            "GET /half " => {
                stream.write_all(cx, b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")?;
                return Ok(cx.sleep(Duration::from_secs(3600))?);
            }
            _ => "",
        };
        Ok(stream.write_all(cx, answer.as_bytes())?)
    }
    for program in [PROXY, PROXY_TOKIO] {
        let get = |cx: &Cx<'_>, address, path: &str| {
            let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            all(cx, address, request.as_bytes())
        };
        // Whether the first half comes in time depends on the machine.
        before(program, Some("150"), vec![misbehave], |cx, address| {
            assert!(get(cx, address, "/late").starts_with("HTTP/1.1 504 "));
            let half = get(cx, address, "/half");
            assert!(half.ends_with("\r\n\r\nabc") || half.starts_with("HTTP/1.1 504 "), "{half}");
        });
        before(program, None, vec![misbehave], |cx, address| {
            for wrong in ["/mad", "/101", "/nothing"] {
                let answer = get(cx, address, wrong);
                assert!(answer.starts_with("HTTP/1.1 502 "), "{wrong}: {answer}");
            }
            // No part of the body is invented, and none is lost.
            assert!(get(cx, address, "/cut").ends_with("\r\n\r\nabc"));
            let end = get(cx, address, "/end");
            assert!(
                end.contains("Transfer-Encoding: chunked") && end.ends_with("a\r\nto the end\r\n0\r\n\r\n"),
                "{end}"
            );
            let hints = get(cx, address, "/103");
            assert!(hints.starts_with("HTTP/1.1 103 ") && hints.contains("HTTP/1.1 204 "), "{hints}");
        });
        watchdog(|| {
            let refusing = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
            let proxy = Server::start(program, &["--backend", &refusing, "--backend", &refusing]);
            let request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            let answer = anabranch::run(|cx| all(cx, proxy.address, request));
            assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
        });
    }
}

#[test]
fn backends_take_turns_and_one_that_refuses_is_passed_over() {
    for program in [PROXY, PROXY_TOKIO] {
        let counts = [const { AtomicUsize::new(0) }; 3];
        let handlers = counts.iter().map(|count| {
            move |cx: &Cx<'_>, stream: &TcpStream| {
                site::connection(cx, stream, &Event::new(), |_, _, _| {
                    count.fetch_add(1, Ordering::Relaxed);
                    Ok(Answer::new(200, "x"))
                })
            }
        });
        before(program, None, handlers.collect(), |cx, address| {
            for _ in 0..12 {
                all(cx, address, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            }
        });
        assert_eq!(counts.map(AtomicUsize::into_inner), [4, 4, 4]);
    }
}

#[test]
fn connections_to_backends_are_kept_and_replaced() {
    // A backend that answers three requests, and closes when the fourth comes.
    let (connections, requests) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let handler = |cx: &Cx<'_>, stream: &TcpStream| {
        connections.fetch_add(1, Ordering::Relaxed);
        let mut reader = BufReader::new(stream.with(cx));
        for _ in 0..3 {
            if read_head(&mut reader)?.is_none() {
                return Ok(());
            }
            requests.fetch_add(1, Ordering::Relaxed);
            stream.write_all(cx, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")?;
        }
        read_head(&mut reader)?;
        Ok(())
    };
    before(PROXY, None, vec![handler], |cx, address| {
        let stream = TcpStream::connect(cx, address).unwrap();
        let mut reader = BufReader::new(stream.with(cx));
        for _ in 0..12 {
            stream.write_all(cx, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let (response, body) = response(&mut reader, "GET");
            assert_eq!((response.status, &*body), (200, &b"hi"[..]));
        }
    });
    assert_eq!((connections.into_inner(), requests.into_inner()), (4, 12));
}

#[test]
fn backend_may_answer_before_it_has_read_all() {
    fn refuse(cx: &Cx<'_>, stream: &TcpStream) -> Result<(), Failure> {
        let mut reader = BufReader::new(stream.with(cx));
        read_head(&mut reader)?;
        stream.write_all(cx, b"HTTP/1.1 413 -\r\nContent-Length: 3\r\n\r\nno!")?;
        // It reads nothing more, and holds the connection.
        Ok(cx.sleep(Duration::from_secs(3600))?)
    }
    for program in [PROXY, PROXY_TOKIO] {
        before(program, Some("3600000"), vec![refuse], |cx, address| {
            let stream = TcpStream::connect(cx, address).unwrap();
            cx.scope(|s| {
                s.spawn(|cx| {
                    stream.write_all(cx, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n").unwrap();
                    // Far more than the buffers on the way hold.
                    while stream.write_all(cx, &[0; 64 << 10]).is_ok() {}
                });
                let (response, body) = response(&mut BufReader::new(stream.with(cx)), "POST");
                assert_eq!((response.status, &*body), (413, &b"no!"[..]));
                // The proxy takes no more, which ends the writer.
            });
        });
    }
}

#[test]
fn client_that_expects_to_go_on_is_told_so() {
    for program in [PROXY, PROXY_TOKIO] {
        before(program, None, vec![mirror], |cx, address| {
            let stream = TcpStream::connect(cx, address).unwrap();
            let mut reader = BufReader::new(stream.with(cx));
            let head = b"PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
            stream.write_all(cx, head).unwrap();
            let head = read_head(&mut reader).unwrap().unwrap();
            assert_eq!(Response::parse(&head).unwrap().status, 100);
            stream.write_all(cx, b"body").unwrap();
            let (response, body) = response(&mut reader, "PUT");
            assert_eq!(response.status, 200);
            let body = String::from_utf8_lossy(&body);
            assert!(body.ends_with("\r\n\r\nbody") && !body.contains("Expect"), "{body}");
        });
    }
}

#[test]
fn slow_reader_gets_all_of_a_long_body_and_resets_concern_nobody() {
    const LEN: usize = 8 << 20;
    fn long(cx: &Cx<'_>, stream: &TcpStream) -> Result<(), Failure> {
        site::connection(cx, stream, &Event::new(), |_, _, _| {
            Ok(Answer::new(200, (0..LEN).map(|index| (index / 3) as u8).collect::<Vec<_>>()))
        })
    }
    for program in [PROXY, PROXY_TOKIO] {
        before(program, None, vec![long], |cx, address| {
            // One resets in the middle of its head, one in its body, one in the response.
            for request in [
                "GET /",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx",
                "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            ] {
                let stream = TcpStream::connect(cx, address).unwrap();
                stream.write_all(cx, request.as_bytes()).unwrap();
                if request.starts_with("GET / ") {
                    stream.read_exact(cx, &mut [0; 1000]).unwrap();
                }
                reset(&stream);
            }
            let stream = TcpStream::connect(cx, address).unwrap();
            stream.write_all(cx, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
            let mut reader = BufReader::new(stream.with(cx));
            read_head(&mut reader).unwrap();
            let (mut buffer, mut read) = (vec![0; 300_000], 0);
            loop {
                match reader.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        assert!(buffer[..count].iter().enumerate().all(|(at, &byte)| byte == ((read + at) / 3) as u8));
                        read += count;
                        cx.sleep(Duration::from_micros(300)).unwrap();
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(read, LEN);
        });
    }
}
