//! Traces in the JSON format of Chrome, which <https://ui.perfetto.dev> opens.
//!
//! - Each thread has a track with what it does, and one with the spans of the program that it opened outside of fibers.
//! - What a thread takes from another one is an arrow.
//! - Each fiber has an asynchronous track, and one with its spans.
//! - The number of working threads of each pool is a counter.

use crate::{
    event::Site,
    read::Trace,
    timeline::{Activity, FiberState, Span, Timeline},
};
use serde::Serialize;
use std::{
    borrow::Cow,
    collections::BTreeSet,
    io::{self, BufWriter, Write},
};

/// The number of the one process. Zero has a meaning of its own.
const PROCESS: u32 = 1;

/// An event of the format.
#[derive(Serialize)]
struct Record<'a> {
    ph: &'static str,
    name: Cow<'a, str>,
    pid: u32,
    tid: usize,
    /// In microseconds.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "Args::is_empty")]
    args: Args<'a>,
}

/// What belongs to an event.
#[derive(Default, Serialize)]
struct Args<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u32>,
}

impl Args<'_> {
    fn is_empty(&self) -> bool {
        let Self { name, sort_index, at, cpu, blocked, pieces, threads } = self;
        name.is_none()
            && sort_index.is_none()
            && at.is_none()
            && cpu.is_none()
            && blocked.is_none()
            && pieces.is_none()
            && threads.is_none()
    }
}

impl<'a> Record<'a> {
    fn new(ph: &'static str, name: impl Into<Cow<'a, str>>, tid: usize, time: u64) -> Self {
        let (ts, args) = (micros(time), Args::default());
        Self { ph, name: name.into(), pid: PROCESS, tid, ts, dur: None, cat: None, id: None, bp: None, s: None, args }
    }
}

/// Returns a time in microseconds, with all its nanoseconds up to 100 days.
fn micros(time: u64) -> f64 {
    time as f64 / 1e3
}

/// The track of a thread, and that of its spans. Zero has a meaning of its own.
fn track(lane: usize) -> usize {
    2 * lane + 1
}

/// Writes a trace in Chrome's format. Takes memory for the [`Timeline`] of the trace, and none for the text.
///
/// # Errors
/// Returns the first error of `out`.
///
/// ```
/// use anabranch_trace::{chrome, event::{Event, Role, Site, State}, read::Trace, write::Writer};
///
/// let mut writer = Writer::new(Vec::new())?;
/// writer.lane(0, 4711, "worker", 0)?;
/// let working = Event::State { state: State::Working, site: Site::UNKNOWN };
/// writer.events(0, [
///     Event::Enter { role: Role::Worker, pool: 0, worker: 0 }.encode(0),
///     working.encode(1_000),
///     Event::Leave.encode(3_500),
/// ])?;
/// let mut json = Vec::new();
/// chrome::export(&Trace::read(&writer.finish()?).unwrap(), &mut json)?;
/// let json = String::from_utf8(json).unwrap();
/// assert!(json.contains(r#"{"ph":"X","name":"working","pid":1,"tid":1,"ts":1.0,"dur":2.5}"#), "{json}");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn export(trace: &Trace, out: impl Write) -> io::Result<()> {
    let timeline = Timeline::new(trace);
    let mut export = Export { trace, out: BufWriter::new(out), is_first: true };
    export.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    export.names(&timeline)?;
    export.lanes(&timeline)?;
    export.steals(&timeline)?;
    export.fibers(&timeline)?;
    export.spans(&timeline)?;
    export.counters(&timeline)?;
    export.out.write_all(b"\n]}\n")?;
    export.out.flush()
}

struct Export<'a, W: Write> {
    trace: &'a Trace,
    out: BufWriter<W>,
    is_first: bool,
}

