//! Threads like those of `std::thread`, and what the runtime asks the system about them.

use crate::{
    atomic::{AtomicU32, Ordering},
    engine::{self, Engine},
    lines::LINE,
    local::Locals,
    lock::{futex_wait, futex_wake},
    machine::Picos,
};
pub use crate::{
    local::{AccessError, LocalKey},
    thread_local,
};
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    thread::Result,
    time::Duration,
};

/// A thread builder like `std::thread::Builder`. All stacks have the same size, and names are not kept.
#[derive(Debug, Default)]
pub struct Builder(());

/// Waits for a thread, like `std::thread::JoinHandle`.
pub struct JoinHandle<T> {
    packet: Arc<Packet<T>>,
    thread: Thread,
}

struct Packet<T> {
    has_ended: AtomicU32,
    result: Mutex<Option<Result<T>>>,
}

impl Builder {
    /// Creates a builder.
    pub fn new() -> Self {
        Self(())
    }

    /// Does nothing.
    #[must_use]
    pub fn name(self, _: String) -> Self {
        self
    }

    /// Does nothing.
    #[must_use]
    pub fn stack_size(self, _: usize) -> Self {
        self
    }

    /// Starts a thread.
    ///
    /// # Errors
    /// Never fails.
    ///
    /// # Panics
    /// Panics outside of a simulation.
    pub fn spawn<T: Send + 'static>(self, body: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
        Ok(spawn(body))
    }
}

/// Starts a thread.
///
/// # Panics
/// Panics outside of a simulation.
pub fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let packet = Arc::new(Packet { has_ended: AtomicU32::new(0), result: Mutex::new(None) });
    let for_thread = Arc::clone(&packet);
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(body));
        Locals::drop_all();
        *for_thread.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        for_thread.has_ended.store(1, Ordering::Release);
        futex_wake(&for_thread.has_ended, usize::MAX);
    };
    let start = |engine: &Engine| {
        engine.spend(engine.machine().spawn);
        engine.start(Box::new(body), engine.now())
    };
    let id = engine::with(start).expect("a thread is started outside of a simulation");
    JoinHandle { packet, thread: Thread(id as u32 + 1) }
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended.
    ///
    /// # Errors
    /// Returns the panic of the thread.
    ///
    /// # Panics
    /// Panics outside of a simulation if the thread has not ended.
    pub fn join(self) -> Result<T> {
        while !self.is_finished() {
            futex_wait(&self.packet.has_ended, 0, None);
        }
        let result = self.packet.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.expect("a thread that has ended leaves a result")
    }

    /// Returns the thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Returns whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.packet.has_ended.load(Ordering::Acquire) == 1
    }
}

/// Lets another thread run on this core, if one waits for a core.
pub fn yield_now() {
    engine::with(Engine::yield_now);
}

/// Sleeps for at least this time.
pub fn sleep(time: Duration) {
    let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1_000);
    engine::with(|engine| engine.wait(0, Some(time), || true));
}

/// Spends time in a computation that touches no memory of other threads.
pub fn work(time: Duration) {
    let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1_000);
    engine::with(|engine| engine.spend(time));
}

/// Returns the virtual time once every core has come that far, for programs that observe the simulation. Takes no time.
/// Zero outside of a simulation.
pub fn time() -> Duration {
    Duration::from_nanos(engine::with(Engine::settled_time).unwrap_or(0) / 1_000)
}

/// Makes every thread that runs go through a full fence, like `membarrier` of Linux.
pub fn barrier() {
    engine::with(Engine::barrier);
}

/// Returns the number of cores, or 1 outside of a simulation.
pub fn cores() -> usize {
    engine::with(|engine| engine.machine().cores).unwrap_or(1)
}

/// Returns the core that runs the calling thread.
pub fn core() -> usize {
    engine::with(Engine::core).unwrap_or(0)
}

/// Returns the number of the calling thread. It is not 0 in a simulation.
pub fn number() -> u32 {
    engine::with(|engine| engine.thread() as u32 + 1).unwrap_or(0)
}

/// Returns a handle to the calling thread.
pub fn current() -> Thread {
    Thread(number())
}

/// A handle to a thread, like `std::thread::Thread`.
#[derive(Debug, Clone)]
pub struct Thread(u32);

impl Thread {
    /// Returns `None`: names are not kept.
    pub fn name(&self) -> Option<&str> {
        None
    }

    /// Returns the number of the thread.
    pub fn id(&self) -> u32 {
        self.0
    }
}

/// Returns an address that belongs to the calling thread while it lives. It points to nothing.
pub fn identity() -> *mut () {
    std::ptr::without_provenance_mut((number() as usize + 1) * LINE)
}

/// Returns how long a thread has run, in nanoseconds, or `None` if there is no such thread.
pub fn cpu_time(number: u32) -> Option<u64> {
    ask(number, Engine::cpu_time).map(|time: Picos| time / 1_000)
}

/// Returns whether a thread waits, or `None` if there is no such thread.
pub fn is_asleep(number: u32) -> Option<bool> {
    ask(number, Engine::is_waiting)
}

/// Returns whether a thread waits for another one without a deadline, or `None` if there is no such thread.
pub fn waits_for_thread(number: u32) -> Option<bool> {
    ask(number, Engine::waits_without_deadline)
}

fn ask<R>(number: u32, question: impl FnOnce(&Engine, usize) -> Option<R>) -> Option<R> {
    let thread = number.checked_sub(1)? as usize;
    engine::with(|engine| {
        engine.spend(engine.machine().call);
        question(engine, thread)
    })?
}
