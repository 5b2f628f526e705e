//! The pool's own threads: their configuration and handlers, their number, and their handles.
//!
//! A thread that waits or is blocked releases its slot, and another thread takes it. If no worker sleeps, the pool
//! starts a spare thread: an ordinary worker beyond the number of slots. Spare threads sleep until they are needed, and
//! live until the pool ends. Their number is limited.
//!
//! A spare thread that finds work wakes a sleeping regular worker to take it. The reason: fibers stay where they start,
//! and a message between threads is expensive. A worker that switches from fiber to fiber is not blocked, and the
//! fibers in its queue do not starve. So neither case starts a spare thread in a pool whose fibers merely wait for each
//! other.

use crate::{
    pool::{
        hazard::{self, Hazard, HazardKind},
        hooks::AnyHooks,
        panic_handler::PanicHandler,
        report::Report,
    },
    sys::{
        diagnostics,
        sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock},
        thread::{self, JoinHandle},
        unwind::catch_unwind,
    },
    wait::current_stack::apart,
};
use std::{any::Any, io, ops::Range, panic::AssertUnwindSafe};

pub(crate) type Handler = Box<dyn Fn(usize) + Send + Sync>;
pub(crate) type DeadlockHandler = Box<dyn Fn(&Report) + Send + Sync>;
pub(crate) type HazardHandler = Box<dyn Fn(&Hazard) + Send + Sync>;
pub(crate) type Namer = Box<dyn Fn(usize) -> String + Send + Sync>;

/// The configuration of the threads of a pool.
#[derive(Default)]
pub(crate) struct ThreadConfig {
    pub(crate) stack_size: Option<usize>,
    pub(crate) name: Option<Namer>,
    pub(crate) on_start: Option<Handler>,
    pub(crate) on_exit: Option<Handler>,
    pub(crate) on_panic: PanicHandler,
    pub(crate) on_hazard: Option<HazardHandler>,
    pub(crate) on_deadlock: Option<DeadlockHandler>,
    pub(crate) ignores_deadlocks: bool,
    pub(crate) hooks: Option<Box<dyn AnyHooks>>,
    /// The cores to which threads are bound in turn. Empty if threads are not bound.
    pub(crate) cores: Vec<usize>,
    pub(crate) max_spares: usize,
    /// Whether the pool is traced. Without a choice, the environment decides.
    pub(crate) trace: Option<bool>,
}

/// See the [module](self).
pub(crate) struct Threads {
    config: ThreadConfig,
    threads: Mutex<Vec<JoinHandle<()>>>,
    spares: AtomicU64,
    refused: AtomicU64,
    has_complained: AtomicBool,
    has_seen_run_on_fiber: AtomicBool,
    has_seen_long_computation: AtomicBool,
    /// Whether the last attempt to add a spare failed.
    lacks_spares: AtomicBool,
    /// Worker entries for which the system refused a thread; later attempts use them.
    unused: Mutex<Vec<usize>>,
    /// How many threads run a handler of the program.
    in_handlers: AtomicU64,
    /// No thread was started when the pool was made. The system refused them, or the pool uses the program's.
    had_no_thread: AtomicBool,
}

impl Threads {
    pub(crate) fn new(config: ThreadConfig) -> Self {
        Self {
            lacks_spares: AtomicBool::new(config.max_spares == 0),
            config,
            threads: Mutex::new(Vec::new()),
            spares: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            has_complained: AtomicBool::new(false),
            has_seen_run_on_fiber: AtomicBool::new(false),
            has_seen_long_computation: AtomicBool::new(false),
            unused: Mutex::new(Vec::new()),
            in_handlers: AtomicU64::new(0),
            had_no_thread: AtomicBool::new(false),
        }
    }

    pub(crate) fn spares(&self) -> usize {
        self.spares.load(Ordering::Relaxed) as usize
    }

    /// Returns whether no spare thread can be added now: the limit is reached, or the system has refused the last one.
    pub(crate) fn lacks_spares(&self) -> bool {
        self.lacks_spares.load(Ordering::Relaxed)
    }

    /// Records that the system refused the threads for these worker entries, and that the pool runs without them.
    pub(crate) fn make_do_with(&self, missing: Range<usize>, error: io::Error) {
        self.had_no_thread.store(missing.start == 0, Ordering::Relaxed);
        diagnostics::warn(format_args!(
            "the system refused {} of {} threads of the default pool, which does without: {error}",
            missing.len(),
            missing.end
        ));
        lock(&self.unused).extend(missing.rev());
    }

    /// Returns the configured stack size.
    pub(super) fn stack_size(&self) -> Option<usize> {
        self.config.stack_size
    }

