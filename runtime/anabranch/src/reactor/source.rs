//! A source: one socket, and the reactor at which it is registered.
//!
//! A source is registered once, by the first operation that has to wait, and stays registered until its socket is
//! dropped. It moves in two cases. If its reactor has closed, since its pool has ended, the next wait registers it
//! elsewhere. And if a worker has to wait [`MOVE_AFTER`] times in a row while the source is registered at another
//! worker, it moves to that one. A reactor reports the present state of a source that it adds, in both directions. So
//! no event is lost between the two reactors. The source leaves the old one only once the new one has it, because the
//! system may refuse that.
//!
//! Lock order: the home of a source, then the list of a reactor. A reactor takes no lock of a source but those of its
//! directions, which are innermost.

use crate::{
    reactor::{
        reactor::Reactor,
        readiness::{Direction, Directions, Readiness},
    },
    sys::{
        poller::BorrowedSource,
        sync::{Arc, Mutex, lock},
    },
};
use std::{io, mem, ptr};

/// After so many waits of one worker in a row the source moves there.
const MOVE_AFTER: u32 = 8;

/// See the [module](self).
pub(crate) struct Source {
    directions: Arc<Directions>,
    home: Mutex<Option<Home>>,
}

/// Where the source is registered.
struct Home {
    reactor: Arc<Reactor>,
    key: usize,
    /// How many waits in a row came from the same other worker.
    strange: u32,
    stranger: *const Reactor,
}

// SAFETY: `stranger` is only compared.
unsafe impl Send for Home {}

impl Source {
    pub(crate) fn new() -> Self {
        Self { directions: Arc::new(Directions::new()), home: Mutex::new(None) }
    }

    #[inline]
    pub(crate) fn direction(&self, direction: Direction) -> &Readiness {
        self.directions.get(direction)
    }

    /// Lets no short transfer count as the last one. Precedes the first transfer.
    #[cfg(target_os = "linux")]
    pub(crate) fn disregard_short(&self) {
        for direction in [Direction::Read, Direction::Write] {
            // Nothing waits yet.
            let _ = self.direction(direction).set(true);
        }
    }

    /// Makes sure that an event sets the readiness of `direction` from now on. `here` is the reactor of the calling
    /// worker, or, for a thread that has none, null. `choose` chooses a reactor for a source that has none.
    ///
    /// # Errors
    /// Returns the errors of `choose`, and those of the system: there may be no room for another registration.
    pub(crate) fn register(
        &self,
        socket: BorrowedSource<'_>,
        direction: Direction,
        here: *const Reactor,
        choose: impl FnOnce() -> io::Result<Arc<Reactor>>,
    ) -> io::Result<()> {
        let mut place = lock(&self.home);
        if let Some(home) = &mut *place
            && !home.reactor.is_closed()
        {
            if !home.should_move(here) {
                return home.reactor.arm(socket, home.key, direction);
            }
            home.strange = 0;
            // If the system refuses that, the source stays at its reactor, which may have waiters for the other
            // direction.
            let Ok(new) = choose().and_then(|reactor| self.add_to(reactor, socket)) else {
                return home.reactor.arm(socket, home.key, direction);
            };
            mem::replace(home, new).remove(socket);
            return Ok(());
        }
        // A reactor that closes wakes all waiters, so each of them registers the source, or gets the error.
        let new = choose().and_then(|reactor| self.add_to(reactor, socket))?;
        if let Some(closed) = place.replace(new) {
            closed.remove(socket);
        }
        Ok(())
    }

    /// Registers the source there, for both directions.
    fn add_to(&self, reactor: Arc<Reactor>, socket: BorrowedSource<'_>) -> io::Result<Home> {
        let key = reactor.add(socket, Arc::clone(&self.directions))?;
        Ok(Home { reactor, key, strange: 0, stranger: ptr::null() })
    }

    /// Returns whether events set the readiness.
    pub(crate) fn is_registered(&self) -> bool {
        lock(&self.home).as_ref().is_some_and(|home| !home.reactor.is_closed())
    }

    /// Removes the source from its reactor. Precedes the end of the socket, or its conversion into another.
    pub(crate) fn deregister(&self, socket: BorrowedSource<'_>) {
        if let Some(home) = lock(&self.home).take() {
            home.remove(socket);
        }
    }
}

impl Home {
    fn remove(self, socket: BorrowedSource<'_>) {
        self.reactor.remove(socket, self.key);
    }

    /// Counts the waits at other workers than the reactor's own.
    fn should_move(&mut self, here: *const Reactor) -> bool {
        if here.is_null() || ptr::eq(here, &raw const *self.reactor) {
            self.strange = 0;
            return false;
        }
        self.strange = if ptr::eq(here, self.stranger) { self.strange + 1 } else { 1 };
        self.stranger = here;
        self.strange >= MOVE_AFTER
    }
}

#[cfg(all(test, target_os = "linux", not(anabranch_portable_poller)))]
mod tests {
    use super::{Direction, Directions, MOVE_AFTER, Reactor, Source};
    use std::{
        io::Write,
        os::{fd::AsFd, unix::net::UnixStream},
        ptr,
        sync::Arc,
    };

    #[test]
    fn source_stays_where_it_is_if_system_refuses_its_move() {
        let (socket, mut peer) = UnixStream::pair().unwrap();
        let [old, new] = [(); 2].map(|()| Arc::new(Reactor::new().unwrap()));
        // The system refuses a descriptor that it knows already.
        let other = new.add(socket.as_fd(), Arc::new(Directions::new())).unwrap();
        let source = Source::new();
        let register = |direction, here: *const Reactor, at: &Arc<Reactor>| {
            source.register(socket.as_fd(), direction, here, || Ok(Arc::clone(at))).unwrap();
        };
        register(Direction::Read, ptr::null(), &old);
        old.poll();
        let readable = source.direction(Direction::Read);
        readable.clear(readable.see());
        for _ in 0..3 * MOVE_AFTER {
            register(Direction::Write, &raw const *new, &new);
        }
        assert!(old.has_sources() && !readable.see().is_ready());
        peer.write_all(b"x").unwrap();
        old.poll();
        assert!(readable.see().is_ready());
        // It moves once the system allows that, and reports what is there.
        new.remove(socket.as_fd(), other);
        readable.clear(readable.see());
        for _ in 0..MOVE_AFTER {
            register(Direction::Write, &raw const *new, &new);
        }
        assert!(!old.has_sources());
        new.poll();
        assert!(readable.see().is_ready());
        source.deregister(socket.as_fd());
        assert!(!new.has_sources());
    }
}
