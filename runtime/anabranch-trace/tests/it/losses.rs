//! Programs whose losses are known by construction: the loss is named first, and the sums hold.

use crate::common::{MS, Program, explained, first, lost};
use anabranch_trace::{
    event::{Event, Site, State},
    explain::{Cause, Options, Subject},
};

/// The thread outside works in a call with workers 0 to 2, all for the same time.
fn parallel(program: &mut Program, call: Site, fork: Site, from: u64, to: u64) {
    let main = program.main();
    program.call(from, call);
    program.work(main, from, to);
    for worker in 0..3 {
        program.piece(main, fork, worker, from + 1_000, to);
    }
    program.leave(to);
}

#[test]
fn sequential_half_outside() {
    let mut program = Program::new(4);
    let (one, two, fork) = (program.site("", 80), program.site("", 88), program.site("", 90));
    parallel(&mut program, one, fork, 0, 10 * MS);
    let main = program.main();
    program.pass(main, 40 * MS, 1.0, 0.0);
    parallel(&mut program, two, fork, 50 * MS, 80 * MS);
    program.end(80 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::SequentialOutside, 3.0 * 40.0);
    let finding = &explanation.findings[0];
    assert_eq!((finding.site, finding.until, finding.count), (one, two, 1));
    assert_eq!((finding.longest_begin, finding.longest_end), (10 * MS, 50 * MS));
    assert_eq!(
        finding.sentence,
        "100% of the lost time is one sequential phase of 40 ms outside of any call into the pool, after the call at \
         main.rs:80 and before the call at main.rs:88."
    );
    assert!((explanation.work.time - 0.2).abs() < 0.004, "{explanation}");
    assert!((explanation.critical_path - 0.08).abs() < 0.001, "{explanation}");
    assert!((explanation.parallelism - 2.5).abs() < 0.05, "{explanation}");
}

#[test]
fn sequential_phase_inside_of_a_call() {
    let mut program = Program::new(4);
    let (call, one, two, span) =
        (program.site("", 70), program.site("", 80), program.site("", 88), program.site("merge", 82));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 61 * MS);
    for worker in 0..3 {
        program.piece(main, one, worker, 1_000, 10 * MS);
        program.piece(main, two, worker, 51 * MS, 61 * MS);
    }
    program.on(main, 5 * MS, Event::SpanBegin(span));
    program.on(main, 60 * MS, Event::SpanEnd);
    program.leave(61 * MS);
    program.end(61 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::SequentialInside, 3.0 * 41.0);
    let finding = &explanation.findings[0];
    assert_eq!((finding.site, finding.until, finding.span), (one, two, span));
    assert_eq!(
        finding.sentence,
        "100% of the lost time is one sequential phase of 41 ms, after main.rs:80 and before main.rs:88, in the span \
         \"merge\"."
    );
    let [account] = &explanation.spans[..] else { panic!("{explanation:?}") };
    assert_eq!((account.count, &account.name[..]), (1, "merge"));
    assert!((account.time - 0.055).abs() < 1e-6 && (account.lost - 0.123).abs() < 0.001, "{account:?}");
}

#[test]
fn held_lock() {
    let mut program = Program::new(4);
    let (spawn, lock) = (program.site("", 10), program.site("Mutex::lock", 30));
    for fiber in 0..4 {
        let worker = fiber as usize;
        program.work(worker, 0, 5 * MS);
        program.on(worker, 0, Event::FiberStart { fiber, site: spawn });
    }
    // Fiber 0 has the lock for 100 ms, and each of the others for 1 ms after it.
    program.pass(0, 100 * MS, 1.0, 0.0);
    for fiber in 1..4u32 {
        let (worker, begin) = (fiber as usize, (104 + u64::from(fiber)) * MS);
        program.on(worker, 5 * MS, Event::FiberSuspend { fiber, site: lock });
        program.state(worker, 5 * MS, State::Searching);
        program.state(worker, 5 * MS + 20_000, State::Parked);
        program.on(worker - 1, begin - 1_000, Event::Wake { fiber });
        program.work(worker, begin, begin + MS);
        program.on(worker, begin, Event::FiberResume { fiber });
        program.on(worker, begin + MS, Event::FiberEnd { fiber });
        program.state(worker, begin + MS, State::Parked);
    }
    program.on(0, 105 * MS, Event::FiberEnd { fiber: 0 });
    program.state(0, 105 * MS, State::Parked);
    program.end(108 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Locked, 303.0);
    let finding = &explanation.findings[0];
    assert_eq!((finding.site, finding.subject, finding.count), (lock, Subject::Wait, 3));
    assert!(
        finding.sentence.contains("fibers or threads wait 3 times for a lock: Mutex::lock at main.rs:30"),
        "{finding:?}"
    );
    assert!(finding.advice.is_some());
}

