//! One error that the errors of all waits convert into.
//!
//! It stores the converted error in a box, and its kind beside it. An error that holds a value of the user, such as a
//! value that was not sent, is stored without the value. So the error is `Send`, `Sync` and `'static`.

use crate::{
    channel::{self, CallError, Closed, ClosedError, SendError, TryRecvError, TrySendError, broadcast},
    pool::BuildError,
    proto::{EndpointRecvError, EndpointSendError, EndpointTryRecvError, EndpointTrySendError},
    sync::{AcquireError, SemaphoreClosed, TryAcquireError},
    wait::{Cancelled, TimedOut, WaitError},
};
use std::{
    any::Any,
    error, fmt, io,
    sync::{Mutex, PoisonError},
};

/// An error of any wait.
///
/// All errors of this crate convert into it by `?`, and so does [`io::Error`]. The errors that a timeout, a scope or a
/// map must be able to make do so too: [`TimedOut`] and [`Cancelled`]. An error that holds a value or an endpoint, such
/// as [`SendError`], is converted without it, and the value is dropped.
///
/// It displays the text of the converted error, which [`get_ref`](Self::get_ref) returns.
///
/// ```
/// use anabranch::{Cx, Error, channel::{Receiver, unbounded}};
/// use std::time::Duration;
///
/// fn work(cx: &Cx<'_>, inputs: &Receiver<u64>) -> Result<u64, Error> {
///     let n = inputs.recv(cx)?;                                   // RecvError
///     cx.sleep(Duration::from_millis(n))?;                        // Cancelled
///     let square = anabranch::spawn(move |_| n * n).join(cx)?;    // JoinError
///     let text = cx.blocking(|| std::fs::read_to_string("Cargo.toml"))??; // Cancelled, io::Error
///     Ok(square + text.len() as u64 / u64::MAX)
/// }
///
/// let (sender, inputs) = unbounded();
/// sender.try_send(7).unwrap();
/// sender.try_send(3_600_000).unwrap();
/// drop(sender);
/// anabranch::run(|cx| {
///     assert_eq!(work(cx, &inputs).unwrap(), 49);
///     let late = cx.timeout(Duration::from_millis(1), |cx| work(cx, &inputs)); // TimedOut
///     assert!(late.unwrap_err().is_timeout());
///     assert!(work(cx, &inputs).unwrap_err().is_closed());
/// });
/// ```
pub struct Error {
    kind: ErrorKind,
    source: Box<dyn error::Error + Send + Sync>,
}

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The scope of the wait was cancelled, or the scope's deadline has passed.
    Cancelled,
    /// The deadline of this wait, or of the enclosing [timeout](crate::Cx::timeout), has passed. So has that of an I/O
    /// operation of the system.
    TimedOut,
    /// The channel or semaphore is closed, or the other side of the conversation is gone.
    Closed,
    /// The operation would have to wait: the channel is full, or empty, or the semaphore has too few permits.
    WouldBlock,
    /// The receiver has missed values of a broadcast channel.
    Lagged,
    /// A fiber panicked. [`Error::into_panic`] returns the payload.
    Panicked,
    /// A future was cancelled and dropped before it had ended.
    Aborted,
    /// An error of another kind: of the system, of a wire, of a pool that was not built, of the program.
    Other,
}

impl Error {
    fn new(kind: ErrorKind, source: impl error::Error + Send + Sync + 'static) -> Self {
        Self { kind, source: Box::new(source) }
    }

    /// Makes an error of the program's own, of the kind [`ErrorKind::Other`].
    ///
    /// ```
    /// let error = anabranch::Error::other("no such account");
    /// assert_eq!(error.to_string(), "no such account");
    /// ```
    pub fn other(error: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        Self { kind: ErrorKind::Other, source: error.into() }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns whether the scope was cancelled, or its deadline has passed. Pass such an error on.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.kind == ErrorKind::Cancelled
    }

