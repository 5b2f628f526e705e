//! The checks that every receiver and every sender passes, in each form of receiving and sending.

use anabranch::Cx;
use std::time::Duration;

pub const SHORT: Duration = Duration::from_micros(50);

/// Runs `body` in a cancelled scope.
pub fn cancelled<R>(cx: &Cx<'_>, body: impl FnOnce(&Cx<'_>) -> R) -> R {
    cx.cancellable(|cx, canceller| {
        canceller.cancel();
        body(cx)
    })
}

/// A receiver that is empty at first, and what is to be done that it has a number to receive; `plain` makes that of
/// what comes.
macro_rules! receives {
    ($cx:expr, $receiver:ident, $send:expr, $plain:expr) => {{
        let (cx, send, plain): (_, &mut dyn FnMut(i32), _) = ($cx, &mut $send, $plain);
        // The channel is empty.
        let past = cx.now();
        assert_eq!($receiver.try_recv().map(plain), Err(TryRecvError::Empty));
        assert_eq!($receiver.recv_timeout(cx, Duration::ZERO).map(plain), Err(RecvTimeoutError::TimedOut));
        assert_eq!($receiver.recv_timeout(cx, SHORT).map(plain), Err(RecvTimeoutError::TimedOut));
        assert_eq!($receiver.recv_deadline(cx, past).map(plain), Err(RecvTimeoutError::TimedOut));
        let limited = cx.timeout(SHORT, |cx| Ok::<_, RecvTimeoutError>($receiver.recv(cx)?));
        assert_eq!(limited.map(plain), Err(RecvTimeoutError::TimedOut));
        drop(Polled::waiting($receiver.recv_async()));
        assert_eq!(select!(cx, { got = $receiver.receiving() => got.map(plain).ok(), default => None }), Ok(None));
        assert_eq!(Select::from_iter([$receiver.receiving()]).try_now().map(|(index, _)| index), None);
        // A value is there, and is received even if the deadline has passed.
        send(1);
        assert_eq!($receiver.recv(cx).map(plain), Ok(1));
        send(2);
        assert_eq!($receiver.recv_timeout(cx, Duration::MAX).map(plain), Ok(2));
        send(3);
        assert_eq!($receiver.recv_timeout(cx, Duration::ZERO).map(plain), Ok(3));
        send(4);
        assert_eq!($receiver.recv_deadline(cx, past).map(plain), Ok(4));
        send(5);
        assert_eq!($receiver.try_recv().map(plain), Ok(5));
        send(6);
        assert_eq!(cx.block_on($receiver.recv_async()).unwrap().map(plain), Ok(6));
        send(7);
        assert_eq!(select!(cx, { got = $receiver.receiving() => got.map(plain) }), Ok(Ok(7)));
        send(8);
        let mut select = Select::from_iter([$receiver.receiving()]);
        let (index, got) = select.wait_deadline(cx, past).unwrap();
        drop(select);
        assert_eq!((index, got.map(plain)), (0, Ok(8)));
        send(9);
        assert_eq!($receiver.iter(cx).next().map(|got| got.map(plain).ok()), Some(Some(9)));
        // A cancelled receiver does not take it, and the next one does.
        send(10);
        cancelled(cx, |cx| {
            assert_eq!($receiver.recv(cx).map(plain), Err(RecvError::Cancelled));
            assert_eq!($receiver.recv_timeout(cx, Duration::MAX).map(plain), Err(RecvTimeoutError::Cancelled));
            // The last item is an error.
            let mut items = $receiver.iter(cx);
            assert!(items.next().is_some_and(|got| got.is_err()) && items.next().is_none());
            drop(items);
            assert!(select!(cx, { _ = $receiver.receiving() => () }).is_err());
        });
        assert_eq!($receiver.recv(cx).map(plain), Ok(10));
    }};
}

