//! A socket that fibers, threads and futures wait for: the loop of attempts that all sockets share.

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
use crate::net::transfer;
use crate::{
    cx::{
        Cx,
        attempt::{Attempt, wait_for},
        operation::OperationFuture,
    },
    pool::{Pool, worker::Worker},
    reactor::{
        reactor::Reactor,
        readiness::{Direction, Done, Readiness},
        source::Source,
    },
    sys::poller::{AsSource, BorrowedSource},
    time::NEVER,
    wait::{
        future::poll_counted,
        queue::Entry,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{
    cell::RefCell,
    fmt, io,
    mem::ManuallyDrop,
    ptr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

/// A non-blocking socket, and the source that it is registered as.
pub(crate) struct Io<S: Socket> {
    source: Source,
    socket: ManuallyDrop<S>,
}

/// A socket of the system.
#[cfg(unix)]
pub(crate) trait Socket: AsSource + fmt::Debug {
    fn borrow(&self) -> BorrowedSource<'_> {
        self.as_fd()
    }
}

/// A socket of the system.
#[cfg(windows)]
pub(crate) trait Socket: AsSource + fmt::Debug {
    fn borrow(&self) -> BorrowedSource<'_> {
        self.as_socket()
    }
}

impl<S: AsSource + fmt::Debug> Socket for S {}

impl<S: Socket> Io<S> {
    /// Takes a socket that is in non-blocking mode.
    pub(super) fn new(socket: S) -> Self {
        #[cfg(target_vendor = "apple")]
        transfer::disable_signal(&socket);
        Self { source: Source::new(), socket: ManuallyDrop::new(socket) }
    }

    /// Lets no short transfer count as the last one, unless this is a plain stream of bytes: the socket was made
    /// elsewhere.
    pub(super) fn check_kind(&self) {
        #[cfg(target_os = "linux")]
        if !transfer::is_stream_of_bytes(self.get()) {
            self.source.disregard_short();
        }
    }

    #[inline]
    pub(super) fn get(&self) -> &S {
        &self.socket
    }

    /// Returns the socket, which no reactor knows any more.
    pub(super) fn into_inner(self) -> S {
        self.source.deregister(self.socket.borrow());
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither used nor dropped again. Its fields are taken once each.
        unsafe {
            ptr::drop_in_place(&raw mut this.source);
            ManuallyDrop::take(&mut this.socket)
        }
    }

    /// Performs `call`, and waits while it would block.
    #[inline]
    pub(super) fn perform<R>(
        &self,
        cx: &Cx<'_>,
        direction: Direction,
        reason: WaitReason,
        call: impl FnMut(&S) -> io::Result<Done<R>>,
    ) -> io::Result<R> {
        cx.checkpoint()?;
        wait_for(cx, &self.call(direction, call), NEVER, reason)?
    }

    /// Does the same for async code.
    pub(super) async fn perform_async<R>(
        &self,
        direction: Direction,
        call: impl FnMut(&S) -> io::Result<Done<R>>,
    ) -> io::Result<R> {
        OperationFuture::new(self.call(direction, call)).await
    }

    /// Does the same for a task, which is woken when it should call this again.
    pub(super) fn poll<R>(
        &self,
        context: &mut Context<'_>,
        direction: Direction,
        call: impl FnMut(&S) -> io::Result<Done<R>>,
    ) -> Poll<io::Result<R>> {
        let call = self.call(direction, call);
        poll_counted(context, |context| {
            loop {
                if let Some(result) = call.attempt() {
                    return Poll::Ready(result);
                }
                ready!(self.source.direction(direction).poll_ready(context));
            }
        })
    }

    pub(super) fn call<R, F>(&self, direction: Direction, call: F) -> SystemCall<'_, S, F>
    where
        F: FnMut(&S) -> io::Result<Done<R>>,
    {
        SystemCall { io: self, direction, call: RefCell::new(call), entry: Entry::new(()) }
    }

    /// Performs `call` once, without waiting.
    pub(super) fn try_once<R>(
        &self,
        direction: Direction,
        call: impl FnOnce(&S) -> io::Result<Done<R>>,
    ) -> io::Result<R> {
        self.source.direction(direction).attempt_once(|| call(&self.socket))
    }

    pub(super) fn ready(&self, direction: Direction) -> Ready<'_> {
        Ready { source: &self.source, socket: self.socket.borrow(), direction, entry: Entry::new(()) }
    }
}

