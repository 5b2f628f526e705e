//! Traces: what each thread of a pool did, and when.
//!
//! A traced pool records when its threads work, search, wait and park, what they steal from each other, which forks
//! they publish, and when fibers begin, wait and continue. `anabranch explain` says from the trace where the time went,
//! and which fibers kept their thread from others for long. `anabranch report` draws it.
//!
//! The simplest way is the environment of the program. `ANABRANCH_TRACE=run.trace` traces all pools, and writes the
//! file when the process exits:
//!
//! ```text
//! ANABRANCH_TRACE=run.trace ./program
//! anabranch explain run.trace
//! ```
//!
//! | variable | |
//! |---|---|
//! | `ANABRANCH_TRACE` | the file to write; `%p` in it stands for the number of the process |
//! | `ANABRANCH_TRACE_MEMORY` | the memory for events, in MiB; 64 if it is unset |
//! | `ANABRANCH_TRACE_WORK_SPAN` | `1` measures work and span; see [below](#work-and-span) |
//! | `ANABRANCH_TRACE_FORKS` | `1` records every fork, for `anabranch predict`; see [below](#every-fork) |
//!
//! The processes of MPI have the same environment. Without `%p` in the name, each appends its rank: process 3 writes
//! `run-3.trace`.
//!
//! The file is also written at the first panic, with `.panic` appended to its name, and on Unix at the signal that
//! `ANABRANCH_REPORT_SIGNAL` names, such as `USR1`. A process that is killed writes nothing. A program can do the same
//! for some of its pools by [`Builder::trace`](crate::Builder::trace) and [`save`].
//!
//! # A flight recorder
//! Events stay in memory until they are written. When the memory is full, the oldest ones of all threads make room, and
//! the trace says how many were lost. So a program can be traced all the time, and [`save`] writes the last seconds
//! whenever something of interest has happened.
//!
//! ```
//! use anabranch::{Pool, trace};
//!
//! let pool = Pool::builder().threads(2).trace(true).build()?;
//! let sum: u64 = pool.install(|| {
//!     let _span = trace::span("sum");
//!     let (a, b) = anabranch::join(|| (0..500).sum::<u64>(), || (500..1000).sum::<u64>());
//!     a + b
//! });
//! assert_eq!(sum, 499_500);
//! let mut file = Vec::new();
//! assert!(trace::write_to(&mut file)?.events > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Work and span
//! The *work* of a computation is the time that it takes on one thread. Its *span* is the time that it would take if
//! there were always a free thread. Their ratio, the *parallelism*, is the most threads that can be of use.
//!
//! ```text
//! ANABRANCH_TRACE=run.trace ANABRANCH_TRACE_WORK_SPAN=1 ANABRANCH_NUM_THREADS=1 ./program
//! ```
//! measures both for every call into a traced pool, as Cilkscale does. It includes forks and loops, and the tasks of
//! scopes, but not fibers. The program runs on one thread, because what another thread steals is not measured. Each
//! fork then takes about 0.4 us. That time does not count as work, but the program takes longer. Only time on a core
//! counts, so other programs on the machine change little.
//!
//! # Every fork
//! ```text
//! ANABRANCH_TRACE=run.trace ANABRANCH_TRACE_FORKS=1 ANABRANCH_NUM_THREADS=1 ./program
//! anabranch predict run.trace --cores 1,2,4,8,16,32,64
//! ```
//! records every fork and every task of a scope, with the CPU time of each piece between them. `anabranch predict`
//! replays that on virtual cores, and says how fast the program would be there. A fork takes about 0.35 us and 48 bytes
//! of the memory for events, so a program with many small forks needs a larger `ANABRANCH_TRACE_MEMORY`.
//!
//! # Cost
//! A pool that is not traced pays nothing for a fork or a switch between fibers, and a test at rarer events. In a
//! traced pool a fork that no thread takes still costs nothing. A rarer event costs some 30 ns, most of which is the
//! look at the clock. Fibers are not as cheap as otherwise: each switch passes through the worker's own stack and
//! records two events. An event takes 16 bytes. On Linux a thread reads every 10 ms how long each thread of the process
//! had a core, which takes at most 2% of one core.

#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
mod auto;
#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
mod file;
#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
mod lane;
#[cfg(all(target_os = "linux", not(any(loom, shuttle, sim))))]
mod sampler;
#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
mod sites;
#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
mod span;
#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
mod store;
mod strand_clock;
mod tracer;
pub(crate) mod work_span;

pub(crate) use self::tracer::{Origin, Tracer};
#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
pub use self::{
    file::{Summary, save, write_to},
    span::{Span, mark, span},
};
pub(crate) use anabranch_trace::event::{Event, Loot, Role, Site, State};
