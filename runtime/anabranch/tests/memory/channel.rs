//! The memory of channels: idle, after use, and after they are dropped. Each test runs on one thread, whose
//! allocations are counted.

use crate::allocator::{Since, allocations_of};
use anabranch::WaitError;
use anabranch::channel::{
    self, Operation, ReceiverSet, Select, bounded, broadcast, oneshot, rendezvous, spsc, unbounded, watch,
};
use std::{
    collections::VecDeque,
    future::Future,
    panic::{self, AssertUnwindSafe},
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

/// The most bytes of an idle channel.
const IDLE: isize = 256;

/// A channel of whatever flavour.
trait Channel<T> {
    fn send(&mut self, value: T);
    fn recv(&mut self) -> Option<T>;
}

impl<T> Channel<T> for (channel::Sender<T>, channel::Receiver<T>) {
    fn send(&mut self, value: T) {
        self.0.try_send(value).unwrap();
    }

    fn recv(&mut self) -> Option<T> {
        self.1.try_recv().ok()
    }
}

impl<T> Channel<T> for (spsc::Sender<T>, spsc::Receiver<T>) {
    fn send(&mut self, value: T) {
        self.0.try_send(value).unwrap();
    }

    fn recv(&mut self) -> Option<T> {
        self.1.try_recv().ok()
    }
}

/// Also after it has grown, and wherever in its blocks it is.
fn check_unbounded<T: Copy, C: Channel<T>>(value: T, make: impl FnOnce() -> C) {
    let since = Since::now();
    let mut channel = make();
    assert!(since.bytes() <= IDLE, "{} bytes when it is new", since.bytes());
    for count in [1, 2, 7, 100, 10_000, 1, 3, 13] {
        (0..count).for_each(|_| channel.send(value));
        assert!(since.bytes() >= (count * size_of::<T>()) as isize, "the values are counted");
        assert!((0..count).all(|_| channel.recv().is_some()) && channel.recv().is_none());
        assert!(since.bytes() <= IDLE, "{} bytes after {count} values", since.bytes());
    }
    // And in a steady flow, which never runs empty.
    (0..50).for_each(|_| channel.send(value));
    let full = since.bytes();
    for _ in 0..10_000 {
        channel.send(value);
        assert!(channel.recv().is_some());
        assert!(since.bytes() <= full + IDLE, "{} bytes and then {}", full, since.bytes());
    }
    drop(channel);
    assert_eq!(since.bytes(), 0, "left behind");
}

#[test]
fn drained_unbounded_channel_frees_its_blocks() {
    check_unbounded(1_u8, unbounded);
    check_unbounded(1_u64, unbounded);
    check_unbounded((), unbounded);
    check_unbounded([1_u64; 3], unbounded);
    check_unbounded(1_u8, spsc::unbounded);
    check_unbounded(1_u64, spsc::unbounded);
    check_unbounded((), spsc::unbounded);
    check_unbounded([1_u64; 3], spsc::unbounded);
}

/// The fibers of a worker reuse the slabs of all its streams, and the worker caches few of them.
#[test]
fn worker_caches_few_slabs_for_its_streams() {
    let pool = anabranch::Pool::builder().threads(1).build().unwrap();
    let checked = pool.spawn(|_| {
        let since = Since::now();
        let mut streams: Vec<_> = (0..10).map(|_| spsc::unbounded()).collect();
        let mut go_round = |count: usize| {
            for (sender, receiver) in &mut streams {
                (0..count).for_each(|n| sender.try_send(n).unwrap());
                assert!(receiver.drain().eq(0..count));
            }
        };
        // Wherever in their slabs they begin.
        (0..20).for_each(|_| go_round(100));
        assert_eq!(allocations_of(|| (0..20).for_each(|_| go_round(100))), 0);
        go_round(10_000);
        assert!(since.bytes() < 10 * IDLE + 10_000, "{} bytes are kept", since.bytes());
        drop(streams);
        assert!(since.bytes() < 10_000, "{} bytes are kept", since.bytes());
    });
    pool.run(|cx| checked.join(cx)).unwrap();
}

/// A stream to a thread that waits for it allocates more at a time, and keeps no more than one such piece.
fn check_growing<T: Copy + PartialEq>(value: impl Fn(usize) -> T, most: isize) {
    let since = Since::now();
    let (mut sender, mut receiver) = spsc::unbounded();
    // A thread that polls repeatedly.
    let late = anabranch::run(|cx| receiver.receiving().timeout(cx, Duration::from_micros(1)));
    assert!(matches!(late, Err(WaitError::TimedOut)));
    let (before, count) = (since.bytes(), 10_000);
    assert!(before <= IDLE, "{before} bytes before it has grown");
    let pieces = allocations_of(|| (0..count).for_each(|n| sender.try_send(value(n)).unwrap()));
    assert!(pieces < 1 + count as u64 / 50, "{pieces} allocations");
    for n in 0..count {
        assert!(receiver.try_recv().is_ok_and(|received| received == value(n)));
    }
    assert!(since.bytes() <= IDLE + most, "{} bytes when it is drained", since.bytes());
    drop((sender, receiver));
    assert_eq!(since.bytes(), 0, "left behind");
}

#[test]
fn stream_between_threads_allocates_larger_blocks() {
    anabranch::run(|_| ());
    check_growing(|n| n as u8, 4096);
    check_growing(|n| n, 4096);
    check_growing(|_| (), 4096);
    check_growing(|n| [n; 4], 4096);
}

/// All its memory is there from the beginning.
fn check_bounded<C: Channel<u64>>(capacity: usize, make: impl FnOnce(usize) -> C) {
    let since = Since::now();
    let mut channel = make(capacity);
    let new = since.bytes();
    let during = allocations_of(|| {
        for _ in 0..10 {
            (0..capacity).for_each(|_| channel.send(1));
            assert!((0..capacity).all(|_| channel.recv().is_some()));
        }
    });
    assert_eq!((during, since.bytes()), (0, new));
    drop(channel);
    assert_eq!(since.bytes(), 0, "left behind");
}

#[test]
fn bounded_channel_allocates_only_when_created() {
    for capacity in [1, 2, 100, 1000] {
        check_bounded(capacity, bounded);
        check_bounded(capacity, spsc::bounded);
    }
    let since = Since::now();
    let (sender, receiver) = rendezvous::<u64>();
    assert!(since.bytes() <= IDLE);
    assert!(sender.try_send(1).is_err());
    drop((sender, receiver));
    assert_eq!(since.bytes(), 0, "left behind");
}

/// A bounded channel that is too large to be allocated at once grows as it is filled.
#[test]
fn large_capacity_is_allocated_on_demand() {
    let since = Since::now();
    let (sender, receiver) = bounded::<[u8; 1000]>(1_000_000);
    assert!(since.bytes() < 1 << 17, "{} bytes", since.bytes());
    sender.try_send([1; 1000]).unwrap();
    drop((sender, receiver));
    assert_eq!(since.bytes(), 0, "left behind");
}

/// What `make` leaves behind when it panics, as it has to: without the hook, which would keep what it prints.
fn left_by_a_panic<R>(make: impl Fn() -> R) -> isize {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let since = Since::now();
    let panicked = panic::catch_unwind(AssertUnwindSafe(&make)).is_err();
    let left = since.bytes();
    panic::set_hook(hook);
    assert!(panicked, "there is no memory for so many");
    left
}

/// More values than there are addresses. crossbeam (1301) went on with a capacity that had wrapped around.
#[test]
fn impossible_capacity_panics_and_leaks_nothing() {
    for capacity in [usize::MAX, usize::MAX / 2, usize::MAX / size_of::<u64>()] {
        assert_eq!(left_by_a_panic(|| spsc::bounded::<u64>(capacity)), 0);
        assert_eq!(left_by_a_panic(|| spsc::bounded::<()>(capacity)), 0);
        assert_eq!(left_by_a_panic(|| broadcast::channel::<u64>(capacity)), 0);
        // Here memory comes with the values.
        let (sender, receiver) = bounded(capacity);
        (0..1000_u64).for_each(|n| sender.try_send(n).unwrap());
        assert_eq!((receiver.drain().count(), sender.capacity().unwrap_or(usize::MAX)), (1000, capacity));
        let (sender, receiver) = bounded(capacity);
        (0..1000).for_each(|_| sender.try_send(()).unwrap());
        assert_eq!(receiver.drain().count(), 1000);
    }
}

#[test]
fn oneshot_is_one_allocation() {
    let since = Since::now();
    let count = allocations_of(|| {
        let (sender, mut receiver) = oneshot::channel();
        assert!(since.bytes() <= 24, "two words and a value");
        sender.send(1_u64).unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
        // It is given back when the value has been received, and not when the receiver ends.
        assert_eq!(since.bytes(), 0);
        drop(receiver);
    });
    assert_eq!((count, since.bytes()), (1, 0));
    drop(oneshot::channel::<u64>());
    assert_eq!(since.bytes(), 0, "left behind");
}

#[test]
fn watch_and_broadcast_channels_do_not_grow() {
    let since = Since::now();
    let (setting, mut settings) = watch::channel(0_u64);
    let (cry, mut cries) = broadcast::channel(16);
    (0..16).for_each(|n| cry.send(n).unwrap());
    let full = since.bytes();
    for n in 0..1000_u64 {
        setting.send(n).unwrap();
        cry.send(n).unwrap();
        if n % 3 == 0 {
            drop((settings.try_recv().unwrap(), cries.try_recv().ok()));
        }
        assert_eq!(since.bytes(), full);
    }
    drop((settings, cries));
    assert!(since.bytes() < full - 16 * 16, "the values for receivers are gone with them");
    drop((setting, cry));
    assert_eq!(since.bytes(), 0, "left behind");
}

#[test]
fn set_frees_memory_of_closed_members() {
    let since = Since::now();
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..1000).map(|_| unbounded()).unzip();
    let before = since.bytes();
    let mut set = ReceiverSet::from_iter(receivers);
    assert!(set.try_recv().is_err());
    let each = (since.bytes() - before) / 1000;
    assert!(each <= 300, "{each} bytes for a member");
    // Called by all, again and again.
    let mut most = 0;
    for round in 0..10 {
        senders.iter().for_each(|sender| sender.try_send(round).unwrap());
        assert_eq!(set.drain().count(), 1000);
        if round < 2 {
            most = since.bytes();
        }
        assert!(since.bytes() <= most, "{most} bytes and then {}", since.bytes());
    }
    drop(senders);
    assert_eq!(set.drain().count(), 1000);
    drop(set);
    assert_eq!(since.bytes(), 0, "left behind");
}

