//! The [`Communicator`] of `graph500` over MPI.
//!
//! The crate needs an MPI library with its headers, and libclang for the build: on Debian and Ubuntu
//! `apt-get install libopenmpi-dev openmpi-bin libclang-dev`. A program runs on several processes by `mpirun -n 4
//! program`; without `mpirun` it is a group of one process.
//!
//! ```
//! use graph500::distributed::{self, Communicator};
//! use graph500::{Config, Spec};
//! let mpi = graph500_mpi::Mpi::start()?;
//! let config = Config { roots: 4, ..Config::official(Spec::new(8, 16, 1)?) };
//! let outcome = distributed::run(&mpi, &config, &())?;
//! if mpi.process() == 0 {
//!     print!("{}", outcome.report.official());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use graph500::distributed::Communicator;
use mpi::collective::CommunicatorCollectives;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::{Communicator as _, SimpleCommunicator};
use mpi::{Count, Threading};

/// All processes that `mpirun` has started.
///
/// One value exists in a process, on the thread that started it. When it is dropped, MPI ends, which waits for all
/// processes. A drop by a panic instead aborts all of them, because the others may wait for this one.
pub struct Mpi {
    world: SimpleCommunicator,
    /// After `world`: fields are dropped in order, and MPI ends last.
    _universe: Universe,
}

/// Why MPI cannot start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// The process has started MPI before.
    StartedBefore,
    /// The library does not support processes with several threads.
    NoThreads,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StartError::StartedBefore => "the process has started MPI before",
            StartError::NoThreads => {
                "the MPI library does not support processes with several threads: install one that does, such as Open MPI"
            }
        })
    }
}

impl std::error::Error for StartError {}

impl Mpi {
    /// Starts MPI on this thread, which alone calls it. Other threads of the process may compute.
    ///
    /// # Errors
    /// Returns a [`StartError`].
    pub fn start() -> Result<Mpi, StartError> {
        let (universe, threading) =
            mpi::initialize_with_threading(Threading::Funneled).ok_or(StartError::StartedBefore)?;
        if threading < Threading::Funneled {
            return Err(StartError::NoThreads);
        }
        Ok(Mpi { world: universe.world(), _universe: universe })
    }

    /// Returns the number of processes on this machine. The call is collective.
    pub fn processes_here(&self) -> usize {
        self.world.split_shared(self.world.rank()).size() as usize
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The status of a Rust program after a panic.
            self.world.abort(101);
        }
    }
}

/// Returns the counts as MPI takes them, and the sums of those before each.
///
/// # Panics
/// Panics if there are 2^31 words or more. The algorithms of `graph500` exchange fewer at once.
fn partition(counts: &[usize]) -> (Vec<Count>, Vec<Count>) {
    let mut sum = 0;
    let starts = counts.iter().map(|&count| {
        let start = sum;
        sum += count;
        words(start)
    });
    let starts = starts.collect();
    (counts.iter().map(|&count| words(count)).collect(), starts)
}

fn words(count: usize) -> Count {
    Count::try_from(count).expect("an MPI operation has fewer than 2^31 words")
}

impl Communicator for Mpi {
    fn process(&self) -> usize {
        self.world.rank() as usize
    }

    fn processes(&self) -> usize {
        self.world.size() as usize
    }

    fn all_gather(&self, own: &[u64], counts: &[usize], all: &mut [u64]) {
        assert_eq!(counts.len(), self.processes(), "a count for each process");
        assert_eq!(own.len(), counts[self.process()], "the count of this process");
        assert_eq!(all.len(), counts.iter().sum::<usize>(), "room for the words of all");
        if counts.iter().all(|&count| count == own.len()) {
            // Faster, and without a limit on the sum.
            self.world.all_gather_into(own, all);
        } else {
            let (counts, starts) = partition(counts);
            self.world.all_gather_varcount_into(own, &mut PartitionMut::new(all, counts, starts));
        }
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Vec<u64> {
        assert_eq!(words.len(), counts.iter().sum::<usize>(), "the counts cover the words");
        let (counts, starts) = partition(counts);
        let mut received_counts: Vec<Count> = vec![0; counts.len()];
        self.world.all_to_all_into(&counts[..], &mut received_counts[..]);
        let sizes: Vec<usize> = received_counts.iter().map(|&count| count as usize).collect();
        let (_, received_starts) = partition(&sizes);
        let mut received = vec![0; sizes.iter().sum()];
        let to = Partition::new(words, counts, starts);
        let mut from = PartitionMut::new(&mut received[..], received_counts, received_starts);
        self.world.all_to_all_varcount_into(&to, &mut from);
        received
    }
}
