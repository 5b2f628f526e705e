//! Making pools.

use crate::pool::{Pool, registry::Registry, sleep::MAX_THREADS, worker::Worker};
use crate::sys::barrier;
use std::{
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread,
};

type Handler = Arc<dyn Fn(usize) + Send + Sync>;
type Namer = Box<dyn FnMut(usize) -> String>;

/// The environment variable that says how many threads the default pool has.
pub(crate) const NUM_THREADS: &str = "ANABRANCH_NUM_THREADS";

/// Sets up a [`Pool`]. Made by [`Pool::builder`].
///
/// ```
/// use anabranch::Pool;
///
/// let pool = Pool::builder().threads(2).thread_name(|i| format!("render-{i}")).build()?;
/// assert_eq!(pool.num_threads(), 2);
/// # Ok::<(), anabranch::BuildError>(())
/// ```
#[must_use]
#[derive(Default)]
pub struct Builder {
    threads: Option<usize>,
    stack_size: Option<usize>,
    name: Option<Namer>,
    on_start: Option<Handler>,
    on_exit: Option<Handler>,
    without_raids: bool,
}

impl Builder {
    /// How many threads work at a time, guests included. Without it: `ANABRANCH_NUM_THREADS`, or else as many as the
    /// machine offers to the process.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The stack size of the pool's own threads, in bytes. Without it: the standard library's default, 2 MiB.
    ///
    /// A guest, that is a thread from outside that calls [`Pool::install`] or [`join`](crate::join), keeps its own stack.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Names the pool's own threads. Without it: `anabranch-0`, `anabranch-1` and so on.
    pub fn thread_name(mut self, name: impl FnMut(usize) -> String + 'static) -> Self {
        self.name = Some(Box::new(name));
        self
    }

