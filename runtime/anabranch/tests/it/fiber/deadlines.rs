//! Deadlines: code that never has to wait notices them, and extreme times work.

use crate::common::{
    LONG,
    fibers::{on_fiber, until, until_waiting, with_every_cx},
    one_thread, pool, watchdog,
};
use anabranch::{
    Cancelled, Cx, Operation, Pool, WaitError,
    channel::{ReceiverSet, Select, bounded, broadcast, spsc, watch},
    fiber::sleep_async,
    select,
    sync::{Barrier, Event, Mutex, OnceCell, RwLock, Semaphore, Trigger},
    time::ManualClock,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

const HOUR: Duration = Duration::from_secs(3600);

const SECOND: Duration = Duration::from_secs(1);

/// The check on a fiber and on a thread, with a clock that is moved by hand.
fn with_manual_clock(check: fn(&Cx<'_>, &ManualClock)) {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool = one_thread().clock(manual.clock()).build().unwrap();
        pool.run(|cx| check(cx, &manual));
        on_fiber(&pool, move |cx| check(cx, &manual));
    });
}

/// Does `operation` again and again, and after each of them a second of work. How many succeed in four and a half
/// seconds.
fn succeed_in_time(cx: &Cx<'_>, manual: &ManualClock, mut operation: impl FnMut(&Cx<'_>) -> bool) -> u32 {
    let mut count = 0;
    let result = cx.timeout(SECOND * 9 / 2, |cx| {
        while operation(cx) {
            count += 1;
            manual.advance(SECOND);
        }
        assert!(cx.is_cancelled());
        Err::<(), _>(WaitError::Cancelled)
    });
    assert_eq!((result, cx.check()), (Err(WaitError::TimedOut), Ok(())));
    count
}

#[test]
fn receives_that_never_wait_notice_deadline() {
    with_manual_clock(|cx, manual| {
        let (sender, receiver) = bounded(1000);
        (0..1000).for_each(|i| sender.try_send(i).unwrap());
        assert_eq!(succeed_in_time(cx, manual, |cx| receiver.recv(cx).is_ok()), 5);
        assert_eq!(
            succeed_in_time(cx, manual, |cx| receiver.receiving().timeout(cx, SECOND).is_ok_and(|got| got.is_ok())),
            5
        );
        assert_eq!(succeed_in_time(cx, manual, |cx| receiver.recv_many(cx, &mut Vec::new(), 2).is_ok()), 5);
        let mut taken = 0;
        let mut take = |cx: &Cx<'_>| receiver.iter(cx).next().unwrap().inspect(|_| taken += 1).is_ok();
        assert_eq!(succeed_in_time(cx, manual, &mut take), 5);
        assert_eq!((taken, receiver.len()), (5, 1000 - 25));

        let (mut sender, mut receiver) = spsc::bounded(1000);
        (0..1000).for_each(|i| sender.try_send(i).unwrap());
        assert_eq!(succeed_in_time(cx, manual, |cx| receiver.recv(cx).is_ok()), 5);

        let (sender, mut receiver) = broadcast::channel(1000);
        (0..1000).for_each(|i| sender.send(i).unwrap());
        assert_eq!(succeed_in_time(cx, manual, |cx| receiver.recv(cx).is_ok()), 5);

        let (sender, mut receiver) = watch::channel(0);
        let changed = |cx: &Cx<'_>| {
            sender.send(1).unwrap();
            receiver.recv(cx).is_ok()
        };
        assert_eq!(succeed_in_time(cx, manual, changed), 5);
    });
}

#[test]
fn sends_that_never_wait_notice_deadline() {
    with_manual_clock(|cx, manual| {
        let (sender, receiver) = bounded(1000);
        assert_eq!(succeed_in_time(cx, manual, |cx| sender.send(cx, 1).is_ok()), 5);
        assert_eq!(
            succeed_in_time(cx, manual, |cx| sender.sending(1).timeout(cx, SECOND).is_ok_and(|sent| sent.is_ok())),
            5
        );
        assert_eq!(succeed_in_time(cx, manual, |cx| sender.reserve(cx).is_ok()), 5);
        assert_eq!(receiver.len(), 10);
        let (mut sender, _receiver) = spsc::unbounded();
        assert_eq!(succeed_in_time(cx, manual, |cx| sender.send(cx, 1).is_ok()), 5);
    });
}

