//! How often a wire reads its stream, and which task a stream wakes.

use super::{
    close::turns::{self, client, server},
    wires::{Pipe, Way, frame, pipe},
};
use crate::common::waits::Polled;
use anabranch::proto::wire::{Wire, WireError};
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

const ROUNDS: u32 = 100;

type Running = Pin<Box<dyn Future<Output = Result<Wire<Pipe>, WireError>>>>;

/// Begins a conversation over this pipe. Returns the connections as futures.
fn begin((client, server): (Pipe, Pipe)) -> (client::Ask, Running, server::Ask, Running) {
    let mut begin_client = Polled::new(turns::client::over_async(Wire::new(client)));
    let mut begin_server = Polled::new(turns::server::over_async(Wire::new(server)));
    assert!(begin_client.poll().is_none());
    let (server, of_server) = begin_server.poll().unwrap().unwrap();
    let (client, of_client) = begin_client.poll().unwrap().unwrap();
    (client, Box::pin(of_client.run_async()), server, Box::pin(of_server.run_async()))
}

/// Asks and answers, and polls both connections `polls` times after each step.
fn converse(ends: (Pipe, Pipe), polls: usize) {
    let (mut client, of_client, mut server, of_server) = begin(ends);
    let (mut of_client, mut of_server) = (Polled::new(of_client), Polled::new(of_server));
    let mut step = || {
        for _ in 0..polls {
            assert!(of_client.poll().is_none() && of_server.poll().is_none());
        }
    };
    step();
    for number in 0..ROUNDS {
        let waiting = client.ask(number).unwrap();
        step();
        let Ok(server::AskMessage::Ask(heard, answer)) = server.try_recv() else { panic!("no question") };
        server = answer.answer(heard).unwrap();
        step();
        step();
        let Ok(client::AnswerMessage::Answer(same, next)) = waiting.try_recv() else { panic!("no answer") };
        assert_eq!(same, number);
        client = next;
    }
}

fn reads(way: &Arc<Mutex<Way>>) -> usize {
    way.lock().unwrap().reads
}

/// The pipe does not know before a read whether there are bytes, so each wait begins with a read in vain.
#[test]
fn message_takes_one_read_and_wait_another() {
    for polls in [1, 3] {
        let ends = pipe(1000);
        let (to_client, to_server) = (Arc::clone(&ends.0.from), Arc::clone(&ends.1.from));
        converse(ends, polls);
        for way in [to_client, to_server] {
            // Besides the messages there is the handshake. Every 128th poll yields, and may read once more.
            let most = 2 * (ROUNDS as usize + 2) + 10;
            assert!(reads(&way) <= most, "{} reads of {ROUNDS} messages", reads(&way));
        }
    }
}

#[test]
fn read_that_write_replaced_is_repeated() {
    let (mut client, mut server) = pipe(1000);
    (client.writes_wait_for_reads, server.writes_wait_for_reads) = (true, true);
    converse((client, server), 1);
}

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn stream_wakes_task_of_last_poll() {
    let (client, server) = pipe(1000);
    let to_client = Arc::clone(&client.from);
    let (client, mut of_client, _server, _of_server) = begin((client, server));
    let mut poll = |bell: &Arc<Bell>| -> Poll<Result<_, _>> {
        of_client.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(bell))))
    };
    let waiting = client.ask(1).unwrap();
    let (first, second) = (Arc::default(), Arc::<Bell>::default());
    assert!(poll(&first).is_pending() && poll(&second).is_pending());
    let other = Pipe { from: Arc::default(), to: to_client, writes_wait_for_reads: false };
    other.say(&frame(&[0, 1]));
    assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (0, 1));
    assert!(poll(&second).is_pending());
    let Ok(client::AnswerMessage::Answer(1, _)) = waiting.try_recv() else { panic!("no answer") };
}
