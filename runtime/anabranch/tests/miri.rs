//! Small programs for Miri, which checks every access against the aliasing models. `.ci/run` runs them with both.
//!
//! They are programs of two threads and a few dozen items: Miri takes a thousand times as long as the processor. It
//! cannot switch stacks or set up signal stacks, so it runs no fibers. Under Miri the asymmetric fence is a full fence,
//! a bias begins after one or two messages, and the memory of fibers comes from the heap.
//!
//! Miri does not reach every intrusive header. Check the others by reading: a pointer to a header may be cast to the
//! whole object only if it was derived from a pointer to the whole object. The drop-in for rayon-core runs under Miri
//! too, in minutes: `cargo +nightly miri test --manifest-path compat/rayon-core/Cargo.toml --test interface`.

mod common;

use anabranch::{
    Pool,
    channel::{self, oneshot},
    iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed},
    prelude::*,
    proto, scope, sync,
};
use common::{LONG, Tally, join_stolen, pool, wait_until, watchdog};
use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

/// One pool for all tests: building and dropping a pool takes long under Miri.
static POOL: LazyLock<Pool> = LazyLock::new(|| pool(2));

/// Runs `body` in the pool that all share, one at a time: a program that waits to be stolen from needs a thread that is
/// idle.
fn in_pool<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    in_turn(|| POOL.install(body))
}

fn in_turn<R>(body: impl FnOnce() -> R) -> R {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    watchdog(LONG, body)
}

/// What the panic of `body` carried. The text goes out without a backtrace: Miri takes minutes for one.
fn panic_text(body: impl FnOnce()) -> String {
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    common::panic_text(body)
}

/// A range whose iterator leaves out its last item.
struct Short(std::ops::Range<usize>);

impl Producer for Short {
    type Item = usize;
    type IntoIter = std::ops::Range<usize>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn split_at(self, mid: usize) -> (Self, Self) {
        let middle = self.0.start + mid;
        (Self(self.0.start..middle), Self(middle..self.0.end))
    }

    fn into_iter(self) -> Self::IntoIter {
        self.0.start..self.0.end - 1
    }
}

impl Drive for Short {
    drive_indexed!(usize);
}

impl DriveIndexed for Short {
    type Producer<'a> = Short;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn producer(&mut self) -> Short {
        Short(self.0.clone())
    }
}