/// Makes sure that an event ends the wait that follows.
#[inline(never)]
fn register(source: &Source, socket: BorrowedSource<'_>, direction: Direction) -> io::Result<()> {
    let me = Worker::current();
    // An error counts only if the source is not registered elsewhere.
    let own = match me.registry() {
        Some(_) if me.is_own => Some(me.parking.reactor.get_or_create(|| ())),
        _ => None,
    };
    let here = match &own {
        Some(Ok(own)) => &raw const ***own,
        _ => ptr::null(),
    };
    source.register(socket, direction, here, || match own {
        Some(own) => own.cloned(),
        None => for_outsider(),
    })
}

/// Returns the reactor of a worker, for a thread that has none: that of the pool which the thread is in, or else of the
/// default pool.
fn for_outsider() -> io::Result<Arc<Reactor>> {
    let registry = match Worker::current().registry() {
        Some(registry) => registry,
        None => Pool::default_pool().registry(),
    };
    if registry.pool_threads.had_no_thread() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "the pool has no thread that could wait for sockets"));
    }
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let worker = registry.worker(NEXT.fetch_add(1, Ordering::Relaxed) % registry.threads());
    worker.parking.reactor.get_or_create(|| worker.parking.unpark()).cloned()
}

impl<S: Socket> Drop for Io<S> {
    fn drop(&mut self) {
        self.source.deregister(self.socket.borrow());
        // SAFETY: the socket is not used after this.
        unsafe { ManuallyDrop::drop(&mut self.socket) };
    }
}

impl<S: Socket> fmt::Debug for Io<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.fmt(f)
    }
}

/// A system call that may have to wait.
pub(super) struct SystemCall<'a, S: Socket, F> {
    io: &'a Io<S>,
    direction: Direction,
    call: RefCell<F>,
    entry: Entry<()>,
}

impl<S: Socket, F> SystemCall<'_, S, F> {
    #[inline]
    fn readiness(&self) -> &Readiness {
        self.io.source.direction(self.direction)
    }
}

impl<R, S: Socket, F: FnMut(&S) -> io::Result<Done<R>>> Attempt for SystemCall<'_, S, F> {
    type Output = io::Result<R>;

    #[inline]
    fn attempt(&self) -> Option<io::Result<R>> {
        let result = self.readiness().attempt(|| (self.call.borrow_mut())(&self.io.socket));
        // An event that comes before the wait begins sets the readiness, and then there is no wait.
        result.or_else(|| register(&self.io.source, self.io.socket.borrow(), self.direction).err().map(Err))
    }

    #[inline]
    fn is_bare(&self) -> bool {
        !self.readiness().see().is_ready()
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by `Readiness::take`, which ends the wait, both under its
// lock.
unsafe impl<S: Socket, F> Waitable for SystemCall<'_, S, F> {
    fn register(&self, armed: Armed) -> bool {
        self.readiness().join(&self.entry, armed)
    }

    fn unregister(&self, ended: Ended) {
        if !ended.is_selected() {
            self.readiness().leave(&self.entry, ended);
        }
    }
}

/// An [operation](crate::Operation) that completes when a socket is probably ready in one direction. Returned by
/// [`TcpStream::readable`](crate::net::TcpStream::readable) and the like.
///
/// It may complete spuriously, so follow it with an attempt that does not wait, such as
/// [`TcpStream::try_read`](crate::net::TcpStream::try_read). If that would block, the next operation waits.
///
/// The first such operation of a socket asks the system, which answers with an event. So a selection with a `default`
/// may find the socket not ready although an attempt would succeed.
///
/// ```
/// use anabranch::{channel, net::UdpSocket, select};
///
/// anabranch::run(|cx| -> std::io::Result<()> {
///     let (sender, receiver) = channel::unbounded::<u8>();
///     let socket = UdpSocket::bind(cx, "127.0.0.1:0")?;
///     sender.send(cx, 1).unwrap();
///     let got = select!(cx, {
///         ready = socket.readable() => {
///             ready?;
///             None
///         }
///         got = receiver.receiving() => got.ok(),
///     });
///     assert_eq!(got.unwrap(), Some(1));
///     Ok(())
/// }).unwrap();
/// ```
#[must_use = "an operation does nothing until it is part of a selection"]
pub struct Ready<'a> {
    source: &'a Source,
    socket: BorrowedSource<'a>,
    direction: Direction,
    entry: Entry<()>,
}

