//! `epoll`, with an `eventfd` for notifications. A wait is one system call, and so is a notification: the `eventfd` is
//! edge-triggered, so each write is reported once, and the count in it need not be read.

use crate::sys::{
    poller::Report,
    sync::{AtomicBool, Ordering},
};
use rustix::{
    event::{EventfdFlags, epoll, eventfd},
    io::Errno,
};
use std::{
    fmt, io,
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    ptr,
    time::Duration,
};

/// What can be added to a poller.
pub(crate) use std::os::fd::{AsFd as AsSource, BorrowedFd as BorrowedSource};

/// Whether a transfer of fewer bytes than asked for shows that the next one would block. So it does with edges: more
/// data is another edge. See the exceptions at [`Report::is_special`].
pub(crate) const SHORT_MEANS_EMPTY: bool = true;

/// The key of the notification.
const NOTIFIED: u64 = u64::MAX;

/// The most events of one wait. They are on the stack of the waiting thread, which may be that of a fiber.
const CAPACITY: usize = 512;

/// Whether the system has `epoll_pwait2` (Linux 5.11), which takes nanoseconds.
static HAS_NANOSECONDS: AtomicBool = AtomicBool::new(true);

pub(crate) struct Poller {
    epoll: OwnedFd,
    notification: OwnedFd,
}

/// The events of one wait.
pub(crate) struct Events {
    list: [MaybeUninit<libc::epoll_event>; CAPACITY],
    len: usize,
}

impl Events {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { list: [MaybeUninit::uninit(); CAPACITY], len: 0 }
    }

    fn list(&self) -> &[libc::epoll_event] {
        // SAFETY: the system has written the first `len` events.
        unsafe { &*(ptr::from_ref(&self.list[..self.len]) as *const [libc::epoll_event]) }
    }

    /// Returns whether there may be more than these.
    pub(crate) fn is_full(&self) -> bool {
        self.len == CAPACITY
    }

    /// Returns whether one of them is the notification.
    pub(crate) fn has_notification(&self) -> bool {
        self.list().iter().any(|event| { event.u64 } == NOTIFIED)
    }

    /// Returns the reports of sources.
    pub(crate) fn reports(&self) -> impl Iterator<Item = Report> + '_ {
        const READ: i32 = libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR;
        const WRITE: i32 = libc::EPOLLOUT | libc::EPOLLHUP | libc::EPOLLERR;
        const SPECIAL: i32 = libc::EPOLLPRI | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR;
        self.list().iter().filter(|event| { event.u64 } != NOTIFIED).map(|event| {
            let flags = event.events as i32;
            Report {
                key: event.u64 as usize,
                is_readable: flags & READ != 0,
                is_writable: flags & WRITE != 0,
                is_special: flags & SPECIAL != 0,
            }
        })
    }
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let notification = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &notification, epoll::EventData::new_u64(NOTIFIED), flags)?;
        Ok(Self { epoll, notification })
    }

    /// Adds a source, whose present state is reported first.
    pub(crate) fn add(&self, source: BorrowedFd<'_>, key: usize) -> io::Result<()> {
        use epoll::EventFlags as Flags;
        let flags = Flags::IN | Flags::OUT | Flags::RDHUP | Flags::PRI | Flags::ET;
        Ok(epoll::add(&self.epoll, source, epoll::EventData::new_u64(key as u64), flags)?)
    }

    /// Does nothing: changes of both directions are reported until the source is removed.
    #[inline]
    pub(crate) fn arm(&self, _: BorrowedFd<'_>, _key: usize, _read: bool, _write: bool) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing: a report disables nothing.
    #[inline]
    pub(crate) fn note_report(&self, _: &mut Report) {}

    /// Removes a source. A descriptor that was closed meanwhile has left by itself.
    pub(crate) fn delete(&self, source: BorrowedFd<'_>, _key: usize) {
        let _ = epoll::delete(&self.epoll, source);
    }

    /// Waits for events, a notification, a signal, or the end of `timeout`.
    pub(crate) fn wait(&self, events: &mut Events, timeout: Option<Duration>) {
        let result = match timeout {
            None => self.wait_millis(events, -1),
            Some(Duration::ZERO) => self.wait_millis(events, 0),
            Some(timeout) if HAS_NANOSECONDS.load(Ordering::Relaxed) => self.wait_nanos(events, timeout),
            Some(timeout) => self.wait_millis(events, ceil_millis(timeout)),
        };
        // Zero after an error, a signal perhaps: the caller looks around and waits again.
        events.len = usize::try_from(result).unwrap_or(0);
    }

    fn wait_millis(&self, events: &mut Events, millis: i32) -> i64 {
        let list = events.list.as_mut_ptr().cast();
        // SAFETY: `list` has room for `CAPACITY` events, which the system writes.
        i64::from(unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), list, CAPACITY as i32, millis) })
    }

    #[allow(clippy::useless_conversion, reason = "a long has 32 bits on some systems")]
    fn wait_nanos(&self, events: &mut Events, timeout: Duration) -> i64 {
        // As the system has it for this call, whatever the width of `time_t` in the C library.
        let timespec: [i64; 2] = [i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX), timeout.subsec_nanos().into()];
        let list: *mut libc::epoll_event = events.list.as_mut_ptr().cast();
        // SAFETY: `list` has room for `CAPACITY` events, which the system writes. It reads `timespec`. There is no
        // signal mask.
        let result = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                list,
                CAPACITY as libc::c_int,
                timespec.as_ptr(),
                ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        let is_unknown = result < 0
            && matches!(io::Error::last_os_error().raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EINVAL));
        if is_unknown {
            // A system before 5.11, or a filter of system calls that does not know this one.
            HAS_NANOSECONDS.store(false, Ordering::Relaxed);
            return self.wait_millis(events, ceil_millis(timeout));
        }
        i64::from(result)
    }

    pub(crate) fn notify(&self) {
        let one = 1u64.to_ne_bytes();
        // After 2^64 - 2 notifications the count is full.
        if rustix::io::write(&self.notification, &one) == Err(Errno::AGAIN) {
            let _ = rustix::io::read(&self.notification, &mut [0; 8]);
            let _ = rustix::io::write(&self.notification, &one);
        }
    }
}

