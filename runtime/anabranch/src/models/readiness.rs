//! The readiness of a socket: no event is lost between an attempt that fails and the wait that follows.

use super::{
    explore,
    thread::{Thread, reason},
};
use crate::{
    reactor::readiness::{Done, Readiness},
    sys::{
        parker::Parker,
        sync::{AtomicU64, Ordering},
    },
    time::NEVER,
    wait::{
        cancel::CancelScope,
        queue::{Entry, Wakes},
        waitable::{Armed, Ended, Waitable},
        waiter::Selected,
    },
};
use loom::{sync::Arc, thread};
use std::{
    io, ptr,
    task::{Context, Wake, Waker},
};

/// A socket, of which the bytes are counted.
struct Socket {
    readiness: Readiness,
    bytes: AtomicU64,
}

impl Socket {
    fn new() -> Arc<Self> {
        Arc::new(Self { readiness: Readiness::new(), bytes: AtomicU64::new(0) })
    }

    /// So many bytes come, and the reactor handles the event.
    fn receive(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.report();
    }

    fn report(&self) {
        if self.readiness.set(false) {
            let mut wakes = Wakes::new();
            let task = self.readiness.take(&mut wakes);
            wakes.wake_all();
            if let Some(task) = task {
                task.wake();
            }
        }
    }

    /// Takes a byte. A load and not an exchange tells whether there is one, so the readiness has to order it.
    fn attempt(&self) -> Option<()> {
        let result = self.readiness.attempt(|| match self.bytes.load(Ordering::Relaxed) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            bytes => {
                self.bytes.fetch_sub(1, Ordering::Relaxed);
                Ok(Done { value: (), is_short: bytes == 1 })
            }
        });
        result.map(|result| result.unwrap())
    }

    /// Takes a byte, and waits for it. Returns `false` after the deadline.
    fn read(&self, owner: &Thread, deadline: u64) -> bool {
        let scope = CancelScope::root(ptr::null());
        while self.attempt().is_none() {
            let wait = Wait { readiness: &self.readiness, entry: Entry::new(()) };
            if owner.cx(&scope).wait(&wait, deadline, reason()) == Selected::TimedOut {
                return false;
            }
        }
        true
    }
}

fn spawn<R: 'static>(socket: &Arc<Socket>, act: impl Fn(&Socket) -> R + 'static) -> thread::JoinHandle<R> {
    let socket = Arc::clone(socket);
    thread::spawn(move || act(&socket))
}

/// As the operations of sockets wait.
struct Wait<'a> {
    readiness: &'a Readiness,
    entry: Entry<()>,
}

// SAFETY: an address leaves the queue by `unregister`, or by `Readiness::take`, which ends the wait, both under its
// lock.
unsafe impl Waitable for Wait<'_> {
    fn register(&self, armed: Armed) -> bool {
        self.readiness.join(&self.entry, armed)
    }

    fn unregister(&self, ended: Ended) {
        if !ended.is_selected() {
            self.readiness.leave(&self.entry, ended);
        }
    }
}

/// Two events, one of which may come during an attempt.
#[test]
fn models_readiness_reader_gets_bytes_of_two_events() {
    explore("readiness, two events", Some(3), || {
        let socket = Socket::new();
        let others = [1, 1].map(|bytes| spawn(&socket, move |socket| socket.receive(bytes)));
        let owner = Thread::new();
        assert!(socket.read(&owner, NEVER));
        assert!(socket.read(&owner, NEVER));
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// One event for two bytes: it wakes both readers.
#[test]
fn models_readiness_event_wakes_all_readers() {
    explore("readiness, two readers", Some(2), || {
        let socket = Socket::new();
        let reader = spawn(&socket, |socket| assert!(socket.read(&Thread::new(), NEVER)));
        let reactor = spawn(&socket, |socket| socket.receive(2));
        assert!(socket.read(&Thread::new(), NEVER));
        reader.join().unwrap();
        reactor.join().unwrap();
    });
}

/// Two threads handle events of the same bytes: the second finds the readiness set, while the first has yet to wake.
#[test]
fn models_readiness_second_report_may_skip_the_lock() {
    explore("readiness, two reports", Some(3), || {
        let socket = Socket::new();
        let others = [1, 0]
            .map(|bytes| spawn(&socket, move |socket| if bytes > 0 { socket.receive(bytes) } else { socket.report() }));
        assert!(socket.read(&Thread::new(), NEVER));
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// A reader that gives up takes nothing: the next one gets the byte.
#[test]
fn models_readiness_late_reader_leaves_byte_to_next() {
    explore("readiness, a deadline", Some(3), || {
        let socket = Socket::new();
        let reactor = spawn(&socket, |socket| socket.receive(1));
        let owner = Thread::new();
        if !socket.read(&owner, 1) {
            assert!(socket.read(&owner, NEVER));
        }
        reactor.join().unwrap();
    });
}

struct Bell(Parker);

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

/// A task that polls is woken, by the waker of its last poll.
#[test]
fn models_readiness_wakes_task_of_last_poll() {
    explore("readiness, a task", Some(3), || {
        let socket = Socket::new();
        let reactor = spawn(&socket, |socket| socket.receive(1));
        let bell = std::sync::Arc::new(Bell(Parker::new()));
        let waker = Waker::from(std::sync::Arc::clone(&bell));
        let _ = socket.readiness.poll_ready(&mut Context::from_waker(Waker::noop()));
        while socket.attempt().is_none() {
            if socket.readiness.poll_ready(&mut Context::from_waker(&waker)).is_pending() {
                bell.0.park();
            }
        }
        reactor.join().unwrap();
    });
}
