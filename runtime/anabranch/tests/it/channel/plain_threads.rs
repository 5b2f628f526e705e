//! The operations that block a thread without a `Cx`: on plain threads, on threads of a pool, and on fibers.

use crate::common::{LONG, fibers::on_fiber, one_thread, rerun, watchdog};
use anabranch::{
    Operation, Pool, TimedOut,
    channel::{
        self, Closed, ClosedError, ReceiverSet, Select, bounded,
        broadcast::{self, ClosedOrLagged, Lagged},
        oneshot, rendezvous, spsc, unbounded, watch,
    },
    pool::HazardKind,
    time::ManualClock,
};
use std::{
    cell::RefCell,
    collections::VecDeque,
    env,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

const SHORT: Duration = Duration::from_millis(2);

fn soon() -> Instant {
    Instant::now() + SHORT
}

/// Runs the other side after a while, by when this side most likely waits.
fn later<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> thread::JoinHandle<R> {
    thread::spawn(|| {
        thread::sleep(Duration::from_millis(5));
        body()
    })
}

#[test]
fn blocked_receive_gets_later_value_of_every_flavour() {
    watchdog(LONG, || {
        let (sender, receiver) = unbounded();
        let other = later(move || sender.send_blocking(1));
        assert_eq!((receiver.recv_blocking(), receiver.recv_blocking()), (Ok(1), Err(Closed)));
        other.join().unwrap().unwrap();

        let (sender, receiver) = rendezvous();
        let other = later(move || sender.send_blocking(2));
        assert_eq!(receiver.receiving().blocking_timeout(LONG), Ok(Ok(2)));
        other.join().unwrap().unwrap();

        let (mut sender, mut receiver) = spsc::bounded(1);
        let other = later(move || sender.send_blocking(3));
        assert_eq!((receiver.recv_blocking(), receiver.recv_blocking()), (Ok(3), Err(Closed)));
        other.join().unwrap().unwrap();

        let (sender, mut receiver) = oneshot::channel();
        let other = later(move || sender.send(4));
        assert_eq!((receiver.recv_blocking(), receiver.recv_blocking()), (Ok(4), Err(Closed)));
        other.join().unwrap().unwrap();

        let (sender, mut receiver) = watch::channel(0);
        let other = later(move || sender.send(5));
        assert_eq!((receiver.recv_blocking().as_deref(), receiver.recv_blocking()), (Ok(&5), Err(Closed)));
        other.join().unwrap().unwrap();

        let (sender, mut receiver) = broadcast::channel(1);
        let other = later(move || sender.send(6));
        assert_eq!(receiver.recv_blocking().as_deref(), Ok(&6));
        assert_eq!(receiver.recv_blocking(), Err(ClosedOrLagged::Closed));
        other.join().unwrap().unwrap();

        let (sender, receiver) = unbounded();
        let mut set: ReceiverSet<_> = [receiver].into_iter().collect();
        let other = later(move || sender.send_blocking(7));
        assert!(matches!(set.recv_blocking(), Ok((_, Ok(7)))));
        assert!(matches!(set.recv_blocking(), Ok((_, Err(Closed)))));
        assert_eq!(set.recv_blocking(), Err(Closed));
        other.join().unwrap().unwrap();
    });
}

#[test]
fn receive_times_out_and_channel_still_works() {
    let late = Err(TimedOut);
    let (sender, receiver) = unbounded();
    assert_eq!(
        (receiver.receiving().blocking_timeout(SHORT), receiver.receiving().blocking_deadline(soon())),
        (late, late)
    );
    sender.send_blocking(1).unwrap();
    assert_eq!(receiver.receiving().blocking_timeout(Duration::ZERO), Ok(Ok(1)));
    drop(sender);
    assert_eq!(receiver.receiving().blocking_timeout(SHORT), Ok(Err(Closed)));

    let (mut sender, mut receiver) = spsc::bounded(1);
    assert_eq!(
        (receiver.receiving().blocking_timeout(SHORT), receiver.receiving().blocking_deadline(soon())),
        (late, late)
    );
    sender.send_blocking(1).unwrap();
    assert_eq!(receiver.receiving().blocking_deadline(Instant::now()), Ok(Ok(1)));

    let (sender, mut receiver) = oneshot::channel();
    assert_eq!(
        (receiver.receiving().blocking_timeout(SHORT), receiver.receiving().blocking_deadline(soon())),
        (late, late)
    );
    sender.send(1).unwrap();
    assert_eq!(receiver.receiving().blocking_timeout(SHORT), Ok(Ok(1)));

    let (_sender, mut receiver) = watch::channel(1);
    assert!(receiver.receiving().blocking_timeout(SHORT) == Err(TimedOut));
    let (_sender, mut receiver) = broadcast::channel::<u32>(1);
    assert_eq!(receiver.receiving().blocking_timeout(SHORT), Err(TimedOut));
    let (_sender, receiver) = unbounded::<u32>();
    let mut set: ReceiverSet<_> = [receiver].into_iter().collect();
    assert_eq!(set.receiving().blocking_timeout(SHORT), Err(TimedOut));
}

#[test]
fn full_channel_blocks_sender_and_returns_late_value() {
    watchdog(LONG, || {
        let (sender, receiver) = bounded(1);
        sender.send_blocking(1).unwrap();
        let mut send = sender.sending(2);
        assert!(send.blocking_timeout(SHORT).is_err() && send.blocking_deadline(soon()).is_err());
        assert_eq!(send.into_inner(), Some(2));
        assert_eq!(sender.reserving().blocking_timeout(SHORT).err(), Some(TimedOut));
        let other = later(move || (receiver.recv_blocking(), receiver));
        sender.reserving().blocking().unwrap().send(4).unwrap();
        let (first, receiver) = other.join().unwrap();
        let other = later(move || (receiver.recv_blocking(), receiver));
        sender.send_blocking(5).unwrap();
        let (second, receiver) = other.join().unwrap();
        assert_eq!((first, second, receiver.recv_blocking()), (Ok(1), Ok(4), Ok(5)));
        drop(receiver);
        assert_eq!(sender.send_blocking(6).unwrap_err().into_inner(), 6);
        assert!(matches!(sender.sending(7).blocking_timeout(SHORT), Ok(Err(ClosedError(7)))));
        assert_eq!(sender.reserving().blocking().err(), Some(Closed));

        let (mut sender, mut receiver) = spsc::bounded(1);
        sender.send_blocking(1).unwrap();
        let mut send = sender.sending(2);
        assert_eq!((send.blocking_timeout(SHORT), send.into_inner()), (Err(TimedOut), Some(2)));
        assert_eq!(sender.reserving().blocking_timeout(SHORT).err(), Some(TimedOut));
        let other = later(move || (receiver.recv_blocking(), receiver));
        sender.send_blocking(3).unwrap();
        let (first, mut receiver) = other.join().unwrap();
        assert_eq!((first, receiver.recv_blocking()), (Ok(1), Ok(3)));
        drop(receiver);
        assert_eq!(sender.send_blocking(4).unwrap_err().into_inner(), 4);
        assert_eq!(sender.reserving().blocking().err(), Some(Closed));

        let (sender, _receiver) = rendezvous();
        assert!(matches!(sender.sending(1).blocking_timeout(SHORT), Err(TimedOut)));
    });
}

#[test]
fn one_free_place_suffices_for_sender_at_any_moment_of_its_wait() {
    watchdog(LONG, || {
        // A sender that spins waits for more room, but not for ever.
        for micros in (0..200).step_by(2) {
            let (sender, receiver) = bounded(16);
            (0..16).for_each(|n| sender.try_send(n).unwrap());
            let sending = thread::spawn(move || {
                sender.send_blocking(16).unwrap();
                sender
            });
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(micros) {
                thread::yield_now();
            }
            assert_eq!(receiver.recv_blocking(), Ok(0));
            let sender = sending.join().unwrap();
            assert!(sender.is_full());
        }
    });
}

#[test]
fn batches_and_iterators_end_with_channel() {
    watchdog(LONG, || {
        let (mut sender, mut receiver) = spsc::bounded(2);
        let other = thread::spawn(move || {
            let mut values = VecDeque::from_iter(0..100);
            sender.send_all_blocking(&mut values).unwrap();
            values.len()
        });
        let mut batch = Vec::new();
        while let Ok(count) = receiver.recv_many_blocking(&mut batch, 7) {
            assert!((1..=7).contains(&count));
        }
        assert!(batch.into_iter().eq(0..100) && other.join().unwrap() == 0);
        assert_eq!(receiver.recv_many_blocking(&mut Vec::new(), 0), Ok(0));

        let (sender, receiver) = bounded(2);
        let other = thread::spawn(move || (0..100).for_each(|n| sender.send_blocking(n).unwrap()));
        let mut batch = Vec::new();
        assert_eq!(receiver.recv_many_blocking(&mut batch, 0), Ok(0));
        while batch.len() < 50 {
            let missing = 50 - batch.len();
            receiver.recv_many_blocking(&mut batch, missing).unwrap();
        }
        batch.extend(receiver.iter_blocking().take(10));
        for value in &receiver {
            batch.push(value);
            if batch.len() == 70 {
                break;
            }
        }
        batch.extend(receiver.drain());
        batch.extend(receiver);
        assert!(batch.into_iter().eq(0..100));
        other.join().unwrap();

        let (mut sender, mut receiver) = spsc::unbounded();
        (0..9).for_each(|n| sender.send_blocking(n).unwrap());
        drop(sender);
        let mut all: Vec<u32> = receiver.iter_blocking().take(3).collect();
        all.extend((&mut receiver).into_iter().take(3));
        all.extend(receiver);
        assert!(all.into_iter().eq(0..9));

        let (sender, mut receiver) = broadcast::channel(1);
        (1..=2).for_each(|n| sender.send(n).unwrap());
        drop(sender);
        let got: Vec<_> = receiver.iter_blocking().collect();
        assert_eq!(got, [Err(Lagged(1)), Ok(Arc::new(2))]);

        let (sender, mut receiver) = watch::channel(0);
        sender.send(1).unwrap();
        drop(sender);
        assert!(receiver.iter_blocking().map(|n| *n).eq([1]));

        let (senders, mut replies): (Vec<_>, ReceiverSet<_>) = (0..3).map(|_| oneshot::channel()).unzip();
        senders.into_iter().for_each(|sender| sender.send(1).unwrap());
        assert_eq!(replies.iter_blocking().map(|(_, got)| got.unwrap()).sum::<u32>(), 3);
    });
}

#[test]
fn selection_blocks_until_one_is_ready() {
    watchdog(LONG, || {
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| spsc::unbounded()).unzip();
        let mut select: Select<_> = receivers.iter_mut().map(spsc::Receiver::receiving).collect();
        assert_eq!(select.blocking_timeout(SHORT), Err(TimedOut));
        // The second wait leaves the receives registered.
        for n in 0..3 {
            let mut sender = senders.remove(0);
            let other = later(move || sender.send_blocking(n).map(|()| sender));
            let (_, got) = select.blocking();
            senders.push(other.join().unwrap().unwrap());
            assert_eq!(got, Ok(n));
        }
        assert_eq!(select.blocking_deadline(soon()), Err(TimedOut));
    });
}

