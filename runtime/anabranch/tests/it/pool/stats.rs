//! The statistics count what their documentation says.

use crate::common::{LONG, at_rest, join_stolen, pool, sum_to, watchdog};
use anabranch::{
    Pool, join,
    pool::{LatencyHistogram, Stats, WorkerStats},
    prelude::*,
    time::ManualClock,
};
use std::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

fn fallback(threads: usize) -> Pool {
    Pool::builder().threads(threads).without_membarrier().build().unwrap()
}

/// Waits for statistics that satisfy `wanted`, and returns them. A thread may count an operation
/// some time after its end.
fn stats_when(pool: &Pool, wanted: impl Fn(&Stats, &WorkerStats) -> bool) -> Stats {
    loop {
        let stats = pool.stats();
        if wanted(&stats, &stats.total()) {
            return stats;
        }
        thread::sleep(Duration::from_micros(100));
    }
}

/// Runs `round` in the pool, and returns the statistics when the pool is at rest again.
fn stats_after(pool: &Pool, round: impl Fn()) -> Stats {
    pool.install(round);
    at_rest(pool);
    pool.stats()
}

/// Returns the statistics of a pool in which a thread was raided. Each attempt has a new pool. A worker that searches
/// requests forks, and a request outlasts its round. So once a pool has had a request, its next round publishes its
/// fork at once, and no thread raids it.
fn raided(pool: impl Fn() -> Pool) -> Stats {
    loop {
        let pool = pool();
        at_rest(&pool);
        let stats = stats_after(&pool, long_leaf);
        if stats.total().raided >= 1 {
            return stats;
        }
    }
}

/// A leaf that forks no more, and lasts until another thread has run its second half.
fn long_leaf() {
    let ran = AtomicBool::new(false);
    join(
        || {
            while !ran.load(Ordering::Acquire) {
                thread::yield_now();
            }
        },
        || ran.store(true, Ordering::Release),
    );
}

#[test]
fn stats_of_new_pool_are_zero() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = pool(threads);
            at_rest(&pool);
            let (stats, total) = (pool.stats(), pool.stats().total());
            assert_eq!(stats.workers.len(), threads);
            assert_eq!((total.published, total.raided, total.reclaimed, total.stolen, total.helped), (0, 0, 0, 0, 0));
            assert_eq!((stats.spare_threads, stats.spares_refused, stats.slots_lent), (0, 0, 0));
            assert_eq!((stats.guests, stats.spares), (WorkerStats::default(), WorkerStats::default()));
        }
    });
}

#[test]
fn join_in_pool_of_one_thread_publishes_nothing() {
    watchdog(LONG, || {
        for pool in [pool(1), fallback(1)] {
            at_rest(&pool);
            let round = || {
                let before = pool.stats().total();
                assert_eq!(pool.install(|| sum_to(20_000)), 200_010_000);
                let total = pool.stats().total();
                total.published + total.raided + total.reclaimed + total.stolen
                    == before.published + before.raided + before.reclaimed + before.stolen
            };
            // A guest that waits for a page of memory is taken for blocked, and helped.
            assert!((0..20).any(|_| round()), "{}", pool.stats());
        }
    });
}

#[test]
fn steal_is_counted_at_thief_and_victim() {
    watchdog(LONG, || {
        for pool in [pool(2), fallback(2)] {
            at_rest(&pool);
            pool.install(|| join_stolen(|| (), || ()));
            stats_when(&pool, |stats, _| {
                let by_pool: u64 = stats.workers.iter().map(|worker| worker.stolen).sum();
                by_pool + stats.spares.stolen >= 1
                    && stats.guests.published + stats.guests.raided >= 1
                    && stats.workers.iter().any(|worker| worker.wakes + worker.searches > 0)
            });
        }
    });
}

#[test]
fn raid_is_counted_at_victim() {
    watchdog(LONG, || {
        if !pool(2).stats().uses_membarrier {
            return;
        }
        let stats = raided(|| pool(2));
        assert!(stats.guests.raided >= 1, "{stats}");
        assert!(stats.total().stolen >= 1, "{stats}");
    });
}

#[test]
fn threads_are_raided_without_membarrier() {
    watchdog(LONG, || {
        let stats = raided(|| fallback(2));
        assert!(!stats.uses_membarrier);
        assert!(stats.guests.raided >= 1 && stats.total().stolen >= 1, "{stats}");
    });
}

#[test]
fn reclaimed_fork_is_counted() {
    watchdog(LONG, || {
        for pool in [pool(2), fallback(2)] {
            // What a single round does is a matter of timing.
            while stats_after(&pool, || _ = sum_to(100_000)).total().reclaimed == 0 {}
            stats_when(&pool, |_, total| total.published + total.raided >= total.reclaimed);
        }
    });
}

/// What was published has either been stolen or taken back.
#[test]
fn forks_published_are_stolen_or_reclaimed() {
    watchdog(LONG, || {
        for threads in [2, 3, 8] {
            for pool in [pool(threads), fallback(threads)] {
                for i in 0..30 {
                    pool.install(|| {
                        sum_to(500 + i);
                        (0..64u32).into_par_iter().for_each(|_| _ = sum_to(20));
                        join_stolen(|| sum_to(50), || sum_to(50));
                    });
                }
                let balance = |_: &Stats, total: &WorkerStats| {
                    total.published + total.raided == total.stolen + total.reclaimed && total.stolen > 0
                };
                let stats = stats_when(&pool, balance);
                assert!(stats.total().helped <= stats.total().stolen, "{stats}");
            }
        }
    });
}

