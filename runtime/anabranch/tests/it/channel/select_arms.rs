//! Arms of `select!` with conditions and patterns, on plain threads, and over futures, handles and time.

use crate::common::{
    LONG,
    fibers::{FOREVER, with_every_cx},
    waits::{Polled, on_the_only_thread},
    watchdog,
};
use anabranch::{
    Cancelled, Cx, WaitError,
    channel::{self, Closed, ReceiverSet, after, awaiting, bounded, never, oneshot, rendezvous, spsc, tick, unbounded},
    select,
};
use std::{
    cell::Cell,
    future::{pending, poll_fn},
    task::Poll,
    thread,
    time::{Duration, Instant},
};

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn arm_with_false_condition_takes_no_part() {
    with_every_cx(|cx| {
        let (sender, receiver) = unbounded();
        let (_other, idle) = unbounded::<i32>();
        sender.try_send(1).unwrap();
        let evaluated = Cell::new(false);
        let operation = || {
            evaluated.set(true);
            receiver.receiving()
        };
        for is_wanted in [false, true] {
            let got = select!(biased cx, {
                got = operation(), if is_wanted => got.ok(),
                got = idle.receiving(), if !is_wanted => got.ok(),
                default => None,
            });
            assert_eq!((got, evaluated.get()), (Ok(is_wanted.then_some(1)), is_wanted));
        }
        // It also waits for those alone that take part.
        sender.try_send(2).unwrap();
        let off = evaluated.replace(false) && receiver.len() > 1;
        let late = cx.timeout(SHORT, |cx| {
            Ok::<_, WaitError>(select!(cx, {
                _ = receiver.receiving(), if off => (),
                _ = idle.receiving() => (),
            })?)
        });
        assert_eq!((late, receiver.try_recv()), (Err(WaitError::TimedOut), Ok(2)));
    });
}

#[test]
fn else_runs_if_all_conditions_are_false() {
    let (_sender, receiver) = unbounded::<i32>();
    let off = Cell::new(false);
    anabranch::run(|cx| {
        let got = select!(cx, { _ = receiver.receiving(), if off.get() => 1, else => 2 });
        assert_eq!(got, Ok(2));
        let got = select!(cx, { _ = receiver.receiving(), if off.get() => 1, default => 3, else => 2 });
        assert_eq!(got, Ok(3));
        // Without `else` it waits until it is cancelled.
        let late =
            cx.timeout(SHORT, |cx| Ok::<_, WaitError>(select!(cx, { _ = receiver.receiving(), if off.get() => () })?));
        assert_eq!(late, Err(WaitError::TimedOut));
    });
    assert_eq!(select!(blocking, { _ = receiver.receiving(), if off.get() => 1, else => 2 }), 2);
    let mut nothing = Polled::new(async { select!(async, { _ = receiver.receiving(), if off.get() => 1, else => 2 }) });
    assert_eq!(nothing.poll(), Some(2));
    assert!(Polled::new(async { select!(async, { _ = receiver.receiving(), if off.get() => 1 }) }).poll().is_none());
}

#[test]
fn else_runs_if_result_does_not_match() {
    fn step(cx: &Cx<'_>, receiver: &channel::Receiver<Option<u32>>) -> Result<u32, Cancelled> {
        select!(cx, {
            Ok(Some(n)) = receiver.receiving() => { n }
            (index, ()) = never() => index,
            else => 100,
        })
    }
    with_every_cx(|cx| {
        let (sender, receiver) = unbounded();
        sender.try_send(Some(1)).unwrap();
        sender.try_send(None).unwrap();
        drop(sender);
        assert_eq!([step(cx, &receiver), step(cx, &receiver), step(cx, &receiver)], [Ok(1), Ok(100), Ok(100)]);
        assert!(receiver.is_empty());
    });
    let (sender, receiver) = unbounded::<u32>();
    drop(sender);
    assert_eq!(select!(blocking, { Ok(n) = receiver.receiving() => n, else => 7 }), 7);
    let closed = async { select!(async, { Ok(n) = receiver.receiving() => n, else => 8 }) };
    assert_eq!(Polled::new(closed).poll(), Some(8));
}

#[test]
fn body_may_leave_loop_and_function() {
    fn first(receiver: &channel::Receiver<u32>) -> Result<u32, Closed> {
        loop {
            select!(blocking, {
                n = receiver.receiving(), if !receiver.is_empty() || receiver.is_closed() => match n? {
                    0 => continue,
                    1 => break,
                    n => return Ok(n),
                },
                else => unreachable!(),
            })
        }
        Ok(1)
    }
    let (sender, receiver) = unbounded();
    [0, 5, 0, 1].into_iter().for_each(|n| sender.try_send(n).unwrap());
    drop(sender);
    assert_eq!([first(&receiver), first(&receiver), first(&receiver)], [Ok(5), Ok(1), Err(Closed)]);
}