/// Five philosophers hold a fork each, and wait for another one, until a timeout after a second. This is no
/// competition: they use no CPU time. And a shorter critical section would not help.
#[test]
fn deadlock() {
    let mut program = Program::new(2);
    let (spawn, lock) = (program.site("", 10), program.site("Mutex::lock", 30));
    for worker in 0..2 {
        program.work(worker, 0, MS);
    }
    for fiber in 0..5u32 {
        let worker = fiber as usize % 2;
        program.on(worker, u64::from(fiber) * 1_000, Event::FiberStart { fiber, site: spawn });
        program.on(worker, u64::from(fiber) * 1_000 + 500, Event::FiberSuspend { fiber, site: lock });
    }
    for worker in 0..2 {
        program.state(worker, MS, State::Parked);
    }
    program.work(0, 1_001 * MS, 1_002 * MS);
    for fiber in 0..5 {
        program.on(0, 1_001 * MS, Event::Wake { fiber });
        program.on(0, 1_001 * MS + 10, Event::FiberResume { fiber });
        program.on(0, 1_001 * MS + 20, Event::FiberEnd { fiber });
    }
    program.state(0, 1_002 * MS, State::Parked);
    program.end(1_002 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Locked, 2_000.0);
    assert!(lost(&explanation, Cause::Competing) < 1.0, "{explanation}");
    let finding = &explanation.findings[0];
    assert_eq!((finding.site, finding.subject, finding.count), (lock, Subject::Standstill, 5));
    assert_eq!(
        (finding.sentence.as_str(), finding.advice.as_deref()),
        (
            "100% of the lost time passes while fibers or threads wait 5 times for a lock and no thread works: \
             Mutex::lock at main.rs:30, 1.00 s at most.",
            Some("The holder waits too: hold no lock while waiting, or take locks in one order.")
        )
    );
    assert!(explanation.to_string().contains("idle, waiting for locks"), "{explanation}");
}

/// One stage of a pipeline computes, and its successor, which it has woken, is bound to the same thread. The other
/// thread has nothing to do. Nothing is too long to be divided: the fiber only has to run elsewhere.
#[test]
fn ready_fiber_behind_a_computing_one() {
    let mut program = Program::new(2);
    let (outer, one, two) = (program.site("scope", 5), program.site("", 10), program.site("", 20));
    let recv = program.site("Receiver::recv", 21);
    program.work(0, 0, 61 * MS);
    program.on(0, 0, Event::FiberStart { fiber: 9, site: one });
    program.on(0, 10, Event::FiberSuspend { fiber: 9, site: outer });
    program.on(0, 20, Event::FiberStart { fiber: 2, site: two });
    program.on(0, 30, Event::FiberSuspend { fiber: 2, site: recv });
    program.on(0, 40, Event::FiberStart { fiber: 1, site: one });
    program.on(0, MS, Event::Wake { fiber: 2 });
    program.on(0, 51 * MS, Event::FiberEnd { fiber: 1 });
    program.on(0, 51 * MS + 10, Event::FiberResume { fiber: 2 });
    program.on(0, 61 * MS, Event::FiberEnd { fiber: 2 });
    program.on(0, 61 * MS, Event::Wake { fiber: 9 });
    program.on(0, 61 * MS, Event::FiberResume { fiber: 9 });
    program.on(0, 61 * MS, Event::FiberEnd { fiber: 9 });
    program.state(0, 61 * MS, State::Parked);
    program.end(61 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Kept, 50.0);
    let finding = &explanation.findings[0];
    assert_eq!((finding.site, finding.subject, finding.count), (one, Subject::Ready, 1));
    assert_eq!(
        finding.sentence,
        "82% of the lost time passes while a fiber could run, and waited once for the thread that ran a fiber spawned at \
         main.rs:10, 50 ms at most."
    );
    assert!(finding.advice.as_deref().is_some_and(|advice| advice.contains("Cx::blocking")), "{finding:?}");
}

