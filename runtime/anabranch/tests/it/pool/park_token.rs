//! The token of `std::thread::park` belongs to the program: no call of ours takes the caller's, or waits with it.

use crate::common::{LONG, pool, watchdog};
use anabranch::{Cx, Pool, channel, join, scope, sync::Trigger};
use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Runs `call` on this thread, which has a token of `thread::park` before, and checks that it still has it afterwards.
#[track_caller]
fn leaves_token<R>(what: &str, call: impl FnOnce() -> R) -> R {
    const LIMIT: Duration = Duration::from_secs(10);
    thread::current().unpark();
    let result = call();
    let since = Instant::now();
    thread::park_timeout(LIMIT);
    assert!(since.elapsed() < LIMIT, "{what} took the token");
    result
}

#[test]
fn pool_leaves_park_token_from_its_start_to_its_end() {
    watchdog(LONG, || {
        for threads in [1, 4] {
            let slow = |_| thread::sleep(Duration::from_millis(20));
            let builder = || Pool::builder().threads(threads).on_start(slow);
            let pool = leaves_token("build", || builder().build().unwrap());
            leaves_token("join", || pool.install(|| join(|| 1, || thread::sleep(Duration::from_millis(1)))));
            leaves_token("scope", || pool.install(|| scope(|s| s.spawn(|| ()))));
            leaves_token("call", || pool.call(|| thread::sleep(Duration::from_millis(1))));
            leaves_token("broadcast", || pool.broadcast(slow));
            leaves_token("drop", || drop(pool));
            let panics = || Pool::builder().threads(threads).on_start(|_| panic!("start")).build();
            assert!(leaves_token("a build that fails", panics).is_err());
            leaves_token("build_with", || {
                let spawn = |thread: anabranch::pool::ThreadBuilder| {
                    drop(thread::spawn(|| thread.run()));
                    Ok(())
                };
                builder().build_with(spawn).unwrap().call(|| ());
            });
        }
    });
}

#[test]
fn waits_of_plain_thread_leave_park_token() {
    watchdog(LONG, || {
        let pool = pool(2);
        let later = |send: Box<dyn FnOnce() + Send>| {
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(20));
                send();
            })
        };
        let (sender, receiver) = channel::unbounded();
        let sending = later(Box::new(move || _ = sender.try_send(1)));
        assert_eq!(leaves_token("recv_blocking", || receiver.recv_blocking()), Ok(1));
        sending.join().unwrap();
        leaves_token("sleep", || anabranch::run(|cx| cx.sleep(Duration::from_millis(20)))).unwrap();
        let future = async { anabranch::fiber::sleep_async(Duration::from_millis(20)).await };
        leaves_token("block_on", || anabranch::run(|cx| cx.block_on(future))).unwrap();
        let fiber = pool.spawn(|cx: &Cx<'_>| cx.blocking(|| thread::sleep(Duration::from_millis(20))));
        leaves_token("join of a fiber", || pool.run(|cx| fiber.join(cx))).unwrap().unwrap();
    });
}

#[test]
fn report_leaves_park_token() {
    watchdog(LONG, || {
        let pool = pool(1);
        let mut trigger = Trigger::new();
        let signal = trigger.signal();
        let (began, has_begun) = mpsc::channel();
        let fiber = pool.spawn(move |cx| {
            began.send(()).unwrap();
            trigger.wait(cx)
        });
        has_begun.recv().unwrap();
        let report = leaves_token("report", || pool.report().to_string());
        assert!(report.contains("1 fiber"), "{report}");
        signal.send();
        pool.run(|cx| fiber.join(cx)).unwrap().unwrap();
    });
}
