//! A pool whose fibers all wait does not wake up. Measured by the context switches that the system records.

#![cfg(target_os = "linux")]

use crate::{
    common::{
        self, LONG,
        fibers::{Event, FOREVER, until_waiting},
        watchdog,
    },
    switches,
};
use anabranch::{Pool, WaitError, time::ManualClock};
use std::{thread, time::Duration};

/// Waits until the threads of the pool, whose fibers all wait, wake up no more.
fn until_quiet(prefix: &str) {
    switches::until_quiet(prefix, 1, Duration::from_millis(100), Duration::from_millis(400));
}

fn suspend_some(pool: &Pool, gate: &Event) {
    for i in 0..100 {
        let gate = gate.clone();
        pool.spawn(move |cx| match i % 5 {
            0 => _ = cx.sleep(FOREVER),
            1 => _ = cx.timeout(FOREVER, |cx| Ok::<_, WaitError>(gate.wait(cx)?)),
            2 => cx.scope(|s| {
                s.spawn(|cx| gate.wait(cx));
            }),
            3 => _ = cx.join(|cx| gate.wait(cx), |cx| gate.wait(cx)),
            _ => _ = gate.wait(cx),
        });
    }
    until_waiting(pool, 140);
}

#[test]
fn suspended_fibers_cause_no_wakeups() {
    watchdog(LONG, || {
        for (threads, name) in [(1, "one-"), (4, "four-")] {
            let pool = Pool::builder().threads(threads).thread_name(move |i| format!("{name}{i}")).build().unwrap();
            let gate = Event::default();
            suspend_some(&pool, &gate);
            until_quiet(name);
            pool.install(|| common::sum_to(1000));
            until_quiet(name);
            gate.set();
            // The sleepers are left.
            until_waiting(&pool, 20);
            until_quiet(name);
        }
    });
}

#[test]
fn stopped_clock_causes_no_wakeups() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool =
            Pool::builder().threads(2).clock(manual.clock()).thread_name(|i| format!("manual-{i}")).build().unwrap();
        let gate = Event::default();
        suspend_some(&pool, &gate);
        until_quiet("manual-");
        manual.advance(Duration::from_secs(60));
        until_quiet("manual-");
    });
}

#[test]
fn reclaimed_joins_cause_no_wakeups() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).thread_name(|i| format!("offers-{i}")).build().unwrap();
        for _ in 0..100 {
            // What a thread offers while it waits may still be in its queue when it has left.
            pool.run(|cx| cx.join(|cx| cx.join(|cx| cx.yield_now(), |_| ()), |_| ()));
            pool.run(|cx| cx.join(|cx| cx.sleep(Duration::from_micros(1)), |_| ())).0.unwrap();
        }
        until_quiet("offers-");
    });
}

#[test]
fn waiting_guest_causes_no_wakeups() {
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).thread_name(|i| format!("guest-{i}")).build().unwrap();
        let gate = Event::default();
        suspend_some(&pool, &gate);
        thread::scope(|s| {
            let waits = s.spawn(|| pool.run(|cx| gate.wait(cx)));
            until_quiet("guest-");
            gate.set();
            waits.join().unwrap().unwrap();
        });
    });
}
