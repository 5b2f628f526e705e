//! Several pools, and tokio in the same process.

use crate::{Program, many, parallel_work, pause};
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use std::sync::{LazyLock, Mutex, mpsc};
use tokio::{runtime::Runtime, sync::oneshot, task};

pub const PROGRAMS: &[Program] = &[
    ("mutex_across_second_pool", mutex_across_second_pool),
    ("mutex_across_circle_of_pools", mutex_across_circle_of_pools),
    ("lazy_table_with_own_pool", lazy_table_with_own_pool),
    ("circle_of_pools", circle_of_pools),
    ("circle_of_pools_with_channels", circle_of_pools_with_channels),
    ("tokio_block_on_waits_for_job", tokio_block_on_waits_for_job),
    ("tokio_spawn_blocking_uses_pool", tokio_spawn_blocking_uses_pool),
];

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn mutex_across_second_pool() {
    let (driver, device) = (pool(1), Mutex::new(0));
    let first = || {
        let mut device = device.lock().unwrap();
        *device += driver.install(parallel_work);
    };
    crate::requests(first, || *device.lock().unwrap() += 1);
    assert!(*device.lock().unwrap() > 2);
}

/// Requests run on one pool. One of them holds a lock, calls into a second pool, and from there back into the first.
fn mutex_across_circle_of_pools() {
    let threads = rayon::current_num_threads();
    let (first, second, device) = (pool(threads), pool(1), Mutex::new(0));
    first.in_place_scope(|s| {
        s.spawn(|_| {
            let mut device = device.lock().unwrap();
            *device += second.install(|| first.install(parallel_work));
        });
        pause(300);
        for _ in 0..many() {
            s.spawn(|_| *device.lock().unwrap() += 1);
        }
    });
    assert!(*device.lock().unwrap() > 2);
}

/// A pool of its own does not protect the initialiser: the thread that waits for that pool runs other jobs.
fn lazy_table_with_own_pool() {
    static TABLE: LazyLock<usize> = LazyLock::new(|| pool(2).install(parallel_work));
    let look_up = || assert_eq!(*TABLE, 2);
    crate::requests(look_up, look_up);
}

fn circle_of_pools() {
    let threads = rayon::current_num_threads();
    let (first, second) = (pool(threads), pool(threads));
    let twice = |i: usize| second.install(|| first.install(|| 2 * i));
    let sum: usize = first.install(|| (0..many()).into_par_iter().map(twice).sum());
    assert_eq!(sum, many() * (many() - 1));
}

/// The same, but each pool waits for the other one with a channel.
fn circle_of_pools_with_channels() {
    let threads = rayon::current_num_threads();
    let (first, second) = (pool(threads), pool(threads));
    let (first, second) = (&first, &second);
    second.in_place_scope(|on_second| {
        first.in_place_scope(|on_first| {
            for _ in 0..many() {
                let (there, at_second) = mpsc::channel();
                let (back, reply) = mpsc::channel();
                on_first.spawn(move |on_first| {
                    pause(400);
                    on_first.spawn(move |_| back.send(at_second.recv().unwrap()).unwrap());
                    assert_eq!(reply.recv(), Ok(7));
                });
                on_second.spawn(move |_| there.send(7).unwrap());
            }
        });
    });
}

fn tokio_block_on_waits_for_job() {
    let runtime = Runtime::new().unwrap();
    rayon::in_place_scope(|s| {
        for _ in 0..many() {
            s.spawn(|_| {
                pause(400);
                let reply = runtime.block_on(async {
                    let (sender, receiver) = oneshot::channel();
                    rayon::spawn(move || sender.send(7).unwrap());
                    receiver.await
                });
                assert_eq!(reply, Ok(7));
            });
        }
    });
}

fn tokio_spawn_blocking_uses_pool() {
    let runtime = Runtime::new().unwrap();
    rayon::in_place_scope(|s| {
        for _ in 0..many() {
            s.spawn(|_| {
                let compute = || {
                    pause(400);
                    (0..1000u64).into_par_iter().sum::<u64>()
                };
                let sum = runtime.block_on(async { task::spawn_blocking(compute).await.unwrap() });
                assert_eq!(sum, 499_500);
            });
        }
    });
}
