//! The programs: their demonstrations, their errors, and their end by a signal.

use crate::watchdog;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

/// A program that serves. It is ended when this is dropped.
pub struct Server {
    child: Child,
    said: BufReader<ChildStdout>,
    pub address: SocketAddr,
}

impl Server {
    pub fn start(program: &str, arguments: &[&str]) -> Self {
        Self::spawn(Command::new(program).args(arguments))
    }

    /// Starts it with a limit on its open files.
    fn start_with_open_files(program: &str, files: usize) -> Self {
        Self::spawn(Command::new("sh").args(["-c", &format!("ulimit -n {files}; exec {program} \"$@\""), "sh"]))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child =
            command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().parse().unwrap();
        Self { child, said, address }
    }

    /// Ends it by a signal, and returns what it has said.
    pub fn end(mut self, signal: &str) -> String {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        rest
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(program: &str, arguments: &[&str]) -> Output {
    watchdog(|| Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap())
}

#[track_caller]
fn succeeds(program: &str, arguments: &[&str]) -> String {
    let output = run(program, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn fails(program: &str, arguments: &[&str], code: i32, why: &str) {
    let output = run(program, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(error.contains(why), "{why:?} is not the reason: {error}");
}

const TLS: &str = env!("CARGO_BIN_EXE_tls");
const TLS_TOKIO: &str = env!("CARGO_BIN_EXE_tls_tokio");
const WEBSOCKET: &str = env!("CARGO_BIN_EXE_websocket");
pub const PROXY: &str = env!("CARGO_BIN_EXE_proxy");
pub const PROXY_TOKIO: &str = env!("CARGO_BIN_EXE_proxy_tokio");
const NUCLEOTIDES: &str = env!("CARGO_BIN_EXE_nucleotides");
const NUCLEOTIDES_TOKIO: &str = env!("CARGO_BIN_EXE_nucleotides_tokio");
const CRAWLER: &str = env!("CARGO_BIN_EXE_crawler");

#[test]
fn demonstrations_end_by_themselves() {
    for echo in [&["--echo"][..], &[]] {
        let said = succeeds(TLS, &[echo, &["--connections", "5", "--requests", "3"]].concat());
        assert!(said.contains("5 connections with 3 requests each; 5 connections ended, 0 failed"), "{said}");
    }
    let said = succeeds(WEBSOCKET, &["--connections", "5", "--messages", "3"]);
    assert!(said.contains("5 connections with 3 messages each; 5 connections ended, 0 failed"), "{said}");
    let said = succeeds(PROXY, &[]);
    for line in [
        "GET /a: 200 backend 0: 0 bytes for 127.0.0.1",
        "POST /b: 200 backend 1: 10 bytes for 127.0.0.1",
        // The third backend refuses.
        "GET /c: 200 backend 0:",
        "GET /late: 504 ",
    ] {
        assert!(said.contains(line), "{line:?} is missing: {said}");
    }
    let said = succeeds(NUCLEOTIDES, &["--bases", "50000", "--sequences", "2"]);
    assert!(said.contains("8 sequences: ") && said.contains("\n8 connections ended, 0 failed"), "{said}");
    let said = succeeds(CRAWLER, &["--rate", "1000", "--pages", "40"]);
    assert!(said.contains("\n  200: ") && said.contains("\n  no answer: 1"), "{said}");
}

#[test]
fn usage_and_errors_are_printed() {
    for (name, program) in [
        ("tls", TLS),
        ("tls_tokio", TLS_TOKIO),
        ("websocket", WEBSOCKET),
        ("proxy", PROXY),
        ("proxy_tokio", PROXY_TOKIO),
        ("nucleotides", NUCLEOTIDES),
        ("nucleotides_tokio", NUCLEOTIDES_TOKIO),
        ("crawler", CRAWLER),
    ] {
        assert!(succeeds(program, &["--help"]).starts_with(&format!("usage: {name} ")), "{name}");
        fails(program, &["--nonsense"], 2, "usage: ");
        fails(program, &["--listen", "nowhere"], 2, "invalid");
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let cannot = format!("cannot listen on {address}: ");
    for program in [TLS, TLS_TOKIO, WEBSOCKET, NUCLEOTIDES, NUCLEOTIDES_TOKIO, CRAWLER] {
        fails(program, &["--listen", &address], 1, &cannot);
    }
    for program in [PROXY, PROXY_TOKIO] {
        fails(program, &["--listen", &address, "--backend", "localhost:1"], 1, &cannot);
        fails(program, &["--listen", &address], 1, "--backend");
    }
    fails(TLS, &["--cert", "x"], 1, "go together");
    fails(TLS, &["--cert", "/nowhere", "--key", "/nowhere"], 1, "cannot read /nowhere");
    fails(TLS, &["--cert", "/dev/null", "--key", "/dev/null"], 1, "no certificate in /dev/null");
    fails(CRAWLER, &["--rate", "0"], 1, "must not be zero");
    fails(PROXY, &["--backend", "localhost:1"], 1, "--listen");
}

#[test]
fn certificate_and_key_are_read_from_files() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&cert, pem("CERTIFICATE", made.cert.der())).unwrap();
    std::fs::write(&key, pem("PRIVATE KEY", &made.signing_key.serialize_der())).unwrap();
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let server = Server::start(TLS, &["--echo", "--cert", cert, "--key", key]);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let trust = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    // A client on a plain thread.
    let connection = rustls::ClientConnection::new(trust.into(), "localhost".try_into().unwrap()).unwrap();
    let mut tls = rustls::StreamOwned::new(connection, TcpStream::connect(server.address).unwrap());
    tls.write_all(b"word").unwrap();
    tls.read_exact(&mut [0; 4]).unwrap();
    // The server ends the connection, and then itself.
    assert!(server.end("-TERM").starts_with("1 connections ended, 0 failed"));
    assert_eq!(tls.read(&mut [0]).unwrap(), 0);
}

fn pem(label: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|part| {
        let word = part.iter().enumerate().fold(0, |word, (index, &byte)| word | u32::from(byte) << (16 - 8 * index));
        let digit = move |index: usize| DIGITS[(word >> (18 - 6 * index)) as usize & 63] as char;
        (0..4).map(move |index| if index <= part.len() { digit(index) } else { '=' })
    });
    let digits: Vec<char> = digits.collect();
    let lines: String = digits.chunks(64).map(|line| line.iter().collect::<String>() + "\n").collect();
    format!("-----BEGIN {label}-----\n{lines}-----END {label}-----\n")
}

#[test]
fn servers_end_by_signals_with_open_connections() {
    watchdog(|| {
        for (program, signal, idle) in [
            (TLS, "-INT", 0),
            (TLS_TOKIO, "-TERM", 0),
            (WEBSOCKET, "-INT", 0),
            (NUCLEOTIDES, "-INT", 1),
            (NUCLEOTIDES_TOKIO, "-INT", 1),
            (CRAWLER, "-TERM", 1),
            (PROXY, "-INT", 1),
            (PROXY_TOKIO, "-INT", 1),
        ] {
            let backend = ["--backend", "127.0.0.1:1"];
            let arguments = if program == PROXY || program == PROXY_TOKIO { &backend[..] } else { &[] };
            let server = Server::start(program, arguments);
            let mut clients: Vec<_> = (0..idle).map(|_| TcpStream::connect(server.address).unwrap()).collect();
            let said = server.end(signal);
            assert!(said.contains(" connections ended, "), "{program}: {said}");
            for client in &mut clients {
                assert!(client.read(&mut [0]).unwrap_or(0) == 0);
            }
        }
    });
}

#[test]
fn server_without_descriptors_goes_on_when_there_are_some() {
    watchdog(|| {
        for program in [WEBSOCKET, TLS_TOKIO] {
            let server = Server::start_with_open_files(program, 40);
            // The system accepts all of them, and the server a part.
            let clients: Vec<_> = (0..60).map(|_| TcpStream::connect(server.address).unwrap()).collect();
            let mut last = TcpStream::connect(server.address).unwrap();
            // Each gets an answer: a page, or an alert of TLS.
            last.write_all(b"nonsense\r\n\r\n").unwrap();
            drop(clients);
            assert_eq!(last.read(&mut [0]).unwrap(), 1, "{program}");
        }
    });
}
