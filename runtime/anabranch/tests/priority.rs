//! A thread of high priority does not burn its core while it waits for a short critical section of a thread that it has
//! preempted.
#![cfg(target_os = "linux")]

mod common;

use anabranch::channel::{unbounded, watch};
use common::{LONG, watchdog};
use std::{
    mem,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// Far more than an operation takes, and far less than the 950 ms after which the system stops a thread that does not
/// let others run.
const TOO_MUCH: Duration = Duration::from_millis(300);

const ROUNDS: usize = 300;

/// Binds the calling thread to the first core that it may use.
fn bind() {
    // SAFETY: plain data of the given size, for the calling thread.
    unsafe {
        let mut cores: libc::cpu_set_t = mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_getaffinity(0, size, &raw mut cores), 0);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&core| libc::CPU_ISSET(core, &cores)).unwrap();
        libc::CPU_ZERO(&mut cores);
        libc::CPU_SET(first, &mut cores);
        assert_eq!(libc::sched_setaffinity(0, size, &raw const cores), 0);
    }
}

/// Gives the calling thread another class of priority. `false`: the system refuses.
fn schedule(policy: libc::c_int, priority: libc::c_int) -> bool {
    // SAFETY: plain data, for the calling thread.
    unsafe {
        let mut parameters: libc::sched_param = mem::zeroed();
        parameters.sched_priority = priority;
        libc::sched_setscheduler(0, policy, &raw const parameters) == 0
    }
}

fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the time there.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// One thread does `often` all the time; one of higher priority wakes up on the same core, again and again, and does
/// `now_and_then`. Sooner or later it preempts the first one within a critical section.
fn no_core_is_burnt(often: impl Fn() + Sync, now_and_then: impl Fn() + Sync) {
    let (is_over, has_begun) = (AtomicBool::new(false), AtomicBool::new(false));
    let longest = watchdog(LONG, || {
        thread::scope(|threads| {
            threads.spawn(|| {
                bind();
                has_begun.store(true, Ordering::Relaxed);
                while !is_over.load(Ordering::Relaxed) {
                    (0..100).for_each(|_| often());
                }
            });
            let urgent = threads.spawn(|| {
                bind();
                while !has_begun.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_micros(100));
                }
                if !schedule(libc::SCHED_FIFO, 1) {
                    // A unit test of the lock stops its holder instead, and looks at the same time of the one that
                    // waits.
                    println!("the system grants no priorities: {}", std::io::Error::last_os_error());
                }
                let mut longest = Duration::ZERO;
                for _ in 0..ROUNDS {
                    thread::sleep(Duration::from_micros(100));
                    let before = cpu_time();
                    now_and_then();
                    longest = longest.max(cpu_time() - before);
                }
                longest
            });
            let longest = urgent.join();
            is_over.store(true, Ordering::Relaxed);
            longest.unwrap()
        })
    });
    assert!(longest < TOO_MUCH, "one operation took {longest:?} of the core");
}

#[test]
fn channel_does_not_spin_out_time_slice_of_urgent_thread() {
    let (sender, receiver) = unbounded();
    let use_it = || {
        sender.try_send(1).unwrap();
        let _ = receiver.try_recv();
    };
    no_core_is_burnt(use_it, use_it);
}

#[test]
fn watch_does_not_spin_out_time_slice_of_urgent_thread() {
    let (sender, receiver) = watch::channel(0);
    no_core_is_burnt(
        || _ = sender.send(1),
        || {
            sender.send(2).unwrap();
            assert!(*receiver.get() > 0);
        },
    );
}
