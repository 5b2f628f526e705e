//! Branches that block in calls unknown to the pool (locks, channels, barriers, sleeps, sockets) until another branch
//! has run. Each program ends on pools of every size, from every kind of caller.

use crate::common::{LONG, at_rest, pool, sum_to, watchdog};
use anabranch::{Pool, join, prelude::*, scope};
use std::{
    array,
    sync::{
        Barrier, Condvar, LazyLock, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// The number of parties that meet, and of receivers that wait: more than the threads of a pool of eight and its guest.
const PARTIES: usize = 12;

/// Runs `leaf` in each of `n` leaves of a recursion.
fn leaves(n: usize, leaf: &(impl Fn() + Sync)) {
    if n == 1 {
        return leaf();
    }
    join(|| leaves(n / 2, leaf), || leaves(n - n / 2, leaf));
}

fn lock_across_a_join() {
    let locks: [Mutex<u64>; 6] = array::from_fn(|_| Mutex::new(0));
    fn descend(locks: &[Mutex<u64>]) {
        let Some((lock, deeper)) = locks.split_first() else { return thread::sleep(Duration::from_micros(50)) };
        let mut count = lock.lock().unwrap();
        *count += 1;
        join(|| descend(deeper), || descend(deeper));
    }
    join(|| descend(&locks), || descend(&locks));
    assert_eq!(locks.map(|lock| lock.into_inner().unwrap()), [2, 4, 8, 16, 32, 64]);
}

/// A lock held across parallel work, taken by the pieces of an unrelated loop (rayon's issue 592).
fn lock_across_a_loop() {
    let shared = Mutex::new(0);
    join(
        || {
            (0..30u64).into_par_iter().for_each(|_| {
                let mut shared = shared.lock().unwrap();
                *shared += (0..20u64).into_par_iter().map(|i| i).collect::<Vec<_>>().len();
            });
        },
        || (0..30u64).into_par_iter().for_each(|_| *shared.lock().unwrap() += sum_to(10) as usize),
    );
    assert_eq!(shared.into_inner().unwrap(), 30 * 20 + 30 * 55);
}

fn lazy_initialiser_that_joins() {
    let lazy = LazyLock::new(|| {
        let (a, b) = join(|| sum_to(300), || sum_to(200));
        thread::sleep(Duration::from_millis(2));
        a + b
    });
    leaves(16, &|| assert_eq!(*lazy, 45_150 + 20_100));
    let once = OnceLock::new();
    let init = || leaves(16, &|| thread::sleep(Duration::from_micros(100)));
    leaves(16, &|| _ = once.get_or_init(init));
    assert!(once.get().is_some());
}

fn receiver_before_sender() {
    leaves(8, &|| {
        let (sender, receiver) = mpsc::channel();
        let (got, ()) = join(move || receiver.recv().unwrap(), || sender.send(7).unwrap());
        assert_eq!(got, 7);
    });
}

fn sender_before_receiver() {
    leaves(8, &|| {
        let (sender, receiver) = mpsc::channel();
        let ((), got) = join(|| sender.send(7).unwrap(), move || receiver.recv().unwrap());
        assert_eq!(got, 7);
    });
}

/// Neither continues before the other has arrived.
fn rendezvous() {
    leaves(8, &|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        assert_eq!(join(|| sender.send(7).unwrap(), move || receiver.recv().unwrap()).1, 7);
        let (sender, receiver) = mpsc::sync_channel(0);
        assert_eq!(join(move || receiver.recv().unwrap(), || sender.send(7).unwrap()).0, 7);
    });
}

/// As many receivers as there are levels wait at once, each for the level below.
fn chain_of_receivers() {
    fn level(n: usize) -> usize {
        if n == 0 {
            return 0;
        }
        let (sender, receiver) = mpsc::channel();
        join(move || receiver.recv().unwrap() + 1, move || sender.send(level(n - 1)).unwrap()).0
    }
    assert_eq!(level(PARTIES - 1), PARTIES - 1);
}

fn barrier_in_all_leaves() {
    let barrier = Barrier::new(PARTIES);
    leaves(PARTIES, &|| _ = barrier.wait());
}

fn barrier_in_a_scope() {
    let barrier = Barrier::new(PARTIES);
    scope(|s| (0..PARTIES).for_each(|_| s.spawn(|| _ = barrier.wait())));
}

/// One item each is a piece: the loop must not hold on to the rest of its leaf.
fn barrier_in_a_loop() {
    let barrier = Barrier::new(2);
    (0..2u32).into_par_iter().for_each(|_| _ = barrier.wait());
}

fn handshake_by_condvar() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    let play = |me: u32| {
        let mut turn = turn.lock().unwrap();
        while *turn < 40 {
            if *turn % 2 == me {
                *turn += 1;
                changed.notify_all();
            } else {
                turn = changed.wait(turn).unwrap();
            }
        }
    };
    join(|| play(0), || play(1));
}

