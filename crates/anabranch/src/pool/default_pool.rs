//! The default pool, made on its first use or set up by hand.

use crate::pool::{
    builder::{BuildError, Builder},
    handle::Pool,
    worker::Worker,
};
use std::sync::{Mutex, OnceLock, PoisonError};

static DEFAULT: OnceLock<Pool> = OnceLock::new();

impl Pool {
    /// Returns the default pool, which is made if this is its first use.
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
            // The program may have set up another default pool meanwhile; then this one is ended.
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
    /// Builds the pool like [`build`](Self::build), and makes it the default one, which [`join`](crate::join) and the
    /// rest use outside of any pool.
    ///
    /// # Errors
    /// As [`build`](Self::build); and [`BuildError::DefaultExists`] when the default pool was made before, by this
    /// function or by its first use.
    pub fn build_default(self) -> Result<(), BuildError> {
        DEFAULT.set(self.build()?).map_err(|_| BuildError::DefaultExists)
    }
}

/// Returns how many threads work at a time in the pool that the caller is in; outside of any, in the default pool.
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
