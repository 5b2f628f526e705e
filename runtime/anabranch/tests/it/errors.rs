//! The error that all others convert into: kinds, sources, conversions to and from I/O errors.

use crate::common::{Tally, fibers::with_every_cx};
use anabranch::{
    Cancelled, Cx, Error, ErrorKind, JoinError, Operation, Pool, TimedOut, WaitError,
    channel::{
        self, CallError, Closed, ClosedError, RecvError, SendError, TryRecvError, TrySendError,
        broadcast::{self, ClosedOrLagged, Lagged},
    },
    proto::{EndpointRecvError, EndpointSendError, EndpointTryRecvError, EndpointTrySendError},
};
use std::{cell::Cell, error, fmt, io, time::Duration};

/// The kind of an I/O error, from the kind of the error that it was made of.
fn io_kind(kind: ErrorKind) -> io::ErrorKind {
    match kind {
        ErrorKind::TimedOut => io::ErrorKind::TimedOut,
        ErrorKind::Closed => io::ErrorKind::BrokenPipe,
        ErrorKind::WouldBlock => io::ErrorKind::WouldBlock,
        _ => io::ErrorKind::Other,
    }
}

/// Checks the kind, the text, and the way to an I/O error and back.
#[track_caller]
fn check<E: Into<Error> + fmt::Display>(from: E, kind: ErrorKind) {
    let text = from.to_string();
    let error: Error = from.into();
    assert_eq!((error.kind(), error.to_string()), (kind, text));
    let flags = [error.is_cancelled(), error.is_timeout(), error.is_closed(), error.would_block(), error.is_panic()];
    use ErrorKind::{Cancelled, Closed, Panicked, TimedOut, WouldBlock};
    assert_eq!(flags, [Cancelled, TimedOut, Closed, WouldBlock, Panicked].map(|one| one == kind));
    let io: io::Error = error.into();
    assert_eq!(io.kind(), io_kind(kind), "{io}");
    assert_ne!(io.kind(), io::ErrorKind::Interrupted, "read loops retry it");
    assert_eq!(Error::from(io).kind(), kind);
}

#[test]
fn every_error_converts_with_its_kind() {
    use ErrorKind as Kind;
    check(Cancelled, Kind::Cancelled);
    check(TimedOut, Kind::TimedOut);
    check(WaitError::Cancelled, Kind::Cancelled);
    check(WaitError::TimedOut, Kind::TimedOut);
    check(JoinError::Cancelled, Kind::Cancelled);
    check(JoinError::TimedOut, Kind::TimedOut);
    check(JoinError::Aborted, Kind::Aborted);
    check(JoinError::Panicked(Box::new("text")), Kind::Panicked);
    check(Closed, Kind::Closed);
    check(ClosedError(1), Kind::Closed);
    check(RecvError::Closed, Kind::Closed);
    check(RecvError::Cancelled, Kind::Cancelled);
    check(TryRecvError::Empty, Kind::WouldBlock);
    check(TryRecvError::Closed, Kind::Closed);
    check(SendError::Closed(1), Kind::Closed);
    check(SendError::Cancelled(1), Kind::Cancelled);
    check(TrySendError::Full(1), Kind::WouldBlock);
    check(TrySendError::Closed(1), Kind::Closed);
    check(SendError::Closed(()), Kind::Closed);
    check(SendError::Cancelled(()), Kind::Cancelled);
    check(CallError::Closed, Kind::Closed);
    check(CallError::Cancelled, Kind::Cancelled);
    check(Lagged(3), Kind::Lagged);
    check(ClosedOrLagged::Closed, Kind::Closed);
    check(ClosedOrLagged::Lagged(3), Kind::Lagged);
    check(broadcast::RecvError::Closed, Kind::Closed);
    check(broadcast::RecvError::Lagged(3), Kind::Lagged);
    check(broadcast::RecvError::Cancelled, Kind::Cancelled);
    check(broadcast::TryRecvError::Empty, Kind::WouldBlock);
    check(broadcast::TryRecvError::Closed, Kind::Closed);
    check(broadcast::TryRecvError::Lagged(3), Kind::Lagged);
    check(EndpointRecvError::<u8>::Closed, Kind::Closed);
    check(EndpointRecvError::Cancelled(1), Kind::Cancelled);
    check(EndpointTryRecvError::<u8>::Closed, Kind::Closed);
    check(EndpointTryRecvError::Empty(1), Kind::WouldBlock);
    check(EndpointSendError::<u8, u8>::Closed, Kind::Closed);
    check(EndpointSendError::Cancelled(1, 2), Kind::Cancelled);
    check(EndpointTrySendError::<u8, u8>::Closed, Kind::Closed);
    check(EndpointTrySendError::Full(1, 2), Kind::WouldBlock);
    check(Pool::builder().threads(0).build().unwrap_err(), Kind::Other);
    check(io::Error::other("of the program"), Kind::Other);
}

