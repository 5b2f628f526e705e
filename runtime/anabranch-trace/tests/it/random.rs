//! Random traces: the sums hold, whatever happens, and nothing panics.

use crate::common::check_sums;
use anabranch_trace::{
    chrome,
    event::{Event, Loot, Role, Site, State, Step},
    explain::{Options, explain},
    read::{Lane, Place, Trace},
    recording::Recording,
    timeline::Timeline,
    write::Writer,
};
use proptest::{collection::vec, prelude::*, sample::select};

/// Small numbers, so that events refer to each other, and a few that nothing refers to.
fn small() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..4u32, 1 => Just(u32::MAX)]
}

fn event() -> impl Strategy<Value = Event> {
    let site = || small().prop_map(Site);
    let role = select(Role::ALL);
    let loot = select(Loot::ALL);
    prop_oneof![
        1 => (role, small(), small()).prop_map(|(role, pool, worker)| Event::Enter { role, pool, worker }),
        1 => Just(Event::Leave),
        1 => site().prop_map(Event::Root),
        6 => (select(State::ALL), site()).prop_map(|(state, site)| Event::State { state, site }),
        2 => (loot, small(), small()).prop_map(|(loot, victim, count)| Event::Steal { loot, victim, count }),
        1 => (any::<u8>(), site(), any::<u16>())
            .prop_map(|(count, site, took)| Event::Publish { count, site, took: took.into() }),
        1 => (any::<u8>(), any::<u32>()).prop_map(|(count, took)| Event::Raid { count, took }),
        1 => (small(), site()).prop_map(|(fiber, site)| Event::FiberStart { fiber, site }),
        2 => (small(), site()).prop_map(|(fiber, site)| Event::FiberSuspend { fiber, site }),
        2 => small().prop_map(|fiber| Event::FiberResume { fiber }),
        1 => small().prop_map(|fiber| Event::FiberEnd { fiber }),
        1 => (small(), site()).prop_map(|(fiber, site)| Event::FiberName { fiber, site }),
        1 => small().prop_map(|fiber| Event::Wake { fiber }),
        1 => (small(), any::<u16>()).prop_map(|(fiber, late)| Event::TimerDue { fiber, late: late.into() }),
        1 => site().prop_map(Event::Spawn),
        1 => small().prop_map(|worker| Event::Unpark { worker }),
        1 => site().prop_map(Event::SpanBegin),
        1 => Just(Event::SpanEnd),
        1 => site().prop_map(Event::Mark),
        1 => small().prop_map(|worker| Event::Blocked { worker }),
        1 => small().prop_map(|worker| Event::Unblocked { worker }),
        2 => any::<u32>().prop_map(|time| Event::CpuTime(time.into())),
        1 => any::<u32>().prop_map(|time| Event::RunDelay(time.into())),
        1 => any::<u64>().prop_map(Event::Work),
        1 => any::<u64>().prop_map(Event::Span),
        4 => (select(Step::ALL), any::<u64>()).prop_map(|(step, time)| Event::Step { step, time }),
    ]
}

fn place() -> impl Strategy<Value = Place> {
    let label = select(&["", "Mutex::lock", "join", "sleep", "Receiver::recv", "a \"name\"\n\u{0}"][..]);
    (label, 0..3u32).prop_map(|(label, line)| Place { label: label.into(), file: "main.rs".into(), line, column: 1 })
}

/// The events of a thread with the times between them. Most threads begin in a pool.
fn lane(step: impl Strategy<Value = u64>) -> impl Strategy<Value = Lane> {
    let begin = (select(Role::ALL), 0..3u32, 0..4u32);
    let begin = proptest::option::weighted(0.9, begin);
    (begin, vec((step, event()), 0..60), prop_oneof![9 => Just(0), 1 => 1..9u64]).prop_map(|(begin, events, lost)| {
        let begin = begin.map(|(role, pool, worker)| (0, Event::Enter { role, pool, worker }));
        let mut time = 0u64;
        let events = begin.into_iter().chain(events).map(|(step, event)| {
            time = time.saturating_add(step);
            (time, event)
        });
        Lane { id: 0, thread: 0, name: "a thread".into(), lost, events: events.collect() }
    })
}

fn trace(step: impl Strategy<Value = u64>) -> impl Strategy<Value = Trace> {
    let pools =
        proptest::collection::btree_map(0..4u32, prop_oneof![6 => 1..9u32, 1 => Just(0), 1 => Just(u32::MAX)], 0..3);
    (pools, vec(place(), 0..4), vec(lane(step), 0..6)).prop_map(|(pools, places, mut lanes)| {
        for (id, lane) in lanes.iter_mut().enumerate() {
            lane.id = id as u32;
        }
        let lost = lanes.iter().map(|lane| lane.lost).sum();
        Trace { pools, places, lanes, lost, ..Trace::default() }
    })
}

/// The intervals of a thread or fiber are in order and do not overlap.
fn check_timeline(timeline: &Timeline) {
    for lane in &timeline.lanes {
        assert!(lane.intervals.iter().all(|interval| interval.begin < interval.end && interval.end <= timeline.end));
        assert!(lane.intervals.windows(2).all(|pair| pair[0].end <= pair[1].begin), "{lane:?}");
        for shares in lane.intervals.iter().filter_map(|interval| interval.shares) {
            assert!(
                shares.cpu >= 0.0 && shares.blocked >= 0.0 && shares.cpu + shares.blocked <= 1.000_001,
                "{shares:?}"
            );
        }
    }
    for fiber in &timeline.fibers {
        assert!(fiber.intervals.windows(2).all(|pair| pair[0].end == pair[1].begin), "{fiber:?}");
    }
    assert!(timeline.spans.iter().all(|span| span.begin <= span.end && span.end <= timeline.end));
}

