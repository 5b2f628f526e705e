//! The pool's own threads: starting them, adding spares, seeing them off.
//!
//! A thread that waits or is blocked lends its slot, and another thread takes it. When no sleeper is left for that, a
//! spare is started: an ordinary worker beyond the number of slots. Spares are kept, asleep, until the pool ends, and
//! there is a cap on them.
//!
//! A spare that finds work gives way to one of the first workers that sleeps: fibers stay where they begin, and hops
//! between threads are expensive. A worker that changes from fiber to fiber is not blocked, and the fibers in its queue
//! do not starve. So neither brings a spare into a pool whose fibers merely wait for each other.

use crate::{
    pool::{
        hazard::{self, Hazard, HazardKind},
        registry::Registry,
        worker::Worker,
    },
    sys::{
        diagnostics,
        sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock, mpsc},
        thread::{self, JoinHandle},
        unwind::catch_unwind,
    },
    wait::current_stack::apart,
};
use std::{
    any::Any,
    io,
    ops::Range,
    panic::AssertUnwindSafe,
    sync::{Arc, Weak},
};

pub(crate) type Handler = Box<dyn Fn(usize) + Send + Sync>;
pub(crate) type HazardHandler = Box<dyn Fn(&Hazard) + Send + Sync>;
pub(crate) type Namer = Box<dyn Fn(usize) -> String + Send + Sync>;

/// The handler for panics that reach no caller. It may outlive its pool, in a handle that was never joined.
#[derive(Clone, Default)]
pub(crate) struct PanicHandler(Option<Arc<PanicFunction>>);

type PanicFunction = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

impl PanicHandler {
    pub(crate) fn new(handler: impl Fn(Box<dyn Any + Send>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(handler)))
    }

    /// Passes a panic to the handler, or drops it if there is none. Does not unwind.
    pub(crate) fn report(&self, panic: Box<dyn Any + Send>) {
        let mut outcome = catch_unwind(AssertUnwindSafe(|| match &self.0 {
            Some(handler) => handler(panic),
            None => drop(panic),
        }));
        // A panic about a panic has nowhere to go. Its payload may panic when it is dropped, with a payload that does
        // so again. The rest of such a chain is leaked.
        for _ in 0..8 {
            let Err(panic) = outcome else { return };
            outcome = catch_unwind(AssertUnwindSafe(|| drop(panic)));
        }
        std::mem::forget(outcome);
    }
}

/// How the threads of a pool are made.
#[derive(Default)]
pub(crate) struct ThreadConfig {
    pub(crate) stack_size: Option<usize>,
    pub(crate) name: Option<Namer>,
    pub(crate) on_start: Option<Handler>,
    pub(crate) on_exit: Option<Handler>,
    pub(crate) on_panic: PanicHandler,
    pub(crate) on_hazard: Option<HazardHandler>,
    /// The cores to which threads are bound in turn; empty where they are not.
    pub(crate) cores: Vec<usize>,
    pub(crate) max_spares: usize,
}

/// See the [module](self).
pub(crate) struct Threads {
    config: ThreadConfig,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Each thread keeps the registry that it serves.
    registry: Weak<Registry>,
    spares: AtomicU64,
    refused: AtomicU64,
    has_complained: AtomicBool,
    has_seen_run_on_fiber: AtomicBool,
    /// Worker entries whose threads the system refused, for the next attempts.
    unused: Mutex<Vec<usize>>,
    /// It refused all of them when the pool was made.
    had_no_thread: AtomicBool,
}

impl Threads {
    pub(crate) fn new(config: ThreadConfig, registry: Weak<Registry>) -> Self {
        Self {
            config,
            threads: Mutex::new(Vec::new()),
            registry,
            spares: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            has_complained: AtomicBool::new(false),
            has_seen_run_on_fiber: AtomicBool::new(false),
            unused: Mutex::new(Vec::new()),
            had_no_thread: AtomicBool::new(false),
        }
    }