impl<W: Write> Export<'_, W> {
    fn record(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.out.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        Ok(serde_json::to_writer(&mut self.out, record)?)
    }

    /// Returns the label of a site, or else its place.
    fn label(&self, site: Site) -> Option<String> {
        let place = self.trace.place(site)?;
        Some(if place.label.is_empty() { place.to_string() } else { place.label.clone() })
    }

    fn at(&self, site: Site) -> Option<String> {
        self.trace.place(site).map(ToString::to_string)
    }

    fn names(&mut self, timeline: &Timeline) -> io::Result<()> {
        let program = self.trace.meta.get("program").cloned().unwrap_or_else(|| "anabranch".to_owned());
        let mut name = |kind: &'static str, tid, args| {
            let mut record = Record::new("M", kind, tid, 0);
            record.args = args;
            self.record(&record)
        };
        let named = |text: Cow<'static, str>| Args { name: Some(text), ..Args::default() };
        name("process_name", 0, named(program.into()))?;
        let mut has_spans = vec![false; timeline.lanes.len()];
        for span in timeline.spans.iter().filter(|span| span.fiber.is_none()) {
            has_spans[span.lane] = true;
        }
        for (index, lane) in timeline.lanes.iter().enumerate() {
            let tracks = [(true, lane.name.clone()), (has_spans[index], format!("{}: spans", lane.name))];
            for (tid, (_, text)) in (track(index)..).zip(tracks).filter(|(_, (exists, _))| *exists) {
                name("thread_name", tid, named(text.into()))?;
                name("thread_sort_index", tid, Args { sort_index: Some(tid), ..Args::default() })?;
            }
        }
        Ok(())
    }

    fn lanes(&mut self, timeline: &Timeline) -> io::Result<()> {
        for (index, lane) in timeline.lanes.iter().enumerate() {
            for interval in &lane.intervals {
                let mut record = Record::new("X", interval.activity.name(), track(index), interval.begin);
                record.dur = Some(micros(interval.len()));
                record.args.at = self.at(interval.site);
                record.args.cpu = interval.shares.map(|shares| shares.cpu);
                record.args.blocked = interval.shares.map(|shares| shares.blocked);
                self.record(&record)?;
            }
        }
        for mark in &timeline.marks {
            let name = self.label(mark.site).unwrap_or_else(|| "a mark".to_owned());
            let mut record = Record::new("i", name, track(mark.lane), mark.time);
            record.s = Some("t");
            self.record(&record)?;
        }
        Ok(())
    }

    fn steals(&mut self, timeline: &Timeline) -> io::Result<()> {
        for (id, steal) in (1..).zip(&timeline.steals) {
            let Some(from) = steal.from else { continue };
            for (phase, lane, bp) in [("s", from, None), ("f", steal.to, Some("e"))] {
                let mut record = Record::new(phase, "steal", track(lane), steal.time);
                (record.cat, record.id, record.bp) = (Some("steal"), Some(id), bp);
                record.args.pieces = Some(steal.count);
                self.record(&record)?;
            }
        }
        Ok(())
    }

    fn fibers(&mut self, timeline: &Timeline) -> io::Result<()> {
        for (id, fiber) in (1..).zip(&timeline.fibers) {
            let name = self.label(fiber.name).unwrap_or_else(|| format!("fiber {}", fiber.fiber));
            let spawned = self.at(fiber.spawned);
            for interval in &fiber.intervals {
                let what = match interval.state {
                    FiberState::Running => name.clone(),
                    FiberState::Ready => "ready".to_owned(),
                    FiberState::Waiting => self.label(interval.site).unwrap_or_else(|| "waits".to_owned()),
                };
                for (phase, time) in [("b", interval.begin), ("e", interval.end)] {
                    let mut record = Record::new(phase, what.as_str(), track(interval.lane), time);
                    (record.cat, record.id) = (Some("fiber"), Some(id));
                    if phase == "b" {
                        let is_wait = interval.state == FiberState::Waiting;
                        record.args.at = if is_wait { self.at(interval.site) } else { spawned.clone() };
                    }
                    self.record(&record)?;
                }
            }
        }
        Ok(())
    }

    fn spans(&mut self, timeline: &Timeline) -> io::Result<()> {
        // The ends of the spans of fibers. Those of one time keep their order in the file, and have to nest: first the
        // ends of earlier spans, the inner ones before the outer ones, and then the beginnings, the outer ones first.
        let mut ends = Vec::new();
        for span in &timeline.spans {
            let &Span { begin, end, site, lane, fiber, depth, .. } = span;
            if fiber.is_some() {
                ends.push(((begin, true, depth, begin < end), "b", span));
                // A span without a length ends right after it begins.
                let order =
                    if begin < end { (end, false, u32::MAX - depth, true) } else { (begin, true, depth, false) };
                ends.push((order, "e", span));
                continue;
            }
            let mut record = Record::new("X", self.span_label(site), track(lane) + 1, begin);
            record.dur = Some(micros(end - begin));
            record.args.at = self.at(site);
            self.record(&record)?;
        }
        ends.sort_by_key(|(order, ..)| *order);
        for ((time, ..), phase, span) in ends {
            let mut record = Record::new(phase, self.span_label(span.site), track(span.lane), time);
            (record.cat, record.id) = (Some("span"), span.fiber.map(Into::into));
            self.record(&record)?;
        }
        Ok(())
    }

    fn span_label(&self, site: Site) -> String {
        self.label(site).unwrap_or_else(|| "a span".to_owned())
    }

    fn counters(&mut self, timeline: &Timeline) -> io::Result<()> {
        let intervals = timeline.lanes.iter().flat_map(|lane| &lane.intervals);
        let pools: BTreeSet<u32> =
            intervals.filter(|interval| interval.activity == Activity::Working).map(|interval| interval.pool).collect();
        // Each look at the timeline takes time, and there may be as many pools as intervals.
        for pool in pools.into_iter().take(64) {
            for (time, count) in timeline.working(pool) {
                let mut record = Record::new("C", format!("working threads of pool {pool}"), 0, time);
                record.args.threads = Some(count);
                self.record(&record)?;
            }
        }
        Ok(())
    }
}