    /// Returns whether a deadline of its own has passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.kind == ErrorKind::TimedOut
    }

    /// Returns whether the channel or semaphore is closed, or the other side of the conversation is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.kind == ErrorKind::Closed
    }

    /// Returns whether the operation would have to wait.
    #[must_use]
    pub fn would_block(&self) -> bool {
        self.kind == ErrorKind::WouldBlock
    }

    /// Returns whether a fiber panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.kind == ErrorKind::Panicked
    }

    /// Returns the error that was converted.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn error::Error + Send + Sync + 'static) {
        &*self.source
    }

    /// Returns the error that was converted, if it is of this type.
    ///
    /// # Errors
    /// Returns the error unchanged if it is of another type.
    ///
    /// ```
    /// use anabranch::{Cancelled, Error, WaitError};
    ///
    /// let error = Error::from(Cancelled).downcast::<WaitError>().unwrap_err();
    /// assert_eq!(error.downcast::<Cancelled>().unwrap(), Cancelled);
    /// ```
    pub fn downcast<E: error::Error + Send + Sync + 'static>(self) -> Result<E, Self> {
        match self.source.downcast() {
            Ok(error) => Ok(*error),
            Err(source) => Err(Self { kind: self.kind, source }),
        }
    }

    /// Returns the payload of the panic, for [`std::panic::resume_unwind`].
    ///
    /// # Errors
    /// Returns the error unchanged if no fiber panicked.
    ///
    /// ```
    /// let error = anabranch::run(|cx| anabranch::spawn(|_| panic!("text")).join(cx)).map(|()| ()).unwrap_err();
    /// let payload = anabranch::Error::from(error).into_panic().unwrap();
    /// assert_eq!(payload.downcast_ref(), Some(&"text"));
    /// ```
    pub fn into_panic(self) -> Result<Box<dyn Any + Send>, Self> {
        self.downcast::<Panic>().map(|panic| panic.payload.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("kind", &self.kind).field("source", &self.source).finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

/// The source is that of the converted error, whose text this one displays.
impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.source()
    }
}

/// A panic as a source. The lock makes the payload `Sync`.
struct Panic {
    text: String,
    payload: Mutex<Box<dyn Any + Send>>,
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.text).finish()
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl error::Error for Panic {}

/// Keeps the payload of a panic: see [`Error::into_panic`].
#[cfg(any(unix, windows))]
impl From<crate::JoinError> for Error {
    fn from(error: crate::JoinError) -> Self {
        use crate::JoinError;
        match error {
            JoinError::Cancelled => Cancelled.into(),
            JoinError::TimedOut => TimedOut.into(),
            JoinError::Panicked(payload) => {
                let text = JoinError::text_of(payload.as_ref());
                Self::new(ErrorKind::Panicked, Panic { text, payload: Mutex::new(payload) })
            }
            JoinError::Aborted => Self { kind: ErrorKind::Aborted, source: error.to_string().into() },
        }
    }
}

/// Implements the conversion of errors. Each pattern has its kind.
macro_rules! convert {
    ($($error:ty { $($pattern:pat => $kind:ident),* $(,)? })*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                let kind = match &error { $($pattern => ErrorKind::$kind,)* };
                Self::new(kind, error)
            }
        }
    )*};
}

convert! {
    Cancelled { Cancelled => Cancelled }
    TimedOut { TimedOut => TimedOut }
    WaitError { WaitError::Cancelled => Cancelled, WaitError::TimedOut => TimedOut }
    Closed { Closed => Closed }
    channel::RecvError { channel::RecvError::Closed => Closed, channel::RecvError::Cancelled => Cancelled }
    TryRecvError { TryRecvError::Empty => WouldBlock, TryRecvError::Closed => Closed }
    CallError { CallError::Closed => Closed, CallError::Cancelled => Cancelled }
    broadcast::Lagged { _ => Lagged }
    broadcast::ClosedOrLagged {
        broadcast::ClosedOrLagged::Closed => Closed,
        broadcast::ClosedOrLagged::Lagged(_) => Lagged,
    }
    broadcast::RecvError {
        broadcast::RecvError::Closed => Closed,
        broadcast::RecvError::Lagged(_) => Lagged,
        broadcast::RecvError::Cancelled => Cancelled,
    }
    broadcast::TryRecvError {
        broadcast::TryRecvError::Empty => WouldBlock,
        broadcast::TryRecvError::Closed => Closed,
        broadcast::TryRecvError::Lagged(_) => Lagged,
    }
    SemaphoreClosed { SemaphoreClosed => Closed }
    AcquireError { AcquireError::Closed => Closed, AcquireError::Cancelled => Cancelled }
    TryAcquireError { TryAcquireError::NoPermits => WouldBlock, TryAcquireError::Closed => Closed }
    BuildError { _ => Other }
}

