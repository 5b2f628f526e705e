//! scratch
mod common;
use common::*;
use std::time::*;

#[test]
fn spawn_from_outside_without_guest() {
    watchdog(Duration::from_secs(5), || {
        let pool = pool(1);
        std::thread::sleep(Duration::from_millis(100));
        let h = pool.spawn(|_| 1);
        while !h.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
#[test]
fn yield_starves() {
    watchdog(Duration::from_secs(5), || {
        let pool = pool(1);
        let f = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let g = f.clone();
        let a = pool.spawn(move |cx| {
            while !g.load(std::sync::atomic::Ordering::Relaxed) {
                cx.yield_now()
            }
        });
        std::thread::sleep(Duration::from_millis(100));
        let b = pool.spawn(move |_| f.store(true, std::sync::atomic::Ordering::Relaxed));
        pool.run(|cx| {
            a.join(cx).unwrap();
            b.join(cx).unwrap();
        });
    });
}
#[test]
fn poll_then_join() {
    use std::{future::Future, pin::pin, task::*};
    watchdog(Duration::from_secs(5), || {
        let pool = pool(1);
        let mut a = pool.spawn(move |cx| cx.sleep(Duration::from_millis(300)));
        {
            let p = pin!(&mut a);
            assert!(p.poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        pool.run(|cx| a.join(cx).unwrap()).unwrap();
    });
}
#[test]
fn max_fibers_message() {
    watchdog(Duration::from_secs(5), || {
        let pool = anabranch::Pool::builder().threads(1).max_fibers(1).build().unwrap();
        let mut t = anabranch::wait::Trigger::new();
        let s = t.signal();
        let a = pool.spawn(move |cx| t.wait(cx));
        let _b = pool.spawn(move |_| s.send());
        pool.run(|cx| a.join(cx).unwrap()).unwrap();
    });
}
#[test]
fn close_while_needing_spare() {
    watchdog(Duration::from_secs(5), || {
        let pool = pool(1);
        let (tx, rx) = std::sync::mpsc::channel::<()>();
        let (started, s) = std::sync::mpsc::channel::<()>();
        pool.spawn(move |cx| {
            started.send(()).unwrap();
            while !cx.is_cancelled() {
                cx.yield_now();
            }
            anabranch::join(move || rx.recv().unwrap(), move || tx.send(()).unwrap());
        });
        s.recv().unwrap();
        drop(pool);
    });
}
#[test]
fn drop_in_own_fiber() {
    watchdog(Duration::from_secs(5), || {
        for n in [1, 2, 8] {
            let p = std::sync::Arc::new(pool(n));
            let q = p.clone();
            let (tx, rx) = std::sync::mpsc::channel::<()>();
            let h = p.spawn(move |cx| {
                cx.sleep(Duration::from_millis(20)).unwrap();
                cx.scope(|s| {
                    for _ in 0..10 {
                        s.spawn(|cx| cx.sleep(Duration::from_secs(1000)));
                    }
                    s.sleep(Duration::from_millis(20)).unwrap();
                    drop(q);
                });
                drop(tx);
                assert!(cx.is_cancelled());
                7
            });
            drop(p);
            assert!(rx.recv().is_err());
            assert_eq!(anabranch::run(|cx| h.join(cx)).unwrap(), 7);
        }
    });
}