fn sleeper_beside_others() {
    let done = AtomicU64::new(0);
    leaves(24, &|| {
        thread::sleep(Duration::from_millis(3));
        done.fetch_add(sum_to(20), Ordering::Relaxed);
    });
    assert_eq!(done.into_inner(), 24 * 210);
}

#[cfg(unix)]
fn reader_of_a_socket() {
    use std::{
        io::{Read, Write},
        os::unix::net::UnixStream,
    };
    leaves(4, &|| {
        let (mut reader, mut writer) = UnixStream::pair().unwrap();
        let mut buffer = [0; 5];
        join(|| reader.read_exact(&mut buffer).unwrap(), || writer.write_all(b"hello").unwrap());
        assert_eq!(&buffer, b"hello");
    });
}

/// A scope whose parent waits while it has a fork open on which its task depends.
fn task_that_waits_for_a_fork_of_its_parent() {
    let (sender, receiver) = mpsc::channel();
    join(|| scope(|s| s.spawn(move || assert_eq!(receiver.recv().unwrap(), 7))), || sender.send(7).unwrap());
}

type Program = (&'static str, fn());

/// The first five end on a single thread too; the others need another thread while they are blocked.
const PROGRAMS: &[Program] = &[
    ("lock_across_a_join", lock_across_a_join),
    ("lock_across_a_loop", lock_across_a_loop),
    ("lazy_initialiser_that_joins", lazy_initialiser_that_joins),
    ("sender_before_receiver", sender_before_receiver),
    ("sleeper_beside_others", sleeper_beside_others),
    ("receiver_before_sender", receiver_before_sender),
    ("rendezvous", rendezvous),
    ("chain_of_receivers", chain_of_receivers),
    ("barrier_in_all_leaves", barrier_in_all_leaves),
    ("barrier_in_a_scope", barrier_in_a_scope),
    ("barrier_in_a_loop", barrier_in_a_loop),
    ("handshake_by_condvar", handshake_by_condvar),
    #[cfg(unix)]
    ("reader_of_a_socket", reader_of_a_socket),
    ("task_that_waits_for_a_fork_of_its_parent", task_that_waits_for_a_fork_of_its_parent),
];

fn by_guest(pool: &Pool, program: fn()) {
    pool.install(program);
}

fn by_task(pool: &Pool, program: fn()) {
    pool.install(|| scope(|s| s.spawn(program)));
}

/// All programs one after the other, in one pool. It is at rest before: a thread that is just looking for work takes it
/// without a look around, which is a matter of its own.
fn run_all(pool: &Pool, enter: fn(&Pool, fn()), programs: &[Program]) {
    for (name, program) in programs {
        at_rest(pool);
        enter(pool, *program);
        assert_eq!(pool.install(|| sum_to(200)), 20_100, "after {name}");
    }
    at_rest(pool);
    assert_eq!(pool.stats().spares_refused, 0);
}

#[test]
fn blocking_programs_of_guest_end() {
    watchdog(LONG, || [1, 2, 8].map(|threads| run_all(&pool(threads), by_guest, PROGRAMS)));
}

#[test]
fn blocking_programs_of_task_end() {
    watchdog(LONG, || [1, 2, 8].map(|threads| run_all(&pool(threads), by_task, PROGRAMS)));
}

#[test]
fn blocking_programs_from_outside_end() {
    watchdog(LONG, || {
        assert_eq!(sum_to(200), 20_100);
        for (_, program) in PROGRAMS {
            // The default pool's statistics are not to be had: some time to come to rest.
            thread::sleep(Duration::from_millis(15));
            program();
        }
        assert_eq!(sum_to(200), 20_100);
    });
}

#[test]
fn three_concurrent_blocking_programs_end() {
    watchdog(LONG, || {
        let pool = pool(2);
        at_rest(&pool);
        thread::scope(|threads| {
            for first in 0..3 {
                let pool = &pool;
                threads.spawn(move || {
                    for (_, program) in PROGRAMS.iter().skip(first).step_by(3) {
                        pool.install(program);
                    }
                });
            }
        });
        at_rest(&pool);
    });
}

#[test]
fn spares_are_added_for_blocked_threads() {
    watchdog(LONG, || {
        for program in [chain_of_receivers, barrier_in_all_leaves, barrier_in_a_scope] {
            for enter in [by_guest, by_task] {
                for threads in [1, 2, 8] {
                    let pool = pool(threads);
                    at_rest(&pool);
                    enter(&pool, program);
                    let stats = pool.stats();
                    // The participants beside the workers: the guest and the spares.
                    assert!(stats.spare_threads >= PARTIES - threads - 1, "{stats}");
                    assert!(stats.slots_lent >= 1, "{stats}");
                }
            }
        }
    });
}

/// Raids do without `membarrier` as well, so the same programs end.
#[test]
fn blocking_programs_end_without_membarrier() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = Pool::builder().threads(threads).without_membarrier().build().unwrap();
            run_all(&pool, by_task, PROGRAMS);
            run_all(&pool, by_guest, PROGRAMS);
        }
    });
}
