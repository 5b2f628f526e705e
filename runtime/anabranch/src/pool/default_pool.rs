//! The default pool, which its first use creates or the program configures.

use crate::{
    pool::{
        build_error::BuildError, builder::Builder, current_thread, guest::Guest, handle::Pool, id::PoolId,
        registry::Registry, stats::Stats, thread_builder::ThreadBuilder, worker::Worker,
    },
    sys::thread::thread_local,
};
use std::{
    cell::Cell,
    io, ptr,
    sync::{Mutex, OnceLock, PoisonError},
};

static DEFAULT: OnceLock<Pool> = OnceLock::new();

thread_local! {
    /// The pool whose blocking call the thread runs, or null. The thread is in no pool then, but what it forks and
    /// spawns goes to this one.
    static CALLER: Cell<*const Registry> = const { Cell::new(ptr::null()) };
}

/// Runs a blocking call of this pool on a thread that is in no pool: what `call` forks and spawns goes to this pool.
pub(crate) fn on_behalf_of<R>(registry: &Registry, call: impl FnOnce() -> R) -> R {
    /// Also when `call` unwinds: the reference ends with this function.
    struct Restore(*const Registry);

    impl Drop for Restore {
        fn drop(&mut self) {
            CALLER.set(self.0);
        }
    }

    let _restore = Restore(CALLER.replace(registry));
    call()
}

impl Pool {
    /// Returns the default pool, and creates it on first use.
    ///
    /// Functions such as [`join`](crate::join) and [`scope`](crate::scope) use it outside of any pool. The reference is
    /// `'static`, so it is a handle of the pool that can be copied, stored and sent. Functions for the pool that the
    /// caller is in, or else for the default pool, are [`spawn`](crate::spawn), [`spawn_named`](crate::spawn_named),
    /// [`spawn_async`](crate::spawn_async), [`execute`](crate::execute), [`fibers`](crate::fiber::fibers) and
    /// [`stats`](crate::pool::stats).
    ///
    /// # Panics
    /// Panics when `ANABRANCH_NUM_THREADS` is set and is not a valid number of threads.
    ///
    /// ```
    /// let default = anabranch::Pool::default_pool();
    /// assert_eq!(default.install(anabranch::pool::current_pool_id), Some(default.id()));
    /// let handle = default.spawn_named("reporter", |_| default.stats().workers.len());
    /// assert_eq!(default.run(|cx| handle.join(cx)).unwrap(), default.num_threads());
    /// ```
    #[inline]
    #[track_caller]
    pub fn default_pool() -> &'static Pool {
        match DEFAULT.get() {
            Some(pool) => pool,
            None => Self::make_default(),
        }
    }

    /// Returns the pool for what the calling thread, which is in no pool, forks and spawns: the default one, or the one
    /// whose blocking call it runs. The reference is valid until that call returns. All users of the reference end
    /// before.
    #[cold]
    #[track_caller]
    pub(crate) fn of_outside<'a>() -> &'a Registry {
        // SAFETY: null, or the argument of a call of `on_behalf_of` on this thread, which has not returned.
        match unsafe { CALLER.get().as_ref() } {
            Some(registry) => registry,
            None => Self::default_pool().registry(),
        }
    }

    /// Returns whether the calling thread runs a blocking call of a pool.
    pub(crate) fn is_in_blocking_call() -> bool {
        !CALLER.get().is_null()
    }

    /// Returns the pool that the calling thread is in. A thread of the program leaves a pool that closes; see
    /// `pool::current_thread`.
    #[inline]
    pub(crate) fn of_current<'a>() -> Option<&'a Registry> {
        let registry = Worker::current().registry()?;
        if registry.is_closing() && current_thread::release(registry) { None } else { Some(registry) }
    }

    /// Returns the pool that the calling thread is in, or else [the one](Self::of_outside) for what it forks and
    /// spawns.
    #[track_caller]
    pub(crate) fn of_caller<'a>() -> &'a Registry {
        match Self::of_current() {
            Some(registry) => registry,
            None => Self::of_outside(),
        }
    }

    /// Makes the calling thread, which is in no pool, a guest of [its pool](Self::of_outside) until the value is
    /// dropped.
    ///
    /// Out of line and not generic, so that it is compiled once.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn enter_from_outside() -> Option<Guest<'static>> {
        Self::of_outside().guest()
    }

    /// Not in the initialiser of `DEFAULT`: a panic from there would not point at the caller.
    #[cold]
    #[track_caller]
    fn make_default() -> &'static Pool {
        static MAKING: Mutex<()> = Mutex::new(());
        // The lock protects no data, so a panic cannot leave it inconsistent.
        let making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let made = match DEFAULT.get() {
            Some(pool) => Ok(pool),
            // The program may have set another default pool meanwhile; then this one ends.
            None => Self::builder().build_with_what_there_is().map(|pool| DEFAULT.get_or_init(|| pool)),
        };
        drop(making);
        match made {
            Ok(pool) => pool,
            Err(error) => panic!("the default anabranch pool cannot be made: {error}"),
        }
    }
}

