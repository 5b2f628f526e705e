//! Several pools, guests, spares, and traces whose begin was lost.

use crate::common::{MS, Program, explained, first, lost};
use anabranch_trace::{
    event::{Event, Role, Site, State},
    explain::{Cause, Explanation, Options, Subject},
};

fn work_of(explanation: &Explanation) -> f64 {
    explanation.work.time * 1e3
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 0.5, "{value} instead of {expected}");
}

#[test]
fn time_of_one_pool_while_another_works_is_idle() {
    let mut program = Program::new(2);
    program.trace.pools.insert(1, 2);
    let call = program.site("", 70);
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 10 * MS);
    program.work(0, 0, 10 * MS);
    program.state(0, 10 * MS, State::Parked);
    program.leave(10 * MS);
    for worker in 0..2 {
        let lane = program.lane("second pool");
        program.on(lane, 0, Event::Enter { role: Role::Worker, pool: 1, worker });
        program.state(lane, 0, State::Parked);
        program.work(lane, 10 * MS, 40 * MS);
        program.on(lane, 40 * MS, Event::Leave);
    }
    program.end(40 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Idle, 80.0);
    assert_eq!((explanation.threads, explanation.pools.len()), (4, 2));
    near(explanation.capacity * 1e3, 160.0);
    near(explanation.pools[1].work.time * 1e3, 60.0);
    let text = explanation.to_string();
    assert!(text.contains("Pool 1 had 2 threads for 40 ms, did 60 ms of work, and lost most as: idle"), "{text}");
}

#[test]
fn pool_counts_only_while_it_exists() {
    let mut program = Program::new(1);
    program.trace.pools.insert(1, 3);
    program.trace.pools.insert(2, 3);
    program.work(0, 0, 100 * MS);
    let lane = program.lane("short");
    program.on(lane, 40 * MS, Event::Enter { role: Role::Worker, pool: 1, worker: 0 });
    program.work(lane, 40 * MS, 50 * MS);
    program.on(lane, 50 * MS, Event::Leave);
    program.end(100 * MS);
    let explanation = program.explain();
    near(explanation.capacity * 1e3, 100.0 + 3.0 * 10.0);
    near(explanation.pools[1].wall * 1e3, 10.0);
    near(work_of(&explanation), 110.0);
    assert_eq!(explanation.pools.len(), 2, "no thread enters pool 2");
}

#[test]
fn guest_of_another_pool_blocks_its_own() {
    let mut program = Program::new(1);
    program.trace.pools.insert(1, 1);
    let call = program.site("", 70);
    program.work(0, 0, 10 * MS);
    program.on(0, 10 * MS, Event::Enter { role: Role::Guest, pool: 1, worker: 0 });
    program.on(0, 10 * MS, Event::Root(call));
    program.work(0, 10 * MS, 30 * MS);
    program.read(0, 30 * MS);
    program.on(0, 30 * MS, Event::Leave);
    program.end(40 * MS);
    let explanation = program.explain();
    near(work_of(&explanation), 40.0);
    let first = &explanation.pools[0];
    assert_eq!((first.losses[0].cause, first.guests), (Cause::Blocked, 0));
    near(first.losses[0].time * 1e3, 20.0);
    assert_eq!(explanation.pools[1].guests, 1);
}

#[test]
fn spare_replaces_a_blocked_thread() {
    let mut program = Program::new(1);
    let call = program.site("", 70);
    let main = program.main();
    program.call(0, call);
    program.work_on(main, 0, 50 * MS, 0.1, 0.0);
    program.on(0, 5 * MS, Event::Blocked { worker: 1 });
    let spare = program.lane("spare");
    program.on(spare, 6 * MS, Event::Enter { role: Role::Spare, pool: 0, worker: 2 });
    program.work(spare, 6 * MS, 45 * MS);
    program.on(spare, 45 * MS, Event::Leave);
    program.on(0, 45 * MS, Event::Unblocked { worker: 1 });
    program.leave(50 * MS);
    program.end(50 * MS);
    let explanation = program.explain();
    // The slot is the spare's for 39 ms. The 5 ms of CPU time are those of the 10 ms before and after.
    near(work_of(&explanation), 39.0 + 5.0);
    near(lost(&explanation, Cause::Blocked), 1.0 + 5.0);
    assert_eq!(explanation.pools[0].spares, 1);
}