/// Like `receives`, for receivers of more than one value.
macro_rules! receives_many {
    ($cx:expr, $receiver:ident, $send:expr, $plain:expr) => {
        receives_many!($cx, $receiver, $send, $plain, |value| value)
    };
    ($cx:expr, $receiver:ident, $send:expr, $plain:expr, $drained:expr) => {{
        let (cx, send, plain): (_, &mut dyn FnMut(i32), _) = ($cx, &mut $send, $plain);
        let mut batch = Vec::new();
        assert_eq!($receiver.recv_many(cx, &mut batch, 0), Ok(0));
        (0..5).for_each(&mut *send);
        assert_eq!(($receiver.len(), $receiver.is_empty()), (5, false));
        assert_eq!($receiver.recv_many(cx, &mut batch, 2), Ok(2));
        assert_eq!(cx.block_on($receiver.recv_many_async(&mut batch, usize::MAX)).unwrap(), Ok(3));
        assert_eq!(batch.drain(..).map(plain).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        (5..8).for_each(&mut *send);
        assert_eq!($receiver.drain().map($drained).map(plain).collect::<Vec<_>>(), [5, 6, 7]);
        assert_eq!(($receiver.len(), $receiver.is_empty()), (0, true));
        let none = cancelled(cx, |cx| $receiver.recv_many(cx, &mut batch, 1));
        assert_eq!((none, batch.len()), (Err(RecvError::Cancelled), 0));
    }};
}

/// A receiver of a closed, empty channel.
macro_rules! is_over {
    ($cx:expr, $receiver:ident) => {{
        let cx = $cx;
        let now = cx.now();
        assert!($receiver.is_closed());
        assert_eq!($receiver.try_recv().err(), Some(TryRecvError::Closed));
        assert_eq!($receiver.recv(cx).err(), Some(RecvError::Closed));
        assert_eq!($receiver.recv_timeout(cx, SHORT).err(), Some(RecvTimeoutError::Closed));
        assert_eq!($receiver.recv_deadline(cx, now).err(), Some(RecvTimeoutError::Closed));
        assert_eq!(cx.block_on($receiver.recv_async()).unwrap().err(), Some(Closed));
        assert_eq!(select!(cx, { got = $receiver.receiving() => got.err() }), Ok(Some(Closed)));
    }};
}

/// A sender with capacity for at least one value, and how its receiver takes that value.
macro_rules! sends {
    ($cx:expr, $sender:ident, $take:expr) => {{
        let (cx, take): (_, &mut dyn FnMut() -> i32) = ($cx, &mut $take);
        let past = cx.now();
        assert_eq!($sender.send(cx, 1), Ok(()));
        assert_eq!(take(), 1);
        assert_eq!($sender.send_timeout(cx, 2, Duration::ZERO), Ok(()));
        assert_eq!(take(), 2);
        assert_eq!($sender.send_timeout(cx, 3, Duration::MAX), Ok(()));
        assert_eq!(take(), 3);
        assert_eq!($sender.send_deadline(cx, 4, past), Ok(()));
        assert_eq!(take(), 4);
        assert_eq!($sender.try_send(5), Ok(()));
        assert_eq!(take(), 5);
        assert_eq!(cx.block_on($sender.send_async(6)), Ok(Ok(())));
        assert_eq!(take(), 6);
        assert_eq!(select!(cx, { sent = $sender.sending(7) => sent }), Ok(Ok(())));
        assert_eq!(take(), 7);
        $sender.reserve(cx).unwrap().send(8).unwrap();
        assert_eq!(take(), 8);
        $sender.reserve_timeout(cx, Duration::ZERO).unwrap().send(9).unwrap();
        assert_eq!(take(), 9);
        $sender.reserve_deadline(cx, past).unwrap().send(10).unwrap();
        assert_eq!(take(), 10);
        $sender.try_reserve().unwrap().send(11).unwrap();
        assert_eq!(take(), 11);
        cx.block_on($sender.reserve_async()).unwrap().unwrap().send(12).unwrap();
        assert_eq!(take(), 12);
        cancelled(cx, |cx| {
            assert_eq!($sender.send(cx, 13), Err(SendError::Cancelled(13)));
            assert_eq!($sender.send_timeout(cx, 13, Duration::MAX), Err(SendTimeoutError::Cancelled(13)));
            assert_eq!($sender.reserve(cx).err(), Some(ReserveError::Cancelled));
        });
    }};
}

/// A sender without free capacity: every value is returned.
macro_rules! is_full {
    ($cx:expr, $sender:ident) => {{
        let cx = $cx;
        let past = cx.now();
        assert!($sender.is_full());
        assert_eq!($sender.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!($sender.send_timeout(cx, 2, Duration::ZERO), Err(SendTimeoutError::TimedOut(2)));
        assert_eq!($sender.send_timeout(cx, 3, SHORT), Err(SendTimeoutError::TimedOut(3)));
        assert_eq!($sender.send_deadline(cx, 4, past), Err(SendTimeoutError::TimedOut(4)));
        let limited = cx.timeout(SHORT, |cx| Ok::<_, RecvTimeoutError>($sender.send(cx, 5)));
        assert_eq!(limited, Ok(Err(SendError::Cancelled(5))));
        drop(Polled::waiting($sender.send_async(6)));
        assert_eq!(select!(cx, { _ = $sender.sending(7) => 1, () = cx.sleeping(SHORT) => 2 }), Ok(2));
        let mut select = Select::from_iter([$sender.sending(8)]);
        assert!(select.wait_timeout(cx, SHORT).is_err() && select.try_now().is_none());
    }};
}

/// A sender of a closed channel: every value is returned.
macro_rules! is_refused {
    ($cx:expr, $sender:ident) => {{
        let cx = $cx;
        let now = cx.now();
        assert!($sender.is_closed());
        assert_eq!($sender.try_send(1), Err(TrySendError::Closed(1)));
        assert_eq!($sender.send(cx, 2), Err(SendError::Closed(2)));
        assert_eq!($sender.send_timeout(cx, 3, SHORT), Err(SendTimeoutError::Closed(3)));
        assert_eq!($sender.send_deadline(cx, 4, now), Err(SendTimeoutError::Closed(4)));
        assert_eq!(cx.block_on($sender.send_async(5)), Ok(Err(ClosedError(5))));
        assert_eq!(select!(cx, { sent = $sender.sending(6) => sent }), Ok(Err(ClosedError(6))));
        let (index, sent) = Select::from_iter([$sender.sending(7)]).wait(cx).unwrap();
        assert_eq!((index, sent), (0, Err(ClosedError(7))));
    }};
}

/// Like `is_refused`, for operations that a rendezvous does not have.
macro_rules! has_no_room_to_keep {
    ($cx:expr, $sender:ident) => {{
        let cx = $cx;
        let now = cx.now();
        assert!($sender.try_reserve().is_err());
        assert_eq!($sender.reserve(cx).err(), Some(ReserveError::Closed));
        assert_eq!($sender.reserve_timeout(cx, SHORT).err(), Some(ReserveTimeoutError::Closed));
        assert_eq!($sender.reserve_deadline(cx, now).err(), Some(ReserveTimeoutError::Closed));
        assert_eq!(cx.block_on($sender.reserve_async()).unwrap().err(), Some(Closed));
    }};
}