/// The default pool would start its threads: this checks that a process of plain threads has none. It runs in a process
/// of its own, as other tests use the default pool.
#[test]
#[cfg(target_os = "linux")]
fn plain_threads_start_no_pool() {
    const MARK: &str = "ANABRANCH_TEST_PLAIN";
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    if env::var_os(MARK).is_none() {
        let status = rerun(module_path!(), "plain_threads_start_no_pool").env(MARK, "1").status();
        return assert!(status.unwrap().success());
    }
    let before = threads();
    let (sender, receiver) = bounded(1);
    let other = thread::spawn(move || (0..1000).for_each(|n| sender.send_blocking(n).unwrap()));
    assert!(receiver.iter_blocking().eq(0..1000));
    assert_eq!(receiver.receiving().blocking_timeout(SHORT), Ok(Err(Closed)));
    other.join().unwrap();
    assert!(threads() <= before && !anabranch::pool::in_pool());
}

#[test]
fn worker_that_blocks_gives_up_its_slot() {
    watchdog(LONG, || {
        let pool = one_thread().build().unwrap();
        let (sender, receiver) = unbounded();
        // The only thread of the pool blocks. The other half is stolen by the guest that takes its slot.
        let got = thread::scope(|s| {
            let blocked = s.spawn(|| pool.install(|| receiver.recv_blocking()));
            pool.run(|cx| cx.sleep(SHORT)).unwrap();
            let fiber = pool.spawn(move |cx| sender.send(cx, 1));
            pool.run(|cx| fiber.join(cx)).unwrap().unwrap();
            blocked.join().unwrap()
        });
        assert_eq!(got, Ok(1));
    });
}

