//! A program that uses rayon and Anabranch has one pool.

#![cfg(target_os = "linux")]

use rayon::prelude::*;
use std::{collections::HashSet, fs, thread};

fn threads_of_this_process() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn rayon_and_anabranch_share_their_threads() {
    let before = threads_of_this_process();
    rayon::ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();

    // By rayon, by Anabranch, and each inside of the other.
    let sum: u64 = (0..100_000u64).into_par_iter().sum();
    assert_eq!(anabranch::join(|| sum, || (0..100_000u64).into_par_iter().sum::<u64>()), (sum, sum));
    assert_eq!(rayon::join(|| anabranch::join(|| 1, || 2), || 3), ((1, 2), 3));
    assert_eq!((rayon::current_num_threads(), anabranch::current_num_threads()), (3, 3));

    let ids = |ids: Vec<thread::ThreadId>| ids.into_iter().collect::<HashSet<_>>();
    let of_rayon = ids(rayon::broadcast(|_| thread::current().id()));
    assert_eq!(of_rayon.len(), 3);
    assert_eq!(of_rayon, ids(anabranch::broadcast(|_| thread::current().id())));

    let names = rayon::broadcast(|_| thread::current().name().map(String::from));
    assert_eq!(names[0].as_deref(), Some("anabranch-0"));

    assert_eq!(threads_of_this_process() - before, 3);
}
