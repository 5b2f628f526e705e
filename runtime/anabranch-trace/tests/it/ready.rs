//! Fibers that could run and waited for their thread, and the fibers that kept it.

use crate::common::{MS, Program};
use anabranch_trace::{
    event::{Event, Site},
    timeline::{FiberState, Timeline},
};

/// The sites of [`beside_sleepers`].
struct Sites {
    keeper: Site,
    sleep: Site,
    recv: Site,
    send: Site,
}

/// A pool of one thread. Fiber 0 runs from 10 ms to 60 ms. Fibers 1 to 3 sleep meanwhile. Their timers are due at 20,
/// 30 and 40 ms. They run for 1 us each from 60 ms on.
fn beside_sleepers() -> (Program, Sites) {
    let mut program = Program::new(1);
    let (keeper, sleeper) = (program.site("", 10), program.site("", 20));
    let (sleep, recv, send) =
        (program.site("sleep", 21), program.site("Receiver::recv", 11), program.site("Sender::send", 15));
    program.work(0, 0, 61 * MS);
    program.on(0, 0, Event::FiberStart { fiber: 0, site: keeper });
    program.on(0, MS, Event::FiberSuspend { fiber: 0, site: recv });
    for fiber in 1..4 {
        program.on(0, 2 * MS, Event::FiberStart { fiber, site: sleeper });
        program.on(0, 3 * MS, Event::FiberSuspend { fiber, site: sleep });
    }
    program.on(0, 10 * MS - 500, Event::Wake { fiber: 0 });
    program.on(0, 10 * MS, Event::FiberResume { fiber: 0 });
    program.on(0, 60 * MS, Event::FiberSuspend { fiber: 0, site: send });
    for fiber in 1..4 {
        let late = (50 - 10 * u64::from(fiber)) * MS;
        program.on(0, 60 * MS, Event::TimerDue { fiber, late });
        program.on(0, 60 * MS, Event::Wake { fiber });
    }
    for fiber in 1..4 {
        let begin = 60 * MS + u64::from(fiber) * 1_000;
        program.on(0, begin, Event::FiberResume { fiber });
        program.on(0, begin + 1_000, Event::FiberEnd { fiber });
    }
    (program, Sites { keeper, sleep, recv, send })
}

#[test]
fn fiber_is_ready_from_when_its_timer_is_due() {
    let (mut program, sites) = beside_sleepers();
    program.end(61 * MS);
    let timeline = Timeline::new(&program.trace);
    let states: Vec<_> =
        timeline.fibers[2].intervals.iter().map(|interval| (interval.state, interval.begin, interval.site)).collect();
    assert_eq!(
        states,
        [
            (FiberState::Running, 2 * MS, Site::UNKNOWN),
            (FiberState::Waiting, 3 * MS, sites.sleep),
            (FiberState::Ready, 30 * MS, sites.sleep),
            (FiberState::Running, 60 * MS + 2_000, sites.sleep),
        ]
    );
}

#[test]
fn fiber_that_computes_is_named_with_the_waits_that_it_causes() {
    let (mut program, sites) = beside_sleepers();
    program.end(61 * MS);
    let explanation = program.explain();
    let waits = &explanation.ready_waits;
    // 500 ns, and 40, 30 and 20 ms.
    let counts: Vec<u64> = waits.buckets.iter().map(|bucket| bucket.count).collect();
    assert_eq!((waits.count, counts.iter().sum::<u64>()), (4, 4));
    assert_eq!((counts.len(), counts[8], counts[24], counts[25]), (26, 1, 2, 1));
    assert!((waits.buckets[24].time - 0.050005).abs() < 1e-9, "{waits:?}");
    assert_eq!((waits.p50, waits.p99, waits.max), (0.020003, 0.040001, 0.040001));
    let [kept] = &waits.kept[..] else { panic!("{waits:?}") };
    assert_eq!((kept.spawned, kept.after, kept.until), (sites.keeper, sites.recv, sites.send));
    assert_eq!((kept.runs, kept.waits, kept.longest), (1, 3, 0.05));
    assert_eq!((kept.longest_begin, kept.longest_end), (10 * MS, 60 * MS));
    let text = explanation.to_string();
    let expected = "\nFibers that could run waited for their thread 4 times: p50 20 ms, p99 40 ms, max 40 ms.\n\
                    The fiber spawned at main.rs:10 kept its thread for 50 ms, after Receiver::recv at main.rs:11 and \
                    before Sender::send at main.rs:15. Other fibers of the thread could run and waited 3 times. \
                    Compute in `Cx::blocking`, or call `Cx::yield_now` now and then.\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn longest_of_many_runs_is_named() {
    let mut program = Program::new(1);
    let (short, long, sleeper, sleep) =
        (program.site("", 10), program.site("", 11), program.site("", 20), program.site("sleep", 21));
    program.work(0, 0, 100 * MS);
    program.on(0, 0, Event::FiberStart { fiber: 0, site: sleeper });
    program.on(0, 1, Event::FiberSuspend { fiber: 0, site: sleep });
    let mut time = MS;
    for fiber in 1..40 {
        let (site, length) = if fiber == 23 { (long, 6 * MS) } else { (short, 2 * MS - 1) };
        program.on(0, time, Event::FiberStart { fiber, site });
        program.on(0, time + length, Event::FiberEnd { fiber });
        time += length + 1;
    }
    program.on(0, time, Event::TimerDue { fiber: 0, late: time - 2 * MS });
    program.on(0, time, Event::Wake { fiber: 0 });
    program.on(0, time, Event::FiberResume { fiber: 0 });
    program.end(100 * MS);
    let waits = program.explain().ready_waits;
    let [kept] = &waits.kept[..] else { panic!("{waits:?}") };
    assert_eq!((kept.spawned, kept.runs, kept.waits, kept.longest), (long, 1, 1, 0.006));
    assert_eq!(waits.count, 1);
}

#[test]
fn short_waits_have_no_culprit() {
    let mut program = Program::new(1);
    let (spawn, recv) = (program.site("", 10), program.site("Receiver::recv", 11));
    program.work(0, 0, 20 * MS);
    for fiber in 0..2 {
        program.on(0, u64::from(fiber), Event::FiberStart { fiber, site: spawn });
        program.on(0, u64::from(fiber) + 1, Event::FiberSuspend { fiber, site: recv });
    }
    program.on(0, MS, Event::FiberResume { fiber: 0 });
    program.on(0, MS + 1, Event::Wake { fiber: 1 });
    program.on(0, 5 * MS, Event::FiberEnd { fiber: 0 });
    program.on(0, 5 * MS, Event::FiberResume { fiber: 1 });
    program.on(0, 6 * MS, Event::FiberEnd { fiber: 1 });
    program.end(20 * MS);
    let explanation = program.explain();
    assert_eq!((explanation.ready_waits.count, explanation.ready_waits.kept.len()), (1, 0));
    let text = explanation.to_string();
    assert!(text.contains("waited for their thread once: p50 4.0 ms, p99 4.0 ms, max 4.0 ms.\n"), "{text}");
}
