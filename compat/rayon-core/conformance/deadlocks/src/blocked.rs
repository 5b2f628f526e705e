//! Jobs that block until another job has done something, for which rayon has no thread left. And `par_bridge`, whose
//! lock is such a wait.

use crate::{Counter, Program, many, parallel_work, pause};
use rayon::prelude::*;
use std::{
    io::{self, Read, Write},
    iter,
    net::{TcpListener, TcpStream},
    sync::{Barrier, Mutex, mpsc},
    thread,
};

pub const PROGRAMS: &[Program] = &[
    ("receivers_before_sender", receivers_before_sender),
    ("full_channels_before_receiver", full_channels_before_receiver),
    ("halves_of_join_with_rendezvous", halves_of_join_with_rendezvous),
    ("barrier_wider_than_pool", barrier_wider_than_pool),
    ("output_in_order", output_in_order),
    ("clients_before_server", clients_before_server),
    ("pipes_before_writer", pipes_before_writer),
    ("threads_in_jobs", threads_in_jobs),
    ("outer_thread_with_lock", outer_thread_with_lock),
    ("par_bridge_over_parallel_walk", par_bridge_over_parallel_walk),
    ("par_bridge_with_parallel_next", par_bridge_with_parallel_next),
];

fn receivers_before_sender() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..many()).map(|_| mpsc::channel()).unzip();
    rayon::in_place_scope(|s| {
        for receiver in receivers {
            s.spawn(move |_| assert_eq!(receiver.recv(), Ok(7)));
        }
        pause(200);
        s.spawn(|_| senders.into_iter().for_each(|sender| sender.send(7).unwrap()));
    });
}

fn full_channels_before_receiver() {
    let (sender, receiver) = mpsc::sync_channel(1);
    rayon::in_place_scope(|s| {
        for _ in 0..many() {
            let sender = sender.clone();
            s.spawn(move |_| (0..3).for_each(|i| sender.send(i).unwrap()));
        }
        drop(sender);
        pause(200);
        s.spawn(|_| assert_eq!(receiver.into_iter().count(), 3 * many()));
    });
}

fn halves_of_join_with_rendezvous() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let (received, sent) = rayon::join(move || receiver.recv(), move || sender.send(7));
    assert_eq!((received, sent), (Ok(7), Ok(())));
}

fn barrier_wider_than_pool() {
    let barrier = Barrier::new(rayon::current_num_threads() + 1);
    rayon::in_place_scope(|s| {
        for _ in 0..=rayon::current_num_threads() {
            s.spawn(|_| _ = barrier.wait());
        }
    });
}

/// Each job waits for its turn. The first one is in the middle, so it begins late, whether the pool begins jobs in
/// their order or in reverse.
fn output_in_order() {
    let (turn, output) = (Counter::new(), Mutex::new(Vec::new()));
    let (turn, output) = (&turn, &output);
    rayon::in_place_scope(|s| {
        let threads = rayon::current_num_threads();
        for i in (1..=threads).chain([0]).chain(threads + 1..=many()) {
            s.spawn(move |_| {
                turn.wait_until(i);
                output.lock().unwrap().push(i);
                turn.add(1);
            });
        }
    });
    assert!(output.lock().unwrap().iter().copied().eq(0..=many()));
}

/// Clients fill the pool, and wait for the server on the same pool.
fn clients_before_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (listener, count) = (&listener, rayon::current_num_threads());
    let address = listener.local_addr().unwrap();
    rayon::in_place_scope(|s| {
        for i in 0..count {
            s.spawn(move |_| {
                let mut connection = TcpStream::connect(address).unwrap();
                connection.write_all(&[i as u8]).unwrap();
                let mut reply = [0];
                connection.read_exact(&mut reply).unwrap();
                assert_eq!(reply, [i as u8]);
            });
        }
        pause(200);
        s.spawn(move |s| {
            for _ in 0..count {
                let (mut connection, _) = listener.accept().unwrap();
                s.spawn(move |_| {
                    let mut request = [0];
                    connection.read_exact(&mut request).unwrap();
                    connection.write_all(&request).unwrap();
                });
            }
        });
    });
}

fn pipes_before_writer() {
    let pipes = (0..rayon::current_num_threads()).map(|_| io::pipe().unwrap());
    let (readers, writers): (Vec<_>, Vec<_>) = pipes.unzip();
    rayon::in_place_scope(|s| {
        for mut reader in readers {
            s.spawn(move |_| assert_eq!(reader.read(&mut [0]).unwrap(), 1));
        }
        pause(200);
        s.spawn(|_| writers.into_iter().for_each(|mut writer| writer.write_all(&[7]).unwrap()));
    });
}

/// Each job starts a thread of its own, which calls into the pool.
fn threads_in_jobs() {
    let sum = || {
        pause(400);
        (0..1000u64).into_par_iter().sum::<u64>()
    };
    rayon::in_place_scope(|s| {
        for _ in 0..many() {
            s.spawn(|_| assert_eq!(thread::scope(|t| t.spawn(sum).join().unwrap()), 499_500));
        }
    });
}

/// A thread outside of the pool holds a lock, and waits for the pool, whose jobs wait for the lock.
fn outer_thread_with_lock() {
    let cache = Mutex::new(0);
    rayon::in_place_scope(|s| {
        let mut held = cache.lock().unwrap();
        for _ in 0..many() {
            s.spawn(|_| *cache.lock().unwrap() += 1);
        }
        pause(200);
        *held += parallel_work();
    });
    assert_eq!(*cache.lock().unwrap(), 2 + many());
}

/// An iterator over the files of a directory, say, that walks on the pool.
fn par_bridge_over_parallel_walk() {
    let (sender, receiver) = mpsc::channel();
    let mut walk = Some(move || (0..100).for_each(|i| sender.send(i).unwrap()));
    let items = iter::from_fn(move || {
        if let Some(walk) = walk.take() {
            pause(500);
            rayon::spawn(walk);
        }
        receiver.recv().ok()
    });
    assert_eq!(items.par_bridge().count(), 100);
}

/// A chunk of items is decoded in parallel. Whether rayon hangs is a matter of which piece a thread steals.
fn par_bridge_with_parallel_next() {
    for _ in 0..100 {
        let decode = |i: u64| (0..64u64).into_par_iter().map(|j| i ^ j).sum::<u64>();
        (0..64).map(decode).par_bridge().for_each(|sum| assert!(sum > 0));
    }
}