#[test]
fn selections_that_never_wait_notice_deadline() {
    with_manual_clock(|cx, manual| {
        let (sender, receiver) = bounded(1000);
        (0..1000).for_each(|i| sender.try_send(i).unwrap());
        let selected = |cx: &Cx<'_>| select!(cx, { got = receiver.receiving() => got.unwrap() }).is_ok();
        assert_eq!(succeed_in_time(cx, manual, selected), 5);
        let waited = |cx: &Cx<'_>| [receiver.receiving()].into_iter().collect::<Select<_>>().wait(cx).is_ok();
        assert_eq!(succeed_in_time(cx, manual, waited), 5);
        let mut set = ReceiverSet::new();
        set.insert(receiver);
        assert_eq!(succeed_in_time(cx, manual, |cx| set.recv(cx).is_ok()), 5);
    });
}

#[test]
fn uncontended_locks_notice_deadline() {
    with_manual_clock(|cx, manual| {
        let (mutex, rwlock, semaphore) = (Mutex::new(()), RwLock::new(()), Semaphore::new(1));
        let (event, barrier) = (Event::new(), Barrier::new(1));
        event.set();
        assert_eq!(succeed_in_time(cx, manual, |cx| mutex.lock(cx).is_ok()), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| rwlock.read(cx).is_ok()), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| rwlock.write(cx).is_ok()), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| semaphore.acquire(cx).is_ok()), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| event.wait(cx).is_ok()), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| barrier.wait(cx).is_ok()), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| OnceCell::new().get_or_init(cx, |_| ()).is_ok()), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| cx.sleep(Duration::ZERO).is_ok()), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| cx.block_on(async {}).is_ok()), 5);
    });
}

/// What is below a scope with a deadline has it too, but for what a shield keeps it from.
#[test]
fn inner_scopes_notice_deadline() {
    with_manual_clock(|cx, manual| {
        let mutex = Mutex::new(());
        let lock = |cx: &Cx<'_>| mutex.lock(cx).is_ok();
        assert_eq!(succeed_in_time(cx, manual, |cx| cx.scope(|s| lock(s))), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| cx.cancellable(|cx, _| lock(cx))), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| cx.join(lock, |_| ()).0), 5);
        assert_eq!(succeed_in_time(cx, manual, |cx| cx.join(|_| (), |cx| mutex.lock(cx).is_ok()).1), 5);
        assert_eq!(
            succeed_in_time(cx, manual, |cx| cx.timeout(60 * SECOND, |cx| Ok::<_, WaitError>(lock(cx))) == Ok(true)),
            5
        );
        let child = |cx: &Cx<'_>| cx.scope(|s| s.spawn(|cx| mutex.lock(cx).is_ok()).join(cx)) == Ok(true);
        assert_eq!(succeed_in_time(cx, manual, child), 5);
        let shielded = AtomicU32::new(0);
        let inner = |cx: &Cx<'_>| {
            shielded.fetch_add(u32::from(cx.shield(lock)), Ordering::Relaxed);
            lock(cx)
        };
        assert_eq!((succeed_in_time(cx, manual, inner), shielded.into_inner()), (5, 6));
    });
}

/// The longest timeouts: there is no overflow, and nothing expires.
#[test]
fn infinite_timeouts_never_expire() {
    with_every_cx(|cx| {
        let cancelled = |body: &dyn Fn(&Cx<'_>) -> Result<(), WaitError>| {
            let result = cx.timeout(Duration::from_micros(200), |cx| body(cx));
            assert_eq!(result, Err(WaitError::TimedOut));
        };
        let far = cx.now() + Duration::from_secs(u32::MAX.into()) * 100;
        let (_sender, receiver) = bounded::<()>(1);
        let (full, _receiver) = bounded(1);
        full.try_send(()).unwrap();
        cancelled(&|cx| Ok(cx.sleep(Duration::MAX)?));
        cancelled(&|cx| Ok(cx.sleep_until(far)?));
        cancelled(&|cx| Ok(cx.interval(Duration::MAX).tick(cx).map(drop)?));
        cancelled(&|cx| Ok(cx.interval(Duration::MAX / 3).tick(cx).map(drop)?));
        cancelled(&|cx| Ok(cx.interval(Duration::from_secs(1 << 62)).tick(cx).map(drop)?));
        cancelled(&|cx| cx.timeout(Duration::MAX, |cx| Ok(cx.sleep(Duration::MAX)?)));
        cancelled(&|cx| cx.with_deadline(far, |cx| Ok(cx.sleep(Duration::MAX)?)));
        cancelled(&|cx| Trigger::new().waiting().timeout(cx, Duration::MAX));
        cancelled(&|cx| Event::new().waiting().timeout(cx, Duration::MAX));
        cancelled(&|cx| Event::new().waiting().deadline(cx, far));
        cancelled(&|cx| Ok(select!(cx, { () = cx.sleeping(Duration::MAX) => () })?));
        cancelled(&|cx| Ok(cx.block_on(sleep_async(Duration::MAX))?));
        assert_eq!(
            cx.timeout(Duration::from_micros(200), |cx| receiver.receiving().timeout(cx, Duration::MAX)),
            Err(WaitError::TimedOut)
        );
        let sent = cx.timeout(Duration::from_micros(200), |cx| {
            full.sending(()).timeout(cx, Duration::MAX).map_err(|_| WaitError::Cancelled)
        });
        assert_eq!(sent, Err(WaitError::TimedOut));
        cx.timeout(Duration::MAX, |cx| {
            assert_eq!((cx.time_left(), cx.check()), (None, Ok(())));
            Ok::<_, WaitError>(())
        })
        .unwrap();
    });
}

