//! The content of a trace, in the form in which it is drawn: rows of pieces of time, moments, and lines between
//! threads.
//!
//! Takes time O(n log n) and memory O(n) for n events, whatever the trace is. Times are in nanoseconds since the first
//! event.

pub mod cores;
mod lane;
mod link;

use std::collections::BTreeMap;

use anabranch_trace::event::{Loot, Site};
use anabranch_trace::read::{Place, Trace};

use link::Seat;

/// The number of rows of spans of one thread. Spans inside these are counted and not drawn.
const MOST_SPAN_ROWS: usize = 12;

/// The states of a thread in the order of their classes: those of the trace, `blocked`, and `ready`.
pub const STATES: &[&str] = &[
    "working",
    "searching",
    "parked",
    "joining",
    "join-parked",
    "waiting",
    "blocked in a foreign call",
    "ready, without a core",
];

/// The class of a thread that runs the program's code.
pub const WORKING: u8 = 0;
/// The class of a thread that waits outside of any fiber.
pub const WAITING: u8 = 5;
/// The class of a thread that is blocked in a foreign call. The trace reports it from outside.
pub const BLOCKED: u8 = 6;
/// The class of a thread that would work, and for which the system has no core. Samples tell it.
pub const READY: u8 = 7;

/// The activity of a thread from one time to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub begin: u64,
    pub end: u64,
    /// Of a state its index in [`STATES`], otherwise zero.
    pub class: u8,
    /// The site of a state or span, or the number of a fiber.
    pub subject: u32,
    /// How it ends. Of a fiber: see [`Ending`]. Of a span: 1 for a call into the pool.
    pub detail: u32,
}

impl Piece {
    pub fn length(&self) -> u64 {
        self.end - self.begin
    }
}

/// How a fiber leaves its thread, as the detail of a piece.
pub struct Ending;

impl Ending {
    /// It runs until the end of the trace, or the trace does not say.
    pub const OPEN: u32 = 0;
    /// It ends.
    pub const DONE: u32 = 1;
    /// It waits at the site that has this number less.
    pub const WAITS: u32 = 2;
}

/// An event at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub time: u64,
    pub kind: MomentKind,
    /// Its numbers, as the script reads them: `script/text.js` has the list.
    pub numbers: [u32; 3],
}

/// The kinds of moments, by their codes in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MomentKind {
    Steal = 0,
    Publish = 1,
    Raid = 2,
    Wake = 3,
    Spawn = 4,
    Unpark = 5,
    Mark = 6,
    Blocked = 7,
    Unblocked = 8,
}

/// The kinds of moments in the order of their codes.
pub const MOMENTS: &[&str] = &[
    "steals",
    "publications",
    "raids",
    "wakes of fibers",
    "spawns",
    "wakes of threads",
    "marks",
    "blocked",
    "unblocked",
];

/// A line from one thread to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub kind: LinkKind,
    /// The index of the lane, and the time.
    pub from: (u32, u64),
    pub to: (u32, u64),
    /// The code of the loot, or the number of the fiber.
    pub number: u32,
}

/// The kinds of lines, by their codes in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LinkKind {
    /// From the victim to the thief.
    Steal = 0,
    /// From the thread that ends the wait of a fiber, to where the fiber continues.
    Wake = 1,
    /// From the thread that wakes another one, to that one.
    Unpark = 2,
}

/// A thread.
#[derive(Debug, Clone, Default)]
pub struct Lane {
    pub name: String,
    /// Its number in the system.
    pub thread: u32,
    pub lost: u64,
    pub events: u64,
    /// Its first worker entry: as what, the pool, and the index.
    pub entry: Option<(&'static str, u32, u32)>,
    pub states: Vec<Piece>,
    pub fibers: Vec<Piece>,
    /// The spans by depth, the outermost first.
    pub spans: Vec<Vec<Piece>>,
    /// How many spans were too deep for a row.
    pub deep_spans: u64,
    pub moments: Vec<Moment>,
}

/// All of a trace.
#[derive(Debug, Default)]
pub struct Model {
    pub meta: BTreeMap<String, String>,
    pub pools: BTreeMap<u32, u32>,
    /// From the first event to the last, in nanoseconds.
    pub wall: u64,
    pub lanes: Vec<Lane>,
    pub links: Vec<Link>,
    pub places: Vec<Place>,
    /// Who used the cores. Empty if the trace has no samples.
    pub cores: Vec<cores::CoreUse>,
    /// The names of fibers, as sites.
    pub fiber_names: BTreeMap<u32, u32>,
    pub events: u64,
    pub lost: u64,
}

impl Model {
    /// Returns what `trace` shows.
    pub fn new(trace: &Trace) -> Self {
        let (first, last) = trace.extent();
        let wall = last - first;
        let mut model = Self {
            meta: trace.meta.iter().map(|(key, value)| (clean(key), clean(value))).collect(),
            pools: trace.pools.clone(),
            wall,
            places: trace
                .places
                .iter()
                .map(|place| Place { label: clean(&place.label), file: clean(&place.file), ..*place })
                .collect(),
            lost: trace.lost,
            ..Self::default()
        };
        let mut seats: Vec<Seat> = Vec::new();
        let mut resumes = Vec::new();
        for (index, from) in trace.lanes.iter().enumerate() {
            let mut builder = lane::Builder::new(index as u32, wall);
            for &(time, event) in &from.events {
                builder.event(time - first, event);
            }
            let built = builder.finish();
            seats.extend(built.seats);
            resumes.extend(built.resumes);
            model.fiber_names.extend(built.names);
            let events = from.events.len() as u64;
            model.events += events;
            let name = clean(&from.name);
            model.lanes.push(Lane { name, thread: from.thread, lost: from.lost, events, ..built.lane });
        }
        link::connect(&mut model, seats, resumes);
        model.cores = cores::divide(&mut model.lanes, &trace.samples, first, wall);
        model
    }

    /// Returns the text of a site: its label, and the name of its file without directories.
    pub fn site(&self, site: u32) -> String {
        let place = usize::try_from(site).ok().and_then(|site| self.places.get(site.checked_sub(1)?));
        place.map_or_else(|| "an unknown place".to_owned(), Place::to_string)
    }

    /// Returns the name of a fiber, or its number.
    pub fn fiber(&self, fiber: u32) -> String {
        match self.fiber_names.get(&fiber) {
            Some(&site) => format!("{} (fiber {fiber})", self.site(site)),
            None => format!("fiber {fiber}"),
        }
    }
}

/// Returns the text without control characters and without those that change the direction of what follows, cut off
/// after 200 characters. The text is from the program that was traced.
fn clean(text: &str) -> String {
    const MOST: usize = 200;
    let invisible = |c: char| {
        c.is_control() || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut clean: String =
        text.chars().take(MOST).map(|c| if invisible(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        clean.push('…');
    }
    clean
}

/// Returns the name of what a thief has taken.
pub fn loot(loot: Loot) -> &'static str {
    match loot {
        Loot::Fork => "fork",
        Loot::Task => "task",
        Loot::Fibers => "fibers",
        Loot::Descendant => "descendant",
    }
}

/// Returns the number of a site.
fn number(site: Site) -> u32 {
    site.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_trace_are_cleaned() {
        assert_eq!(clean("a\u{202e}b\nc"), "a\u{fffd}b\u{fffd}c");
        assert_eq!(clean(&"x".repeat(500)).chars().count(), 201);
        assert_eq!(clean("größer <b>"), "größer <b>");
    }
}