    /// Called by each of the pool's own threads when it starts, with its index. [`build`](Self::build) waits for it.
    pub fn on_start(mut self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Arc::new(handler));
        self
    }

    /// Called by each of the pool's own threads when it ends, with its index. A panic in it is reported and goes no
    /// further.
    pub fn on_exit(mut self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_exit = Some(Arc::new(handler));
        self
    }

    /// Does without the `membarrier` system call, as on a system that does not have it.
    ///
    /// With it a thread that does not fork for a while can have its forks published by an idle one. Without it each root
    /// and each stolen piece publishes its first forks unasked, which costs small roots some ten nanoseconds and spreads
    /// coarse work a little less well.
    pub fn without_membarrier(mut self) -> Self {
        self.without_raids = true;
        self
    }

    /// Starts the threads and waits until every start handler has returned.
    ///
    /// # Errors
    /// When the number of threads is zero or above 4,095, when `ANABRANCH_NUM_THREADS` is used and is no number, when the
    /// system refuses a thread, or when a start handler panics. The threads that had started are ended again.
    pub fn build(mut self) -> Result<Pool, BuildError> {
        let threads = match self.threads {
            Some(threads) => threads,
            None => default_threads(std::env::var_os(NUM_THREADS).as_deref())?,
        };
        if threads == 0 {
            return Err(BuildError::ZeroThreads);
        }
        if threads > MAX_THREADS {
            return Err(BuildError::TooManyThreads(threads));
        }
        // From here on dropping the pool ends what was started.
        let mut pool = Pool {
            registry: Registry::new(threads, barrier::is_available() && !self.without_raids),
            threads: Vec::with_capacity(threads),
        };
        let (started, starts) = mpsc::channel();
        for index in 0..threads {
            let thread = self.start(index, &pool, started.clone());
            pool.threads.push(thread.map_err(BuildError::Spawn)?);
        }
        for _ in 0..threads {
            if !starts.recv().unwrap_or(false) {
                return Err(BuildError::StartHandlerPanicked);
            }
        }
        Ok(pool)
    }

    /// As [`build`](Self::build), and makes the pool the default one, which [`join`](crate::join) and the rest use outside
    /// of any pool.
    ///
    /// # Errors
    /// As [`build`](Self::build); and [`BuildError::DefaultExists`] when the default pool was made before, by this function
    /// or by its first use.
    pub fn build_default(self) -> Result<(), BuildError> {
        Pool::set_default(self.build()?)
    }

    fn start(&mut self, index: usize, pool: &Pool, started: mpsc::Sender<bool>) -> io::Result<thread::JoinHandle<()>> {
        let name = self.name.as_mut().map_or_else(|| format!("anabranch-{index}"), |name| name(index));
        let mut builder = thread::Builder::new().name(name);
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        let registry = Arc::clone(&pool.registry);
        let on_start = self.on_start.clone();
        let on_exit = self.on_exit.clone();
        builder.spawn(move || {
            let me = registry.worker(index);
            // SAFETY: each seat below the number of threads is held by the one thread made for it, which keeps the registry.
            let outside = unsafe { Worker::occupy(me) };
            let is_ready = on_start.is_none_or(|handler| catch_unwind(AssertUnwindSafe(|| handler(index))).is_ok());
            // The builder may have given up on the others; then the pool is closing.
            let _ = started.send(is_ready);
            drop(started);
            registry.work(me);
            if let Some(handler) = on_exit.filter(|_| is_ready) {
                let _ = catch_unwind(AssertUnwindSafe(|| handler(index)));
            }
            // SAFETY: the seat outside of every pool is always there.
            unsafe { Worker::occupy(outside) };
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("threads", &self.threads)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

/// The number of threads where the program does not say it.
fn default_threads(variable: Option<&std::ffi::OsStr>) -> Result<usize, BuildError> {
    match variable {
        None => Ok(thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)),
        Some(value) => match value.to_str().and_then(|text| text.trim().parse().ok()) {
            Some(0) => Err(BuildError::ZeroThreads),
            Some(threads) => Ok(threads),
            None => Err(BuildError::BadVariable(value.to_string_lossy().into_owned())),
        },
    }
}

/// Why a pool could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A pool of no threads was asked for, by the builder or by `ANABRANCH_NUM_THREADS`.
    ZeroThreads,
    /// A pool of more than 4,095 threads was asked for.
    TooManyThreads(usize),
    /// `ANABRANCH_NUM_THREADS` holds no whole number.
    BadVariable(String),
    /// The operating system refused to start a thread.
    Spawn(io::Error),
    /// A start handler panicked.
    StartHandlerPanicked,
    /// The default pool was made before.
    DefaultExists,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroThreads => write!(f, "a pool needs at least one thread, but zero were asked for"),
            Self::TooManyThreads(n) => write!(f, "a pool has at most {MAX_THREADS} threads, but {n} were asked for"),
            Self::BadVariable(value) => {
                write!(
                    f,
                    "{NUM_THREADS} must be a whole number of at least 1, not `{value}`; unset it to use all cores"
                )
            }
            Self::Spawn(error) => write!(f, "the system refused to start a thread of the pool: {error}"),
            Self::StartHandlerPanicked => write!(f, "a start handler of the pool panicked"),
            Self::DefaultExists => write!(
                f,
                "the default pool exists already; call build_default before the first use of join, scope or a parallel loop"
            ),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Spawn(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn the_variable_is_a_whole_number_of_at_least_one() {
        assert_eq!(default_threads(Some(OsStr::new(" 3 "))).unwrap(), 3);
        assert!(default_threads(None).unwrap() >= 1);
        assert!(matches!(default_threads(Some(OsStr::new("0"))), Err(BuildError::ZeroThreads)));
        for bad in ["", "-1", "two", "1.5", "99999999999999999999999"] {
            let error = default_threads(Some(OsStr::new(bad))).unwrap_err();
            assert!(matches!(&error, BuildError::BadVariable(value) if value == bad), "{bad}: {error}");
            assert!(error.to_string().contains(NUM_THREADS));
        }
    }
}