#[test]
fn results_of_a_map_are_dropped_when_an_item_panics() {
    in_pool(|| {
        for bad in [1, 5, 39] {
            let tally = Tally::default();
            let text = panic_text(|| {
                (0..40)
                    .into_par_iter()
                    .map(|item| {
                        assert_ne!(item, bad, "bad item");
                        (item, tally.make())
                    })
                    .collect::<Vec<_>>();
            });
            assert!(text.contains("bad item"));
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn results_of_a_map_are_dropped_when_items_are_missing() {
    let tally = Tally::default();
    let text = panic_text(|| _ = Short(0..1).map(|item| (item, tally.make())).collect::<Vec<_>>());
    assert!(text.contains("yielded only"));
    // Each piece yields one item less than it has.
    let pieces = || Short(0..40).with_min_len(4).map(|item| (item, tally.make())).collect::<Vec<_>>();
    let text = panic_text(|| _ = in_pool(pieces));
    assert!(text.contains("yielded only"));
    tally.assert_all_dropped();
}

/// The caller reads the result while the task that has written it is about to return.
#[test]
fn call_returns_result_of_a_task_that_borrows_it() {
    in_turn(|| assert!((0..60).all(|i| POOL.call(|| i) == i)));
}

#[test]
fn stolen_join_returns_both_results() {
    in_pool(|| {
        let (text, numbers) = (String::from("text"), vec![1, 2, 3]);
        let (a, b) = join_stolen(|| text.len(), || numbers.iter().sum::<i32>());
        assert_eq!((a, b), (4, 6));
        let (a, b) = join_stolen(|| join_stolen_below(3), || join_stolen_below(2));
        assert_eq!((a, b), (6, 3));
    });
}

/// Forks that may be stolen or not, on either thread.
fn join_stolen_below(depth: u32) -> u32 {
    if depth == 0 {
        return 0;
    }
    let (a, b) = anabranch::join(|| depth, || join_stolen_below(depth - 1));
    a + b
}

#[test]
fn panic_of_stolen_half_propagates() {
    in_pool(|| {
        let tally = Tally::default();
        let text = panic_text(|| {
            _ = join_stolen(
                || tally.make(),
                || {
                    let _dropped = tally.make();
                    panic!("elsewhere");
                },
            );
        });
        assert_eq!(text, "elsewhere");
        tally.assert_all_dropped();
    });
}

/// Its result is not used.
#[test]
fn panic_of_first_half_waits_for_stolen_half() {
    in_pool(|| {
        let (tally, begun) = (Tally::default(), AtomicUsize::new(0));
        let text = panic_text(|| {
            anabranch::join(
                || {
                    wait_until(|| begun.load(Ordering::Acquire) > 0);
                    panic!("first");
                },
                || {
                    begun.store(1, Ordering::Release);
                    tally.make()
                },
            );
        });
        assert_eq!(text, "first");
        tally.assert_all_dropped();
    });
}

/// The owner waits for its fork, and runs what the thief has forked inside it.
#[test]
fn owner_runs_forks_of_its_thief() {
    in_pool(|| {
        let (_, result) = join_stolen(
            || (),
            || {
                let (_, number) = join_stolen(|| (), || 1);
                let (text, numbers) = anabranch::join(|| String::from("text"), || vec![2, 3]);
                (number, text, numbers)
            },
        );
        assert_eq!(result, (1, String::from("text"), vec![2, 3]));
    });
}

/// A thread that enters another pool publishes its open forks in the first.
#[test]
fn published_fork_runs_once() {
    let other = pool(1);
    let (a, b) = in_pool(|| anabranch::join(|| other.install(|| anabranch::join(|| 1, || 2)), || vec![3]));
    assert_eq!((a, b), ((1, 2), vec![3]));
}

#[test]
fn broadcast_beside_open_fork_is_answered() {
    let (answers, text) = in_pool(|| anabranch::join(|| POOL.broadcast(|index| index + 1), || String::from("text")));
    assert_eq!((answers, text.as_str()), (vec![1, 2], "text"));
}

#[test]
fn scope_tasks_borrow_from_the_stack() {
    in_pool(|| {
        let count = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..4 {
                s.spawn(|| _ = count.fetch_add(1, Ordering::Relaxed));
            }
            wait_until(|| count.load(Ordering::Relaxed) > 0);
        });
        assert_eq!(count.into_inner(), 4);
    });
}

#[test]
fn loops_run_on_two_threads() {
    in_pool(|| {
        // Each of the first two items waits for the other one, so two threads have to run them.
        let begun = AtomicUsize::new(0);
        let meet = || {
            begun.fetch_add(1, Ordering::AcqRel);
            wait_until(|| begun.load(Ordering::Acquire) >= 2);
        };
        let mut items = [0; 24];
        items.par_chunks_mut(12).for_each(|run| {
            meet();
            run.iter_mut().for_each(|item| *item += 1);
        });
        assert_eq!(items, [1; 24]);
        begun.store(0, Ordering::Relaxed);
        let results = (0..2usize)
            .into_par_iter()
            .map(|item| {
                meet();
                Box::new(item)
            })
            .collect::<Vec<_>>();
        assert_eq!(results, [Box::new(0), Box::new(1)]);
        let all = (0..30)
            .into_par_iter()
            .fold(Vec::new, |mut all, item| {
                all.push(item);
                all
            })
            .reduce(Vec::new, |mut a, b| {
                a.extend(b);
                a
            });
        assert_eq!(all, (0..30).collect::<Vec<_>>());
    });
}

#[test]
fn results_of_a_map_are_dropped_when_a_stolen_item_panics() {
    in_pool(|| {
        let (tally, begun) = (Tally::default(), AtomicUsize::new(0));
        let owner = thread::current().id();
        let text = panic_text(|| {
            (0..8)
                .into_par_iter()
                .map(|_| {
                    let result = tally.make();
                    begun.fetch_add(1, Ordering::AcqRel);
                    wait_until(|| begun.load(Ordering::Acquire) >= 2);
                    assert_eq!(thread::current().id(), owner, "elsewhere");
                    result
                })
                .collect::<Vec<_>>();
        });
        assert!(text.contains("elsewhere"));
        tally.assert_all_dropped();
    });
}

/// Wakes a thread that polls a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn value_passes_from_future_to_thread_and_back() {
    let (there, from_future) = channel::bounded(1);
    let (back, mut from_thread) = oneshot::channel();
    let thread = thread::spawn(move || {
        anabranch::run(|cx| {
            let sum = (0..3).map(|_| from_future.recv(cx).unwrap()).map(|number: Box<i32>| *number).sum::<i32>();
            back.send(Box::new(sum)).unwrap();
        });
    });
    let sum = block_on(async {
        for number in 1..=3 {
            there.sending(Box::new(number)).await.unwrap();
        }
        from_thread.receiving().await
    });
    assert_eq!(*sum.unwrap(), 6);
    thread.join().unwrap();
}

#[test]
fn selection_receives_sent_value() {
    let (sender, receiver) = channel::unbounded();
    let (other, silent) = channel::unbounded::<u32>();
    let thread = thread::spawn(move || sender.try_send(Box::new(7)).unwrap());
    let chosen = anabranch::run(|cx| {
        anabranch::select!(cx, {
            value = receiver.receiving() => *value.unwrap(),
            value = silent.receiving() => value.unwrap(),
        })
    });
    assert_eq!(chosen, Ok(7));
    thread.join().unwrap();
    drop(other);
}

/// Completes an operation, then attempts it again, leaks a wait for it, moves it and drops it. An attempt may panic.
#[track_caller]
fn use_completed<O: channel::Operation>(operation: O) {
    let mut select = channel::Select::from_iter([operation]);
    assert!(select.try_now().is_some());
    for _ in 0..2 {
        drop(catch_unwind(AssertUnwindSafe(|| select.try_now())));
        let mut forgotten = Box::pin(select.wait_async());
        let mut context = Context::from_waker(Waker::noop());
        drop(catch_unwind(AssertUnwindSafe(|| forgotten.as_mut().poll(&mut context))));
        std::mem::forget(forgotten);
        let moved = Box::new(select.swap_remove(0));
        select.push(*moved);
    }
}

#[test]
fn completed_operations_can_be_used_again() {
    for value in [Some(Box::new(1)), None] {
        let (sender, mut receiver) = oneshot::channel();
        match value {
            Some(value) => sender.send(value).unwrap(),
            None => drop(sender),
        }
        use_completed(receiver.receiving());
        use_completed(receiver.receiving());
    }
    let (sender, receiver) = channel::bounded(1);
    use_completed(sender.sending(Box::new(1)));
    use_completed(receiver.receiving());
    use_completed(sender.reserving());
    let (mut sender, mut receiver) = channel::spsc::bounded(1);
    use_completed(sender.sending(Box::new(1)));
    use_completed(receiver.receiving());
    let (sender, receiver) = oneshot::channel();
    let mut set = channel::ReceiverSet::from_iter([receiver]);
    sender.send(Box::new(1)).unwrap();
    use_completed(set.receiving());
    let (client, mut server) = ask::pipe();
    let client = client.ask(Box::new(1)).unwrap();
    use_completed(server.receiving());
    drop(client);
    let (sender, mut receiver) = channel::watch::channel(Box::new(1));
    sender.send(Box::new(2)).unwrap();
    use_completed(receiver.receiving());
    drop(receiver);
    use_completed(sender.closing());
    let (sender, mut receiver) = channel::broadcast::channel(1);
    sender.send(Box::new(1)).unwrap();
    use_completed(receiver.receiving());
    let (mutex, semaphore, notify) = (sync::Mutex::new(1), sync::Semaphore::new(1), sync::Notify::new());
    use_completed(mutex.locking());
    use_completed(semaphore.acquiring(1));
    notify.notify_one();
    use_completed(notify.notifying());
}

proto! { ask {
    Ask: send { ask(Box<u32>) -> Answer, quit -> ! }
    Answer: recv { answer(Box<u32>) -> Ask }
}}

#[test]
fn conversation_of_thread_and_future_ends() {
    let (client, mut server) = ask::pipe();
    let thread = thread::spawn(move || {
        anabranch::run(|cx| {
            let ask::client::AnswerMessage::Answer(answer, client) = client.ask(Box::new(1)).unwrap().recv(cx).unwrap();
            assert_eq!(*answer, 2);
            client.quit().unwrap()
        })
    });
    let served = block_on(async {
        let ask::server::AskMessage::Ask(number, server) = server.receiving().await.unwrap() else { panic!("quit") };
        let mut server = server.answer(Box::new(*number + 1)).unwrap();
        let ask::server::AskMessage::Quit(done) = server.receiving().await.unwrap() else { panic!("asked") };
        done
    });
    assert_eq!(thread.join().unwrap(), served);
}
