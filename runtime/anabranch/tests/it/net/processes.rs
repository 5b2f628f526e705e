//! Tests that change what belongs to their whole process: each runs itself again in a process of its own.

use std::{env, process::Command};

const NAME: &str = "ANABRANCH_TEST_IN_PROCESS";

/// Runs the test of this name alone in a process of its own, and returns `false`. In that process it returns `true`.
pub fn in_process_of_its_own(test: &str) -> bool {
    if env::var_os(NAME).is_some_and(|name| name == test) {
        return true;
    }
    let output = Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--test-threads", "1", "--nocapture"])
        .env(NAME, test)
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

/// A server that has no descriptors left gets an error from `accept`, waits a little, and accepts the same connection
/// once there is one again.
#[cfg(target_os = "linux")]
#[test]
fn accept_without_descriptors_fails_and_succeeds_later() {
    use anabranch::net::{TcpListener, TcpStream};
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::{fs::File, time::Duration};
    if !in_process_of_its_own("net::processes::accept_without_descriptors_fails_and_succeeds_later") {
        return;
    }
    anabranch::run(|cx| {
        let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
        // It is registered, and its worker has a reactor.
        cx.timeout(Duration::from_millis(1), |cx| listener.accept(cx)).unwrap_err();
        let client = TcpStream::connect(cx, listener.local_addr().unwrap()).unwrap();
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: limit.maximum }).unwrap();
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        let mut failures = 0;
        let server = loop {
            match listener.accept(cx) {
                Ok((server, _)) => break server,
                Err(error) => {
                    assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{error}");
                    failures += 1;
                    if failures == 3 {
                        files.pop();
                    }
                    cx.sleep(Duration::from_millis(1)).unwrap();
                }
            }
        };
        assert_eq!(failures, 3);
        client.write_all(cx, b"x").unwrap();
        server.read_exact(cx, &mut [0]).unwrap();
    });
}

/// A client with ten thousand connections, or as many as the limit on descriptors allows, is killed. All fibers end,
/// and no socket is left.
#[cfg(target_os = "linux")]
#[test]
fn connections_of_killed_client_end_at_once() {
    use crate::common::{LONG, watchdog};
    use anabranch::net::TcpListener;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::{fs, io, io::Read, net, path::Path, process::Stdio};
    const TEST: &str = "net::processes::connections_of_killed_client_end_at_once";
    const CLIENT: &str = "ANABRANCH_TEST_CLIENT";
    /// So many are opened at a time. More than the queue of the listener holds would take a second.
    const OPENING: usize = 100;
    if !in_process_of_its_own(TEST) {
        return;
    }
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let most = maximum.map_or(usize::MAX, |most| usize::try_from(most).unwrap());
    let count = most.saturating_sub(100).min(10_000) / OPENING * OPENING;
    if let Ok(address) = env::var(CLIENT) {
        let mut connections = Vec::new();
        for _ in 0..count / OPENING {
            for _ in 0..OPENING {
                connections.push(net::TcpStream::connect(&address).unwrap());
            }
            for connection in connections.iter_mut().rev().take(OPENING) {
                connection.read_exact(&mut [0]).unwrap();
            }
        }
        // Until it is killed.
        let _ = io::stdin().read(&mut [0]);
        return;
    }
    // Not those of the reactors, which workers make when they first need one.
    let is_socket =
        |link: &Path| fs::read_link(link).is_ok_and(|target| target.to_string_lossy().starts_with("socket:"));
    let sockets = || fs::read_dir("/proc/self/fd").unwrap().filter(|entry| is_socket(&entry.as_ref().unwrap().path()));
    watchdog(LONG, || {
        anabranch::run(|cx| {
            let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
            cx.timeout(std::time::Duration::from_millis(1), |cx| listener.accept(cx)).unwrap_err();
            let before = sockets().count();
            let mut client = Command::new(env::current_exe().unwrap())
                .args([TEST, "--exact", "--nocapture"])
                .env(CLIENT, listener.local_addr().unwrap().to_string())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let ended = cx.scope(|s| {
                let mut readers = s.join_set();
                for _ in 0..count {
                    let (stream, _) = listener.accept(cx).unwrap();
                    stream.write_all(cx, b"x").unwrap();
                    // A byte that the client has not read makes it a reset.
                    readers.spawn(move |cx| match stream.read(cx, &mut [0]) {
                        Ok(0) => {}
                        Ok(_) => panic!("the client sends nothing"),
                        Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
                    });
                }
                assert_eq!(readers.try_join_next().unwrap(), None, "all are open");
                client.kill().unwrap();
                readers.join_all(cx).unwrap().len()
            });
            client.wait().unwrap();
            drop(client);
            assert_eq!(ended, count);
            assert_eq!(sockets().count(), before);
        });
    });
}

/// Without descriptors for a reactor a wait fails, and a later one succeeds.
#[cfg(target_os = "linux")]
#[test]
fn wait_without_descriptors_for_reactor_fails_and_succeeds_later() {
    use anabranch::net::UdpSocket;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::{fs::File, time::Duration};
    if !in_process_of_its_own("net::processes::wait_without_descriptors_for_reactor_fails_and_succeeds_later") {
        return;
    }
    let fiber = anabranch::spawn(|cx| {
        let socket = UdpSocket::bind(cx, "127.0.0.1:0").unwrap();
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: limit.maximum }).unwrap();
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        let error = socket.recv(cx, &mut [0; 8]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{error}");
        drop(files);
        let late = cx.timeout(Duration::from_millis(1), |cx| socket.recv(cx, &mut [0; 8]));
        assert_eq!(late.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
    });
    anabranch::run(|cx| fiber.join(cx)).unwrap();
}

