//! The default pool, which its first use creates or the program configures.

use crate::pool::{
    builder::{BuildError, Builder},
    guest::Guest,
    handle::Pool,
    worker::Worker,
};
use std::sync::{Mutex, OnceLock, PoisonError};

static DEFAULT: OnceLock<Pool> = OnceLock::new();

impl Pool {
    /// Returns the default pool, and creates it on first use.
    ///
    /// # Panics
    /// Panics when `ANABRANCH_NUM_THREADS` is set and is not a valid number of threads.
    #[inline]
    #[track_caller]
    pub(crate) fn default() -> &'static Pool {
        match DEFAULT.get() {
            Some(pool) => pool,
            None => Self::make_default(),
        }
    }

    /// Makes the calling thread, which is in no pool, a guest of the default pool until the value is dropped.
    ///
    /// Out of line and not generic, so that it is compiled once.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn enter_default() -> Option<Guest<'static>> {
        Self::default().registry().guest()
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
    /// already exists, by this function or by its first use.
    pub fn build_default(self) -> Result<(), BuildError> {
        DEFAULT.set(self.build()?).map_err(|_| BuildError::DefaultExists)
    }
}

/// Returns the number of threads that work at a time in the caller's pool, or in the default pool if the caller is
/// outside of any.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(3).build().unwrap();
/// assert_eq!(pool.install(anabranch::current_num_threads), 3);
/// ```
///
/// # Panics
/// Panics outside of any pool, when the default pool cannot be made.
#[track_caller]
pub fn current_num_threads() -> usize {
    match Worker::current().registry() {
        Some(registry) => registry.threads(),
        None => Pool::default().num_threads(),
    }
}
