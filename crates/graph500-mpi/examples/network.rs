//! Measures the network of the model in `docs/MPI.md`: `mpirun -n 2 target/release/examples/network`.
//!
//! Prints the median time of an all-gather of 16 bytes from each process, of an all-to-all without words, and of an
//! all-gather of a large bitmap, with the bytes that a process receives in a second.

use std::time::Instant;

use graph500::distributed::Communicator;
use graph500_mpi::Mpi;

const REPETITIONS: usize = 301;
const WORDS: usize = 1 << 14;

/// Returns the median time of an operation, in seconds.
fn median(mut operation: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let start = Instant::now();
            operation();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPETITIONS / 2]
}

fn main() -> Result<(), graph500_mpi::StartError> {
    let mpi = Mpi::start()?;
    let processes = mpi.processes();
    let mut small = vec![0; 2 * processes];
    let counts = median(|| mpi.all_gather(&[1, 2], &vec![2; processes], &mut small));
    let no_words = median(|| drop(mpi.all_to_all(&[], &vec![0; processes])));
    let (own, mut all) = (vec![1; WORDS], vec![0; WORDS * processes]);
    let bitmap = median(|| mpi.all_gather(&own, &vec![WORDS; processes], &mut all));
    let received = (8 * WORDS * (processes - 1)) as f64;
    if mpi.process() == 0 {
        println!("all-gather of 16 bytes: {:.2} us", counts * 1e6);
        println!("all-to-all of nothing: {:.2} us", no_words * 1e6);
        println!("all-gather of {} bytes: {:.1} us, {:.2} GB/s", 8 * WORDS, bitmap * 1e6, received / bitmap / 1e9);
    }
    Ok(())
}
