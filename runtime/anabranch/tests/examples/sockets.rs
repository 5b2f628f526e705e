//! The examples with sockets.

use crate::{
    ENDLESS,
    common::{LONG, watchdog},
    programs::Example,
};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
};

#[test]
fn echo_works_between_two_processes() {
    let output = Example::new("echo").run(["--connections", "300", "--messages", "3", "--seconds", ENDLESS]);
    output.assert_success();
    assert!(output.stdout.contains("client: 300 connections in"), "{output:?}");
    assert!(output.stdout.contains(" 900 messages and their echoes"), "{output:?}");
    assert!(output.stdout.contains("server: 300 connections"), "{output:?}");
}

#[test]
fn echo_works_in_one_process() {
    for threads in [1, 3] {
        let arguments = ["alone", "--connections", "60", "--messages", "5", "--seconds", ENDLESS];
        let output = Example::new("echo").threads(threads).run(arguments);
        output.assert_success();
        assert!(
            output.stdout.contains("300 messages") && output.stdout.contains("server: 60 connections"),
            "{output:?}"
        );
    }
}

#[test]
fn echo_server_closes_connections_at_end_of_input() {
    watchdog(LONG, || {
        let mut server = Example::new("echo").spawn(["server", "--seconds", ENDLESS]);
        let mut said = BufReader::new(server.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let mut stream = TcpStream::connect(line.trim().strip_prefix("listening on ").unwrap()).unwrap();
        stream.write_all(b"ping").unwrap();
        let mut echo = [0; 4];
        stream.read_exact(&mut echo).unwrap();
        assert_eq!(&echo, b"ping");
        drop(server.stdin.take());
        assert!(server.wait().unwrap().success());
        assert_eq!(stream.read(&mut echo).unwrap(), 0, "the connection is closed");
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("server: 1 connections, 4 bytes"), "{rest:?}");
    });
}

#[test]
fn echo_reports_invalid_arguments() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = Example::new("echo").run(["server", "--port", &port]);
    output.assert_failure(&format!("cannot listen on 127.0.0.1:{port}"));
    let output = Example::new("echo").run(["--port", &port]);
    output.assert_failure(&format!("cannot listen on 127.0.0.1:{port}"));
    // The system accepts the connection for the listener, and no answer follows.
    let output = Example::new("echo").run(["client", &format!("127.0.0.1:{port}"), "--seconds", "1"]);
    output.assert_failure("the time was up");
    Example::new("echo").run(["client", "192.0.2.1:80"]).assert_failure("loopback");
}

#[test]
fn echo_survives_limit_on_open_files() {
    let output = Example::new("echo").with_open_files(100).run(["alone", "--connections", "100"]);
    output.assert_failure("232 open files are needed, and 100 are allowed");
    watchdog(LONG, || {
        let mut server = Example::new("echo").with_open_files(64).spawn(["server", "--seconds", ENDLESS]);
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        let arguments = ["client", &address, "--connections", "100", "--seconds", ENDLESS];
        Example::new("echo").run(arguments).assert_failure("echo: ");
        assert!(!server.wait().unwrap().success());
        let mut why = String::new();
        server.stderr.take().unwrap().read_to_string(&mut why).unwrap();
        assert!(why.contains("Too many open files"), "{why:?}");
    });
}

#[test]
fn http_answers_its_own_client() {
    for threads in [1, 3] {
        let arguments = ["--connections", "30", "--requests", "10", "--seconds", ENDLESS];
        let output = Example::new("http").threads(threads).run(arguments);
        output.assert_success();
        assert!(output.stdout.contains("server: 300 requests over 30 connections"), "{output:?}");
    }
}

#[test]
fn http_server_answers_slow_wrong_and_pipelined_requests_and_ends() {
    watchdog(LONG, || {
        let mut server = Example::new("http").spawn(["--serve", "--deadline", "50", "--seconds", ENDLESS]);
        let mut said = BufReader::new(server.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        let answer = |text: &str| {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let two = answer("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert!(two.contains("you asked for /1\n") && two.ends_with("you asked for /2\n"), "{two:?}");
        assert!(answer("GET /slow HT").starts_with("HTTP/1.1 408 "), "it came too late");
        assert!(answer("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
        assert!(answer("PUT / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
        // Exactly what the buffer holds: the system resets a connection that is closed with unread bytes.
        assert!(answer(&"x".repeat(8 << 10)).starts_with("HTTP/1.1 400 "));
        drop(server.stdin.take());
        assert!(server.wait().unwrap().success());
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("server: 2 requests"), "{rest:?}");
    });
}
