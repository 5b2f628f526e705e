//! Spare threads: their number, names, handlers and end.

use crate::common::{LONG, at_rest, pool, rerun, sum_to, watchdog};
use anabranch::{Pool, join};
use std::{
    sync::{
        Arc, Barrier, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

const PARTIES: usize = 12;

/// Runs `leaf` in each of `n` leaves of a recursion.
fn leaves(n: usize, leaf: &(impl Fn() + Sync)) {
    if n == 1 {
        return leaf();
    }
    join(|| leaves(n / 2, leaf), || leaves(n - n / 2, leaf));
}

/// Needs as many threads at once as there are parties.
pub fn meet() {
    let barrier = Barrier::new(PARTIES);
    leaves(PARTIES, &|| _ = barrier.wait());
}

/// A gate that another thread opens.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
    arrived: AtomicUsize,
}

impl Gate {
    fn pass(&self) {
        self.arrived.fetch_add(1, Ordering::Relaxed);
        drop(self.opened.wait_while(self.is_open.lock().unwrap(), |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

/// A program that needs more threads than the cap allows, until a thread outside opens the gate.
fn meets_the_cap(cap: usize) {
    let pool = Pool::builder().threads(1).max_spare_threads(cap).build().unwrap();
    at_rest(&pool);
    for _ in 0..3 {
        let gate = Gate::default();
        thread::scope(|threads| {
            threads.spawn(|| pool.install(|| leaves(8, &|| gate.pass())));
            // The guest, the thread of the pool and the spares arrive, and no other thread.
            while gate.arrived.load(Ordering::Relaxed) < 2 + cap || pool.stats().spares_refused == 0 {
                thread::yield_now();
            }
            assert_eq!(gate.arrived.load(Ordering::Relaxed), 2 + cap);
            gate.open();
        });
        assert_eq!(gate.arrived.into_inner(), 8);
    }
    assert_eq!(pool.stats().spare_threads, cap);
    assert_eq!(pool.install(|| sum_to(200)), 20_100);
    at_rest(&pool);
}

const IS_CHILD: &str = "ANABRANCH_TEST_IS_CHILD";

#[test]
fn pool_at_cap_warns_once_and_continues_after_release() {
    if std::env::var_os(IS_CHILD).is_some() {
        return watchdog(LONG, || meets_the_cap(1));
    }
    let child = rerun(module_path!(), "pool_at_cap_warns_once_and_continues_after_release")
        .env(IS_CHILD, "1")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success() && out.contains("1 passed"), "{out}\n{err}");
    let said: Vec<_> = err.lines().filter(|line| line.starts_with("anabranch:")).collect();
    assert_eq!(said.len(), 1, "{err}");
    assert!(said[0].contains("Builder::max_spare_threads") && said[0].contains("all 1 spare"), "{err}");
}

#[test]
fn pool_at_cap_continues_if_stderr_is_closed() {
    if std::env::var_os(IS_CHILD).is_some() {
        return watchdog(LONG, || meets_the_cap(1));
    }
    // The standard error of the child is closed.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = rerun(module_path!(), "pool_at_cap_continues_if_stderr_is_closed")
        .env(IS_CHILD, "1")
        .stderr(writer)
        .output()
        .unwrap();
    assert!(child.status.success() && String::from_utf8_lossy(&child.stdout).contains("1 passed"), "{child:?}");
}

#[test]
fn pool_without_spares_continues_after_release() {
    watchdog(LONG, || meets_the_cap(0));
}

#[test]
fn cap_on_spares_is_never_exceeded() {
    watchdog(LONG, || {
        for cap in [0, 1, 3] {
            let pool = Pool::builder().threads(2).max_spare_threads(cap).build().unwrap();
            for _ in 0..20 {
                pool.install(|| leaves(32, &|| thread::sleep(std::time::Duration::from_micros(300))));
            }
            assert!(pool.stats().spare_threads <= cap);
        }
    });
}

#[test]
fn spares_are_reused() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..20 {
            at_rest(&pool);
            pool.install(meet);
        }
        let stats = pool.stats();
        // The guest, two threads, nine spares, and one heartbeat worker; a thread that is late makes it one more.
        // Without using them again it would be some two hundred.
        assert!((PARTIES - 3..4 * PARTIES).contains(&stats.spare_threads), "{stats}");
        assert!(stats.slots_lent > 0 && stats.spares.stolen > 0 && stats.spares_refused == 0, "{stats}");
    });
}

/// The calls of start and exit handlers: the number, and the name of the thread.
#[derive(Default)]
struct Calls {
    started: Mutex<Vec<(usize, String)>>,
    ended: Mutex<Vec<(usize, String)>>,
}

fn note(list: &Mutex<Vec<(usize, String)>>, number: usize) {
    list.lock().unwrap().push((number, thread::current().name().unwrap().to_owned()));
}

#[test]
fn spares_have_names_and_handlers_and_end_with_pool() {
    watchdog(LONG, || {
        let calls = Arc::new(Calls::default());
        let (on_start, on_exit) = (Arc::clone(&calls), Arc::clone(&calls));
        let pool = Pool::builder()
            .threads(2)
            .thread_name(|i| format!("crew-{i}"))
            .on_start(move |i| note(&on_start.started, i))
            .on_exit(move |i| note(&on_exit.ended, i))
            .build()
            .unwrap();
        at_rest(&pool);
        (0..3).for_each(|_| pool.install(meet));
        at_rest(&pool);
        let least = 2 + pool.stats().spare_threads;
        assert!(least >= PARTIES - 1);
        assert!(calls.ended.lock().unwrap().is_empty(), "spares are kept");
        drop(pool);
        let mut lists = [&calls.started, &calls.ended].map(|list| std::mem::take(&mut *list.lock().unwrap()));
        lists.iter_mut().for_each(|list| list.sort_unstable());
        let expected: Vec<_> = (0..lists[0].len().max(least)).map(|i| (i, format!("crew-{i}"))).collect();
        assert_eq!(lists, [expected.clone(), expected]);
    });
}