#[cfg(feature = "serde")]
use crate::proto::wire::WireError;

#[cfg(feature = "serde")]
convert! {
    WireError { WireError::Left | WireError::Lost => Closed, _ => Other }
}

/// Implements the conversion of errors that hold values, as the same error with `()` in their place.
macro_rules! convert_without_value {
    ($($error:ident<$($value:ident),*> { $($pattern:pat => $kind:ident: $without:expr),* $(,)? })*) => {$(
        /// Drops the value.
        impl<$($value),*> From<$error<$($value),*>> for Error {
            fn from(error: $error<$($value),*>) -> Self {
                match error { $($pattern => Self::new(ErrorKind::$kind, $without),)* }
            }
        }
    )*};
}

convert_without_value! {
    ClosedError<T> { ClosedError(_) => Closed: ClosedError(()) }
    SendError<T> {
        SendError::Closed(_) => Closed: SendError::Closed(()),
        SendError::Cancelled(_) => Cancelled: SendError::Cancelled(()),
    }
    TrySendError<T> {
        TrySendError::Full(_) => WouldBlock: TrySendError::Full(()),
        TrySendError::Closed(_) => Closed: TrySendError::Closed(()),
    }
    EndpointRecvError<E> {
        EndpointRecvError::Closed => Closed: EndpointRecvError::<()>::Closed,
        EndpointRecvError::Cancelled(_) => Cancelled: EndpointRecvError::Cancelled(()),
    }
    EndpointTryRecvError<E> {
        EndpointTryRecvError::Closed => Closed: EndpointTryRecvError::<()>::Closed,
        EndpointTryRecvError::Empty(_) => WouldBlock: EndpointTryRecvError::Empty(()),
    }
    EndpointSendError<E, M> {
        EndpointSendError::Closed => Closed: EndpointSendError::<(), ()>::Closed,
        EndpointSendError::Cancelled(..) => Cancelled: EndpointSendError::Cancelled((), ()),
    }
    EndpointTrySendError<E, M> {
        EndpointTrySendError::Closed => Closed: EndpointTrySendError::<(), ()>::Closed,
        EndpointTrySendError::Full(..) => WouldBlock: EndpointTrySendError::Full((), ()),
    }
}

/// An I/O error that was made of an error of this crate gets the kind of that error. So does one whose own kind says
/// the same.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let inner = error.get_ref();
        let kind = match error.kind() {
            _ if inner.is_some_and(<dyn error::Error + Send + Sync>::is::<Cancelled>) => ErrorKind::Cancelled,
            io::ErrorKind::TimedOut => ErrorKind::TimedOut,
            io::ErrorKind::BrokenPipe => ErrorKind::Closed,
            io::ErrorKind::WouldBlock => ErrorKind::WouldBlock,
            _ => inner.and_then(|inner| inner.downcast_ref::<Self>()).map_or(ErrorKind::Other, |inner| inner.kind),
        };
        Self::new(kind, error)
    }
}

/// Returns the I/O error that was converted, if it was one. [`Cancelled`], [`TimedOut`] and [`Closed`] convert as they
/// do themselves: the kind of a cancellation is [`Other`](io::ErrorKind::Other), and not `Interrupted`, which many
/// callers retry.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let error = match error.downcast::<Self>() {
            Ok(error) => return error,
            Err(error) => error,
        };
        match error.kind {
            ErrorKind::Cancelled => Cancelled.into(),
            ErrorKind::TimedOut => TimedOut.into(),
            ErrorKind::Closed => Closed.into(),
            ErrorKind::WouldBlock => Self::new(io::ErrorKind::WouldBlock, error),
            _ => Self::other(error),
        }
    }
}
