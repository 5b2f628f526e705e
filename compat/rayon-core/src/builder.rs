//! `ThreadPoolBuilder`.

use crate::{
    ThreadBuilder, ThreadPool, ThreadPoolBuildError, global, max_num_threads, num_threads,
    panics::{self, PanicHandler, SharedHandler},
    spawn_handler::{CustomSpawn, DefaultSpawn, Names, Plan, ThreadSpawn},
};
use anabranch::Pool;
use std::{any::Any, fmt, io, sync::Arc, thread};

/// The type of start and exit handlers.
type ThreadHandler = dyn Fn(usize) + Send + Sync;

/// Sets up a [`ThreadPool`], or the global pool.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(4).thread_name(|i| format!("worker-{i}")).build()?;
/// assert_eq!(pool.current_num_threads(), 4);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    panic_handler: Option<Box<PanicHandler>>,
    get_thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    start_handler: Option<Box<ThreadHandler>>,
    exit_handler: Option<Box<ThreadHandler>>,
    spawn_handler: S,
    breadth_first: bool,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            num_threads: 0,
            use_current_thread: false,
            panic_handler: None,
            get_thread_name: None,
            stack_size: None,
            start_handler: None,
            exit_handler: None,
            spawn_handler: DefaultSpawn,
            breadth_first: false,
        }
    }
}

impl ThreadPoolBuilder {
    /// Returns a builder with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a pool whose threads run inside of `wrapper`, calls `with_pool`, and waits until the threads have ended.
    /// So the threads may borrow. The wrapper should call [`ThreadBuilder::run`].
    ///
    /// # Errors
    /// Returns the errors of [`build`](Self::build).
    ///
    /// ```
    /// let name = String::from("data");
    /// let length = rayon_core::ThreadPoolBuilder::new().num_threads(2).build_scoped(
    ///     |thread| {
    ///         assert_eq!(name, "data");
    ///         thread.run();
    ///     },
    ///     |pool| pool.install(|| name.len()),
    /// )?;
    /// assert_eq!(length, 4);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|scope| {
            let wrapper = &wrapper;
            let spawn = |thread: ThreadBuilder| {
                let mut builder = thread::Builder::new();
                if let Some(name) = thread.name() {
                    builder = builder.name(name.to_owned());
                }
                if let Some(size) = thread.stack_size() {
                    builder = builder.stack_size(size);
                }
                builder.spawn_scoped(scope, move || wrapper(thread)).map(drop)
            };
            let pool = self.spawn_handler(spawn).build()?;
            Ok(with_pool(&pool))
        })
    }
}