    pub(crate) fn spares(&self) -> usize {
        self.spares.load(Ordering::Relaxed) as usize
    }

    /// The system has refused the threads for these worker entries, and the pool does without.
    pub(crate) fn make_do_with(&self, missing: Range<usize>, error: io::Error) {
        self.had_no_thread.store(missing.start == 0, Ordering::Relaxed);
        diagnostics::warn(format_args!(
            "the system refused {} of {} threads of the default pool, which does without: {error}",
            missing.len(),
            missing.end
        ));
        lock(&self.unused).extend(missing.rev());
    }

    pub(crate) fn had_no_thread(&self) -> bool {
        self.had_no_thread.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Starts the thread for a worker entry. It sends whether its start handler returned.
    pub(crate) fn start(&self, worker: &Worker, started: Option<mpsc::Sender<bool>>) -> io::Result<()> {
        let registry = self.registry.upgrade().expect("the registry owns its crew");
        let index = worker.index;
        let number = self.number(worker, &registry);
        let mut builder = thread::Builder::new().name(self.name(number, started.is_none()));
        if let Some(bytes) = self.config.stack_size {
            builder = builder.stack_size(bytes);
        }
        // The thread is in the list before any thread searches the list for it.
        let mut threads = lock(&self.threads);
        threads.push(builder.spawn(move || registry.pool_threads.run(&registry, index, number, started))?);
        Ok(())
    }

    /// Returns the name of a thread. That of a spare is wanted in the middle of a wait, which must not unwind: there a
    /// name that is not to be had, or that no thread can have, is not taken.
    fn name(&self, number: usize, is_spare: bool) -> String {
        let usual = || format!("anabranch-{number}");
        let Some(namer) = &self.config.name else { return usual() };
        if !is_spare {
            return namer(number);
        }
        match catch_unwind(AssertUnwindSafe(|| namer(number))) {
            Ok(name) if !name.contains('\0') => name,
            Ok(_) => usual(),
            Err(panic) => {
                self.report(panic);
                usual()
            }
        }
    }

    /// Returns the number by which users know the thread: guests are not counted.
    fn number(&self, worker: &Worker, registry: &Registry) -> usize {
        registry.workers().filter(|other| other.is_own && other.index < worker.index).count()
    }

    /// What a thread of the pool does.
    fn run(&self, registry: &Arc<Registry>, index: usize, number: usize, started: Option<mpsc::Sender<bool>>) {
        let me = registry.worker(index);
        // SAFETY: only the thread that was started for it holds a worker entry of the pool's own. That thread, this
        // one, keeps the registry alive.
        let outside = unsafe { Worker::occupy(me) };
        me.note_thread();
        if !self.config.cores.is_empty() {
            pin(self.config.cores[number % self.config.cores.len()]);
        }
        let is_ready = self.call(self.config.on_start.as_ref(), number);
        let is_spare = started.is_none();
        if let Some(started) = started {
            // The builder may have given up on the others; then the pool is closing.
            let _ = started.send(is_ready);
        }
        registry.work(me, is_spare);
        // SAFETY: the worker entry outside of every pool is a static.
        unsafe { Worker::occupy(outside) };
        // The handler runs outside: no thread would run what a handler spawns on the worker entry, or take what it
        // forks.
        if is_ready {
            self.call(self.config.on_exit.as_ref(), number);
        }
    }

    /// Calls a handler. Returns whether the handler returned.
    fn call(&self, handler: Option<&Handler>, number: usize) -> bool {
        let outcome = handler.map_or(Ok(()), |handler| catch_unwind(AssertUnwindSafe(|| handler(number))));
        match outcome {
            Ok(()) => true,
            Err(panic) => {
                self.report(panic);
                false
            }
        }
    }

    /// Gives a panic that reaches no caller to the panic handler, or drops it.
    pub(crate) fn report(&self, panic: Box<dyn Any + Send>) {
        self.config.on_panic.report(panic);
    }

    /// Returns whether a wait inside of `run` on a fiber has yet to be reported, and marks it as reported.
    pub(crate) fn is_first_run_on_fiber(&self) -> bool {
        !self.has_seen_run_on_fiber.load(Ordering::Relaxed) && !self.has_seen_run_on_fiber.swap(true, Ordering::Relaxed)
    }

    /// Reports a hazard. Does not unwind: it is called in the middle of waits, and the handler must not begin such a
    /// wait again.
    pub(crate) fn tell(&self, hazard: &Hazard) {
        debug_assert!(hazard.others > 0 || hazard.kind == HazardKind::RunOnFiber);
        match &self.config.on_hazard {
            Some(handler) => {
                apart(|| {
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| handler(hazard))) {
                        self.report(panic);
                    }
                });
            }
            None => hazard::print(hazard),
        }
    }

    pub(crate) fn panic_handler(&self) -> &PanicHandler {
        &self.config.on_panic
    }

    /// Adds a thread beyond the number of slots, which begins as the heartbeat worker, also while the pool closes: its
    /// fibers may need one to come to an end. Returns `false` if the cap is reached, or the system refuses.
    pub(crate) fn add_spare(&self, registry: &Registry) -> bool {
        // The thread that adds a spare is the heartbeat worker, and there is only one: no other thread counts up
        // meanwhile.
        let error = if self.spares() < self.config.max_spares {
            let index = lock(&self.unused).pop().unwrap_or_else(|| registry.add_entry(true).index);
            self.spares.fetch_add(1, Ordering::Relaxed);
            match self.start(registry.worker(index), None) {
                Ok(()) => return true,
                Err(error) => {
                    self.spares.fetch_sub(1, Ordering::Relaxed);
                    lock(&self.unused).push(index);
                    Some(error)
                }
            }
        } else {
            None
        };
        // A spare is requested before it is needed, so a refusal is reported only when threads are blocked.
        if registry.workers().any(|worker| worker.status.is_lent()) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            self.complain(error);
        }
        false
    }

    /// Reports once what is wrong. There is no caller to which an error could be returned, and a program that hangs for
    /// this reason should be easy to diagnose.
    fn complain(&self, error: Option<io::Error>) {
        if self.has_complained.swap(true, Ordering::Relaxed) {
            return;
        }
        match error {
            Some(error) => {
                diagnostics::warn(format_args!("the system refused a spare thread for one that is blocked: {error}"))
            }
            None => diagnostics::warn(format_args!(
                "all {} spare threads are in use by threads that are blocked; if the program stands still, raise \
                 Builder::max_spare_threads, or block less inside parallel code",
                self.config.max_spares
            )),
        }
    }

    /// Blocks until all threads have ended, unless the caller is one of them.
    pub(crate) fn join_all(&self) {
        let own = thread::current().id();
        // What the others still do may need the caller.
        if lock(&self.threads).iter().any(|thread| thread.thread().id() == own) {
            return;
        }
        loop {
            // One at a time: a thread that is about to end may just be adding a spare.
            let Some(thread) = lock(&self.threads).pop() else { return };
            // A thread's own code does not panic, and handlers are caught: there is nothing to pass on.
            let _ = thread.join();
        }
    }
}

/// Returns the cores that the calling thread may use; none where the system does not say.
pub(crate) fn allowed_cores() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity};
        let is_allowed = |allowed: &CpuSet| (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
        sched_getaffinity(None).as_ref().map_or_else(|_| Vec::new(), is_allowed)
    }
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// Binds the calling thread to a core.
fn pin(core: usize) {
    #[cfg(target_os = "linux")]
    {
        let mut only = rustix::thread::CpuSet::new();
        only.set(core);
        // Pinning is a hint about speed: where the system refuses it, the thread runs all the same.
        let _ = rustix::thread::sched_setaffinity(None, &only);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = core;
}
