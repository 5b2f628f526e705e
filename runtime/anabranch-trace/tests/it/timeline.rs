//! The timeline has what the events say.

use crate::common::{MS, Program};
use anabranch_trace::{
    event::{Event, Role, Site, State},
    timeline::{Activity, FiberState, PROMPT, Timeline},
};

/// What a lane does, with the ends of it.
fn course(timeline: &Timeline, lane: usize) -> Vec<(Activity, u64, u64)> {
    timeline.lanes[lane].intervals.iter().map(|interval| (interval.activity, interval.begin, interval.end)).collect()
}

#[test]
fn search_that_succeeds_ends_with_finding() {
    let mut program = Program::new(2);
    program.work(1, 0, MS);
    program.state(0, MS, State::Searching);
    program.steal(1, 0, 2 * MS);
    program.state(0, 2 * MS + 100, State::Working);
    program.state(0, 3 * MS, State::Searching);
    program.state(0, 4 * MS, State::Parked);
    program.end(5 * MS);
    let timeline = Timeline::new(&program.trace);
    assert_eq!(
        course(&timeline, 0),
        [
            (Activity::Parked, 0, MS),
            (Activity::Searching, MS, 2 * MS - PROMPT),
            (Activity::Finding, 2 * MS - PROMPT, 2 * MS),
            (Activity::Searching, 2 * MS, 2 * MS + 100),
            (Activity::Working, 2 * MS + 100, 3 * MS),
            (Activity::Searching, 3 * MS, 4 * MS),
            (Activity::Parked, 4 * MS, 5 * MS),
        ]
    );
    assert_eq!((timeline.steals[0].from, timeline.steals[0].to), (Some(1), 0));
    assert_eq!(timeline.working(0), [(0, 1), (2 * MS + 100, 2), (3 * MS, 1), (5 * MS, 0)]);
}

#[test]
fn publishing_is_cut_out_of_work() {
    let mut program = Program::new(1);
    let fork = program.site("", 80);
    program.work(0, 0, MS);
    program.on(0, 500, Event::Publish { count: 1, site: fork, took: 200 });
    program.on(0, 600, Event::Publish { count: 1, site: fork, took: 1_000 });
    program.end(MS);
    let timeline = Timeline::new(&program.trace);
    let expected = [
        (Activity::Working, 0, 300),
        (Activity::Publishing, 300, 500),
        (Activity::Publishing, 500, 600),
        (Activity::Working, 600, MS),
    ];
    assert_eq!(course(&timeline, 0), expected);
    assert_eq!(timeline.lanes[0].intervals[1].site, fork);
}

#[test]
fn publishing_takes_cpu_time_of_its_own() {
    let mut program = Program::new(1);
    let fork = program.site("", 80);
    // 600 of 1,000 ns are on a core, 200 of them by publishing.
    program.work_on(0, 0, 1_000, 0.6, 0.0);
    program.on(0, 500, Event::Publish { count: 1, site: fork, took: 200 });
    program.state(0, 1_000, State::Parked);
    program.end(2_000);
    let timeline = Timeline::new(&program.trace);
    let intervals = timeline.lanes[0].intervals.iter();
    let work: Vec<_> = intervals.filter(|interval| interval.activity == Activity::Working).collect();
    assert_eq!(work.iter().map(|interval| interval.len()).sum::<u64>(), 800);
    assert!(work.iter().all(|interval| interval.shares.unwrap().cpu == 0.5), "{work:?}");
}