#[test]
fn thread_that_sleeps_outside_is_blocked_there() {
    let mut program = Program::new(2);
    let (one, two) = (program.site("", 80), program.site("", 88));
    let main = program.main();
    program.call(0, one);
    program.work(main, 0, 10 * MS);
    program.leave(10 * MS);
    program.pass(main, 40 * MS, 0.25, 0.0);
    program.call(50 * MS, two);
    program.work(main, 50 * MS, 60 * MS);
    program.leave(60 * MS);
    // What it does then is not what it did before.
    program.pass(main, 20 * MS, 1.0, 0.0);
    program.call(80 * MS, one);
    program.work(main, 80 * MS, 81 * MS);
    program.leave(81 * MS);
    program.end(81 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Blocked, 60.0);
    let finding = &explanation.findings[0];
    assert_eq!((finding.subject, finding.site, finding.until), (Subject::Outside, one, two));
    near(lost(&explanation, Cause::SequentialOutside), 10.0 + 20.0);
    near(work_of(&explanation), 30.0 + 21.0);
}

/// A fiber waits for a lock from 5 to 40 ms, in a pool with a slot to spare.
fn fiber_that_waits_for_a_lock(woken: Option<u64>) -> Explanation {
    let mut program = Program::new(3);
    let (spawn, lock) = (program.site("", 10), program.site("Mutex::lock", 30));
    program.work(0, 0, 60 * MS);
    program.work(1, 0, 5 * MS);
    program.on(1, 0, Event::FiberStart { fiber: 1, site: spawn });
    program.on(1, 5 * MS, Event::FiberSuspend { fiber: 1, site: lock });
    program.state(1, 5 * MS, State::Parked);
    if let Some(woken) = woken {
        program.on(0, woken, Event::Wake { fiber: 1 });
    }
    program.work(1, 40 * MS, 50 * MS);
    program.on(1, 40 * MS, Event::FiberResume { fiber: 1 });
    program.on(1, 50 * MS, Event::FiberEnd { fiber: 1 });
    program.state(1, 50 * MS, State::Parked);
    program.end(60 * MS);
    program.explain()
}

#[test]
fn wait_ends_when_the_fiber_is_woken_or_continues() {
    let woken = fiber_that_waits_for_a_lock(Some(20 * MS));
    near(lost(&woken, Cause::Locked), 15.0);
    near(lost(&woken, Cause::SequentialInside), 15.0 + 40.0 + 20.0);
    near(lost(&woken, Cause::Idle), 5.0 + 10.0);
    let resumed = fiber_that_waits_for_a_lock(None);
    near(lost(&resumed, Cause::Locked), 35.0);
    near(lost(&resumed, Cause::SequentialInside), 35.0 + 20.0);
}

#[test]
fn work_after_a_join_belongs_to_what_has_waited() {
    let mut program = Program::new(2);
    let (call, one, two) = (program.site("", 70), program.site("", 80), program.site("", 90));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 10 * MS);
    program.piece(main, one, 0, 1_000, 14 * MS);
    program.state(0, 14 * MS, State::Joining);
    program.work(0, 18 * MS, 20 * MS);
    program.state(0, 20 * MS, State::Parked);
    // While it waits for its fork, it runs a fork of that.
    program.state(main, 10 * MS, State::Joining);
    program.on(0, 11 * MS, Event::Publish { count: 1, site: two, took: 100 });
    program.steal(0, main, 12 * MS);
    program.work(main, 12 * MS, 18 * MS);
    program.state(main, 18 * MS, State::Joining);
    program.work(main, 20 * MS, 50 * MS);
    program.leave(50 * MS);
    program.end(50 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::SequentialInside, 30.0);
    assert_eq!(explanation.findings[0].site, one, "the last fork of what has waited");
    let long = explanation.findings.iter().find(|finding| finding.cause == Cause::LongPiece && finding.site == two);
    near(long.unwrap().time * 1e3, 4.0);
}

