//! The critical path is the longest chain of pieces that had to wait for each other.

use crate::common::{MS, Program};
use anabranch_trace::event::{Event, Site, State};

/// A thief takes what was published at 10 ms at 40 ms, and works for 55 ms. Then its victim works for 5 ms more.
fn late_thief() -> (Program, Site) {
    let mut program = Program::new(2);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 50 * MS);
    program.on(main, 10 * MS, Event::Publish { count: 1, site: fork, took: 0 });
    program.steal(main, 0, 40 * MS);
    program.work(0, 40 * MS, 95 * MS);
    program.state(0, 95 * MS, State::Parked);
    program.state(main, 50 * MS, State::JoinParked);
    program.work(main, 95 * MS, 100 * MS);
    program.leave(100 * MS);
    (program, fork)
}

fn path(program: &Program) -> f64 {
    (program.explain().critical_path * 1e3).round()
}

#[test]
fn stolen_piece_continues_where_it_was_published() {
    let (mut program, _) = late_thief();
    program.end(100 * MS);
    assert_eq!(path(&program), 10.0 + 55.0 + 5.0);
    let explanation = program.explain();
    assert!((explanation.parallelism - 110.0 / 70.0).abs() < 0.01, "{explanation}");
}

#[test]
fn raided_piece_continues_where_the_victim_was() {
    let (mut program, _) = late_thief();
    program.on(0, 30 * MS, Event::Raid { count: 1, took: 0 });
    program.end(100 * MS);
    assert_eq!(path(&program), 40.0 + 55.0 + 5.0);
}

#[test]
fn victim_that_did_not_wait_keeps_its_own_chain() {
    let mut program = Program::new(1);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 100 * MS);
    program.piece(main, fork, 0, 10 * MS, 60 * MS);
    program.leave(100 * MS);
    program.end(100 * MS);
    assert_eq!(path(&program), 100.0);
}

#[test]
fn woken_fiber_continues_the_chain_of_what_woke_it() {
    let mut program = Program::new(2);
    let (spawn, recv) = (program.site("", 10), program.site("recv", 30));
    program.work(0, 0, 30 * MS);
    program.on(0, 0, Event::FiberStart { fiber: 1, site: spawn });
    program.on(0, 30 * MS, Event::Wake { fiber: 2 });
    program.on(0, 30 * MS, Event::FiberEnd { fiber: 1 });
    program.state(0, 30 * MS, State::Parked);
    program.work(1, 0, 5 * MS);
    program.on(1, 0, Event::FiberStart { fiber: 2, site: spawn });
    program.on(1, 5 * MS, Event::FiberSuspend { fiber: 2, site: recv });
    program.state(1, 5 * MS, State::Parked);
    // Its worker has been late.
    program.work(1, 40 * MS, 60 * MS);
    program.on(1, 40 * MS, Event::FiberResume { fiber: 2 });
    program.on(1, 60 * MS, Event::FiberEnd { fiber: 2 });
    program.state(1, 60 * MS, State::Parked);
    program.end(60 * MS);
    assert_eq!(path(&program), 30.0 + 20.0);
}

#[test]
fn next_piece_of_a_thief_does_not_continue_its_last_one() {
    let mut program = Program::new(2);
    let (call, fork) = (program.site("", 70), program.site("", 80));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 40 * MS);
    program.piece(main, fork, 0, 1_000, 30 * MS);
    program.on(main, 10 * MS, Event::Publish { count: 1, site: fork, took: 0 });
    program.state(0, 30 * MS, State::Searching);
    program.steal(main, 0, 31 * MS);
    program.work(0, 31 * MS, 71 * MS);
    program.state(0, 71 * MS, State::Parked);
    program.state(main, 40 * MS, State::JoinParked);
    program.work(main, 71 * MS, 72 * MS);
    program.leave(72 * MS);
    program.end(72 * MS);
    assert_eq!(path(&program), 10.0 + 40.0 + 1.0);
}

#[test]
fn time_without_a_core_is_not_part_of_it() {
    let mut program = Program::new(1);
    let call = program.site("", 70);
    let main = program.main();
    program.call(0, call);
    program.work_on(main, 0, 100 * MS, 0.3, 0.5);
    program.leave(100 * MS);
    program.end(100 * MS);
    assert_eq!(path(&program), 30.0);
    assert_eq!((program.explain().parallelism * 100.0).round(), 100.0);
}

#[test]
fn measured_work_and_span_of_all_calls_add_up() {
    let mut program = Program::new(1);
    let call = program.site("", 70);
    let main = program.main();
    for (begin, work, span) in [(0, 30 * MS, 10 * MS), (50 * MS, 6 * MS, 2 * MS)] {
        program.call(begin, call);
        program.work(main, begin, begin + 40 * MS);
        program.on(main, begin + 40 * MS, Event::Work(work));
        program.on(main, begin + 40 * MS, Event::Span(span));
        program.leave(begin + 40 * MS);
    }
    program.end(100 * MS);
    let explanation = program.explain();
    let measured = explanation.work_span.unwrap();
    assert_eq!((measured.work, measured.span, measured.calls), (0.036, 0.012, 2));
    let text = explanation.to_string();
    assert!(text.contains("Measured in 2 calls: work 36 ms, span 12 ms, parallelism 3.0."), "{text}");
    assert!(!text.contains("stolen is missing"), "{text}");

    program.steal(main, 0, 95 * MS);
    let text = program.explain().to_string();
    assert!(text.contains("What was stolen is missing in the measured work and span"), "{text}");
    assert_eq!(Program::new(1).explain().work_span, None);
}
