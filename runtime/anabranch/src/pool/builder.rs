//! The settings of a pool. `build` builds it.

use crate::{
    fiber::stack::pool::StackConfig,
    pool::{
        Pool, blocking_threads::BlockingConfig, hazard::Hazard, hooks::FiberHooks, panic_handler::PanicHandler,
        report::Report, threads::ThreadConfig,
    },
    time::Clock,
};
use std::{any::Any, fmt, time::Duration};

/// The number of spare threads that a pool may have by default.
pub(super) const DEFAULT_SPARES: usize = 256;

/// Sets up a [`Pool`]. Created by [`Pool::builder`].
///
/// ```
/// use anabranch::Pool;
///
/// let pool = Pool::builder().threads(2).thread_name(|i| format!("render-{i}")).build()?;
/// assert_eq!(pool.num_threads(), 2);
/// # Ok::<(), anabranch::pool::BuildError>(())
/// ```
#[must_use]
#[derive(Default)]
pub struct Builder {
    pub(super) threads: Option<usize>,
    pub(super) max_spares: Option<usize>,
    pub(super) without_membarrier: bool,
    pub(super) without_waiting_for_start: bool,
    pub(super) uses_current_thread: bool,
    pub(super) pins: bool,
    pub(super) clock: Clock,
    pub(super) max_fibers: Option<usize>,
    pub(super) stacks: StackConfig,
    pub(super) config: ThreadConfig,
    pub(super) blocking: BlockingConfig,
}