/// Members that leave after they were called, whether or not the set is used afterwards.
#[test]
fn set_keeps_little_memory_of_removed_members() {
    let since = Since::now();
    {
        let mut set = ReceiverSet::new();
        let mut channel = Some(unbounded());
        for round in 0..1000 {
            let (sender, receiver) = channel.take().unwrap();
            let is_called = round % 3 > 0;
            if round % 3 == 1 {
                sender.try_send(round).unwrap();
            }
            let member = set.insert(receiver);
            if round % 3 == 2 {
                sender.try_send(round).unwrap();
            }
            let receiver = set.remove(member).unwrap();
            assert_eq!(receiver.try_recv().is_ok(), is_called);
            channel = Some((sender, receiver));
        }
        assert!(since.bytes() < 10_000, "{} bytes", since.bytes());
    }
    assert_eq!(since.bytes(), 0, "left behind");
}

/// Drops a set when it is woken.
struct DropsASet(Mutex<Option<ReceiverSet<channel::Receiver<u8>>>>);

impl Wake for DropsASet {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

/// A receive frees capacity, which ends the wait of a sender, whose value wakes a member of a set. The sender is woken
/// first and drops the set: the member is notified after that.
#[test]
fn set_may_be_dropped_during_a_notification() {
    for (is_alone, is_used) in [(false, false), (true, false), (false, true), (true, true)] {
        let since = Since::now();
        {
            let mut context = Context::from_waker(Waker::noop());
            let (sender, receiver) = bounded(1);
            let first = receiver.clone();
            let mut first = pin!(first.receiving().into_future());
            assert!(first.as_mut().poll(&mut context).is_pending());
            let (other, called) = bounded(1);
            let mut set = ReceiverSet::from_iter([receiver]);
            let member = set.insert(called);
            // So long that this thread might call by stores.
            for n in 0..if is_used { 3000 } else { 0 } {
                other.try_send(n as u8).unwrap();
                assert_eq!(set.drain().count(), 1);
            }
            if is_alone {
                set.remove(member);
            } else {
                other.try_send(7).unwrap();
            }
            sender.try_send(1).unwrap();
            let drops = Arc::new(DropsASet(Mutex::new(Some(set))));
            let waker = Waker::from(Arc::clone(&drops));
            let mut second = pin!(sender.sending(2).into_future());
            assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            assert_eq!(first.as_mut().poll(&mut context), Poll::Ready(Ok(1)));
            assert!(drops.0.lock().unwrap().is_none());
        }
        assert_eq!(since.bytes(), 0, "left behind");
    }
}

/// Persistent waits have an entry of their own, from the second wait on.
#[test]
fn reused_selection_of_streams_does_not_allocate() {
    anabranch::run(|cx| {
        let since = Since::now();
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| spsc::bounded(1)).unzip();
        let mut select: Select<_> = receivers.iter_mut().map(spsc::Receiver::receiving).collect();
        let mut go_round = || {
            for (n, sender) in senders.iter_mut().enumerate() {
                sender.try_send(n).unwrap();
                assert_eq!(select.wait(cx), Ok((n, Ok(n))));
            }
        };
        go_round();
        assert_eq!(allocations_of(|| (0..10).for_each(|_| go_round())), 0);
        drop(select);
        drop((senders, receivers));
        assert_eq!(since.bytes(), 0, "left behind");
    });
}