#[test]
fn nested_results_become_io_errors() {
    fn work(cx: &Cx<'_>, ends: &(channel::Sender<u32>, channel::Receiver<u32>)) -> io::Result<()> {
        ends.0.sending(1).timeout(cx, Duration::from_secs(3600))??;
        ends.0.reserve(cx)?.send(2)?;
        ends.1.receiving().timeout(cx, Duration::from_secs(3600))??;
        ends.1.recv(cx)?;
        ends.1.receiving().timeout(cx, Duration::from_micros(1))??;
        Ok(())
    }
    with_every_cx(|cx| {
        let ends = channel::unbounded();
        assert_eq!(work(cx, &ends).unwrap_err().kind(), io::ErrorKind::TimedOut);
        ends.1.close();
        assert_eq!(work(cx, &ends).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    });
}

#[test]
fn source_is_kept() {
    let is = |error: Error| error.downcast::<RecvError>().unwrap();
    assert_eq!(is(RecvError::Cancelled.into()), RecvError::Cancelled);
    let error = Error::from(SendError::Closed("the value"));
    assert!(error.get_ref().is::<SendError<()>>());
    assert_eq!(format!("{error:?}"), "Error { kind: Closed, source: Closed(..) }");
    // A chain goes on below the error.
    #[derive(Debug)]
    struct Outer(RecvError);
    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("outer")
        }
    }
    impl error::Error for Outer {
        fn source(&self) -> Option<&(dyn error::Error + 'static)> {
            Some(&self.0)
        }
    }
    let error = Error::other(Outer(RecvError::Closed));
    assert!(error::Error::source(&error).unwrap().is::<RecvError>());
}

#[test]
fn io_errors_pass_through_unchanged() {
    let error = Error::from(io::Error::from_raw_os_error(2));
    assert_eq!((error.kind(), io::Error::from(error).raw_os_error()), (ErrorKind::Other, Some(2)));
    // A kind that an I/O error does not have survives too.
    let io = io::Error::from(Error::from(JoinError::Panicked(Box::new(7))));
    let error = Error::from(io);
    assert!(error.is_panic());
}

#[test]
fn payload_of_panic_is_kept() {
    let payload = Error::from(JoinError::Panicked(Box::new(Cell::new(7)))).into_panic().unwrap();
    assert_eq!(payload.downcast_ref::<Cell<i32>>().unwrap().get(), 7);
    assert!(Error::from(Cancelled).into_panic().unwrap_err().is_cancelled());
}

#[test]
fn values_in_errors_are_dropped_and_need_no_bounds() {
    let tally = Tally::default();
    let local = Cell::new(0);
    // Neither `'static` nor `Sync`.
    let error: Error = TrySendError::Full((tally.make(), &local)).into();
    tally.assert_all_dropped();
    fn is_portable<E: error::Error + Send + Sync + 'static>(_: &E) {}
    is_portable(&error);
    assert!(error.would_block());
}

#[test]
fn question_mark_works_in_function_that_receives_sleeps_and_joins() {
    fn work(cx: &Cx<'_>, input: &channel::Receiver<u32>, output: &channel::Sender<u32>) -> Result<u32, Error> {
        let n = input.recv(cx)?;
        cx.sleep(Duration::from_micros(1))?;
        let square = anabranch::spawn(move |_| n * n).join(cx)?;
        output.send(cx, square)?;
        output.sending(square).timeout(cx, Duration::from_secs(3600))??;
        cx.blocking(|| std::fs::metadata("/"))??;
        let both =
            cx.timeout(Duration::from_secs(3600), |cx| cx.try_join(|_| Ok::<_, Error>(1), |cx| Ok(input.recv(cx)?)))?;
        let mapped = cx.map_concurrent(2, [both.1], |_, n| Ok::<_, Error>(n))?;
        Ok(square + mapped[0])
    }
    with_every_cx(|cx| {
        let ((sender, input), (output, outputs)) = (channel::unbounded(), channel::unbounded());
        (2..=5).step_by(3).for_each(|n| sender.try_send(n).unwrap());
        assert_eq!(work(cx, &input, &output).unwrap(), 9);
        assert_eq!((outputs.recv(cx), outputs.recv(cx)), (Ok(4), Ok(4)));
        let late = cx.timeout(Duration::from_millis(1), |cx| work(cx, &input, &output));
        assert!(late.unwrap_err().is_timeout());
        sender.try_send(1).unwrap();
        drop(outputs);
        let error = work(cx, &input, &output).unwrap_err();
        assert!(error.is_closed() && error.get_ref().is::<SendError<()>>());
        drop(sender);
        assert!(work(cx, &input, &output).unwrap_err().is_closed());
        let cancelled = cx.cancellable(|cx, handle| {
            handle.cancel();
            work(cx, &input, &output)
        });
        assert!(cancelled.unwrap_err().is_cancelled());
    });
}