#[test]
fn plain_thread_selects_among_flavours_and_time() {
    watchdog(LONG, || {
        let (texts, text) = unbounded::<String>();
        let (mut numbers, mut number) = spsc::unbounded::<u32>();
        let (reply, mut replied) = oneshot::channel::<()>();
        let (offers, offer) = rendezvous::<u8>();
        let mut set: ReceiverSet<_> = [unbounded::<u64>().1].into_iter().collect();
        let late = select!(blocking, {
            _ = text.receiving() => false,
            _ = number.receiving() => false,
            _ = replied.receiving() => false,
            _ = offer.receiving() => false,
            _ = after(SHORT) => true,
        });
        assert!(late);
        let other = thread::spawn(move || {
            thread::sleep(SHORT);
            numbers.send_blocking(5).unwrap();
            (texts, reply, offers)
        });
        let got = select!(blocking, {
            _ = text.receiving() => 0,
            n = number.receiving() => n.unwrap(),
            _ = replied.receiving() => 0,
            _ = offer.receiving() => 0,
            _ = after(LONG) => 0,
        });
        assert_eq!(got, 5);
        drop(other.join().unwrap());
        let (_, closed) = select!(biased blocking, { got = set.receiving() => got.unwrap() });
        assert_eq!(closed, Err(Closed));
    });
}

#[test]
fn blocked_selection_sends_when_there_is_room() {
    watchdog(LONG, || {
        let (sender, receiver) = bounded(1);
        sender.send_blocking(1).unwrap();
        let other = thread::spawn(move || {
            thread::sleep(SHORT);
            let first = receiver.recv_blocking();
            (first, receiver.recv_blocking())
        });
        let (_idle, never_sent) = bounded::<u32>(1);
        select!(blocking, {
            sent = sender.sending(2) => sent.unwrap(),
            _ = never_sent.receiving() => unreachable!(),
        });
        assert_eq!(other.join().unwrap(), (Ok(1), Ok(2)));
    });
}

#[test]
fn future_wakes_selection() {
    with_every_cx(|cx| {
        let (sender, receiver) = oneshot::channel();
        let sending = thread::spawn(move || {
            thread::sleep(SHORT);
            sender.send(4).unwrap();
        });
        let mut receiver = receiver;
        let got = select!(cx, {
            got = awaiting(receiver.receiving().into_future()) => got,
            () = awaiting(pending()) => unreachable!(),
            () = cx.sleeping(FOREVER) => unreachable!(),
        });
        assert_eq!(got, Ok(Ok(4)));
        sending.join().unwrap();
    });
}

/// A future that asks to be polled again lets other fibers of the worker run, or it would never end.
#[test]
fn future_that_wakes_itself_lets_others_run() {
    watchdog(LONG, || {
        on_the_only_thread(|cx| {
            let (sender, receiver) = unbounded::<u32>();
            let other = anabranch::spawn(move |cx| sender.send(cx, 1));
            let until_sent = poll_fn(|context| {
                if receiver.is_empty() {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(())
            });
            let (_idle, nothing) = unbounded::<u32>();
            let done = select!(cx, {
                () = awaiting(until_sent) => true,
                _ = nothing.receiving() => false,
            });
            assert_eq!(done, Ok(true));
            other.join(cx).unwrap().unwrap();
        });
    });
}

#[test]
fn handle_can_be_joined_after_other_arm_won() {
    watchdog(LONG, || {
        anabranch::run(|cx| {
            let (sender, receiver) = unbounded::<u32>();
            let mut handle = anabranch::spawn(move |cx| receiver.recv(cx));
            let (other, ready) = unbounded();
            other.try_send(()).unwrap();
            let joined = select!(biased cx, {
                _ = ready.receiving() => false,
                _ = awaiting(&mut handle) => true,
            });
            assert_eq!(joined, Ok(false));
            sender.try_send(3).unwrap();
            let got = select!(cx, {
                got = awaiting(&mut handle) => got.unwrap(),
                () = cx.sleeping(FOREVER) => unreachable!(),
            });
            assert_eq!(got, Ok(Ok(3)));
        });
    });
}

#[test]
fn interval_keeps_tick_that_was_not_selected() {
    watchdog(LONG, || {
        let mut ticks = tick(SHORT);
        let start = Instant::now();
        let (sender, receiver) = unbounded();
        sender.try_send(()).unwrap();
        thread::sleep(2 * SHORT);
        // Both are ready.
        select!(biased blocking, { _ = receiver.receiving() => (), _ = ticks.ticking() => unreachable!() });
        let first = select!(blocking, { at = ticks.ticking() => at });
        let second = select!(blocking, { at = ticks.ticking() => at, _ = receiver.receiving() => unreachable!() });
        assert!(first <= start + 2 * SHORT && second >= first + SHORT && second <= Instant::now());
        let limit = after(SHORT);
        for _ in 0..2 {
            select!(blocking, { at = limit.clone() => assert!(at <= Instant::now()) });
        }
    });
    anabranch::run(|cx| {
        let mut ticks = cx.interval(Duration::MAX);
        assert_eq!(select!(cx, { _ = ticks.ticking() => 1, () = cx.sleeping(SHORT) => 2 }), Ok(2));
    });
}
