//! Large values travel in boxes: they do not fill the stacks of fibers, and each is dropped once.

use crate::common::{LONG, rerun, watchdog};
use anabranch::{
    Cancelled, Cx, Operation, Pool, WaitError,
    channel::{self, SendError},
};
use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
    time::Duration,
};

/// The default stack of a fiber has room for four of these, or for 16 without optimisation.
const SIZE: usize = 64 << 10;

struct Large<'a> {
    bytes: [u8; SIZE],
    alive: &'a AtomicI32,
}

impl<'a> Large<'a> {
    #[inline(never)]
    fn new(alive: &'a AtomicI32) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { bytes: [7; SIZE], alive }
    }

    fn is_intact(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == 7)
    }
}

impl Drop for Large<'_> {
    fn drop(&mut self) {
        assert!(self.is_intact());
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

static ALIVE: AtomicI32 = AtomicI32::new(0);

fn large() -> Large<'static> {
    Large::new(&ALIVE)
}

#[inline(never)]
fn by_unbounded(cx: &Cx<'_>) -> bool {
    let (sender, receiver) = channel::unbounded();
    sender.send(cx, large()).is_ok_and(|()| receiver.recv(cx).is_ok_and(|value: Large<'_>| value.is_intact()))
}

#[inline(never)]
fn by_full_channel(cx: &Cx<'_>) -> bool {
    let (sender, receiver) = channel::bounded(1);
    let send = move |cx: &Cx<'_>| (0..3).all(|_| sender.send(cx, large()).is_ok());
    cx.join(send, move |cx| (0..3).all(|_| receiver.recv(cx).is_ok_and(|value: Large<'_>| value.is_intact())))
        == (true, true)
}

#[inline(never)]
fn by_operations(cx: &Cx<'_>) -> bool {
    let (sender, receiver) = channel::bounded(1);
    let send = move |cx: &Cx<'_>| (0..3).all(|_| sender.sending(large()).wait(cx).is_ok());
    let is_received =
        |value: Result<Result<Large<'_>, _>, _>| value.is_ok_and(|value| value.is_ok_and(|value| value.is_intact()));
    cx.join(send, move |cx| (0..3).all(|_| is_received(receiver.receiving().wait(cx)))) == (true, true)
}

#[inline(never)]
fn by_rendezvous(cx: &Cx<'_>) -> bool {
    let (sender, receiver) = channel::rendezvous();
    let send = move |cx: &Cx<'_>| (0..2).all(|_| sender.send(cx, large()).is_ok());
    cx.join(send, move |cx| (0..2).all(|_| receiver.recv(cx).is_ok_and(|value: Large<'_>| value.is_intact())))
        == (true, true)
}

#[inline(never)]
fn by_rendezvous_with_waiting_receiver(cx: &Cx<'_>) -> bool {
    let (sender, receiver) = channel::rendezvous();
    let receive = move |cx: &Cx<'_>| (0..2).all(|_| receiver.recv(cx).is_ok_and(|value: Large<'_>| value.is_intact()));
    cx.join(receive, move |cx| (0..2).all(|_| sender.send(cx, large()).is_ok())) == (true, true)
}

#[inline(never)]
fn by_stream(cx: &Cx<'_>) -> bool {
    let (mut sender, mut receiver) = channel::spsc::bounded(1);
    let send = move |cx: &Cx<'_>| (0..3).all(|_| sender.send(cx, large()).is_ok());
    cx.join(send, move |cx| (0..3).all(|_| receiver.recv(cx).is_ok_and(|value: Large<'_>| value.is_intact())))
        == (true, true)
}

#[inline(never)]
fn by_attempts(_: &Cx<'_>) -> bool {
    let (sender, receiver) = channel::bounded(1);
    let is_sent = sender.try_send(large()).is_ok() && receiver.try_recv().is_ok_and(|value| value.is_intact());
    is_sent && by_attempts_of_stream()
}

#[inline(never)]
fn by_attempts_of_stream() -> bool {
    let (mut sender, mut receiver) = channel::spsc::bounded(1);
    sender.try_send(large()).is_ok() && receiver.try_recv().is_ok_and(|value: Large<'_>| value.is_intact())
}

#[inline(never)]
fn by_shared(cx: &Cx<'_>) -> bool {
    let (sender, mut receiver) = channel::broadcast::channel(1);
    sender.send(large()).is_ok() && receiver.recv(cx).is_ok_and(|value: Arc<Large<'_>>| value.is_intact())
}

#[inline(never)]
fn by_watch(cx: &Cx<'_>) -> bool {
    let (sender, mut receiver) = channel::watch::channel(None);
    sender.send(Some(large())).is_ok()
        && receiver.recv(cx).is_ok_and(|value| value.as_ref().as_ref().is_some_and(Large::is_intact))
}

/// The values that nobody receives.
#[inline(never)]
fn by_drop(cx: &Cx<'_>) -> bool {
    let (sender, receiver) = channel::unbounded();
    let (mut stream, end) = channel::spsc::unbounded();
    let is_sent = (0..40).all(|_| sender.send(cx, large()).is_ok() && stream.send(cx, large()).is_ok());
    drop((receiver, end));
    is_sent && ALIVE.load(Ordering::Relaxed) == 0
}

#[inline(never)]
fn by_oneshot(cx: &Cx<'_>) -> bool {
    let (sender, mut receiver) = channel::oneshot::channel();
    cx.join(
        move |cx| receiver.recv(cx).is_ok_and(|value: Large<'_>| value.is_intact()),
        |_| sender.send(large()).is_ok(),
    ) == (true, true)
}

#[inline(never)]
fn by_result(cx: &Cx<'_>) -> bool {
    let value = large();
    anabranch::spawn(move |_| value).join(cx).is_ok_and(|value: Large<'_>| value.is_intact())
}

#[inline(never)]
fn by_result_in_scope(cx: &Cx<'_>) -> bool {
    let value = large();
    cx.scope(|s| s.spawn(move |_| value).join(cx).is_ok_and(|value: Large<'_>| value.is_intact()))
}

#[test]
fn large_messages_fit_on_the_default_stack() {
    const CASE: &str = "ANABRANCH_TEST_LARGE";
    type Way = fn(&Cx<'_>) -> bool;
    let ways: [(&str, Way); 13] = [
        ("unbounded", by_unbounded),
        ("full", by_full_channel),
        ("operations", by_operations),
        ("rendezvous", by_rendezvous),
        ("waiting receiver", by_rendezvous_with_waiting_receiver),
        ("stream", by_stream),
        ("attempts", by_attempts),
        ("broadcast", by_shared),
        ("watch", by_watch),
        ("drop", by_drop),
        ("oneshot", by_oneshot),
        ("result", by_result),
        ("result in scope", by_result_in_scope),
    ];
    if let Ok(wanted) = env::var(CASE) {
        let (_, way) = *ways.iter().find(|(name, _)| *name == wanted).unwrap();
        return watchdog(LONG, || {
            let pool = Pool::builder().threads(1).build().unwrap();
            let handle = pool.spawn(way);
            assert!(pool.run(|cx| handle.join(cx)).unwrap());
            assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
        });
    }
    for (name, _) in ways {
        let child = rerun(module_path!(), "large_messages_fit_on_the_default_stack").env(CASE, name).output().unwrap();
        assert!(child.status.success(), "{name}: {}", String::from_utf8_lossy(&child.stderr));
    }
}

#[test]
fn large_values_that_are_not_received_are_dropped_once() {
    const SOON: Duration = Duration::from_millis(1);
    let alive = AtomicI32::new(0);
    let large = || Large::new(&alive);
    watchdog(LONG, || {
        let check = |cx: &Cx<'_>| {
            for capacity in [0, 1] {
                let (sender, receiver) = if capacity == 0 { channel::rendezvous() } else { channel::bounded(capacity) };
                while sender.try_send(large()).is_ok() {}
                assert!(matches!(sender.sending(large()).timeout(cx, SOON), Err(WaitError::TimedOut)));
                // Cancelled while it waits.
                cx.scope(|s| {
                    s.spawn(|cx| assert!(matches!(sender.send(cx, large()), Err(SendError::Cancelled(_)))));
                    s.yield_now();
                    s.cancel();
                });
                // Closed while it waits, with a value that the channel keeps.
                let (closed, ()) = cx.join(
                    |cx| matches!(sender.send(cx, large()), Err(SendError::Closed(_))),
                    |_| {
                        drop(receiver);
                    },
                );
                assert!(closed);
            }
            // A result that no handle takes, before the end of the fiber and after it.
            cx.scope(|s| {
                drop(s.spawn(|_| large()));
                let kept = s.spawn(|_| large());
                while !kept.is_finished() {
                    cx.yield_now();
                }
            });
            Ok::<_, Cancelled>(())
        };
        for threads in [1, 2] {
            let pool = Pool::builder().threads(threads).fiber_stack_size(4 << 20).build().unwrap();
            pool.run(|cx| cx.scope(|s| s.spawn(check).join(cx))).unwrap().unwrap();
            assert_eq!(alive.load(Ordering::Relaxed), 0);
        }
    });
}
