//! Building pools: the threads are started here.

use crate::{
    fiber::limits::{DEFAULT_MAX_FIBERS, Limits},
    pool::{
        Pool,
        build_error::{BuildError, MAX_FIBER_STACK, MIN_STACK, NUM_THREADS},
        builder::{Builder, DEFAULT_SPARES},
        current_thread, live,
        registry::Registry,
        thread_builder::ThreadBuilder,
        threads,
        worker::Worker,
    },
    sys::{
        asymmetric_fence::{self, Fence},
        channel::channel,
        thread,
    },
};
use std::io;

/// The way in which the threads of a pool are started; see [`Builder::build_with`].
type SpawnHandler<'a> = &'a mut dyn FnMut(ThreadBuilder) -> io::Result<()>;

impl Builder {
    /// Starts the threads and waits until every start handler has returned.
    ///
    /// # Errors
    /// Returns an error when the number of threads is zero or above 4,095, when `ANABRANCH_NUM_THREADS` is used and is
    /// not a valid number of threads, when the size of a stack or guard is out of range, when the system refuses a
    /// thread, or when a start handler panics. The threads that had already started then end.
    pub fn build(self) -> Result<Pool, BuildError> {
        self.start(false, None)
    }

    /// Builds the pool like [`build`](Self::build), with threads that `spawn_handler` starts: for example in a
    /// [`std::thread::scope`], or with attributes that std cannot set.
    ///
    /// `spawn_handler` is called once for each thread. It must ensure that a new thread calls [`ThreadBuilder::run`],
    /// at any later time. Until then the pool works without that thread, but a [`broadcast`](Pool::broadcast) waits for
    /// it. The pool has no spare threads. Neither this function nor dropping the pool waits for the threads. Tasks that
    /// are pending when the pool is dropped run later.
    ///
    /// # Errors
    /// Returns the errors of [`build`](Self::build). Returns [`BuildError::Spawn`] with the first error of
    /// `spawn_handler`; the threads that it has started then end.
    ///
    /// ```
    /// let mut numbers = vec![1, 2, 3];
    /// let sum = std::thread::scope(|s| {
    ///     let pool = anabranch::Pool::builder().threads(2).build_with(|thread| {
    ///         std::thread::Builder::new().name(thread.name().to_owned()).spawn_scoped(s, || thread.run())?;
    ///         Ok(())
    ///     })?;
    ///     Ok::<i32, anabranch::pool::BuildError>(pool.call(|| numbers.drain(..).sum()))
    /// })?;
    /// assert_eq!(sum, 6);
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn build_with(
        self,
        mut spawn_handler: impl FnMut(ThreadBuilder) -> io::Result<()>,
    ) -> Result<Pool, BuildError> {
        self.start(false, Some(&mut spawn_handler))
    }

    /// Builds the pool like [`build`](Self::build), but with fewer threads, or none, if the system refuses some.
    pub(crate) fn build_with_what_there_is(self) -> Result<Pool, BuildError> {
        self.start(true, None)
    }

