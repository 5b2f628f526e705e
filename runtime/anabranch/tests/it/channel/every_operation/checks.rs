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
        assert_eq!($receiver.receiving().timeout(cx, Duration::ZERO).map(|got| got.map(plain)), Err(WaitError::TimedOut));
        assert_eq!($receiver.receiving().timeout(cx, SHORT).map(|got| got.map(plain)), Err(WaitError::TimedOut));
        assert_eq!($receiver.receiving().deadline(cx, past).map(|got| got.map(plain)), Err(WaitError::TimedOut));
        let limited = cx.timeout(SHORT, |cx| Ok::<_, Error>($receiver.recv(cx)?));
        assert_eq!(limited.map(plain).map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
        drop(Polled::waiting($receiver.receiving().into_future()));
        assert_eq!(select!(cx, { got = $receiver.receiving() => got.map(plain).ok(), default => None }), Ok(None));
        assert_eq!(Select::from_iter([$receiver.receiving()]).try_now().map(|(index, _)| index), None);
        // A value is there, and is received even if the deadline has passed.
        send(1);
        assert_eq!($receiver.recv(cx).map(plain), Ok(1));
        send(2);
        assert_eq!($receiver.receiving().timeout(cx, Duration::MAX).map(|got| got.map(plain)), Ok(Ok(2)));
        send(3);
        assert_eq!($receiver.receiving().timeout(cx, Duration::ZERO).map(|got| got.map(plain)), Ok(Ok(3)));
        send(4);
        assert_eq!($receiver.receiving().deadline(cx, past).map(|got| got.map(plain)), Ok(Ok(4)));
        send(5);
        assert_eq!($receiver.try_recv().map(plain), Ok(5));
        send(6);
        assert_eq!(cx.block_on($receiver.receiving().into_future()).unwrap().map(plain), Ok(6));
        send(7);
        assert_eq!(select!(cx, { got = $receiver.receiving() => got.map(plain) }), Ok(Ok(7)));
        send(8);
        let mut select = Select::from_iter([$receiver.receiving()]);
        let (index, got) = select.deadline(cx, past).unwrap();
        drop(select);
        assert_eq!((index, got.map(plain)), (0, Ok(8)));
        send(9);
        assert_eq!($receiver.iter(cx).next().map(|got| got.map(plain).ok()), Some(Some(9)));
        // A cancelled receiver does not take it, and the next one does.
        send(10);
        cancelled(cx, |cx| {
            assert_eq!($receiver.recv(cx).map(plain), Err(RecvError::Cancelled));
            assert_eq!($receiver.receiving().timeout(cx, Duration::MAX).map(|got| got.map(plain)), Err(WaitError::Cancelled));
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
        assert_eq!($receiver.receiving().timeout(cx, SHORT).map(Result::err), Ok(Some(Closed)));
        assert_eq!($receiver.receiving().deadline(cx, now).map(Result::err), Ok(Some(Closed)));
        assert_eq!(cx.block_on($receiver.receiving().into_future()).unwrap().err(), Some(Closed));
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
        assert_eq!($sender.sending(2).timeout(cx, Duration::ZERO), Ok(Ok(())));
        assert_eq!(take(), 2);
        assert_eq!($sender.sending(3).timeout(cx, Duration::MAX), Ok(Ok(())));
        assert_eq!(take(), 3);
        assert_eq!($sender.sending(4).deadline(cx, past), Ok(Ok(())));
        assert_eq!(take(), 4);
        assert_eq!($sender.try_send(5), Ok(()));
        assert_eq!(take(), 5);
        assert_eq!(cx.block_on($sender.sending(6).into_future()), Ok(Ok(())));
        assert_eq!(take(), 6);
        assert_eq!(select!(cx, { sent = $sender.sending(7) => sent }), Ok(Ok(())));
        assert_eq!(take(), 7);
        $sender.reserve(cx).unwrap().send(8).unwrap();
        assert_eq!(take(), 8);
        $sender.reserving().timeout(cx, Duration::ZERO).unwrap().unwrap().send(9).unwrap();
        assert_eq!(take(), 9);
        $sender.reserving().deadline(cx, past).unwrap().unwrap().send(10).unwrap();
        assert_eq!(take(), 10);
        $sender.try_reserve().unwrap().send(11).unwrap();
        assert_eq!(take(), 11);
        cx.block_on($sender.reserving().into_future()).unwrap().unwrap().send(12).unwrap();
        assert_eq!(take(), 12);
        cancelled(cx, |cx| {
            assert_eq!($sender.send(cx, 13), Err(SendError::Cancelled(13)));
            let mut send = $sender.sending(13);
            assert_eq!(send.timeout(cx, Duration::MAX), Err(WaitError::Cancelled));
            assert_eq!((send.wait(cx), send.into_inner()), (Err(Cancelled), Some(13)));
            assert_eq!($sender.reserve(cx).err(), Some(SendError::Cancelled(())));
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
        let mut send = $sender.sending(2);
        assert_eq!(send.timeout(cx, Duration::ZERO), Err(WaitError::TimedOut));
        assert_eq!(send.timeout(cx, SHORT), Err(WaitError::TimedOut));
        assert_eq!(send.deadline(cx, past), Err(WaitError::TimedOut));
        assert_eq!(send.into_inner(), Some(2));
        let limited = cx.timeout(SHORT, |cx| Ok::<_, WaitError>($sender.send(cx, 5)));
        assert_eq!(limited, Ok(Err(SendError::Cancelled(5))));
        drop(Polled::waiting($sender.sending(6).into_future()));
        assert_eq!(select!(cx, { _ = $sender.sending(7) => 1, () = cx.sleeping(SHORT) => 2 }), Ok(2));
        let mut select = Select::from_iter([$sender.sending(8)]);
        assert!(select.timeout(cx, SHORT).is_err() && select.try_now().is_none());
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
        assert_eq!($sender.sending(3).timeout(cx, SHORT), Ok(Err(ClosedError(3))));
        assert_eq!($sender.sending(4).deadline(cx, now), Ok(Err(ClosedError(4))));
        assert_eq!(cx.block_on($sender.sending(5).into_future()), Ok(Err(ClosedError(5))));
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
        assert_eq!($sender.reserve(cx).err(), Some(SendError::Closed(())));
        assert_eq!($sender.reserving().timeout(cx, SHORT).unwrap().err(), Some(Closed));
        assert_eq!($sender.reserving().deadline(cx, now).unwrap().err(), Some(Closed));
        assert_eq!(cx.block_on($sender.reserving().into_future()).unwrap().err(), Some(Closed));
    }};
}