fn config() -> ProptestConfig {
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    if is_set { ProptestConfig::default() } else { ProptestConfig::with_cases(60) }
}

proptest! {
    // `PROPTEST_CASES` overrides the number.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..config() })]

    #[test]
    fn sums_hold_for_every_trace(
        trace in trace(prop_oneof![0..5u64, 0..100_000u64, 0..10_000_000u64]),
        alone in proptest::option::of(trace(0..100_000u64)),
    ) {
        check_timeline(&Timeline::new(&trace));
        let _ = Recording::of(&trace, 1_000);
        crate::chrome::of_trace(&trace);
        let mut options = Options::default();
        options.alone = alone.as_ref();
        options.findings = usize::MAX;
        let explanation = explain(&trace, &options);
        check_sums(&explanation);
        prop_assert_eq!(explanation.lost_events > 0, trace.lost > 0);
        prop_assert!(!explanation.to_string().is_empty());
    }

    #[test]
    fn hostile_times_and_numbers_neither_panic_nor_hang(trace in trace(any::<u64>())) {
        let explanation = explain(&trace, &Options::default());
        prop_assert!(explanation.findings.iter().all(|finding| finding.time.is_finite()));
        prop_assert!(!explanation.to_string().contains("NaN"));
        let mut out = Vec::new();
        chrome::export(&trace, &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        prop_assert!(json["traceEvents"].is_array());
        prop_assert!(serde_json::to_string(&explanation).is_ok());
    }

    #[test]
    fn traces_of_arbitrary_bytes_are_refused_or_explained(head in any::<bool>(), bytes in vec(any::<u8>(), 0..400)) {
        let mut file = if head { anabranch_trace::MAGIC.to_vec() } else { Vec::new() };
        file.extend(bytes);
        if let Ok(trace) = Trace::read(&file) {
            check_sums(&explain(&trace, &Options::default()));
        }
    }

    #[test]
    fn arbitrary_records_are_explained(records in vec((any::<u16>(), 0..29u8, 0..9u8, any::<[u8; 8]>()), 0..200)) {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.pool(0, u32::MAX).unwrap();
        let mut time = 0;
        let records = records.into_iter().map(|(step, kind, small, argument)| {
            time += u64::from(step);
            [time << 16 | u64::from(kind) << 8 | u64::from(small), u64::from_le_bytes(argument)]
        });
        let records: Vec<_> = records.collect();
        for (lane, records) in records.chunks(50).enumerate() {
            writer.events(lane as u32, records.iter().copied()).unwrap();
        }
        let trace = Trace::read(&writer.finish().unwrap()).unwrap();
        check_sums(&explain(&trace, &Options::default()));
    }
}

/// A million events of each worst kind take linear time: many pools, many lanes, phases without end.
#[test]
fn large_hostile_traces_take_linear_time() {
    let lane = |id: u32, events: Vec<(u64, Event)>| Lane { id, thread: 0, name: String::new(), lost: 0, events };
    let guest = |pool| Event::Enter { role: Role::Guest, pool, worker: 0 };
    let working = Event::State { state: State::Working, site: Site::UNKNOWN };
    let searching = Event::State { state: State::Searching, site: Site::UNKNOWN };
    let count = if cfg!(debug_assertions) { 5_000 } else { 250_000 };
    // A thread calls into one pool after the other.
    let calls = (0..count).flat_map(|call| {
        let time = 4 * u64::from(call);
        [(time, guest(call)), (time + 1, working), (time + 2, Event::Leave)]
    });
    // It enters ever deeper, and searches without end.
    let nested = (0..count).flat_map(|depth| [(depth.into(), guest(depth % 3)), (depth.into(), working)]);
    let searches = (0..count).flat_map(|round| [(round.into(), working), (round.into(), searching)]);
    let fibers = (0..count).flat_map(|fiber| {
        let time = u64::from(fiber);
        [(time, Event::FiberStart { fiber, site: Site(1) }), (time, Event::FiberSuspend { fiber, site: Site(1) })]
    });
    let spans = (0..count).map(|time| (time.into(), Event::SpanBegin(Site(time))));
    let many = (0..count).map(|id| lane(id, vec![(id.into(), guest(0)), (id.into(), working)]));
    let in_pool = |events: &mut dyn Iterator<Item = (u64, Event)>| {
        [(0, guest(0)), (0, working)].into_iter().chain(events).collect::<Vec<_>>()
    };
    for lanes in [
        vec![lane(0, calls.collect())],
        vec![lane(0, nested.collect())],
        vec![lane(0, in_pool(&mut searches.into_iter()))],
        vec![lane(0, in_pool(&mut fibers.into_iter()))],
        vec![lane(0, in_pool(&mut spans.into_iter()))],
        many.collect(),
    ] {
        let pools = (0..count).map(|pool| (pool, u32::MAX)).collect();
        let trace = Trace { pools, lanes, ..Trace::default() };
        check_sums(&explain(&trace, &Options::default()));
        chrome::export(&trace, std::io::sink()).unwrap();
    }
}
