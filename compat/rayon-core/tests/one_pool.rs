//! A program that uses rayon and Anabranch has one pool.

#![cfg(target_os = "linux")]

use rayon::prelude::*;
use std::{collections::HashSet, fs, thread};

/// The names of the threads of this process.
fn names_of_threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let mut names: Vec<String> =
        tasks.map(|task| fs::read_to_string(task.unwrap().path().join("comm")).unwrap().trim().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn rayon_and_anabranch_share_their_threads() {
    let before = names_of_threads();
    rayon::ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();

    // By rayon, by Anabranch, and each inside of the other.
    let sum: u64 = (0..100_000u64).into_par_iter().sum();
    assert_eq!(anabranch::join(|| sum, || (0..100_000u64).into_par_iter().sum::<u64>()), (sum, sum));
    assert_eq!(rayon::join(|| anabranch::join(|| 1, || 2), || 3), ((1, 2), 3));
    assert_eq!((rayon::current_num_threads(), anabranch::pool::current_num_threads()), (3, 3));

    let ids = |ids: Vec<thread::ThreadId>| ids.into_iter().collect::<HashSet<_>>();
    let of_rayon = ids(rayon::broadcast(|_| thread::current().id()));
    assert_eq!(of_rayon.len(), 3);
    assert_eq!(of_rayon, ids(anabranch::pool::broadcast(|_| thread::current().id())));
    let names = rayon::broadcast(|_| thread::current().name().map(String::from));
    assert_eq!(names[0].as_deref(), Some("anabranch-0"));

    // Besides the threads of the test there are three of one pool. If the system lets one of them wait for a processor,
    // there may be a spare one for it, with the next number. A second pool would have the same names, or none.
    let (of_pool, others): (Vec<_>, Vec<_>) =
        names_of_threads().into_iter().partition(|name| name.starts_with("anabranch-"));
    assert_eq!(others, before);
    let expected: Vec<_> = (0..of_pool.len()).map(|number| format!("anabranch-{number}")).collect();
    assert_eq!(of_pool, expected);
    assert!((3..=6).contains(&of_pool.len()), "{of_pool:?}");
}