impl Builder {
    /// Sets how many threads work at a time, guests included. The default is `ANABRANCH_NUM_THREADS`, or, if that is
    /// unset or empty, the number of cores that the process may use.
    ///
    /// The number is a limit for the items of loops, the branches of joins and the tasks that are open at a time, so a
    /// program can use it to limit its open files, and a pool of one thread runs them one after the other. An item that
    /// blocks stays open. Only when every thread is blocked does another thread begin an item, because the blocked
    /// threads may wait for that item: at once if all of them wait for other threads, in a lock or channel, and
    /// otherwise after a second. A thread that waits in a join, or in another pool, does not count, and goes on at once
    /// when the wait ends. So for the rest of an item, slightly more items than threads may be open. Fibers are not
    /// limited: see [`max_fibers`](Self::max_fibers).
    ///
    /// More threads than cores help if some of them block in foreign calls. On Linux a thread that would only take
    /// turns with other threads of the pool takes one half of a `join` or a part of a loop about 20 ms late.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets the stack size of the pool's own threads, in bytes, at least 64 KiB. The default is that of the standard
    /// library, 2 MiB.
    ///
    /// A guest (an outside thread that calls [`Pool::install`] or [`join`](crate::join)) keeps its own stack.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.config.stack_size = Some(bytes);
        self
    }

    /// Names the pool's own threads. The default is `anabranch-0`, `anabranch-1` and so on. A spare thread also gets
    /// its default name if `name` panics for it or returns a name with a zero byte. For other threads
    /// [`build`](Self::build) propagates such a panic.
    pub fn thread_name(mut self, name: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        self.config.name = Some(Box::new(name));
        self
    }

    /// Sets a handler that each of the pool's own threads calls when it starts, with its index. [`build`](Self::build)
    /// waits until the handler has returned, except on spare threads, which start later. The handler must not wait for
    /// other work of the program in the pool.
    pub fn on_start(mut self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.config.on_start = Some(Box::new(handler));
        self
    }

    /// Sets a handler that each of the pool's own threads calls when it ends, with its index. The handler runs outside
    /// of the pool, which has ended: a [`join`](crate::join) or a [`spawn`](crate::spawn) there uses the default pool.
    /// A panic in the handler goes to the panic handler only.
    pub fn on_exit(mut self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.config.on_exit = Some(Box::new(handler));
        self
    }

    /// Sets a handler for panics that cannot reach a caller:
    /// - of the second branch of a [`join`](crate::join) when the first panicked too;
    /// - of the second task of a [`scope`](crate::scope);
    /// - of a [`spawn`](crate::spawn)ed fiber whose handle is dropped before it has returned the panic;
    /// - of a handler.
    ///
    /// The pool calls the handler once with the payload of each. Without a handler the payloads are dropped; the panic
    /// hook has run in any case. A panic in the handler itself is dropped.
    pub fn on_panic(mut self, handler: impl Fn(Box<dyn Any + Send>) + Send + Sync + 'static) -> Self {
        self.config.on_panic = PanicHandler::new(handler);
        self
    }

    /// Sets a handler for hazards: a fiber that keeps the thread to which other fibers are bound, see
    /// [`HazardKind`](crate::pool::HazardKind). Without a handler the pool writes a line to the standard error stream,
    /// if that is writable.
    ///
    /// The handler runs in the middle of a wait, or on the pool's heartbeat worker. It must not wait. A panic in it
    /// goes to the panic handler. The pool detects a blocked thread only on Linux, and only if a thread of the pool is
    /// idle.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    ///
    /// let (sender, receiver) = mpsc::channel();
    /// let on_hazard = move |hazard: &anabranch::pool::Hazard| _ = sender.send(hazard.kind());
    /// let pool = anabranch::Pool::builder().threads(1).on_hazard(on_hazard).build()?;
    /// pool.run(|cx| {
    ///     let fiber = pool.spawn(|_| anabranch::run(|cx| cx.sleep(Duration::from_millis(1))));
    ///     fiber.join(cx).unwrap().unwrap();
    /// });
    /// assert_eq!(receiver.recv(), Ok(anabranch::pool::HazardKind::RunOnFiber));
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn on_hazard(mut self, handler: impl Fn(&Hazard) + Send + Sync + 'static) -> Self {
        self.config.on_hazard = Some(Box::new(handler));
        self
    }

    /// Sets a handler for deadlocks. Without a handler the pool writes the report to the standard error stream, if that
    /// is writable, and the program continues to hang.
    ///
    /// The pool checks when it has had no work for about ten milliseconds, or has begun none for a second. It calls the
    /// handler once for each state in which
    /// - nothing in the process can proceed: [`Report::is_deadlock`]. All fibers wait without a deadline, no socket is
    ///   open, and each thread of the process is idle, waits in a pool, or is blocked in a wait for another thread,
    ///   such as a lock of `std`. Detected on Linux only;
    /// - fibers of the pool wait for each other's locks without a deadline: [`Report::cycles`]. Such a cycle could end
    ///   only by cancellation, or if a guard was sent to another fiber.
    ///
    /// The handler runs on the pool's heartbeat worker. It must not wait. A panic in it goes to the panic handler.
    /// [`without_deadlock_detection`](Self::without_deadlock_detection) turns it off, and so does the environment
    /// variable `ANABRANCH_DEADLOCKS=off` for the whole process.
    ///
    /// ```
    /// use anabranch::{Pool, sync::Mutex};
    /// use std::sync::{Arc, mpsc};
    ///
    /// let (sender, reports) = mpsc::channel();
    /// let pool = Pool::builder().threads(1).on_deadlock(move |report| _ = sender.send(report.clone())).build()?;
    /// let lock = Arc::new(Mutex::new(()));
    /// let fiber = pool.spawn_named("twice", move |cx| {
    ///     let _guard = lock.lock(cx).unwrap();
    ///     lock.lock(cx).is_err()
    /// });
    /// let report = reports.recv().unwrap();
    /// let cycle = report.cycles().next().unwrap();
    /// assert_eq!((cycle.len(), cycle[0].name(), cycle[0].waits_for()), (1, Some("twice"), Some("Mutex::lock")));
    /// fiber.cancel();
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn on_deadlock(mut self, handler: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.config.on_deadlock = Some(Box::new(handler));
        self
    }

    /// Disables the detection of deadlocks in this pool, see [`on_deadlock`](Self::on_deadlock).
    pub fn without_deadlock_detection(mut self) -> Self {
        self.config.ignores_deadlocks = true;
        self
    }

    /// Sets whether the pool records the events of its threads, for a [trace](crate::trace). By default it does so if
    /// the environment has `ANABRANCH_TRACE`.
    ///
    /// ```
    /// use anabranch::{Pool, trace};
    ///
    /// let pool = Pool::builder().threads(2).trace(true).build()?;
    /// pool.install(|| anabranch::join(|| 1, || 2));
    /// assert!(trace::write_to(std::io::sink())?.events > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
    pub fn trace(mut self, is_traced: bool) -> Self {
        self.config.trace = Some(is_traced);
        self
    }

    /// Sets callbacks that run when a fiber starts, suspends, resumes and ends: for example to let the spans of a
    /// profiler follow the fiber. The guide [shows that](crate::guide::servers#spans-that-follow-their-fibers). A pool
    /// has one set of hooks; a later call replaces them.
    ///
    /// ```
    /// use anabranch::{Pool, pool::{FiberHooks, HookedFiber}};
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    ///
    /// struct Count(Arc<AtomicU32>);
    ///
    /// impl FiberHooks for Count {
    ///     type Saved = ();
    ///
    ///     fn suspend(&self, _: &HookedFiber<'_>) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    ///
    ///     fn resume(&self, _: &HookedFiber<'_>, (): ()) {}
    /// }
    ///
    /// let suspensions = Arc::new(AtomicU32::new(0));
    /// let pool = Pool::builder().threads(1).fiber_hooks(Count(Arc::clone(&suspensions))).build()?;
    /// let fiber = pool.spawn(|cx| (0..3).for_each(|_| cx.yield_now()));
    /// pool.run(|cx| fiber.join(cx)).unwrap();
    /// assert_eq!(suspensions.load(Ordering::Relaxed), 3);
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn fiber_hooks(mut self, hooks: impl FiberHooks) -> Self {
        self.config.hooks = Some(Box::new(hooks));
        self
    }

    /// Binds each of the pool's own threads to one of the cores that the process may use, in turn. Guests are not
    /// bound.
    ///
    /// This helps on a machine that runs only this program. Otherwise it prevents the system from moving a thread to a
    /// free core. It has no effect on systems other than Linux.
    pub fn pin_threads(mut self, pin: bool) -> Self {
        self.pins = pin;
        self
    }

    /// Sets how many spare threads may be added for blocked threads. The default is 256.
    ///
    /// A thread that waits for a stolen fork, or that a fiber blocks in a foreign call (a std channel, a lock, a file),
    /// releases its slot, and so does a blocked item if [every thread](Self::threads) is blocked. If the pool has no
    /// other idle thread, it starts a spare thread. Spare threads sleep until they are needed, and live until the pool
    /// ends.
    ///
    /// At the limit the slot stays empty until a thread wakes up. The program is then slower, and hangs if it waits for
    /// work that no thread is left to run. The pool reports this once, on the standard error stream, and
    /// [`Pool::stats`] counts it.
    pub fn max_spare_threads(mut self, threads: usize) -> Self {
        self.max_spares = Some(threads);
        self
    }

    /// Sets how many threads may run [blocking calls](crate::Cx::blocking) of fibers at a time. The default is 512.
    ///
    /// They are separate from the pool's own threads. Such a thread starts when a call finds no idle thread, and ends
    /// when it has been idle for [a while](Self::blocking_keep_alive). Calls beyond the limit wait for a thread in the
    /// order in which they came. So if calls wait for each other, a limit below their number can make them hang. With a
    /// limit of zero each call runs in place, and blocks the thread of its fiber.
    ///
    /// Such a thread has the [stack size](Self::stack_size) of the pool's own threads. It runs no start and exit
    /// handlers, is not named by [`thread_name`](Self::thread_name), and is not [bound](Self::pin_threads) to a single
    /// core.
    ///
    /// ```
    /// let pool = anabranch::Pool::builder().threads(1).max_blocking_threads(4).build()?;
    /// let sum: usize = pool.run(|cx| {
    ///     let call = |cx: &anabranch::Cx<'_>, n: usize| cx.blocking(|| n * n);
    ///     Ok::<_, anabranch::Cancelled>(cx.map_concurrent(100, 0..100, call)?.iter().sum())
    /// }).unwrap();
    /// assert_eq!(sum, 328_350);
    /// assert!(pool.stats().blocking_threads <= 4);
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn max_blocking_threads(mut self, threads: usize) -> Self {
        self.blocking.most = threads;
        self
    }

    /// Sets how long a thread for [blocking calls](crate::Cx::blocking) stays idle before it ends. The default is ten
    /// seconds.
    pub fn blocking_keep_alive(mut self, time: Duration) -> Self {
        self.blocking.keep_alive = time;
        self
    }

    /// Disables the `membarrier` system call, as on a system that does not have it.
    ///
    /// An idle thread publishes the forks of a thread that does not fork for a while. With `membarrier` that costs a
    /// fork nothing. Without it every join takes a lock, about twenty nanoseconds. Nothing else changes. Channels,
    /// which belong to no pool, still use `membarrier`: once for each channel that one thread has used alone for a
    /// while and that a second thread begins to use.
    pub fn without_membarrier(mut self) -> Self {
        self.without_membarrier = true;
        self
    }

    /// Sets how many fibers of the pool may run or wait at a time. The default is about four million.
    ///
    /// A fiber counts from its start to its end. Fibers beyond the limit stay unstarted until other fibers end. If the
    /// started fibers wait for unstarted fibers, the program hangs. The pool reports this once, on the standard error
    /// stream.
    pub fn max_fibers(mut self, fibers: usize) -> Self {
        self.max_fibers = Some(fibers.max(1));
        self
    }

    /// Sets the stack size of fibers, in bytes, rounded up to whole pages. The default is 256 KiB, and 1 MiB if this
    /// crate is compiled with debug assertions, as in debug builds: frames are several times larger there.
    ///
    /// A stack takes memory page by page as it is used, so a large size costs only address space. The largest size is 1
    /// TiB, and 256 MiB on 32-bit systems; the same holds for guards. A fiber that overflows its stack ends the
    /// process, with a message.
    pub fn fiber_stack_size(mut self, bytes: usize) -> Self {
        self.stacks.stack_size = bytes;
        self
    }

    /// Sets the size of the guard below the stack of each fiber, in bytes, rounded up to whole pages. A guard is
    /// inaccessible memory that stops a fiber that overflows its stack. The default is 256 KiB, and 64 KiB on 32-bit
    /// systems.
    ///
    /// Compiled Rust touches each page of its stack in order, so a single page would stop it. C code does so only if it
    /// is compiled with `-fstack-clash-protection`. Many Linux distributions set that for their packages, compilers do
    /// not by default, and Windows always does it. Without it, a function with a frame larger than the guard, from a
    /// large array or `alloca`, can step over the guard and write to the stack of another fiber.
    ///
    /// A guard takes address space and page tables: 0.4 KiB per stack for a guard of 256 KiB, 2 KiB for a guard of 1
    /// MiB. This matters for programs with a million fibers. Programs that call C code with larger frames should set a
    /// larger guard. Programs that call no C code, or only protected C code, may set a smaller guard.
    ///
    /// It has no effect on Windows, which moves the guards itself.
    ///
    /// ```
    /// let pool = anabranch::Pool::builder().threads(1).fiber_guard_size(64 << 10).build()?;
    /// assert_eq!(pool.run(|cx| pool.spawn(|_| 3).join(cx)).unwrap(), 3);
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn fiber_guard_size(mut self, bytes: usize) -> Self {
        self.stacks.guard_size = bytes;
        self
    }

    /// Guards the stacks of fibers with protected pages, as on Linux before 6.13. A process can then have about 32,000
    /// started fibers before it reaches the system's limit on mappings (`vm.max_map_count`).
    pub fn without_guard_markers(mut self) -> Self {
        self.stacks.without_guard_markers = true;
        self
    }

    /// Sets the clock that fibers of this pool use to sleep and time out, for example a clock that a test advances.
    ///
    /// ```
    /// use anabranch::{Pool, time::ManualClock};
    /// use std::time::Duration;
    ///
    /// let manual = ManualClock::new();
    /// let pool = Pool::builder().threads(1).clock(manual.clock()).build()?;
    /// let sleeper = pool.spawn(|cx| cx.sleep(Duration::from_secs(3600)));
    /// while pool.fibers().iter().all(|fiber| fiber.waits_for().is_none()) {
    ///     std::thread::yield_now();
    /// }
    /// manual.advance(Duration::from_secs(3600));
    /// assert!(pool.run(|cx| sleeper.join(cx)).unwrap().is_ok());
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Makes the thread that calls [`build`](Self::build) one of the pool's own threads, until the pool or the thread
    /// ends. It has the index 0, and the pool starts one thread fewer.
    ///
    /// The thread is in the pool from then on, so [`join`](crate::join) and the like use this pool. It runs other work
    /// of the pool only if it waits for that work in a [`join`](crate::join), a [`scope`](crate::scope) or a broadcast,
    /// or if it calls [`run_pending`](crate::pool::run_pending). In a pool of one thread, a spare thread runs
    /// [tasks](Pool::execute) and fibers while this thread waits. Start and exit handlers do not run for it.
    ///
    /// The thread holds one of the pool's slots even while it does something else, and one idle thread of the pool
    /// wakes up at intervals meanwhile. If the thread ends before the pool, the pool must not broadcast any more.
    ///
    /// A thread that drops the pool first runs its parts of [broadcasts](Pool::spawn_broadcast), and is outside of the
    /// pool afterwards. If another thread drops the pool, the thread leaves it when it next uses a function of this
    /// crate that asks for its pool, such as [`spawn`](crate::spawn). Inside a [`run`](crate::run) or a fork of the
    /// pool the thread stays in the pool until these end: it can fork and wait there, but a function that would start
    /// other work panics. The thread keeps the memory of the pool until the thread ends.
    ///
    /// ```
    /// std::thread::spawn(|| {
    ///     let pool = anabranch::Pool::builder().threads(2).use_current_thread().build().unwrap();
    ///     assert_eq!(anabranch::pool::current_thread_index(), Some(0));
    ///     assert_eq!(anabranch::join(|| 1, || 2), (1, 2));
    ///     drop(pool);
    ///     assert!(!anabranch::pool::in_pool());
    /// })
    /// .join()
    /// .unwrap();
    /// ```
    pub fn use_current_thread(mut self) -> Self {
        self.uses_current_thread = true;
        self
    }

    /// Lets [`build`](Self::build) return before the start handlers have run. So a handler may wait for the thread that
    /// builds the pool. A panic of a handler then goes to the panic handler only, and its thread continues. If `build`
    /// fails, it does not wait for the end of the threads that had started either.
    pub fn without_waiting_for_start(mut self) -> Self {
        self.without_waiting_for_start = true;
        self
    }
}

impl Pool {
    /// Returns a builder with the default settings.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("threads", &self.threads)
            .field("stack_size", &self.config.stack_size)
            .field("pin_threads", &self.pins)
            .field("max_spare_threads", &self.max_spares.unwrap_or(DEFAULT_SPARES))
            .finish_non_exhaustive()
    }
}