#[test]
fn blocked_fiber_is_reported_and_ends() {
    watchdog(LONG, || {
        let (reports, hazards) = mpsc::channel();
        let reports = Mutex::new(reports);
        let handler = move |hazard: &anabranch::pool::Hazard| {
            let file = hazard.location().map(|at| at.file().to_owned());
            reports.lock().unwrap().send((hazard.kind(), file)).unwrap();
        };
        let pool = Pool::builder().threads(2).on_hazard(handler).build().unwrap();
        let (sender, receiver) = unbounded();
        // A value that is there is no wait.
        sender.send_blocking(0).unwrap();
        let other = thread::spawn(move || {
            let report = hazards.recv().unwrap();
            sender.send_blocking(1).unwrap();
            report
        });
        let got = on_fiber(&pool, move |_| (receiver.recv_blocking(), receiver.recv_blocking()));
        assert_eq!(got, (Ok(0), Ok(1)));
        let (kind, file) = other.join().unwrap();
        assert!(kind == HazardKind::RunOnFiber && file.unwrap().ends_with("plain_threads.rs"));
    });
}

#[test]
fn thread_of_pool_has_deadlines_of_pool_clock() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(manual.clock()).build().unwrap();
        let (_sender, receiver) = unbounded::<u32>();
        let blocked = thread::spawn(move || pool.install(|| receiver.receiving().blocking_timeout(LONG)));
        while !blocked.is_finished() {
            manual.advance(LONG);
            thread::yield_now();
        }
        assert_eq!(blocked.join().unwrap(), Err(TimedOut));
    });
}