#[test]
fn long_leaf() {
    let mut program = Program::new(4);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 10 * MS);
    program.piece(main, fork, 0, 1_000, 10 * MS);
    program.piece(main, fork, 1, 1_000, 10 * MS);
    program.piece(main, fork, 2, 1_000, 60 * MS);
    program.state(main, 10 * MS, State::Joining);
    program.state(main, 10 * MS + 30_000, State::JoinParked);
    program.work(main, 60 * MS, 61 * MS);
    program.leave(61 * MS);
    program.end(61 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::LongPiece, 150.0);
    let finding = &explanation.findings[0];
    assert_eq!((finding.site, finding.count), (fork, 1));
    assert!(
        finding.sentence.ends_with("passes in waits for one long piece of work of 50 ms from main.rs:80."),
        "{finding:?}"
    );
    assert!((explanation.critical_path - 0.061).abs() < 0.001, "{explanation}");
}

#[test]
fn too_few_pieces() {
    let mut program = Program::new(4);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 50 * MS);
    program.piece(main, fork, 0, 1_000, 50 * MS);
    program.piece(main, fork, 1, 1_000, 50 * MS);
    // The last worker looks now and then, and finds nothing.
    for look in 1..100 {
        program.state(3, look * MS / 2, State::Searching);
        program.state(3, look * MS / 2 + 20_000, State::Parked);
    }
    program.leave(50 * MS);
    program.end(50 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Idle, 50.0);
    assert_eq!(explanation.findings[0].subject, Subject::Piece);
    assert!(explanation.findings[0].sentence.contains("fewer pieces than threads"), "{explanation}");
}

#[test]
fn sleeper() {
    let mut program = Program::new(4);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 10 * MS);
    program.on(main, 0, Event::Publish { count: 3, site: fork, took: 100 });
    for worker in 0..3 {
        program.steal(main, worker, 1_000);
    }
    program.work(0, 1_000, 10 * MS);
    program.work(1, 1_000, 10 * MS);
    program.state(0, 10 * MS, State::Parked);
    program.state(1, 10 * MS, State::Parked);
    // Worker 2 sleeps, which the pool finds after 5 ms.
    program.work_on(2, 1_000, 60 * MS, 0.01, 0.0);
    program.on(0, 15 * MS, Event::Blocked { worker: 2 });
    program.on(0, 59 * MS, Event::Unblocked { worker: 2 });
    program.state(main, 10 * MS, State::JoinParked);
    program.state(2, 60 * MS, State::Parked);
    program.state(main, 60 * MS, State::Working);
    program.leave(60 * MS);
    program.end(60 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Blocked, 210.0);
    assert_eq!(explanation.findings[0].site, fork);
    assert!(
        explanation.findings[0].sentence.contains("blocked in foreign calls in pieces from main.rs:80"),
        "{explanation}"
    );
}

#[test]
fn memory_bound_against_one_worker() {
    let mut alone = Program::new(1);
    let call = alone.site("", 70);
    let main = alone.main();
    alone.call(0, call);
    alone.work(main, 0, 100 * MS);
    alone.leave(100 * MS);
    alone.end(100 * MS);

    let mut program = Program::new(4);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    parallel(&mut program, call, fork, 0, 50 * MS);
    program.end(50 * MS);
    assert!(program.explain().lost < 0.001);
    let mut options = Options::default();
    options.alone = Some(&alone.trace);
    let explanation = explained(&program.trace, &options);
    first(&explanation, Cause::Machine, 100.0);
    assert_eq!(explanation.findings[0].subject, Subject::Work);
    assert!(
        explanation.findings[0].sentence.contains("takes 2.00 times the 100 ms that one worker takes"),
        "{explanation}"
    );
    assert!((explanation.work.time - 0.1).abs() < 0.002, "{explanation}");
}

