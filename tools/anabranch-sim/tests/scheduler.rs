//! The scheduler of the runtime on virtual cores.

use anabranch_sim::{
    LineAllocator, Machine, Simulated, simulate,
    thread::{sleep, work},
};
use anabranch_simulated::{Pool, join, prelude::*};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

const CORES: [usize; 4] = [1, 2, 4, 16];

/// Runs a program in a pool with a thread for each core, which ends with it.
fn in_pool<R: Send + 'static>(machine: Machine, seed: u64, program: fn(&Pool) -> R) -> Simulated<R> {
    simulate(machine, seed, move || program(&Pool::builder().build().unwrap()))
}

fn sum(low: u64, high: u64) -> u64 {
    if high - low == 1 {
        work(Duration::from_nanos(10));
        return low;
    }
    let middle = low.midpoint(high);
    let (left, right) = join(|| sum(low, middle), || sum(middle, high));
    left + right
}

fn tree(pool: &Pool) -> u64 {
    pool.install(|| sum(0, 20_000))
}

fn loops(pool: &Pool) -> u64 {
    let run = |round: u64| {
        sleep(Duration::from_micros(200));
        let iteration = |item| {
            work(Duration::from_micros(20));
            item
        };
        pool.install(|| (0..64).into_par_iter().map(|item| iteration(item * round)).sum::<u64>())
    };
    (0..10).map(run).sum()
}

#[test]
fn trees_and_loops_have_correct_results() {
    for cores in CORES {
        assert_eq!(in_pool(Machine::small_vm(cores), 0, tree).value, 20_000 * 19_999 / 2);
        assert_eq!(in_pool(Machine::server(cores), 0, loops).value, 63 * 64 / 2 * 45);
    }
}

#[test]
fn fibers_run_on_all_cores() {
    fn burst(pool: &Pool) {
        pool.run(|cx| cx.scope(|s| (0..400).for_each(|_| drop(s.spawn(|_| work(Duration::from_micros(200)))))));
    }
    let micros = CORES.map(|cores| in_pool(Machine::small_vm(cores), 0, burst).elapsed.as_micros() as usize);
    for (cores, micros) in CORES.into_iter().zip(micros) {
        assert!((80_000..100_000).contains(&(micros * cores)), "{cores} cores: {micros} us");
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    for cores in CORES {
        let machine = || Machine::large_vm(cores);
        let [first, other, again] =
            [5, 6, 5].map(|seed| (in_pool(machine(), seed, tree), in_pool(machine(), seed, loops)));
        assert_eq!(first, again, "{cores} cores");
        assert!(cores == 1 || first.1.elapsed != other.1.elapsed, "{cores} cores");
    }
}

#[test]
fn more_cores_make_long_loops_faster() {
    fn long(pool: &Pool) {
        pool.install(|| (0..64).into_par_iter().for_each(|_| work(Duration::from_millis(1))));
    }
    let millis = CORES.map(|cores| in_pool(Machine::small_vm(cores), 0, long).elapsed.as_millis());
    assert_eq!(millis[..2], [64, 32]);
    assert!(millis[2] < 18 && millis[3] < 8, "{millis:?}");
}

#[test]
fn more_threads_than_cores_complete_a_loop() {
    let program = || {
        let pool = Pool::builder().threads(6).build().unwrap();
        pool.install(|| (0..64).into_par_iter().for_each(|_| work(Duration::from_millis(1))));
    };
    let elapsed = simulate(Machine::small_vm(2), 0, program).elapsed;
    assert!((32..45).contains(&elapsed.as_millis()), "{elapsed:?}");
}