/// The shortest timeouts, and deadlines that have passed.
#[test]
fn past_deadlines_expire_at_once() {
    with_every_cx(|cx| {
        let past = cx.now() - Duration::from_nanos(1);
        let long_past = cx.now().checked_sub(Duration::from_secs(1 << 40)).unwrap_or(past);
        let (_sender, receiver) = bounded::<()>(1);
        for instant in [past, long_past, cx.now()] {
            assert_eq!(cx.sleep_until(instant), Ok(()));
            assert_eq!(cx.with_deadline(instant, |cx| Ok(cx.sleep(SECOND)?)), Err::<(), _>(WaitError::TimedOut));
            assert_eq!(receiver.receiving().deadline(cx, instant), Err(WaitError::TimedOut));
            assert_eq!(Event::new().waiting().deadline(cx, instant), Err(WaitError::TimedOut));
        }
        assert_eq!(cx.sleep(Duration::ZERO), Ok(()));
        assert_eq!(cx.timeout(Duration::ZERO, |cx| Ok(cx.sleep(Duration::ZERO)?)), Err::<(), _>(WaitError::TimedOut));
        assert_eq!(receiver.receiving().timeout(cx, Duration::ZERO), Err(WaitError::TimedOut));
        assert_eq!(cx.block_on(sleep_async(Duration::ZERO)), Ok(()));
        assert_eq!(select!(cx, { () = cx.sleeping(Duration::ZERO) => 1 }), Ok(1));
    });
}

/// A period as long as a clock can show is waited for once, and what comes after is never.
#[test]
fn interval_ends_with_its_clock() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool = one_thread().clock(manual.clock()).build().unwrap();
        let ticks = Arc::new(AtomicU32::new(0));
        let period = Duration::from_nanos(u64::MAX - 2);
        let handle = pool.spawn({
            let ticks = Arc::clone(&ticks);
            move |cx| {
                let mut interval = cx.interval(period);
                while interval.tick(cx).is_ok() {
                    ticks.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        until_waiting(&pool, 1);
        manual.advance(Duration::MAX);
        until(|| ticks.load(Ordering::Relaxed) == 1);
        until_waiting(&pool, 1);
        handle.cancel();
        pool.run(|cx| handle.join(cx)).unwrap();
        assert_eq!(ticks.load(Ordering::Relaxed), 1);
    });
}

/// More periods may have been missed than 32 bits can hold.
#[test]
fn interval_skips_missed_ticks() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(manual.clock()).build().unwrap();
        pool.run(|cx| {
            let start = cx.now();
            let mut interval = cx.interval(Duration::from_nanos(3));
            manual.advance(3600 * SECOND);
            let reached: Vec<Instant> = (0..2)
                .map(|_| {
                    let reached = interval.tick(cx).unwrap();
                    manual.advance(Duration::from_nanos(3));
                    reached
                })
                .collect();
            assert_eq!(reached, [start + Duration::from_nanos(3), start + 3600 * SECOND + Duration::from_nanos(3)]);
            Ok::<_, Cancelled>(())
        })
        .unwrap();
    });
}

/// The deadline is one of the pool in which it was set, whose clock is moved by hand.
#[test]
fn deadline_uses_clock_of_its_pool_inside_another_pool() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let outer = Pool::builder().threads(1).clock(manual.clock()).build().unwrap();
        let inner = pool(1);
        let outcome = outer.run(|cx| {
            cx.timeout(HOUR, |cx| {
                manual.advance(2 * HOUR);
                Ok(inner.run(|_| cx.sleep(10 * HOUR))?)
            })
        });
        assert_eq!(outcome, Err(WaitError::TimedOut));
    });
}
