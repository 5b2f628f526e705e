//! Spare threads: how many, how they are called, how they end; and the handlers that see what reaches no caller.

use crate::common::{self, LONG, Tally, at_rest, join_stolen, panic_text, pool, rerun, sum_to, watchdog};
use anabranch::{BuildError, Builder, Pool, join, scope};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
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
fn meet() {
    let barrier = Barrier::new(PARTIES);
    leaves(PARTIES, &|| _ = barrier.wait());
}

/// Ends when it is opened from outside.
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

/// A program that needs more threads than the cap allows, until somebody outside has mercy.
fn meets_the_cap(cap: usize) {
    let pool = Pool::builder().threads(1).max_spare_threads(cap).build().unwrap();
    at_rest(&pool);
    for _ in 0..3 {
        let gate = Gate::default();
        thread::scope(|threads| {
            threads.spawn(|| pool.install(|| leaves(8, &|| gate.pass())));
            // The guest, the pool's thread, and the spares: nobody else comes.
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
fn a_pool_at_its_cap_goes_on_when_somebody_is_released_and_says_so_once() {
    if std::env::var_os(IS_CHILD).is_some() {
        return watchdog(LONG, || meets_the_cap(1));
    }
    let child = rerun(module_path!(), "a_pool_at_its_cap_goes_on_when_somebody_is_released_and_says_so_once")
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
fn a_pool_that_nobody_listens_to_goes_on() {
    if std::env::var_os(IS_CHILD).is_some() {
        return watchdog(LONG, || meets_the_cap(1));
    }
    // What the child says on its standard error is refused.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = rerun(module_path!(), "a_pool_that_nobody_listens_to_goes_on")
        .env(IS_CHILD, "1")
        .stderr(writer)
        .output()
        .unwrap();
    assert!(child.status.success() && String::from_utf8_lossy(&child.stdout).contains("1 passed"), "{child:?}");
}

#[test]
fn a_pool_without_spares_goes_on_when_somebody_is_released() {
    watchdog(LONG, || meets_the_cap(0));
}

#[test]
fn the_cap_is_kept_whatever_is_asked_for() {
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
fn spares_are_used_again() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..20 {
            at_rest(&pool);
            pool.install(meet);
        }
        let stats = pool.stats();
        // The guest, two threads, nine spares, and one who looks out; a thread that is late makes it one more. Without
        // using them again it would be some two hundred.
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
fn spares_have_names_and_handlers_and_end_with_the_pool() {
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

#[test]
fn a_start_handler_that_panics_on_a_spare_does_not_cost_the_thread() {
    watchdog(LONG, || {
        let (pool, seen) = {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let sink = Arc::clone(&seen);
            let builder = Pool::builder()
                .threads(2)
                .on_start(|i| {
                    if i >= 2 {
                        panic_any(i)
                    }
                })
                .on_exit(|i| assert!(i < 2, "a thread that has not started properly has no exit"))
                .on_panic(move |panic| sink.lock().unwrap().push(*panic.downcast::<usize>().unwrap()));
            (builder.build().unwrap(), seen)
        };
        at_rest(&pool);
        pool.install(meet);
        let least = pool.stats().spare_threads;
        drop(pool);
        let mut seen = seen.lock().unwrap();
        seen.sort_unstable();
        assert_eq!(*seen, (2..2 + seen.len().max(least)).collect::<Vec<_>>());
    });
}

// ---- the panic handler ----

/// A builder whose panic handler keeps the numbers that were thrown.
fn keeping(builder: Builder) -> (Builder, Arc<Mutex<Vec<u32>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let handler = move |panic: Box<dyn std::any::Any + Send>| sink.lock().unwrap().push(*panic.downcast().unwrap());
    (builder.on_panic(handler), seen)
}

fn thrown(body: impl FnOnce()) -> u32 {
    *catch_unwind(AssertUnwindSafe(body)).unwrap_err().downcast().unwrap()
}

#[test]
fn the_panic_handler_sees_what_reaches_no_caller() {
    watchdog(LONG, || {
        for threads in [2, 8] {
            let (builder, seen) = keeping(Pool::builder().threads(threads));
            let pool = builder.build().unwrap();
            let take = || {
                let mut numbers = std::mem::take(&mut *seen.lock().unwrap());
                numbers.sort_unstable();
                numbers
            };
            assert_eq!(thrown(|| _ = pool.install(|| join_stolen(|| panic_any(1u32), || panic_any(2u32)))), 1);
            assert_eq!(take(), [2], "the second panic of a join");
            assert_eq!(thrown(|| _ = pool.install(|| join_stolen(|| (), || panic_any(3u32)))), 3);
            assert_eq!(take(), [], "one that arrives is nobody else's business");
            let first = thrown(|| {
                pool.install(|| scope(|s| (0..5u32).for_each(|i| s.spawn(move || panic_any(i)))));
            });
            let rest: Vec<_> = (0..5).filter(|&i| i != first).collect();
            assert_eq!(take(), rest, "all but one of a scope");
            let body = thrown(|| {
                pool.install(|| {
                    scope(|s| {
                        (0..5u32).for_each(|i| s.spawn(move || panic_any(i)));
                        panic_any(9u32);
                    });
                });
            });
            assert_eq!((body, take()), (9, vec![0, 1, 2, 3, 4]), "all tasks where the body panics");
            let first = thrown(|| _ = pool.broadcast(|i| panic_any(i as u32)));
            let rest: Vec<_> = (0..threads as u32).filter(|&i| i != first).collect();
            assert_eq!(take(), rest, "all but one of a broadcast");
        }
    });
}

#[test]
fn the_panic_handler_sees_the_panics_of_handlers() {
    watchdog(LONG, || {
        let (builder, seen) = keeping(Pool::builder().threads(3).on_exit(|i| panic_any(i as u32)));
        drop(builder.build().unwrap());
        seen.lock().unwrap().sort_unstable();
        assert_eq!(*seen.lock().unwrap(), [0, 1, 2]);
        let (builder, seen) = keeping(Pool::builder().threads(1).on_start(|_| panic_any(7u32)));
        assert!(matches!(builder.build().unwrap_err(), BuildError::StartHandlerPanicked));
        assert_eq!(*seen.lock().unwrap(), [7]);
    });
}

/// A payload whose drop panics.
struct Spiteful {
    _counted: common::Counted,
}

impl Drop for Spiteful {
    fn drop(&mut self) {
        panic!("spite");
    }
}

#[test]
fn a_panic_handler_that_panics_does_no_harm() {
    watchdog(LONG, || {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        static EXITS: AtomicUsize = AtomicUsize::new(0);
        let tally = Tally::default();
        let sink = tally.clone();
        let pool = Pool::builder()
            .threads(2)
            .on_panic(move |_| {
                CALLS.fetch_add(1, Ordering::Relaxed);
                panic_any(Spiteful { _counted: sink.make() });
            })
            .on_exit(|_| {
                EXITS.fetch_add(1, Ordering::Relaxed);
                panic!("exit");
            })
            .build()
            .unwrap();
        for _ in 0..20 {
            // In the middle of an unwinding, in a task, and where the body panics too.
            let text = panic_text(|| _ = pool.install(|| join_stolen(|| panic!("first"), || panic!("second"))));
            assert_eq!(text, "first");
            let text = panic_text(|| {
                pool.install(|| {
                    scope(|s| {
                        (0..3).for_each(|_| s.spawn(|| panic!("task")));
                        panic!("body");
                    });
                });
            });
            assert_eq!(text, "body");
            assert_eq!(pool.install(|| sum_to(100)), 5050);
        }
        let least = 2 + pool.stats().spare_threads;
        drop(pool);
        let exits = EXITS.load(Ordering::Relaxed);
        assert!(exits >= least);
        assert_eq!(CALLS.load(Ordering::Relaxed), 20 * 4 + exits, "three and one a round, and the exits");
        tally.assert_all_dropped();
    });
}

// ---- pinning ----

/// The cores that each thread of this process may use whose name begins with `prefix`, by its number.
#[cfg(target_os = "linux")]
fn cores_of(prefix: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let Ok(status) = std::fs::read_to_string(task.unwrap().path().join("status")) else { continue };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).unwrap();
        if let Some(number) = field("Name:").strip_prefix(prefix) {
            found.push((number.parse().unwrap(), field("Cpus_allowed_list:").to_owned()));
        }
    }
    found.sort_unstable();
    found
}

/// The numbers in a list such as `0-2,5`.
#[cfg(target_os = "linux")]
fn allowed(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        low.parse().unwrap()..=high.parse().unwrap()
    };
    list.split(',').flat_map(range).collect()
}

#[cfg(target_os = "linux")]
fn own_cores() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    allowed(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim())
}

#[cfg(target_os = "linux")]
#[test]
fn pinned_threads_have_one_core_each_in_turn() {
    watchdog(LONG, || {
        let cores = own_cores();
        let pool = Pool::builder().threads(5).thread_name(|i| format!("pin-{i}")).pin_threads(true).build().unwrap();
        let expected: Vec<_> = (0..5).map(|i| (i, cores[i % cores.len()].to_string())).collect();
        assert_eq!(cores_of("pin-"), expected);
        assert_eq!(pool.install(own_cores), cores, "guests are left alone");
        assert_eq!(pool.install(|| sum_to(1000)), 500_500);
        let free = Pool::builder().threads(2).thread_name(|i| format!("free-{i}")).build().unwrap();
        assert!(cores_of("free-").iter().all(|(_, list)| allowed(list) == cores));
        drop(free);
    });
}