impl Ready<'_> {
    fn readiness(&self) -> &Readiness {
        self.source.direction(self.direction)
    }
}

impl Attempt for Ready<'_> {
    type Output = io::Result<()>;

    const NAME: &'static &'static str = &"socket readiness";

    fn attempt(&self) -> Option<io::Result<()>> {
        let seen = self.readiness().see();
        if !self.source.is_registered() {
            // Nothing is known yet. The registration reports how it is. If another thread registers meanwhile, its
            // event comes after `seen` and is kept.
            self.readiness().clear(seen);
        } else if seen.is_ready() {
            return Some(Ok(()));
        }
        register(self.source, self.socket, self.direction).err().map(Err)
    }
}

crate::cx::operation::into_future!(Ready<'_>;);

// SAFETY: an address leaves the queue by `unregister`, or by `Readiness::take`, which ends the wait, both under its
// lock.
unsafe impl Waitable for Ready<'_> {
    fn register(&self, armed: Armed) -> bool {
        self.readiness().join(&self.entry, armed)
    }

    fn unregister(&self, ended: Ended) {
        if !ended.is_selected() {
            self.readiness().leave(&self.entry, ended);
        }
    }
}

impl fmt::Debug for Ready<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").field("direction", &self.direction).finish_non_exhaustive()
    }
}

/// Defines the conversions from and to the sockets of `std`.
macro_rules! conversions {
    ($socket:ident, $system:ty) => {
        impl $socket {
            /// Takes a socket of `std`, and sets it to non-blocking mode.
            ///
            /// # Errors
            /// Returns the errors of the system.
            pub fn from_std(socket: $system) -> ::std::io::Result<Self> {
                socket.set_nonblocking(true)?;
                let io = $crate::net::io::Io::new(socket);
                io.check_kind();
                Ok(Self { io })
            }

            /// Returns the socket as one of `std`, in blocking mode.
            ///
            /// # Errors
            /// Returns the errors of the system.
            pub fn into_std(self) -> ::std::io::Result<$system> {
                let socket = self.io.into_inner();
                socket.set_nonblocking(false)?;
                Ok(socket)
            }

            /// Returns the error that is pending on the socket, if there is one, and clears it.
            ///
            /// # Errors
            /// Returns the errors of the system.
            pub fn take_error(&self) -> ::std::io::Result<Option<::std::io::Error>> {
                self.io.get().take_error()
            }
        }

        /// As `from_std`.
        impl TryFrom<$system> for $socket {
            type Error = ::std::io::Error;

            fn try_from(socket: $system) -> ::std::io::Result<Self> {
                Self::from_std(socket)
            }
        }

        /// As `into_std`.
        impl TryFrom<$socket> for $system {
            type Error = ::std::io::Error;

            fn try_from(socket: $socket) -> ::std::io::Result<Self> {
                socket.into_std()
            }
        }

        /// For options: `socket2::SockRef::from(&socket)`.
        #[cfg(unix)]
        impl ::std::os::fd::AsFd for $socket {
            fn as_fd(&self) -> ::std::os::fd::BorrowedFd<'_> {
                ::std::os::fd::AsFd::as_fd(self.io.get())
            }
        }

        #[cfg(unix)]
        impl ::std::os::fd::AsRawFd for $socket {
            fn as_raw_fd(&self) -> ::std::os::fd::RawFd {
                ::std::os::fd::AsRawFd::as_raw_fd(self.io.get())
            }
        }

        /// For options: `socket2::SockRef::from(&socket)`.
        #[cfg(windows)]
        impl ::std::os::windows::io::AsSocket for $socket {
            fn as_socket(&self) -> ::std::os::windows::io::BorrowedSocket<'_> {
                ::std::os::windows::io::AsSocket::as_socket(self.io.get())
            }
        }

        #[cfg(windows)]
        impl ::std::os::windows::io::AsRawSocket for $socket {
            fn as_raw_socket(&self) -> ::std::os::windows::io::RawSocket {
                ::std::os::windows::io::AsRawSocket::as_raw_socket(self.io.get())
            }
        }

        impl ::std::fmt::Debug for $socket {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.io.fmt(f)
            }
        }
    };
}
pub(super) use conversions;