#[test]
fn guest_is_outside_between_calls_and_worker_returns_from_another_pool() {
    let mut program = Program::new(1);
    program.trace.pools.insert(1, 1);
    let call = program.site("", 70);
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 10);
    program.leave(10);
    program.call(30, call);
    program.state(main, 30, State::Working);
    program.leave(40);
    program.state(0, 5, State::Working);
    program.on(0, 20, Event::Enter { role: Role::Guest, pool: 1, worker: 0 });
    program.state(0, 20, State::Working);
    program.on(0, 30, Event::Leave);
    program.end(50);
    let timeline = Timeline::new(&program.trace);
    let expected = [(Activity::Working, 0, 10), (Activity::Outside, 10, 30), (Activity::Working, 30, 40)];
    assert_eq!(course(&timeline, main), expected);
    let pools: Vec<_> = timeline.lanes[0].intervals.iter().map(|interval| (interval.begin, interval.pool)).collect();
    assert_eq!(pools, [(0, 0), (5, 0), (20, 1), (30, 0)]);
    assert_eq!(timeline.lanes[0].entry, Some((Role::Worker, 0, 0)));
}

#[test]
fn thread_that_the_pool_found_blocked_is_blocked_until_it_runs_again() {
    let mut program = Program::new(2);
    program.work(0, 0, 100);
    program.on(1, 20, Event::Blocked { worker: 0 });
    program.on(1, 50, Event::Unblocked { worker: 0 });
    program.on(1, 60, Event::Blocked { worker: 0 });
    // It reaches the end of its piece before the pool looks again.
    program.state(0, 80, State::Parked);
    program.on(1, 90, Event::Unblocked { worker: 0 });
    program.end(100);
    let expected = [
        (Activity::Working, 0, 20),
        (Activity::Blocked, 20, 50),
        (Activity::Working, 50, 60),
        (Activity::Blocked, 60, 80),
        (Activity::Parked, 80, 100),
    ];
    assert_eq!(course(&Timeline::new(&program.trace), 0), expected);
}

#[test]
fn fibers_have_their_waits_and_spans() {
    let mut program = Program::new(1);
    let (spawn, recv, span) = (program.site("", 10), program.site("recv", 30), program.site("parse", 31));
    program.work(0, 0, 100);
    for (time, event) in [
        (0, Event::FiberStart { fiber: 1, site: spawn }),
        (10, Event::SpanBegin(span)),
        (20, Event::FiberSuspend { fiber: 1, site: recv }),
        // Outside of fibers no span is open.
        (20, Event::SpanEnd),
        (20, Event::FiberStart { fiber: 2, site: spawn }),
        (30, Event::SpanEnd),
        (40, Event::Wake { fiber: 1 }),
        (50, Event::FiberEnd { fiber: 2 }),
        (50, Event::FiberResume { fiber: 1 }),
        (70, Event::SpanEnd),
        (80, Event::FiberEnd { fiber: 1 }),
    ] {
        program.on(0, time, event);
    }
    program.end(100);
    let timeline = Timeline::new(&program.trace);
    let intervals = &timeline.fibers[0].intervals;
    let states: Vec<_> = intervals.iter().map(|interval| (interval.state, interval.begin, interval.end)).collect();
    assert_eq!(
        states,
        [
            (FiberState::Running, 0, 20),
            (FiberState::Waiting, 20, 40),
            (FiberState::Ready, 40, 50),
            (FiberState::Running, 50, 80)
        ]
    );
    assert_eq!((timeline.fibers[0].spawned, intervals[1].site), (spawn, recv));
    let [span] = timeline.spans[..] else { panic!("the other fiber has no span to end: {:?}", timeline.spans) };
    assert_eq!((span.begin, span.end, span.fiber), (10, 70, Some(1)));
}

#[test]
fn thread_whose_entry_was_lost_is_in_the_one_pool() {
    let mut program = Program::new(1);
    let lane = program.lane("late");
    program.trace.lanes[lane].lost = 5;
    program.on(lane, 30, Event::State { state: State::Working, site: Site::UNKNOWN });
    program.on(lane, 60, Event::State { state: State::Parked, site: Site::UNKNOWN });
    program.end(100);
    let timeline = Timeline::new(&program.trace);
    assert_eq!(timeline.complete_from, 30);
    assert_eq!(course(&timeline, lane), [(Activity::Working, 30, 60), (Activity::Parked, 60, 100)]);
}