#[test]
fn times_grow_and_sum_to_less_than_lifetime() {
    watchdog(LONG, || {
        let start = Instant::now();
        let pool = pool(3);
        let mut before = pool.stats();
        for _ in 0..4 {
            at_rest(&pool);
            let nap = Duration::from_millis(3);
            pool.broadcast(|_| thread::sleep(nap));
            pool.install(|| sum_to(5000));
            let stats = stats_when(&pool, |stats, _| {
                stats.workers.iter().zip(&before.workers).all(|(now, then)| {
                    now.working >= then.working + nap
                        && now.searching > then.searching
                        && now.parked > then.parked
                        && now.parks > then.parks
                        && now.searches > then.searches
                })
            });
            let life = start.elapsed();
            for worker in &stats.workers {
                assert!(worker.working + worker.searching + worker.parked <= life, "{stats}");
            }
            let guests = stats.guests;
            assert_eq!([guests.working, guests.searching, guests.parked], [Duration::ZERO; 3], "guests are not timed");
            before = stats;
        }
    });
}

#[test]
fn total_is_sum_and_displays_as_one_line() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..5 {
            pool.install(|| join_stolen(|| sum_to(100), || sum_to(100)));
        }
        at_rest(&pool);
        let stats = pool.stats();
        let sum = |count: fn(&WorkerStats) -> u64| {
            stats.workers.iter().chain([&stats.guests, &stats.spares]).map(count).sum::<u64>()
        };
        let total = stats.total();
        assert_eq!(total.stolen, sum(|worker| worker.stolen));
        assert_eq!(total.published, sum(|worker| worker.published));
        assert_eq!(total.parks, sum(|worker| worker.parks));
        let text = stats.to_string();
        assert_eq!(text.lines().count(), 1);
        assert!(text.contains(&format!("stolen {}", total.stolen)) && text.contains("spare threads"), "{text}");
        assert!(total.stolen >= 5);
    });
}

/// How many timers are made late at a time.
const TIMERS: u64 = 20;

/// Runs `keep_thread` on a fiber of a pool of one thread, while [`TIMERS`] other fibers of the thread sleep for `time`.
/// Returns its result, and how late the timers were.
fn keep_thread_beside_timers<R: Send + 'static>(
    pool: &Arc<Pool>,
    time: Duration,
    keep_thread: impl FnOnce(&Pool) -> R + Send + 'static,
) -> (R, LatencyHistogram) {
    let begun = Arc::new(AtomicU64::new(0));
    let sleep = |begun: Arc<AtomicU64>| {
        pool.spawn(move |cx| {
            begun.fetch_add(1, Ordering::Relaxed);
            cx.sleep(time)
        })
    };
    let sleepers: Vec<_> = (0..TIMERS).map(|_| sleep(Arc::clone(&begun))).collect();
    let own = Arc::clone(pool);
    let keeper = pool.spawn(move |cx| {
        // The thread leaves a fiber only when it waits, so all that have begun sleep.
        while begun.load(Ordering::Relaxed) < TIMERS {
            cx.yield_now();
        }
        keep_thread(&own)
    });
    let result = pool.run(|cx| {
        sleepers.into_iter().for_each(|sleeper| sleeper.join(cx).unwrap().unwrap());
        keeper.join(cx).unwrap()
    });
    (result, pool.stats().total().timer_lateness)
}

#[test]
fn timers_are_late_by_the_time_for_which_a_fiber_computes() {
    const SLEEP: Duration = Duration::from_millis(20);
    watchdog(LONG, || {
        loop {
            // Returns for how long it has computed, or `None` if a timer has fired before.
            let compute = |pool: &Pool| {
                let is_first = pool.stats().total().timer_lateness.count() == 0;
                let begin = Instant::now();
                while begin.elapsed() < 2 * SLEEP {
                    hint::spin_loop();
                }
                is_first.then(|| begin.elapsed())
            };
            let (computed, late) = keep_thread_beside_timers(&Arc::new(pool(1)), SLEEP, compute);
            assert_eq!(late.count(), TIMERS);
            let Some(computed) = computed else { continue };
            let least = computed - SLEEP;
            assert!(late.max() >= least && late.quantile(0.0) >= least, "{late} after {least:?}");
            let long = late.buckets().filter(|(range, _)| range.end > least);
            assert_eq!(long.map(|(_, count)| count).sum::<u64>(), TIMERS, "{late:?} after {least:?}");
            break;
        }
    });
}

#[test]
fn timers_are_late_by_the_clock_of_the_pool() {
    watchdog(LONG, || {
        let clock = ManualClock::new();
        let pool = Arc::new(Pool::builder().threads(1).clock(clock.clock()).build().unwrap());
        let advance = move |_: &Pool| clock.advance(Duration::from_millis(10));
        let ((), late) = keep_thread_beside_timers(&pool, Duration::from_millis(2), advance);
        assert_eq!((late.count(), late.max()), (TIMERS, Duration::from_millis(8)));
        assert_eq!(pool.stats().workers[0].timer_lateness, late);
        let text = pool.stats().to_string();
        assert!(text.contains("timers 20 (late by p50 8.0ms, p99 8.0ms, max 8.0ms)"), "{text}");
    });
}
