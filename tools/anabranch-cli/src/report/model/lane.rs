//! The rows of one thread, from its events.

use anabranch_trace::event::{Event, Role, Site, State};

use super::link::{Resume, Seat};
use super::{Ending, Lane, MOST_SPAN_ROWS, Moment, MomentKind, Piece, number};

/// The part of one thread in the model.
pub struct Built {
    pub lane: Lane,
    pub seats: Vec<Seat>,
    pub resumes: Vec<Resume>,
    /// The names of fibers, as sites.
    pub names: Vec<(u32, u32)>,
}

/// Reads the events of one thread in order.
pub struct Builder {
    index: u32,
    /// The end of the trace: what is open then ends there.
    wall: u64,
    built: Built,
    state: Option<(u64, State, Site)>,
    /// The fibers on the thread, the one that runs last. There is more than one only if a fiber begins while another
    /// one waits on the thread.
    fibers: Vec<(u64, u32)>,
    /// The open spans by depth, with their sites. A depth is free if a call has ended before a span inside.
    spans: Vec<Option<(u64, Site)>>,
    /// The depths of the open spans of the program, and those of the open calls into the pool.
    open: [Vec<usize>; 2],
}

/// The number of fibers that are on a thread at once. The oldest is forgotten if a trace has more.
const MOST_FIBERS: usize = 16;

impl Builder {
    pub fn new(index: u32, wall: u64) -> Self {
        let built = Built { lane: Lane::default(), seats: Vec::new(), resumes: Vec::new(), names: Vec::new() };
        Self { index, wall, built, state: None, fibers: Vec::new(), spans: Vec::new(), open: Default::default() }
    }

    pub fn event(&mut self, time: u64, event: Event) {
        match event {
            Event::Enter { role, pool, worker } => {
                self.leave(time);
                let role = match role {
                    Role::Worker => "worker",
                    Role::Spare => "spare thread",
                    Role::Guest => "guest",
                };
                self.built.lane.entry.get_or_insert((role, pool, worker));
                self.built.seats.push(Seat { pool, worker, from: time, to: self.wall, lane: self.index });
            }
            Event::Leave => self.leave(time),
            Event::Root(site) => self.open_span(time, site, true),
            Event::State { state, site } => self.begin_state(time, state, site),
            Event::FiberStart { fiber, .. } | Event::FiberResume { fiber } => {
                if let Some(&(begin, outer)) = self.fibers.last() {
                    self.push_fiber(begin, time, outer, Ending::OPEN);
                }
                if self.fibers.len() == MOST_FIBERS {
                    self.fibers.remove(0);
                }
                self.fibers.push((time, fiber));
                self.built.resumes.push(Resume { fiber, time, lane: self.index });
            }
            Event::FiberSuspend { fiber, site } => {
                self.end_fiber(time, fiber, Ending::WAITS.saturating_add(number(site)));
            }
            Event::FiberEnd { fiber } => self.end_fiber(time, fiber, Ending::DONE),
            Event::FiberName { fiber, site } => self.built.names.push((fiber, number(site))),
            Event::SpanBegin(site) => self.open_span(time, site, false),
            Event::SpanEnd => self.close_span(time, false),
            Event::Steal { loot, victim, count } => {
                self.moment(time, MomentKind::Steal, [victim, count, loot as u32]);
            }
            Event::Publish { count, site, took } => {
                self.moment(time, MomentKind::Publish, [number(site), u32::from(count), took]);
            }
            Event::Raid { count, took } => self.moment(time, MomentKind::Raid, [0, u32::from(count), took]),
            Event::Wake { fiber } => self.moment(time, MomentKind::Wake, [fiber, 0, 0]),
            Event::Spawn(site) => self.moment(time, MomentKind::Spawn, [number(site), 0, 0]),
            Event::Unpark { worker } => self.moment(time, MomentKind::Unpark, [worker, 0, 0]),
            Event::Mark(site) => self.moment(time, MomentKind::Mark, [number(site), 0, 0]),
            Event::Blocked { worker } => self.moment(time, MomentKind::Blocked, [worker, 0, 0]),
            Event::Unblocked { worker } => self.moment(time, MomentKind::Unblocked, [worker, 0, 0]),
            _ => {}
        }
    }

    /// Ends what is open at the end of the trace.
    pub fn finish(mut self) -> Built {
        let wall = self.wall;
        self.end_state(wall);
        if let Some((begin, fiber)) = self.fibers.pop() {
            self.push_fiber(begin, wall, fiber, Ending::OPEN);
        }
        for is_call in [false, true] {
            while let Some(depth) = self.open[usize::from(is_call)].pop() {
                self.push_span(depth, wall, is_call);
            }
        }
        self.built
    }

    fn moment(&mut self, time: u64, kind: MomentKind, numbers: [u32; 3]) {
        self.built.lane.moments.push(Moment { time, kind, numbers });
    }

    fn leave(&mut self, time: u64) {
        self.end_state(time);
        if let Some(seat) = self.built.seats.last_mut() {
            seat.to = seat.to.min(time);
        }
        self.close_span(time, true);
    }

    /// Begins a state, unless the thread is in it already.
    fn begin_state(&mut self, time: u64, state: State, site: Site) {
        if self.state.is_none_or(|(_, before, at)| (before, at) != (state, site)) {
            self.end_state(time);
            self.state = Some((time, state, site));
        }
    }

    fn end_state(&mut self, end: u64) {
        if let Some((begin, state, site)) = self.state.take()
            && begin < end
        {
            let piece = Piece { begin, end, class: state as u8, subject: number(site), detail: 0 };
            self.built.lane.states.push(piece);
        }
    }

    fn end_fiber(&mut self, time: u64, fiber: u32, detail: u32) {
        // If the beginning was lost, there is nothing to end. The others above it have left the thread unseen.
        let Some(depth) = self.fibers.iter().rposition(|&(_, open)| open == fiber) else { return };
        let (begin, top) = *self.fibers.last().expect("it has an open fiber");
        self.push_fiber(begin, time, top, if top == fiber { detail } else { Ending::OPEN });
        self.fibers.truncate(depth);
        if let Some((begin, _)) = self.fibers.last_mut() {
            *begin = time;
        }
    }

    fn push_fiber(&mut self, begin: u64, end: u64, fiber: u32, detail: u32) {
        self.built.lane.fibers.push(Piece { begin, end, class: 0, subject: fiber, detail });
    }

    fn open_span(&mut self, time: u64, site: Site, is_call: bool) {
        self.open[usize::from(is_call)].push(self.spans.len());
        self.spans.push(Some((time, site)));
    }

    /// Ends the innermost open span, or the innermost call.
    fn close_span(&mut self, time: u64, is_call: bool) {
        let Some(depth) = self.open[usize::from(is_call)].pop() else { return };
        self.push_span(depth, time, is_call);
        while self.spans.last().is_some_and(Option::is_none) {
            self.spans.pop();
        }
    }

    /// Adds a span to the row of its depth. Those of one depth do not overlap, so each row is in the order of times.
    fn push_span(&mut self, depth: usize, end: u64, is_call: bool) {
        let Some((begin, site)) = self.spans[depth].take() else { return };
        let lane = &mut self.built.lane;
        if depth >= MOST_SPAN_ROWS {
            lane.deep_spans += 1;
            return;
        }
        lane.spans.resize(lane.spans.len().max(depth + 1), Vec::new());
        lane.spans[depth].push(Piece { begin, end, class: 0, subject: number(site), detail: u32::from(is_call) });
    }
}