/// It has a waiter, which is made by the first wait.
#[test]
fn async_selection_allocates_once() {
    let since = Since::now();
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| bounded(1)).unzip();
    let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut round = |index: usize| {
        let mut wait = pin!(select.wait_async());
        assert!(wait.as_mut().poll(&mut context).is_pending());
        senders[index].try_send(index).unwrap();
        assert_eq!(wait.poll(&mut context), Poll::Ready((index, Ok(index))));
    };
    assert_eq!(allocations_of(|| round(0)), 1);
    assert_eq!(allocations_of(|| (0..100).for_each(|n| round(n % 10))), 0);
    drop(select);
    drop((senders, receivers));
    assert_eq!(since.bytes(), 0, "left behind");
}

/// One side is cancelled, closed or forgotten: the stream leaks none of its growth.
#[test]
fn dropped_stream_leaks_nothing() {
    for closes in [false, true] {
        for by_receiver in [false, true] {
            let since = Since::now();
            let (mut sender, mut receiver) = spsc::unbounded();
            let mut values: VecDeque<_> = (0..1000_u64).collect();
            at_once(sender.send_all_async(&mut values)).unwrap();
            drop(values);
            assert_eq!(receiver.try_recv(), Ok(0));
            match (closes, by_receiver) {
                (true, true) => receiver.close(),
                (true, false) => sender.close(),
                (false, true) => {
                    drop(receiver);
                    assert!(sender.try_send(1).is_err());
                    drop(sender);
                    assert_eq!(since.bytes(), 0, "left behind");
                    continue;
                }
                (false, false) => {
                    drop(sender);
                    assert_eq!(receiver.drain().count(), 999);
                    drop(receiver);
                    assert_eq!(since.bytes(), 0, "left behind");
                    continue;
                }
            }
            assert!(sender.try_send(1).is_err());
            drop((sender, receiver));
            assert_eq!(since.bytes(), 0, "left behind");
        }
    }
}

/// The result of a future that need not wait.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}
