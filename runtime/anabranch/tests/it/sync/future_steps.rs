//! Futures of locks that are polled and dropped in every order, with newcomers in between: no lock and no waiter is
//! lost.

use crate::common::{LONG, Random, waits::Polled, watchdog};
use anabranch::sync::{Condvar, Event, Mutex, OnceCell, RwLock, Semaphore};
use std::{
    cell::Cell,
    future::{Future, poll_fn},
    mem,
    pin::Pin,
    task::Poll,
};

/// Guards and permits of every kind.
trait Held {}
impl<T> Held for T {}

type Guard<'a> = Box<dyn Held + 'a>;
type Wait<'a> = Pin<Box<dyn Future<Output = Guard<'a>> + 'a>>;

/// A future, and how often it had been woken when it was last polled.
struct Waiting<'a> {
    future: Polled<Wait<'a>>,
    seen: usize,
}

impl<'a> Waiting<'a> {
    fn poll(&mut self) -> Option<Guard<'a>> {
        self.seen = self.future.wakes();
        self.future.poll()
    }

    fn is_woken(&self) -> bool {
        self.future.wakes() > self.seen
    }
}

const WAITERS: usize = 3;
const STEPS: usize = 2 * WAITERS + 2;

/// Performs the steps of one sequence. In the end everything is returned; then all remaining waiters must be served.
fn play<'a>(steps: &[usize], wait: &impl Fn(usize) -> Wait<'a>, newcomer: &impl Fn() -> Option<Guard<'a>>) {
    let mut waiting: [Option<Waiting<'a>>; WAITERS] = [const { None }; WAITERS];
    let mut held = Vec::new();
    for &step in steps {
        match step {
            0..WAITERS => {
                let slot = &mut waiting[step];
                let wait = slot.get_or_insert_with(|| Waiting { future: Polled::new(wait(step)), seen: 0 });
                if let Some(guard) = wait.poll() {
                    held.push(guard);
                    *slot = None;
                }
            }
            step if step < 2 * WAITERS => waiting[step - WAITERS] = None,
            step if step == 2 * WAITERS => held.extend(newcomer()),
            _ if !held.is_empty() => drop(held.remove(0)),
            _ => {}
        }
    }
    drop(held);
    while let Some(slot) = waiting.iter_mut().find(|slot| slot.as_ref().is_some_and(Waiting::is_woken)) {
        if slot.as_mut().unwrap().poll().is_some() {
            *slot = None;
        }
    }
    assert!(waiting.iter().all(Option::is_none), "somebody waits for what is free, after {steps:?}");
    assert!(newcomer().is_some(), "something is lost, after {steps:?}");
}

/// All short sequences, and some long ones.
fn play_all<'a>(wait: impl Fn(usize) -> Wait<'a>, newcomer: impl Fn() -> Option<Guard<'a>>) {
    const SHORT: u32 = 5;
    watchdog(LONG, || {
        for mut number in 0..STEPS.pow(SHORT) {
            let steps = [(); SHORT as usize].map(|()| {
                let step = number % STEPS;
                number /= STEPS;
                step
            });
            play(&steps, &wait, &newcomer);
        }
        let mut random = Random(1);
        for _ in 0..300 {
            let steps: Vec<_> = (0..150).map(|_| random.below(STEPS as u64) as usize).collect();
            play(&steps, &wait, &newcomer);
        }
    });
}

fn guard<'a>(held: impl Sized + 'a) -> Guard<'a> {
    Box::new(held)
}

#[test]
fn mutex_futures_survive_every_order_of_polls_and_drops() {
    let mutex = Mutex::new(());
    play_all(|_| Box::pin(async { guard(mutex.locking().await) }), || mutex.try_lock().map(guard));
}

#[test]
fn writers_and_reader_survive_every_order_of_polls_and_drops() {
    let lock = RwLock::new(());
    let wait = |index| -> Wait<'_> {
        match index {
            0 => Box::pin(async { guard(lock.reading().await) }),
            _ => Box::pin(async { guard(lock.writing().await) }),
        }
    };
    play_all(wait, || lock.try_read().map(guard));
    assert!(lock.try_write().is_some());
}

#[test]
fn readers_and_writer_survive_every_order_of_polls_and_drops() {
    let lock = RwLock::new(());
    let wait = |index| -> Wait<'_> {
        match index {
            0 => Box::pin(async { guard(lock.writing().await) }),
            _ => Box::pin(async { guard(lock.reading().await) }),
        }
    };
    play_all(wait, || lock.try_write().map(guard));
}

#[test]
fn semaphore_futures_survive_every_order_of_polls_and_drops() {
    let semaphore = &Semaphore::new(3);
    play_all(
        |index| Box::pin(async move { guard(semaphore.acquiring(index + 1).await.unwrap()) }),
        || semaphore.try_acquire_many(2).ok().map(guard),
    );
    assert_eq!(semaphore.available(), 3);
}

/// An initialiser that waits once, and then fails.
#[test]
fn failing_initialisers_survive_every_order_of_polls_and_drops() {
    let cell = &OnceCell::<u32>::new();
    let init = || async {
        let mut is_new = true;
        poll_fn(|context| {
            context.waker().wake_by_ref();
            if mem::take(&mut is_new) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        Err(())
    };
    play_all(
        |_| Box::pin(async move { guard(cell.get_or_try_init_async(init).await) }),
        || cell.get().is_none().then(|| guard(())),
    );
    assert_eq!(cell.set(1), Ok(()));
}

/// Runs a function when it is dropped.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn reset_event_survives_every_order_of_polls_and_drops() {
    let event = Event::new();
    let event = &event;
    event.set();
    let newcomer = || {
        event.reset();
        Some(guard(OnDrop(|| event.set())))
    };
    let wait = |_| -> Wait<'_> {
        Box::pin(async {
            event.waiting().await;
            guard(())
        })
    };
    play_all(wait, newcomer);
}

/// One notification for each time that the lock is returned: each reaches a waiter that can use it.
#[test]
fn condvar_futures_survive_every_order_of_polls_and_drops() {
    let (mutex, given_back, is_free) = (Mutex::new(()), Condvar::new(), Cell::new(true));
    let (mutex, given_back, is_free) = (&mutex, &given_back, &is_free);
    let give_back = move || {
        is_free.set(true);
        given_back.notify_one();
    };
    let wait = |_| -> Wait<'_> {
        Box::pin(async move {
            drop(given_back.wait_while_async(mutex.locking().await, |()| !is_free.get()).await);
            is_free.set(false);
            guard(OnDrop(give_back))
        })
    };
    play_all(wait, || is_free.replace(false).then(|| guard(OnDrop(give_back))));
}