#[test]
fn other_processes_on_the_cores() {
    let mut program = Program::new(4);
    program.trace.meta.insert("cores".into(), "2".into());
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work_on(main, 0, 50 * MS, 0.5, 0.5);
    program.on(main, 0, Event::Publish { count: 3, site: fork, took: 100 });
    for worker in 0..3 {
        program.steal(main, worker, 1_000);
        program.work_on(worker, 1_000, 50 * MS, 0.5, 0.5);
        program.state(worker, 50 * MS, State::Parked);
    }
    program.leave(50 * MS);
    program.end(50 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Machine, 100.0);
    assert!(lost(&explanation, Cause::Blocked) < 1.0, "{explanation}");
    let advice = "The machine has 2 cores for 4 threads: use at most 2 threads.";
    assert_eq!(explanation.findings[0].advice.as_deref(), Some(advice));
}

#[test]
fn overhead_of_fine_publishing() {
    let mut program = Program::new(4);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 20 * MS);
    for worker in 0..3 {
        program.piece(main, fork, worker, 1_000, 20 * MS);
    }
    // Each thread publishes for 4 us in each 10 us.
    for lane in 0..3 {
        for step in 1..2_000 {
            program.on(lane, step * 10_000, Event::Publish { count: 1, site: fork, took: 4_000 });
        }
    }
    for step in 1..2_000 {
        program.on(main, step * 10_000, Event::Publish { count: 1, site: fork, took: 4_000 });
    }
    program.leave(20 * MS);
    program.end(20 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Overhead, 32.0);
    assert_eq!(explanation.findings[0].site, fork);
    assert!((explanation.work.time - 0.048).abs() < 0.002, "{explanation}");
}

#[test]
fn fibers_that_wait_for_one_message() {
    let mut program = Program::new(4);
    let (spawn, recv) = (program.site("", 10), program.site("Receiver::recv", 30));
    for fiber in 0..4 {
        let worker = fiber as usize;
        program.work(worker, 0, 2 * MS);
        program.on(worker, 0, Event::FiberStart { fiber, site: spawn });
    }
    // Fiber 0 computes what the others wait for.
    program.pass(0, 60 * MS, 1.0, 0.0);
    for fiber in 1..4u32 {
        let worker = fiber as usize;
        program.on(worker, 2 * MS, Event::FiberSuspend { fiber, site: recv });
        program.state(worker, 2 * MS, State::Parked);
        program.on(0, 62 * MS, Event::Wake { fiber });
        program.work(worker, 62 * MS, 64 * MS);
        program.on(worker, 62 * MS, Event::FiberResume { fiber });
        program.on(worker, 64 * MS, Event::FiberEnd { fiber });
        program.state(worker, 64 * MS, State::Parked);
    }
    program.on(0, 62 * MS, Event::FiberEnd { fiber: 0 });
    program.state(0, 62 * MS, State::Parked);
    program.end(64 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Idle, 180.0);
    let finding = &explanation.findings[0];
    assert_eq!((finding.site, finding.subject, finding.count), (recv, Subject::Wait, 3));
    assert!(finding.sentence.contains("Receiver::recv at main.rs:30, 60 ms at most"), "{finding:?}");
    assert!((explanation.critical_path - 0.064).abs() < 0.001, "{explanation}");
}

#[test]
fn sequential_phase_after_the_last_call() {
    let mut program = Program::new(4);
    let (call, fork) = (program.site("", 80), program.site("", 90));
    parallel(&mut program, call, fork, 0, 10 * MS);
    program.trace.meta.insert("saved".into(), (50 * MS).to_string());
    let explanation = program.explain();
    assert_eq!((explanation.end, explanation.losses[0].cause), (50 * MS, Cause::SequentialOutside));
    let sentence = &explanation.findings[0].sentence;
    assert!(sentence.contains("one sequential phase of 40 ms outside of any call into the pool, after"), "{sentence}");
    assert!(sentence.ends_with("after the call at main.rs:80."), "{sentence}");

    program.trace.meta.insert("saved".into(), u64::MAX.to_string());
    assert_eq!(program.explain().end, 10 * MS, "no time is as late");
}