    fn start(mut self, makes_do: bool, mut spawn_handler: Option<SpawnHandler<'_>>) -> Result<Pool, BuildError> {
        let threads = match self.threads {
            Some(threads) => threads,
            None => default_threads(std::env::var_os(NUM_THREADS).as_deref())?,
        };
        if threads == 0 {
            return Err(BuildError::ZeroThreads);
        }
        if threads > Pool::MAX_THREADS {
            return Err(BuildError::TooManyThreads(threads));
        }
        match (self.config.stack_size, &self.stacks) {
            (Some(bytes), _) if bytes < MIN_STACK => return Err(BuildError::StackTooSmall(bytes)),
            (_, stacks) if stacks.stack_size > MAX_FIBER_STACK => {
                return Err(BuildError::FiberStackTooLarge(stacks.stack_size));
            }
            (_, stacks) if stacks.guard_size > MAX_FIBER_STACK => {
                return Err(BuildError::FiberGuardTooLarge(stacks.guard_size));
            }
            _ => {}
        }
        if self.uses_current_thread && Worker::current().registry().is_some() {
            return Err(BuildError::CurrentThreadInPool);
        }
        let fence = if asymmetric_fence::is_available() && !self.without_membarrier {
            Fence::Asymmetric
        } else {
            Fence::Symmetric
        };
        let is_own_spawn = spawn_handler.is_none();
        self.config.max_spares = if is_own_spawn { self.max_spares.unwrap_or(DEFAULT_SPARES) } else { 0 };
        if self.pins {
            self.config.cores = threads::allowed_cores();
        }
        self.blocking.stack_size = self.config.stack_size;
        self.blocking.cores.clone_from(&self.config.cores);
        let limits = Limits::new(self.max_fibers.unwrap_or(DEFAULT_MAX_FIBERS), self.stacks);
        // From here on, dropping the pool ends the threads that were started.
        let registry = Registry::new(threads, fence, self.config, self.blocking, self.clock, limits);
        let waits_for_threads = is_own_spawn && !self.without_waiting_for_start;
        let mut pool = Pool { registry, joins_threads: waits_for_threads };
        live::add(&pool.registry);
        let (started, starts) = channel();
        // On a system without threads the caller is the only one, whatever number was requested.
        let own = if thread::CAN_START { threads } else { 0 };
        let first = usize::from(self.uses_current_thread);
        let mut running = first;
        while running < own {
            let started = started.clone();
            let start = match &mut spawn_handler {
                // SAFETY: this is the only thread that is started for the worker entry, one of the pool's own.
                Some(handler) => handler(unsafe { ThreadBuilder::new(&pool.registry, running, started) }),
                None => pool.registry.start_thread(pool.registry.worker(running), Some(started)),
            };
            match start {
                Ok(()) => running += 1,
                Err(error) if makes_do => {
                    pool.registry.make_do_with(running, error);
                    break;
                }
                Err(error) => return Err(BuildError::Spawn(error)),
            }
        }
        // A thread that ends without sending drops its sender.
        drop(started);
        let awaited = if waits_for_threads { first..running } else { 0..0 };
        for _ in awaited {
            if !starts.recv().unwrap_or(false) {
                return Err(BuildError::StartHandlerPanicked);
            }
        }
        if self.uses_current_thread {
            if own <= 1 {
                pool.registry.pool_threads.note_no_thread();
            }
            // SAFETY: the loop above starts no thread for the worker entry 0, and only this call adopts one. Spares get
            // other entries.
            unsafe { current_thread::adopt(&pool.registry) };
        }
        pool.joins_threads = is_own_spawn;
        Ok(pool)
    }
}

/// Returns the default number of threads.
fn default_threads(variable: Option<&std::ffi::OsStr>) -> Result<usize, BuildError> {
    match variable.filter(|value| !value.is_empty()) {
        None => Ok(thread::cores().min(Pool::MAX_THREADS)),
        Some(value) => match value.to_str().and_then(|text| text.trim().parse().ok()) {
            Some(threads @ 1..=Pool::MAX_THREADS) => Ok(threads),
            _ => Err(BuildError::BadVariable(value.to_string_lossy().into_owned())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn variable_must_be_positive_integer() {
        assert_eq!(default_threads(Some(OsStr::new(" 3 "))).unwrap(), 3);
        assert!(default_threads(None).unwrap() >= 1);
        assert_eq!(default_threads(Some(OsStr::new(""))).unwrap(), default_threads(None).unwrap());
        for bad in ["0", " ", "4096", "-1", "two", "1.5", "99999999999999999999999"] {
            let error = default_threads(Some(OsStr::new(bad))).unwrap_err();
            assert!(matches!(&error, BuildError::BadVariable(value) if value == bad), "{bad}: {error}");
            assert!(error.to_string().contains(NUM_THREADS));
        }
    }
}