#[test]
fn phase_that_ends_with_a_spawn_from_outside_is_sequential() {
    let mut program = Program::new(2);
    let spawn = program.site("", 20);
    let main = program.main();
    program.on(main, 30 * MS, Event::Spawn(spawn));
    program.work(0, 30 * MS + 1_000, 40 * MS);
    program.on(0, 30 * MS + 1_000, Event::FiberStart { fiber: 1, site: spawn });
    program.on(0, 40 * MS, Event::FiberEnd { fiber: 1 });
    program.end(40 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::SequentialOutside, 30.0);
    assert_eq!(explanation.findings[0].until, spawn);
}

#[test]
fn only_the_time_with_all_events_is_explained() {
    let mut program = Program::new(2);
    let call = program.site("", 70);
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 100 * MS);
    program.leave(100 * MS);
    program.work(0, 0, 100 * MS);
    program.end(100 * MS);
    // Worker 1 is known from 60 ms on, when it works.
    program.trace.lanes[1].lost = 7;
    program.trace.lost = 7;
    program.trace.lanes[1].events = vec![
        (60 * MS, Event::State { state: State::Working, site: Site::UNKNOWN }),
        (80 * MS, Event::State { state: State::Parked, site: Site::UNKNOWN }),
    ];
    let explanation = program.explain();
    assert_eq!((explanation.begin, explanation.end, explanation.lost_events), (60 * MS, 100 * MS, 7));
    near(explanation.capacity * 1e3, 80.0);
    // Three threads share two slots for 20 ms, and two have them for 20 ms.
    near(work_of(&explanation), 80.0);
    let text = explanation.to_string();
    assert!(text.contains("Note: The 7 oldest events were lost. The figures are for the time from 60 ms"), "{text}");
}

#[test]
fn thread_of_an_unknown_pool_is_left_out() {
    let mut program = Program::new(1);
    program.trace.pools.insert(1, 1);
    program.work(0, 0, 10 * MS);
    let lane = program.lane("unknown");
    program.work(lane, 0, 10 * MS);
    program.trace.lanes[lane].lost = 3;
    program.end(10 * MS);
    let explanation = program.explain();
    near(work_of(&explanation), 10.0);
    assert!(explanation.notes.iter().any(|note| note.starts_with("1 thread is left out")), "{explanation}");
}

#[test]
fn trace_without_pools_says_so() {
    let explanation = explained(&anabranch_trace::read::Trace::default(), &Options::default());
    assert!(explanation.to_string().contains("No thread enters a pool"), "{explanation}");
    assert_eq!((explanation.capacity, explanation.parallelism), (0.0, 0.0));
}

#[test]
fn waits_for_others_are_long_pieces_while_those_work() {
    let mut program = Program::new(2);
    let (spawn, join, main_join) =
        (program.site("", 10), program.site("JoinHandle::join", 30), program.site("join", 40));
    let main = program.main();
    program.call(0, spawn);
    program.wait(main, 0, State::Waiting, main_join);
    program.work(0, 0, 50 * MS);
    program.on(0, 0, Event::FiberStart { fiber: 1, site: spawn });
    program.work(1, 0, 5 * MS);
    program.on(1, 0, Event::FiberStart { fiber: 2, site: spawn });
    program.on(1, 5 * MS, Event::FiberSuspend { fiber: 2, site: join });
    program.state(1, 5 * MS, State::Parked);
    program.on(0, 50 * MS, Event::FiberEnd { fiber: 1 });
    program.state(0, 50 * MS, State::Parked);
    program.on(0, 50 * MS, Event::Wake { fiber: 2 });
    program.leave(50 * MS);
    program.end(50 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::LongPiece, 45.0);
    assert_eq!(explanation.findings[0].site, spawn);
}

#[test]
fn search_that_succeeds_competes_for_a_prompt_time() {
    let mut program = Program::new(2);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 60 * MS);
    program.state(0, 0, State::Searching);
    // A worker takes 1,000 pieces, each after a search of 40 us.
    for piece in 0..1_000 {
        let begin = piece * 60_000 + 40_000;
        program.piece(main, fork, 0, begin, begin + 20_000);
        program.state(0, begin + 20_000, State::Searching);
    }
    program.leave(60 * MS);
    program.end(60 * MS);
    let explanation = program.explain();
    first(&explanation, Cause::Competing, 40.0);
    let finding = &explanation.findings[0];
    assert_eq!((finding.subject, finding.site, finding.count), (Subject::Search, fork, 1_000));
}
