//! The parts that concern two threads: the lines between them, and the times in which one is reported as blocked.

use std::collections::{BTreeMap, HashMap};

use super::{BLOCKED, Link, LinkKind, Model, MomentKind, Piece, WORKING};

/// A thread has a worker entry for some time.
pub struct Seat {
    pub pool: u32,
    pub worker: u32,
    pub from: u64,
    pub to: u64,
    pub lane: u32,
}

/// A fiber begins or continues on a thread.
pub struct Resume {
    pub fiber: u32,
    pub time: u64,
    pub lane: u32,
}

/// Finds the thread that has a worker entry at some time.
struct Seats(HashMap<(u32, u32), Vec<Seat>>);

impl Seats {
    fn new(all: Vec<Seat>) -> Self {
        let mut seats: HashMap<_, Vec<Seat>> = HashMap::new();
        for seat in all {
            seats.entry((seat.pool, seat.worker)).or_default().push(seat);
        }
        seats.values_mut().for_each(|seats| seats.sort_by_key(|seat| seat.from));
        Self(seats)
    }

    fn lane(&self, pool: u32, worker: u32, time: u64) -> Option<u32> {
        let seats = self.0.get(&(pool, worker))?;
        let seat = seats[..seats.partition_point(|seat| seat.from <= time)].last()?;
        (time <= seat.to).then_some(seat.lane)
    }
}

/// Adds the lines to the model, and the times in which threads are blocked.
pub fn connect(model: &mut Model, seats: Vec<Seat>, mut resumes: Vec<Resume>) {
    // A thread without a worker entry, such as the one that finds blocked threads, speaks of the only pool.
    let only_pool = {
        let mut pools: Vec<u32> = seats.iter().map(|seat| seat.pool).chain(model.pools.keys().copied()).collect();
        pools.sort_unstable();
        pools.dedup();
        if let [pool] = pools[..] { Some(pool) } else { None }
    };
    let seats = Seats::new(seats);
    resumes.sort_by_key(|resume| (resume.fiber, resume.time));

    let mut links = Vec::new();
    let mut blocked = Blocked::default();
    for (index, lane) in model.lanes.iter().enumerate() {
        let here = index as u32;
        let Some(pool) = lane.entry.map(|(_, pool, _)| pool).or(only_pool) else { continue };
        for moment in &lane.moments {
            let (time, [first, _, third]) = (moment.time, moment.numbers);
            match moment.kind {
                MomentKind::Steal => {
                    links.extend(seats.lane(pool, first, time).map(|victim| Link {
                        kind: LinkKind::Steal,
                        from: (victim, time),
                        to: (here, time),
                        number: third,
                    }));
                }
                MomentKind::Wake => {
                    let next = resumes.partition_point(|resume| (resume.fiber, resume.time) < (first, time));
                    links.extend(resumes.get(next).filter(|resume| resume.fiber == first).map(|resume| Link {
                        kind: LinkKind::Wake,
                        from: (here, time),
                        to: (resume.lane, resume.time),
                        number: first,
                    }));
                }
                MomentKind::Unpark => {
                    links.extend(seats.lane(pool, first, time).map(|lane| Link {
                        kind: LinkKind::Unpark,
                        from: (here, time),
                        to: (lane, end_of_state(&model.lanes[lane as usize].states, time)),
                        number: first,
                    }));
                }
                MomentKind::Blocked => blocked.begin(seats.lane(pool, first, time), time),
                MomentKind::Unblocked => blocked.end(seats.lane(pool, first, time), time),
                _ => {}
            }
        }
    }
    links.sort_by_key(|link| (link.from.1, link.to.1));
    model.links = links;
    for (lane, pieces) in blocked.finish(model.wall) {
        let states = &mut model.lanes[lane as usize].states;
        *states = overlay(states, &pieces);
    }
}

/// Returns when the wait of a thread ends that is woken at `time`: `time` itself if the thread does not wait then.
fn end_of_state(states: &[Piece], time: u64) -> u64 {
    const PARKED: [u8; 3] = [2, 4, 5];
    let next = states.partition_point(|piece| piece.end <= time);
    match states.get(next) {
        Some(piece) if piece.begin <= time && PARKED.contains(&piece.class) => piece.end,
        _ => time,
    }
}

/// The times in which threads are blocked. More than one thread may report them.
#[derive(Default)]
struct Blocked(BTreeMap<u32, Vec<(u64, bool)>>);

impl Blocked {
    fn begin(&mut self, lane: Option<u32>, time: u64) {
        if let Some(lane) = lane {
            self.0.entry(lane).or_default().push((time, true));
        }
    }

    fn end(&mut self, lane: Option<u32>, time: u64) {
        if let Some(lane) = lane {
            self.0.entry(lane).or_default().push((time, false));
        }
    }

    /// Returns the intervals of each thread, in order and disjoint.
    fn finish(self, wall: u64) -> impl Iterator<Item = (u32, Vec<(u64, u64)>)> {
        self.0.into_iter().map(move |(lane, mut changes)| {
            changes.sort_by_key(|&(time, begins)| (time, !begins));
            let (mut intervals, mut since) = (Vec::new(), None);
            for (time, begins) in changes {
                match (begins, since) {
                    (true, None) => since = Some(time),
                    (false, Some(begin)) => {
                        intervals.push((begin, time));
                        since = None;
                    }
                    _ => {}
                }
            }
            intervals.extend(since.map(|begin| (begin, wall)));
            (lane, intervals)
        })
    }
}

/// Returns the states with those parts of working ones marked as blocked that are in one of the intervals.
fn overlay(states: &[Piece], intervals: &[(u64, u64)]) -> Vec<Piece> {
    let mut result = Vec::with_capacity(states.len());
    let mut next = 0;
    for &piece in states {
        while intervals.get(next).is_some_and(|&(_, end)| end <= piece.begin) {
            next += 1;
        }
        if piece.class != WORKING {
            result.push(piece);
            continue;
        }
        let mut push = |begin: u64, end: u64, class: u8| {
            if begin < end {
                result.push(Piece { begin, end, class, ..piece });
            }
        };
        let mut at = piece.begin;
        for &(begin, end) in intervals[next..].iter().take_while(|&&(begin, _)| begin < piece.end) {
            push(at, begin.max(at), WORKING);
            push(begin.max(at), end.min(piece.end), BLOCKED);
            at = end.min(piece.end);
        }
        push(at, piece.end, WORKING);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocked_time_replaces_working_time_only() {
        let piece = |begin, end, class| Piece { begin, end, class, subject: 0, detail: 0 };
        let states = [piece(0, 10, 0), piece(10, 20, 1), piece(20, 40, 0)];
        let shown = overlay(&states, &[(5, 25), (30, 35)]);
        let shown: Vec<_> = shown.iter().map(|piece| (piece.begin, piece.end, piece.class)).collect();
        assert_eq!(shown, [(0, 5, 0), (5, 10, 6), (10, 20, 1), (20, 25, 6), (25, 30, 0), (30, 35, 6), (35, 40, 0)]);
    }
}
