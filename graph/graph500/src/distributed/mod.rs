//! The benchmark on several processes, each with a part of the graph: kernels 1 and 2, and validation.
//!
//! A [`Communicator`] connects the processes: MPI (the crate `graph500-mpi`), or threads for tests ([`in_threads`]).
//! [`run`] is the whole benchmark. [`Part`], [`PartSearch`] and [`PartValidator`] are its steps.
//!
//! ```
//! use graph500::distributed::{self, in_threads};
//! use graph500::{Config, Spec};
//! let config = Config { roots: 4, ..Config::official(Spec::new(9, 16, 1)?) };
//! let alone = graph500::run(&config, &())?;
//! for outcome in in_threads(3, |communicator| distributed::run(communicator, &config, &())) {
//!     let report = outcome?.report;
//!     assert_eq!(report.processes, 3);
//!     assert_eq!(report.nedge(), alone.nedge());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Collective calls.** The functions that take a communicator are collective: all processes call them in the same
//! order. An error of one process becomes an error of all ([`RunError::Process`](crate::RunError)), so that none waits
//! for one that has left. An observer cannot cancel, because the processes would see it at different points.

mod agree;
mod build;
mod communicator;
mod layout;
mod model;
mod run;
mod search;
mod threads;
mod traffic;
mod validate;

use std::time::Duration;

use crate::{Observer, Phase};

pub use agree::{check_settings, first_message};
pub use build::Part;
pub use communicator::{Alone, Communicator};
pub use model::{LevelShape, Network, predicted_bytes, predicted_seconds};
pub use run::{LevelProfile, Outcome, run};
pub use search::{LevelKind, LevelRecord, PartSearch};
pub use threads::in_threads;
pub use traffic::Traffic;
pub use validate::PartValidator;

/// Passes progress on, and never cancels.
struct Progress<'a>(&'a dyn Observer);

impl Observer for Progress<'_> {
    fn begin(&self, phase: Phase, total: u64) {
        self.0.begin(phase, total);
    }

    fn advance(&self, phase: Phase, done: u64) {
        self.0.advance(phase, done);
    }

    fn end(&self, phase: Phase, elapsed: Duration) {
        self.0.end(phase, elapsed);
    }
}
