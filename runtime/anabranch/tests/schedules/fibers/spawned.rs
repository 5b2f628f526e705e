//! Fibers that need not be waited for, pools that end before them, and futures.

use super::{FOREVER, SHORT, run_program, wait_randomly};
use crate::{
    common::Counted,
    explore::{Event::*, any, explore, pause_randomly},
    trap::Trap,
};
use anabranch::{
    Cancelled, Cx, JoinHandle, WaitError,
    channel::{Closed, oneshot, rendezvous},
    sync,
    time::ManualClock,
};
use shuttle::thread;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// A fiber that waits for one that it has spawned, and gives back what that one was given.
fn run_parent(cx: &Cx<'_>, trap: &Arc<Trap>) -> Result<Option<Counted>, Cancelled> {
    let _kept = trap.step();
    wait_randomly(cx)?;
    let (reply, mut result) = oneshot::channel();
    let (value, below) = (trap.make(), Arc::clone(trap));
    trap.let_go();
    let child = anabranch::spawn(move |cx| wait_randomly(cx).map(|()| _ = reply.send((value, below.step()))));
    if any(0, 3) == 0 {
        child.cancel();
    }
    let value = match result.recv(cx) {
        Ok((value, _)) => Some(value),
        Err(error) => {
            cx.check()?;
            assert_eq!(error, Closed.into());
            None
        }
    };
    drop(trap.step());
    Ok(value)
}

/// What may be done with a handle.
fn use_handle<T: Send + 'static>(cx: &Cx<'_>, trap: &Trap, mut handle: JoinHandle<T>) -> Option<T> {
    match any(0, 6) {
        0 => {
            trap.let_go();
            drop(handle);
            None
        }
        1 => {
            handle.cancel();
            trap.ended(handle.join(cx))
        }
        2 => loop {
            match handle.try_join() {
                Ok(result) => break trap.ended(result),
                Err(back) => handle = back,
            }
            cx.yield_now();
        },
        3 => cx.block_on(handle).ok().and_then(|result| trap.ended(result)),
        4 => match Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => trap.ended(result),
            // Its wait as a future ends where another begins.
            Poll::Pending => {
                let waited = cx.timeout(SHORT, |cx| Ok(handle.wait(cx)?));
                assert!(matches!(waited, Ok(()) | Err(WaitError::TimedOut)));
                trap.ended(handle.join(cx))
            }
        },
        _ => trap.ended(handle.join(cx)),
    }
}

#[test]
fn handles_report_all_results() {
    let seen = explore(12_000, |seen| {
        run_program(seen, 16, |cx, stage| {
            let handles: Vec<_> = (0..any(1, 3))
                .map(|_| {
                    let trap = Arc::clone(&stage.trap);
                    stage.pool.spawn(move |cx| run_parent(cx, &trap))
                })
                .collect();
            for handle in handles {
                if any(0, 3) == 0 {
                    stage.cancel_at_random(handle.cancel_handle());
                }
                if let Some(result) = use_handle(cx, &stage.trap, handle) {
                    stage.note(result, CutShort, Received);
                }
            }
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Received]);
    seen.assert_panics_at(9);
}

/// What a fiber may be at when its pool ends.
fn wait_somehow(cx: &Cx<'_>, trap: &Arc<Trap>, lock: &sync::Mutex<()>) -> Result<(), Cancelled> {
    let _kept = trap.step();
    match any(0, 5) {
        0 => cx.sleep(FOREVER)?,
        1 => {
            let _guard = lock.lock(cx)?;
            let _kept = trap.step();
            cx.sleep(FOREVER)?;
        }
        2 => {
            let (a, b) = cx.join(|cx| (cx.sleep(FOREVER), trap.step()), |cx| (cx.sleep(FOREVER), trap.step()));
            a.0.and(b.0)?;
        }
        3 => cx.scope(|s| {
            s.spawn(|cx| (cx.sleep(FOREVER), trap.step()));
            s.sleep(FOREVER)
        })?,
        4 => {
            let (sender, receiver) = rendezvous();
            let (values, below) = ([trap.make(), trap.make()], Arc::clone(trap));
            drop(anabranch::spawn(move |cx| {
                values.into_iter().try_for_each(|value| sender.send(cx, (value, below.step())))
            }));
            while let Ok(value) = receiver.recv(cx) {
                drop(value);
            }
            cx.check()?;
            cx.sleep(FOREVER)?;
        }
        _ => {
            while !cx.is_cancelled() {
                cx.yield_now();
            }
        }
    }
    cx.check()
}

/// A pool is dropped with fibers that wait, run, and have not begun: all of them are cancelled, and all of them run.
#[test]
fn dropped_pool_cancels_and_runs_all_fibers() {
    let seen = explore(12_000, |seen| {
        let trap = Trap::within(16);
        trap.let_go();
        let manual = ManualClock::new();
        let pool = Arc::new(trap.pool_of(trap.builder().clock(manual.clock())));
        let (lock, ended, cancelled) =
            (Arc::new(sync::Mutex::new(())), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let spawn = {
            let (trap, pool, ended, cancelled) =
                (Arc::clone(&trap), Arc::downgrade(&pool), Arc::clone(&ended), Arc::clone(&cancelled));
            move || {
                let count = any(1, 3) as u64;
                let Some(pool) = pool.upgrade() else { return 0 };
                for _ in 0..count {
                    let (lock, trap, ended, cancelled) =
                        (Arc::clone(&lock), Arc::clone(&trap), Arc::clone(&ended), Arc::clone(&cancelled));
                    drop(pool.spawn(move |cx| {
                        struct Ends(Arc<AtomicU64>);
                        impl Drop for Ends {
                            fn drop(&mut self) {
                                self.0.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        let _ends = Ends(ended);
                        let result = wait_somehow(cx, &trap, &lock);
                        assert_eq!(result, Err(Cancelled));
                        cancelled.fetch_add(1, Ordering::Relaxed);
                    }));
                }
                count
            }
        };
        let threads: Vec<_> = (0..any(0, 2)).map(|_| thread::spawn(spawn.clone())).collect();
        let mut begun = spawn();
        (0..any(0, 20)).for_each(|_| pause_randomly());
        if any(0, 3) == 0 {
            // Only those that have been cancelled end.
            manual.advance(SHORT);
        }
        begun += threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>();
        seen.note(&pool);
        drop(Arc::into_inner(pool).expect("the threads have ended"));
        assert_eq!(begun, ended.load(Ordering::Relaxed));
        seen.add(CutShort, cancelled.load(Ordering::Relaxed));
        trap.settle(seen, Ok(()));
    });
    seen.assert(&[Stolen, Panic, Fiber, Switch, CutShort]);
    seen.assert_panics_at(9);
}