fn ceil_millis(timeout: Duration) -> i32 {
    i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Poller").field(&self.epoll.as_fd()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Events, HAS_NANOSECONDS, Poller, ceil_millis};
    use crate::sys::sync::Ordering;
    use std::time::{Duration, Instant};

    #[test]
    fn notification_is_reported_once_to_one_thread() {
        let (poller, mut events) = (Poller::new().unwrap(), Events::new());
        poller.notify();
        poller.notify();
        poller.wait(&mut events, None);
        assert!(events.has_notification());
        poller.wait(&mut events, Some(Duration::ZERO));
        assert!(!events.has_notification());
        poller.notify();
        poller.wait(&mut events, None);
        assert!(events.has_notification());
        assert_eq!(events.reports().count(), 0);
    }

    #[test]
    fn wait_ends_after_timeout_with_either_system_call() {
        let (poller, mut events) = (Poller::new().unwrap(), Events::new());
        for millis_only in [false, true] {
            let start = Instant::now();
            if millis_only {
                poller.wait_millis(&mut events, ceil_millis(Duration::from_micros(1_500)));
            } else {
                poller.wait(&mut events, Some(Duration::from_micros(1_500)));
            }
            assert!(start.elapsed() >= Duration::from_micros(1_500));
        }
        assert_eq!(ceil_millis(Duration::from_micros(1_500)), 2);
        // A hint only; systems before 5.11 say otherwise.
        let _ = HAS_NANOSECONDS.load(Ordering::Relaxed);
    }
}