#[cfg(feature = "signal")]
#[test]
fn ctrl_c_and_termination_end_their_waits() {
    use crate::common::fibers::until_waiting;
    use anabranch::{net::is_cancelled, signal};
    use std::time::Duration;
    if !in_process_of_its_own("net::processes::ctrl_c_and_termination_end_their_waits") {
        return;
    }
    let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    let raise = |signal| {
        // SAFETY: it sends a signal to this thread, which handles it before the call returns.
        assert_eq!(unsafe { libc::raise(signal) }, 0);
    };
    for (wait, number) in
        [(signal::ctrl_c as fn(&anabranch::Cx<'_>) -> _, libc::SIGINT), (signal::terminate, libc::SIGTERM)]
    {
        let waiting = [pool.spawn(wait), pool.spawn(wait)];
        until_waiting(&pool, 2);
        raise(number);
        for fiber in waiting {
            pool.run(|cx| fiber.join(cx)).unwrap().unwrap();
        }
    }
    pool.run(|cx| {
        let late = cx.timeout(Duration::from_millis(1), |cx| {
            let error = signal::ctrl_c(cx).unwrap_err();
            assert!(is_cancelled(&error));
            Err::<(), _>(error)
        });
        late.unwrap_err();
        // A stream keeps what comes while nobody waits, each number once.
        let signals = signal::Signals::new([libc::SIGUSR1, libc::SIGUSR2]).unwrap();
        for number in [libc::SIGUSR1, libc::SIGUSR2, libc::SIGUSR2] {
            raise(number);
        }
        let mut got = [signals.recv(cx).unwrap(), signals.recv(cx).unwrap()];
        got.sort_unstable();
        assert_eq!(got, [libc::SIGUSR1, libc::SIGUSR2]);
        assert_eq!(signals.try_recv(), None);
        let late = cx.timeout(Duration::from_millis(1), |cx| signals.recv(cx));
        assert_eq!(late.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
    });
}

/// Each way to send to a side that has closed returns an error, in a process that the signal `SIGPIPE` would end.
#[test]
fn send_to_closed_side_raises_no_signal() {
    use super::pair;
    use anabranch::net::{UnixDatagram, UnixStream};
    use std::{
        io::{self, IoSlice, Write},
        net::Shutdown,
        time::Duration,
    };
    if !in_process_of_its_own("net::processes::send_to_closed_side_raises_no_signal") {
        return;
    }
    // SAFETY: the default action runs no code of this process.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    anabranch::run(|cx| {
        let fails = |send: &dyn Fn() -> io::Result<usize>| {
            // A reset of the connection may take a moment.
            while send().is_ok() {
                cx.sleep(Duration::from_millis(1)).unwrap();
            }
        };
        let buffers = [IoSlice::new(b"x"), IoSlice::new(b"y")];
        macro_rules! check {
            ($stream:expr) => {
                let stream = $stream;
                fails(&|| stream.write(cx, b"x"));
                fails(&|| stream.try_write(b"x"));
                fails(&|| stream.write_vectored(cx, &buffers));
                fails(&|| stream.with(cx).write(b"x"));
                fails(&|| stream.with(cx).write_vectored(&buffers));
                fails(&|| cx.block_on(stream.write_async(b"x")).unwrap());
            };
        }
        check!(pair(cx).0);
        check!(UnixStream::pair().unwrap().0);
        let (left, right) = UnixDatagram::pair().unwrap();
        left.shutdown(Shutdown::Both).unwrap();
        drop(right);
        fails(&|| left.send(cx, b"x"));
        fails(&|| left.try_send(b"x"));
        fails(&|| cx.block_on(left.send_async(b"x")).unwrap());
    });
}

/// Of two fibers or tasks that share a stream of signals, each receives one of two signals that come at once.
#[cfg(feature = "signal")]
#[test]
fn signals_at_once_reach_all_receivers() {
    use crate::common::{LONG, fibers::until_waiting, pool, watchdog};
    use anabranch::signal::Signals;
    use std::sync::Arc;
    if !in_process_of_its_own("net::processes::signals_at_once_reach_all_receivers") {
        return;
    }
    watchdog(LONG, || {
        let (pool, numbers) = (pool(1), [libc::SIGUSR1, libc::SIGUSR2]);
        let signals = Arc::new(Signals::new(numbers).unwrap());
        for is_async in [false, true] {
            let receivers = [(); 2].map(|()| {
                let signals = Arc::clone(&signals);
                pool.spawn(
                    move |cx| {
                        if is_async { cx.block_on(signals.recv_async()).unwrap() } else { signals.recv(cx) }
                    },
                )
            });
            until_waiting(&pool, 2);
            // On the only thread, so no receiver runs between the two.
            let sender = pool.spawn(move |_| {
                for number in numbers {
                    // SAFETY: the handler is that of `Signals`.
                    assert_eq!(unsafe { libc::raise(number) }, 0);
                }
            });
            pool.run(|cx| sender.join(cx)).unwrap();
            let mut got = receivers.map(|receiver| pool.run(|cx| receiver.join(cx)).unwrap().unwrap());
            got.sort_unstable();
            assert_eq!(got, numbers);
        }
    });
}