    /// Records that no thread was started, so the first work that needs one starts a spare.
    pub(super) fn note_no_thread(&self) {
        self.had_no_thread.store(true, Ordering::Relaxed);
    }

    pub(crate) fn had_no_thread(&self) -> bool {
        self.had_no_thread.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Starts a thread that runs `body`. Users see its `number`.
    pub(crate) fn spawn(&self, number: usize, is_spare: bool, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut builder = thread::Builder::new().name(self.name(number, is_spare));
        if let Some(bytes) = self.config.stack_size {
            builder = builder.stack_size(bytes);
        }
        // The thread is in the list before any thread searches the list for it.
        let mut threads = lock(&self.threads);
        threads.push(builder.spawn(body)?);
        Ok(())
    }

    /// Returns the name of a thread. A spare thread is named in the middle of a wait, which must not unwind. So a panic
    /// of the namer, or a name that no thread can have, gives it the default name.
    pub(super) fn name(&self, number: usize, is_spare: bool) -> String {
        let usual = || format!("anabranch-{number}");
        let Some(namer) = &self.config.name else { return usual() };
        if !is_spare {
            return namer(number);
        }
        match self.run_handler(|| namer(number)) {
            Ok(name) if !name.contains('\0') => name,
            Ok(_) => usual(),
            Err(panic) => {
                self.report(panic);
                usual()
            }
        }
    }

    /// Binds the calling thread to its core, if the pool binds threads.
    pub(crate) fn pin_current(&self, number: usize) {
        if !self.config.cores.is_empty() {
            pin(self.config.cores[number % self.config.cores.len()]);
        }
    }

    /// Calls the start handler on its thread. Returns whether the handler returned.
    pub(crate) fn call_on_start(&self, number: usize) -> bool {
        self.call(self.config.on_start.as_ref(), number)
    }

    /// Calls the exit handler on its thread.
    pub(crate) fn call_on_exit(&self, number: usize) {
        self.call(self.config.on_exit.as_ref(), number);
    }

    /// Calls a handler. Returns whether the handler returned.
    fn call(&self, handler: Option<&Handler>, number: usize) -> bool {
        let outcome = handler.map_or(Ok(()), |handler| self.run_handler(|| handler(number)));
        match outcome {
            Ok(()) => true,
            Err(panic) => {
                self.report(panic);
                false
            }
        }
    }

    /// Runs a handler of the program, and catches its panic.
    fn run_handler<R>(&self, handler: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
        self.in_handlers.fetch_add(1, Ordering::Relaxed);
        let outcome = catch_unwind(AssertUnwindSafe(handler));
        self.in_handlers.fetch_sub(1, Ordering::Relaxed);
        outcome
    }

    /// Returns whether a thread runs a handler of the program. The handler may send, unlock or cancel what other
    /// threads wait for, even if its thread holds no slot.
    #[cfg(all(target_os = "linux", not(any(shuttle, sim, miri))))]
    pub(crate) fn is_in_handler(&self) -> bool {
        self.in_handlers.load(Ordering::Relaxed) > 0
    }

    /// Passes a panic that reaches no caller to the panic handler, or drops it.
    pub(crate) fn report(&self, panic: Box<dyn Any + Send>) {
        self.config.on_panic.report(panic);
    }

    /// Returns whether this wait inside `run` on a fiber is the first of the pool, and records that it is reported.
    pub(crate) fn is_first_run_on_fiber(&self) -> bool {
        !self.has_seen_run_on_fiber.load(Ordering::Relaxed) && !self.has_seen_run_on_fiber.swap(true, Ordering::Relaxed)
    }

    /// Returns whether this long computation on a fiber is the first of the pool, and records that it is reported.
    pub(crate) fn is_first_long_computation(&self) -> bool {
        !self.has_seen_long_computation.swap(true, Ordering::Relaxed)
    }

    /// Reports a hazard. Does not unwind, because callers are in the middle of a wait. The handler must not begin such
    /// a wait again.
    pub(crate) fn report_hazard(&self, hazard: &Hazard) {
        debug_assert!(hazard.others > 0 || hazard.kind == HazardKind::RunOnFiber);
        match &self.config.on_hazard {
            Some(handler) => {
                apart(|| {
                    if let Err(panic) = self.run_handler(|| handler(hazard)) {
                        self.report(panic);
                    }
                });
            }
            None => hazard::print(hazard),
        }
    }

    /// Returns whether the pool looks for deadlocks.
    pub(crate) fn looks_for_deadlocks(&self) -> bool {
        !self.config.ignores_deadlocks
    }

    /// Reports a deadlock. Called on the heartbeat worker.
    pub(crate) fn report_deadlock(&self, report: &Report) {
        match &self.config.on_deadlock {
            Some(handler) => apart(|| {
                if let Err(panic) = self.run_handler(|| handler(report)) {
                    self.report(panic);
                }
            }),
            None => diagnostics::print(&format!("anabranch: {report}")),
        }
    }

    /// Returns what the program does when fibers start, suspend, resume and end.
    pub(crate) fn hooks(&self) -> Option<&dyn AnyHooks> {
        self.config.hooks.as_deref()
    }

    pub(crate) fn panic_handler(&self) -> &PanicHandler {
        &self.config.on_panic
    }

    /// Adds a thread beyond the number of slots. `start` starts it, for a worker entry without a thread or for a new
    /// one. Returns the error of the system, or none if the limit is reached.
    ///
    /// Only the heartbeat worker calls this.
    pub(crate) fn add_spare(
        &self,
        new_entry: impl FnOnce() -> usize,
        start: impl FnOnce(usize) -> io::Result<()>,
    ) -> Result<(), Option<io::Error>> {
        // There is only one heartbeat worker, so no other thread increments the count.
        let result = if self.spares() >= self.config.max_spares {
            Err(None)
        } else {
            let index = lock(&self.unused).pop().unwrap_or_else(new_entry);
            self.spares.fetch_add(1, Ordering::Relaxed);
            start(index).map_err(|error| {
                self.spares.fetch_sub(1, Ordering::Relaxed);
                lock(&self.unused).push(index);
                Some(error)
            })
        };
        self.lacks_spares.store(result.is_err(), Ordering::Relaxed);
        result
    }

    /// Records that a spare thread was missing.
    pub(crate) fn note_refusal(&self, error: Option<io::Error>) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        self.complain(error);
    }

