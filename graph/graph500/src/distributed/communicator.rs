//! What the distributed algorithms need of MPI: two collective operations on words.

/// A group of processes that run the same program and exchange words of 64 bits.
///
/// A process is what MPI calls a rank. (In this crate, the rank of a vertex is its place in the order by degree.) The
/// operations are *collective*: all processes of the group call the same ones in the same order, and each call waits
/// for the others.
///
/// The crate `graph500-mpi` implements it over MPI, [`in_threads`](super::in_threads) by threads of one process, and
/// [`Alone`] for a group of one.
///
/// ```
/// use graph500::distributed::{Communicator, in_threads};
/// let sums = in_threads(3, |communicator| {
///     let mut all = [0; 3];
///     communicator.all_gather(&[10 + communicator.process() as u64], &[1; 3], &mut all);
///     all.iter().sum::<u64>()
/// });
/// assert_eq!(sums, [33, 33, 33]);
/// ```
pub trait Communicator {
    /// Returns the number of this process, from 0.
    fn process(&self) -> usize;

    /// Returns the number of processes.
    fn processes(&self) -> usize;

    /// Gathers the words of all processes, in the order of the processes, on each of them.
    ///
    /// Process i has `counts[i]` words. All processes pass the same counts.
    ///
    /// # Panics
    /// Panics if the lengths do not match the counts.
    fn all_gather(&self, own: &[u64], counts: &[usize], all: &mut [u64]);

    /// Sends `counts[i]` words to each process i, and returns the received words in the order of their senders.
    ///
    /// `words` has first those for process 0, then those for process 1, and so on.
    ///
    /// # Panics
    /// Panics if the lengths do not match the counts.
    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Vec<u64>;
}

/// Gathers `own`, which has the same length on each process.
pub(crate) fn gather_equal(communicator: &dyn Communicator, own: &[u64]) -> Vec<u64> {
    let processes = communicator.processes();
    let mut all = vec![0; own.len() * processes];
    communicator.all_gather(own, &vec![own.len(); processes], &mut all);
    all
}

/// A group of one process.
///
/// ```
/// use graph500::distributed::{Alone, Communicator};
/// assert_eq!((Alone.process(), Alone.processes()), (0, 1));
/// assert_eq!(Alone.all_to_all(&[7, 8], &[2]), [7, 8]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Communicator for Alone {
    fn process(&self) -> usize {
        0
    }

    fn processes(&self) -> usize {
        1
    }

    fn all_gather(&self, own: &[u64], counts: &[usize], all: &mut [u64]) {
        assert_eq!([own.len()], counts, "one count for the words of one process");
        all.copy_from_slice(own);
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Vec<u64> {
        assert_eq!([words.len()], counts, "one count for the words of one process");
        words.to_vec()
    }
}
