//! A trace of a made-up program: seven workers and a guest run fibers, steal, wait and wake each other.

use anabranch_trace::event::{Event, Loot, Record, Role, Site, State};
use anabranch_trace::write::Writer;

const LANES: u32 = 8;
/// A label that would end the element that it is in, if it were not escaped.
pub const HOSTILE: &str = "</script><img src=x onerror=\"document.title='broken'\">&amp;";

/// Returns a trace with about so many events. The same number gives the same trace.
pub fn trace(events: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.meta("program", "sample & <b>").unwrap();
    writer.meta("cpus", "8").unwrap();
    writer.pool(1, LANES).unwrap();
    let labels =
        [("install", 12), ("recv", 40), ("lock", 52), ("parse", 60), ("index", 71), ("write", 80), (HOSTILE, 90)];
    let sites = labels.map(|(label, line)| writer.site(label, "/home/user/sample/src/main.rs", line, 9).unwrap());
    for lane in 0..LANES {
        let name = if lane == LANES - 1 { "main".to_owned() } else { format!("pool-{lane}") };
        writer.lane(lane, 4000 + lane, &name, 0).unwrap();
        writer.events(lane, events_of(lane, events / LANES as usize, &sites)).unwrap();
    }
    writer.finish().unwrap()
}

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn events_of(lane: u32, count: usize, sites: &[Site; 7]) -> Vec<Record> {
    let [root, recv, lock, spans @ ..] = *sites;
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(lane) << 32);
    let mut records = Vec::with_capacity(count + 16);
    let mut time = 1_000_000 + u64::from(lane) * 900;
    let role = if lane == LANES - 1 { Role::Guest } else { Role::Worker };
    records.push(Event::Enter { role, pool: 1, worker: lane }.encode(time));
    if role == Role::Guest {
        records.push(Event::Root(root).encode(time));
    }
    let state = |state, site| Event::State { state, site };
    let mut fiber = lane;
    while records.len() + 14 < count {
        let is_early = records.len() < 4_000;
        let mut push = |event: Event, after: u64| {
            time += after;
            records.push(event.encode(time));
        };
        push(state(State::Searching, Site::UNKNOWN), 40);
        if random.below(6) == 0 {
            push(state(State::Parked, Site::UNKNOWN), 300);
            push(state(State::Searching, Site::UNKNOWN), 1_000 + random.below(60_000));
        }
        let loot = Loot::ALL[random.below(4) as usize];
        let victim = if random.below(9) == 0 { u32::MAX } else { random.below(u64::from(LANES)) as u32 };
        push(Event::Steal { loot, victim, count: 1 }, 100 + random.below(4_000));
        push(state(State::Working, Site::UNKNOWN), 20);
        let span = spans[random.below(4) as usize];
        push(Event::SpanBegin(span), 30);
        if random.below(3) == 0 {
            push(Event::SpanBegin(spans[0]), 100);
            push(Event::SpanEnd, random.below(9_000));
        }
        push(Event::FiberStart { fiber, site: span }, 50);
        push(Event::FiberSuspend { fiber, site: recv }, 200 + random.below(30_000));
        push(Event::Wake { fiber }, random.below(2_000));
        push(Event::FiberResume { fiber }, random.below(5_000));
        push(Event::FiberEnd { fiber }, random.below(40_000));
        push(Event::SpanEnd, 60);
        match random.below(40) {
            0 => push(state(State::Waiting, lock), 10),
            1 => push(state(State::JoinParked, Site::UNKNOWN), 10),
            2 => push(Event::Unpark { worker: random.below(u64::from(LANES)) as u32 }, 10),
            3 => push(Event::Publish { count: 3, site: spans[1], took: 420 }, 500),
            4 if is_early => push(Event::Mark(spans[2]), 5),
            _ => {}
        }
        fiber += LANES;
    }
    if role == Role::Guest {
        records.push(Event::Leave.encode(time + 500));
    }
    records
}