    /// Reports a failure to add a thread, once. There is no caller to return an error to, and a program that hangs for
    /// this reason should be easy to diagnose.
    pub(super) fn complain(&self, error: Option<io::Error>) {
        if self.has_complained.swap(true, Ordering::Relaxed) {
            return;
        }
        match error {
            Some(error) => {
                diagnostics::warn(format_args!("the system refused a spare thread to replace one that blocks: {error}"))
            }
            None => diagnostics::warn(format_args!(
                "all {} spare threads are in use by threads that are blocked; if the program stands still, raise \
                 Builder::max_spare_threads, or block less inside parallel code",
                self.config.max_spares
            )),
        }
    }

    /// Returns whether the calling thread is one of these.
    pub(crate) fn is_one_of_them(&self) -> bool {
        let own = thread::current().id();
        lock(&self.threads).iter().any(|thread| thread.thread().id() == own)
    }

    /// Returns whether there are no such threads.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.threads).is_empty()
    }

    /// Blocks until all threads have ended.
    pub(crate) fn join_all(&self) {
        loop {
            // One at a time, because a thread that is about to end may add a spare thread.
            let Some(thread) = lock(&self.threads).pop() else { return };
            // A thread's own code does not panic, and handlers are caught, so there is no panic to pass on.
            let _ = thread.join();
        }
    }
}

/// Returns the cores that the calling thread may use, or none if the system does not report them.
pub(crate) fn allowed_cores() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: a set of cores consists of integers, for which zero is valid.
        let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: `allowed` is a live set of the given size, which the call writes.
        let failed = unsafe { libc::sched_getaffinity(0, size_of_val(&allowed), &raw mut allowed) } != 0;
        if failed {
            return Vec::new();
        }
        // SAFETY: each core is less than the maximum of a set.
        (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &allowed) }).collect()
    }
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// Binds the calling thread to a core.
fn pin(core: usize) {
    bind_to_any(&[core]);
}

/// Lets the calling thread run on any of these cores, and on no other. Has no effect if there are none.
pub(super) fn bind_to_any(cores: &[usize]) {
    #[cfg(target_os = "linux")]
    if !cores.is_empty() {
        // SAFETY: a set of cores consists of integers, for which zero is valid.
        let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        for &core in cores {
            assert!(core < libc::CPU_SETSIZE as usize, "a set of cores has no core {core}");
            // SAFETY: the core is less than the maximum of a set.
            unsafe { libc::CPU_SET(core, &mut allowed) };
        }
        // Binding only affects speed: if the system refuses it, the thread still runs.
        // SAFETY: `allowed` is a live set of the given size, which the call reads.
        unsafe { libc::sched_setaffinity(0, size_of_val(&allowed), &raw const allowed) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = cores;
}
