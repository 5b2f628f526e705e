//! Threads: starting them, what is local to them, what the system says of them.

#[cfg(not(shuttle))]
pub(crate) use std::{
    thread::{Builder, JoinHandle, current, yield_now},
    thread_local,
};

#[cfg(shuttle)]
pub(crate) use self::shuttled::{Builder, LocalCell, thread_local};
#[cfg(shuttle)]
pub(crate) use shuttle::thread::{JoinHandle, current, yield_now};

#[cfg(not(any(loom, shuttle)))]
std::thread_local! {
    static PLACE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(loom)]
loom::thread_local! {
    static PLACE: std::cell::Cell<u64> = std::cell::Cell::new(0);
}

#[cfg(shuttle)]
shuttle::thread_local! {
    static PLACE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// An address that is the calling thread's own while it lives.
#[inline(always)]
pub(crate) fn identity() -> *mut () {
    PLACE.with(|place| place.as_ptr().cast())
}

/// How many threads the machine runs at a time for this process.
pub(crate) fn cores() -> usize {
    #[cfg(shuttle)]
    return crate::sys::chance::up_to(4);
    #[cfg(not(shuttle))]
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(shuttle)]
mod shuttled {
    use crate::sys::chance;
    use shuttle::thread::{self, JoinHandle, LocalKey};
    use std::{cell::Cell, io};

    /// Like that of std, which may be refused a thread; shuttle's never is.
    pub(crate) struct Builder(thread::Builder);

    impl Builder {
        pub(crate) fn new() -> Self {
            Self(thread::Builder::new())
        }

        pub(crate) fn name(self, name: String) -> Self {
            Self(self.0.name(name))
        }

        pub(crate) fn stack_size(self, bytes: usize) -> Self {
            Self(self.0.stack_size(bytes))
        }

        pub(crate) fn spawn(self, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
            if chance::is_refused() { Err(io::ErrorKind::WouldBlock.into()) } else { self.0.spawn(body) }
        }
    }

    /// std has these methods on `LocalKey<Cell<T>>`, shuttle does not.
    pub(crate) struct LocalCell<T: 'static>(pub(crate) &'static LocalKey<Cell<T>>);

    impl<T: Copy> LocalCell<T> {
        pub(crate) fn get(&'static self) -> T {
            self.0.with(Cell::get)
        }

        pub(crate) fn set(&'static self, value: T) {
            self.0.with(|cell| cell.set(value));
        }

        pub(crate) fn replace(&'static self, value: T) -> T {
            self.0.with(|cell| cell.replace(value))
        }
    }

    macro_rules! local_cells {
        ($($(#[$meta:meta])* static $name:ident: Cell<$value:ty> = const { $init:expr };)*) => {$(
            $(#[$meta])*
            static $name: $crate::sys::thread::LocalCell<$value> = {
                shuttle::thread_local! {
                    static KEY: Cell<$value> = const { $init };
                }
                $crate::sys::thread::LocalCell(&KEY)
            };
        )*};
    }
    pub(crate) use local_cells as thread_local;
}