#[allow(private_bounds, reason = "as in rayon, only the two kinds of `S` of this crate exist")]
impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Builds the pool.
    ///
    /// # Errors
    /// Fails if the system or the spawn handler refuses a thread, or if the calling thread is to be used and is in a
    /// pool already.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        let pool = self.start(false)?;
        Ok(ThreadPool::new_from(pool.expect("only the global pool is not returned")))
    }

    /// Builds the global pool, which is Anabranch's default pool too. Without this call the first use of the global
    /// pool builds it.
    ///
    /// # Errors
    /// Returns the errors of [`build`](Self::build). Fails if the global pool, or Anabranch's default pool, exists.
    ///
    /// ```
    /// rayon_core::ThreadPoolBuilder::new().num_threads(3).build_global()?;
    /// assert_eq!(rayon_core::current_num_threads(), 3);
    /// assert!(rayon_core::ThreadPoolBuilder::new().build_global().is_err());
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        global::make(self.asks_for_own_threads(), || self.start(true).map(drop))
    }

    /// Returns whether the program will look for its settings in the threads that run its work.
    fn asks_for_own_threads(&self) -> bool {
        S::IS_CUSTOM
            || self.stack_size.is_some()
            || self.get_thread_name.is_some()
            || self.start_handler.is_some()
            || self.exit_handler.is_some()
    }

    /// Starts the threads. Returns the pool, or nothing if it is to be the global pool.
    fn start(mut self, is_global: bool) -> Result<Option<Pool>, ThreadPoolBuildError> {
        let threads =
            if self.num_threads > 0 { self.num_threads.min(max_num_threads()) } else { num_threads::default() };
        let mut builder = Pool::builder().threads(threads).without_waiting_for_start();
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        if self.use_current_thread {
            builder = builder.use_current_thread();
        }
        // The closure need not be `Send`, so this thread makes all names.
        let names: Names = self.get_thread_name.take().map(|name| (0..threads).map(name).collect());
        // A spare thread has the name and the index of one of the others.
        if let Some(names) = names.clone() {
            builder = builder.thread_name(move |index| names[index % threads].clone());
        }
        let panic_handler: SharedHandler = self.panic_handler.take().map(Arc::from);
        // The pool owns the panic handler by this, see `panics`. A job may panic before this function returns, so each
        // thread lists the handler when it starts.
        if self.start_handler.is_some() || panic_handler.is_some() {
            let (start, panic_handler) = (self.start_handler.take(), panic_handler.clone());
            builder = builder.on_start(move |index| {
                panics::register(anabranch::pool::current_pool_id(), &panic_handler);
                if let Some(start) = &start {
                    panics::run_callback(&panic_handler, || start(index % threads));
                }
            });
        }
        if let Some(exit) = self.exit_handler.take() {
            let panic_handler = panic_handler.clone();
            builder = builder.on_exit(move |index| panics::run_callback(&panic_handler, || exit(index % threads)));
        }
        let plan = Plan { builder, names, stack_size: self.stack_size, is_global };
        let pool = self.spawn_handler.start(plan)?;
        // The pool may have no thread of its own.
        panics::register(Some(pool.as_ref().unwrap_or_else(|| Pool::default_pool()).id()), &panic_handler);
        Ok(pool)
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets a function that starts each thread of the pool, and has it call [`ThreadBuilder::run`]. Such a pool starts
    /// no spare threads for blocked ones.
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .spawn_handler(|thread| {
    ///         std::thread::spawn(|| thread.run());
    ///         Ok(())
    ///     })
    ///     .build()?;
    /// assert_eq!(pool.install(|| 22), 22);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            panic_handler: self.panic_handler,
            get_thread_name: self.get_thread_name,
            stack_size: self.stack_size,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            spawn_handler: CustomSpawn(spawn),
            breadth_first: self.breadth_first,
        }
    }

    /// Sets a function that names each thread. It is called for all threads before the first one starts.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.get_thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads. Zero, the default, stands for `RAYON_NUM_THREADS`, or, if that is unset, for as many
    /// as the machine offers. A larger number than [`max_num_threads`](crate::max_num_threads) is reduced to it.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the calling thread one of the pool's threads, with index 0. It runs work of the pool while it waits for
    /// work of the pool, and in [`yield_now`](crate::yield_now()). No start and exit handlers run for it.
    ///
    /// ```
    /// // On another thread, because the thread stays in the pool.
    /// std::thread::spawn(|| {
    ///     let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
    ///     assert_eq!(pool.current_thread_index(), Some(0));
    /// })
    /// .join()
    /// .unwrap();
    /// ```
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Sets a function that gets the panics which reach no caller: those of [`spawn`](crate::spawn())ed jobs, and of
    /// start and exit handlers. Without it such a panic aborts the process, and so does a panic in the function.
    ///
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let sender = std::sync::Mutex::new(sender);
    /// let pool = rayon_core::ThreadPoolBuilder::new()
    ///     .panic_handler(move |panic| sender.lock().unwrap().send(panic).unwrap())
    ///     .build()?;
    /// pool.spawn(|| panic!("lost"));
    /// assert_eq!(receiver.recv().unwrap().downcast_ref(), Some(&"lost"));
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Box::new(panic_handler));
        self
    }

    /// Sets the stack size of the pool's threads, in bytes. With zero it is the default.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size).filter(|&size| size > 0);
        self
    }

    /// Has no effect. In rayon it is a hint to run the oldest jobs first.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    /// Sets a function that each thread calls when it starts, with its index. A panic in it goes to the panic handler.
    /// A spare thread, which replaces a blocked one, calls it with the index of another thread.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.start_handler = Some(Box::new(start_handler));
        self
    }

    /// Sets a function that each thread calls when it ends, with its index. The thread has left the pool by then. A
    /// panic in the function goes to the panic handler. A spare thread calls it with the index of another thread.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.exit_handler = Some(Box::new(exit_handler));
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Closure;
        impl fmt::Debug for Closure {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("<closure>")
            }
        }
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("get_thread_name", &self.get_thread_name.as_ref().map(|_| Closure))
            .field("panic_handler", &self.panic_handler.as_ref().map(|_| Closure))
            .field("stack_size", &self.stack_size)
            .field("start_handler", &self.start_handler.as_ref().map(|_| Closure))
            .field("exit_handler", &self.exit_handler.as_ref().map(|_| Closure))
            .field("breadth_first", &self.breadth_first)
            .finish()
    }
}
