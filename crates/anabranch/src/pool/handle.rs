//! The pool as users hold it, and the default one.

use crate::pool::{
    broadcast,
    builder::{BuildError, Builder},
    registry::Registry,
    stats::Stats,
    worker::Worker,
};
use std::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// A pool of worker threads.
///
/// Most programs need no pool of their own: [`join`](crate::fork::join), [`scope`](crate::fork::scope) and the parallel loops use the
/// pool that they are called in, and outside of any the default one, which is made on its first use and has
/// `ANABRANCH_NUM_THREADS` threads, or as many as the machine offers. A pool of one's own is for another number of
/// threads, for thread names, stack sizes and handlers, or to keep two parts of a program apart.
///
/// If the system refuses some of the threads of the default pool, it goes on with the others, and says so once on the
/// standard error stream. If there are none, each caller does all of its work itself; spawned fibers then wait until the
/// system grants a thread.
///
/// A pool of T threads lets T threads work at a time. A thread from outside that comes in by [`install`](Self::install)
/// works as one of them for as long as it stays, a *guest*: nothing is handed over, nobody has to wake up first. When
/// more than T guests are inside, all of them work, each on its own, and the pool's own threads stand back.
///
/// Dropping a pool ends its threads and waits for them, exit handlers included. Work is always finished by then, because
/// every way into a pool returns only when its work is done. A pool that is dropped by one of its own threads, from a
/// handler say, tells them to end without waiting.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(4).build()?;
/// let (a, b) = pool.install(|| anabranch::join(|| 6 * 7, || "both"));
/// assert_eq!((a, b), (42, "both"));
/// # Ok::<(), anabranch::BuildError>(())
/// ```
pub struct Pool {
    pub(super) registry: Arc<Registry>,
}

static DEFAULT: OnceLock<Pool> = OnceLock::new();

impl Pool {
    /// Begins to set up a pool.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The default pool, which is made if this is its first use.
    ///
    /// # Panics
    /// When `ANABRANCH_NUM_THREADS` is set to what is no number of threads.
    #[inline]
    #[track_caller]
    pub(crate) fn default() -> &'static Pool {
        match DEFAULT.get() {
            Some(pool) => pool,
            None => Self::make_default(),
        }
    }

    /// Not within the initialiser of `DEFAULT`, from which a panic would not point at the caller.
    #[cold]
    #[track_caller]
    fn make_default() -> &'static Pool {
        static MAKING: Mutex<()> = Mutex::new(());
        // Nothing is behind this lock that a panic could leave in pieces.
        let making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let made = match DEFAULT.get() {
            Some(pool) => Ok(pool),
            // Somebody may have set up another one meanwhile, by hand; then this one is ended.
            None => Self::builder().build_with_what_there_is().map(|pool| DEFAULT.get_or_init(|| pool)),
        };
        drop(making);
        match made {
            Ok(pool) => pool,
            Err(error) => panic!("the default anabranch pool cannot be made: {error}"),
        }
    }

    pub(super) fn set_default(pool: Pool) -> Result<(), BuildError> {
        DEFAULT.set(pool).map_err(|_| BuildError::DefaultExists)
    }

    /// Runs `root` on the calling thread as a part of this pool: what it forks can be taken by the pool's threads.
    ///
    /// On a thread of this pool, or inside another `install` of it, this is a plain call. On a thread of another pool,
    /// what that thread has forked there is first laid open, so that its own pool can go on without it.
    ///
    /// # Panics
    /// When `root` panics.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    /// let mut squares = vec![0u64; 1000];
    /// pool.install(|| {
    ///     anabranch::par_for_each((0..1000u64, &mut squares[..]), |(i, square)| *square = i * i);
    /// });
    /// assert_eq!(squares[31], 961);
    /// ```
    pub fn install<R>(&self, root: impl FnOnce() -> R) -> R {
        self.registry.enter(root)
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// How many threads work at a time.
    pub fn num_threads(&self) -> usize {
        self.registry.threads()
    }

    /// What the pool's threads have done since it was made. Cheap enough to be asked at any time; the counters are read one
    /// after the other while the threads go on.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    /// pool.install(|| anabranch::par_for_each(0..1000u32, |_| ()));
    /// println!("{}", pool.stats());
    /// assert_eq!(pool.stats().workers.len(), 2);
    /// ```
    pub fn stats(&self) -> Stats {
        self.registry.stats()
    }

    /// Runs `op` once on each of the pool's own threads, with the thread's index, and returns the results in that order.
    ///
    /// A thread that is at work does it when that piece of work has ended, or when it waits in a [`join`](crate::fork::join), a
    /// [`scope`](crate::fork::scope) or a broadcast. So `op` may run on top of any work of this pool, and must not take a lock that
    /// is held across one of these. A thread that is inside another pool answers when it has come back, so work that it
    /// waits for there must not broadcast here.
    ///
    /// What `op` waits for may broadcast in turn, to any depth. Beside that a thread that waits inside of `op` answers other
    /// broadcasts too, but has no more than eight such answers on its stack: the rest comes when these are over.
    ///
    /// # Panics
    /// When an `op` panics: once all have ended, with the first panic.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(3).build().unwrap();
    /// assert_eq!(pool.broadcast(|index| index * 10), [0, 10, 20]);
    /// ```
    pub fn broadcast<R: Send>(&self, op: impl Fn(usize) -> R + Sync) -> Vec<R> {
        broadcast::broadcast(&self.registry, op)
    }
}

// What the threads of a pool share is changed by atomics, and under locks within which no code of the user's runs. So a panic
// leaves it whole.
impl UnwindSafe for Pool {}
impl RefUnwindSafe for Pool {}

impl Drop for Pool {
    fn drop(&mut self) {
        self.registry.close();
        self.registry.crew.see_off();
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.num_threads()).finish_non_exhaustive()
    }
}

/// How many threads work at a time in the pool that the caller is in; outside of any, in the default pool.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(3).build().unwrap();
/// assert_eq!(pool.install(anabranch::current_num_threads), 3);
/// ```
///
/// # Panics
/// Outside of any pool, when the default pool cannot be made.
#[track_caller]
pub fn current_num_threads() -> usize {
    match Worker::current().registry() {
        Some(registry) => registry.threads(),
        None => Pool::default().num_threads(),
    }
}