/// The destructor of a thread-local runs while the thread ends, when the thread may have no waiter of its own any more.
#[test]
fn ending_thread_can_block() {
    struct Last(channel::Receiver<u32>, mpsc::Sender<Result<u32, TimedOut>>);

    impl Drop for Last {
        fn drop(&mut self) {
            self.1.send(self.0.receiving().blocking_timeout(SHORT).map(Result::unwrap)).unwrap();
            self.1.send(Ok(self.0.recv_blocking().unwrap())).unwrap();
        }
    }

    thread_local!(static LAST: RefCell<Vec<Last>> = const { RefCell::new(Vec::new()) });

    watchdog(LONG, || {
        let (results, result) = mpsc::channel();
        let (sender, receiver) = unbounded();
        let ending = thread::spawn(move || {
            LAST.with_borrow_mut(|last| last.push(Last(receiver.clone(), results.clone())));
            // The waiter of the thread is made after the destructor of `LAST` was registered, so it is dropped before.
            assert!(receiver.receiving().blocking_timeout(SHORT).is_err());
        });
        assert_eq!(result.recv(), Ok(Err(TimedOut)));
        sender.send_blocking(9).unwrap();
        assert_eq!(result.recv(), Ok(Ok(9)));
        ending.join().unwrap();
    });
}

/// A receiver that wakes a sender's future runs a foreign waker in the middle of its wait. That waker may block too.
#[test]
fn waker_may_block_within_blocked_operation() {
    use std::{
        pin::pin,
        sync::OnceLock,
        task::{Context, Poll, Wake, Waker},
    };

    struct Blocks(channel::Receiver<u32>, OnceLock<u32>);

    impl Wake for Blocks {
        fn wake(self: Arc<Self>) {
            self.1.set(self.0.recv_blocking().unwrap()).unwrap();
        }
    }

    watchdog(LONG, || {
        let (inner_sender, inner) = unbounded();
        let blocks = Arc::new(Blocks(inner, OnceLock::new()));
        let waker = Waker::from(Arc::clone(&blocks));
        let (sender, receiver) = rendezvous();
        // A future waits, and the sender that arrives wakes it while it registers its own wait.
        let mut receiving = pin!(receiver.receiving().into_future());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let other = later(move || inner_sender.send_blocking(5));
        let sending = thread::spawn(move || sender.send_blocking(6));
        while blocks.1.get().is_none() {
            thread::yield_now();
        }
        assert_eq!(receiving.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(6)));
        assert_eq!((sending.join().unwrap(), other.join().unwrap(), blocks.1.get()), (Ok(()), Ok(()), Some(&5)));
    });
}

#[test]
fn many_threads_exchange_every_value() {
    watchdog(LONG, || {
        for make in [|| bounded(1), || bounded(4), unbounded, rendezvous] {
            let (sender, receiver) = make();
            let total: u64 = thread::scope(|s| {
                for _ in 0..4 {
                    let sender = sender.clone();
                    s.spawn(move || (0..500).for_each(|n| sender.send_blocking(n).unwrap()));
                }
                drop(sender);
                let sums: Vec<_> = (0..3).map(|_| s.spawn(|| receiver.iter_blocking().sum::<u64>())).collect();
                sums.into_iter().map(|sum| sum.join().unwrap()).sum()
            });
            assert_eq!(total, 4 * (0..500).sum::<u64>());
        }
    });
}
