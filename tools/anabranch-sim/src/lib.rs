//! A machine with virtual cores, on which the scheduler of anabranch runs in virtual time.
//!
//! The package `anabranch-simulated` compiles the sources of the runtime with `--cfg sim`. The module `sys`, the only
//! door of the runtime to atomics, locks, threads, thread-locals and the clock, then takes them from here, as it takes
//! them from loom for models and from shuttle for schedules. So the lines that ship run on any number of cores, on any
//! machine, and a run takes as many virtual nanoseconds everywhere.
//!
//! ```
//! use anabranch_sim::{Machine, simulate, thread};
//! use std::time::Duration;
//!
//! // Two threads that compute for 30 us each, on one core and on two.
//! let program = || {
//!     let other = thread::spawn(|| thread::work(Duration::from_micros(30)));
//!     thread::work(Duration::from_micros(30));
//!     other.join().unwrap();
//! };
//! let [one, two] = [1, 2].map(|cores| simulate(Machine::small_vm(cores), 0, program).elapsed);
//! assert!(one > two);
//! assert_eq!(simulate(Machine::small_vm(2), 0, program).elapsed, two, "equal seeds give equal runs");
//! ```
//!
//! The design:
//! - **Threads are coroutines on one system thread.** OS threads that pass a baton were rejected: a switch takes
//!   microseconds instead of nanoseconds, and waiting threads look at shared memory millions of times.
//! - **The core that is furthest behind continues** up to its next operation that others can see. So operations happen
//!   in the order of their times (`engine`).
//! - **Only operations of `sys` and [`thread::work`] take time.** Plain code between two of them takes none. The caches
//!   are lines with an owner and copies (`lines`), and `machine` has the costs, with their sources.
//! - **Addresses.** A line that is new in a run belongs to its first user, so only the question which objects share a
//!   line matters. [`LineAllocator`] keeps its answer independent of earlier runs in the process.
//! - **No edge from the runtime to this crate in its manifest.** A published package can only depend on published ones.
//!   So the package with the simulated runtime has a manifest of its own, and a build script that sets the `cfg`.

mod alloc;
pub mod atomic;
mod cores;
mod engine;
pub mod hint;
mod lines;
mod local;
pub mod lock;
mod machine;
pub mod thread;
pub mod time;

pub use alloc::LineAllocator;
pub use machine::Machine;

use crate::engine::Engine;
use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    rc::Rc,
    time::Duration,
};

/// The result of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simulated<R> {
    /// The value of the program.
    pub value: R,
    /// The virtual time until the program returned.
    pub elapsed: Duration,
}

/// Runs a program on a virtual machine. The threads that the program does not join stop when it returns.
///
/// # Panics
/// Panics if the program panics, if it waits forever, or if the machine has more than 128 cores.
pub fn simulate<R: 'static>(machine: Machine, seed: u64, program: impl FnOnce() -> R + 'static) -> Simulated<R> {
    let value = Rc::new(RefCell::new(None));
    let place = Rc::clone(&value);
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(program));
        local::Locals::drop_all();
        *place.borrow_mut() = Some(result);
    };
    let elapsed = Engine::new(machine, seed).run(Box::new(body));
    let value = value.borrow_mut().take().expect("the first thread has ended");
    Simulated {
        value: value.unwrap_or_else(|panic| resume_unwind(panic)),
        elapsed: Duration::from_nanos(elapsed / 1_000),
    }
}