impl Builder {
    /// Builds the pool like [`build`](Self::build), and makes it the default pool. [`join`](crate::join) and the other
    /// functions use the default pool outside of any pool.
    ///
    /// # Errors
    /// Returns the errors of [`build`](Self::build). Returns [`BuildError::DefaultExists`] when the default pool
    /// already exists, because it was built with this function or used before.
    pub fn build_default(self) -> Result<(), BuildError> {
        Self::check_default()?;
        let waits_for_threads = !self.without_waiting_for_start;
        DEFAULT.set(self.build()?).map_err(|superfluous| {
            if !waits_for_threads {
                superfluous.shutdown_background();
            }
            BuildError::DefaultExists
        })
    }

    /// Fails early if the default pool exists, before the calling thread becomes a part of another pool.
    fn check_default() -> Result<(), BuildError> {
        if DEFAULT.get().is_some() { Err(BuildError::DefaultExists) } else { Ok(()) }
    }

    /// Builds the pool like [`build_with`](Self::build_with), and makes it the default pool.
    ///
    /// # Errors
    /// Returns the errors of [`build_with`](Self::build_with). Returns [`BuildError::DefaultExists`] when the default
    /// pool already exists.
    pub fn build_default_with(
        self,
        spawn_handler: impl FnMut(ThreadBuilder) -> io::Result<()>,
    ) -> Result<(), BuildError> {
        Self::check_default()?;
        DEFAULT.set(self.build_with(spawn_handler)?).map_err(|_| BuildError::DefaultExists)
    }
}

/// Returns the number of threads that work at a time in the caller's pool, or in the default pool if the caller is
/// outside of any.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(3).build().unwrap();
/// assert_eq!(pool.install(anabranch::pool::current_num_threads), 3);
/// ```
///
/// # Panics
/// Panics outside of any pool, when the default pool cannot be created.
#[track_caller]
pub fn current_num_threads() -> usize {
    Pool::of_caller().threads()
}

/// Returns the counters of the pool that the caller is in, or else of the default pool. See [`Pool::stats`].
///
/// ```
/// assert_eq!(anabranch::join(|| 1, || 2), (1, 2));
/// println!("{}", anabranch::pool::stats());
/// # let pool = anabranch::Pool::builder().threads(3).build().unwrap();
/// assert_eq!(pool.install(anabranch::pool::stats).workers.len(), 3);
/// ```
///
/// # Panics
/// Panics outside of any pool, when the default pool cannot be created.
#[track_caller]
pub fn stats() -> Stats {
    Pool::of_caller().stats()
}

/// Returns the identity of the pool that the calling thread is in, or `None` outside of any pool. See [`Pool::id`].
#[inline]
pub fn current_pool_id() -> Option<PoolId> {
    Pool::of_current().map(|registry| registry.id)
}

/// Returns whether the calling thread is in a pool: one of a pool's own threads, or inside a call that has entered a
/// pool. Costs a few loads.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(1).build().unwrap();
/// assert!(pool.install(anabranch::pool::in_pool));
/// assert!(!anabranch::pool::in_pool());
/// ```
#[inline]
pub fn in_pool() -> bool {
    Pool::of_current().is_some()
}
