//! Reads and checks a trace.

use crate::{
    MAGIC, SECTION_HEAD,
    checksum::Checksum,
    event::{Event, SAMPLE_UNIT, Site, TIME_BITS},
};
use std::{collections::BTreeMap, error, fmt, path::Path};

/// A whole trace.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// What is known of the process and the machine.
    pub meta: BTreeMap<String, String>,
    /// The number of threads of each pool.
    pub pools: BTreeMap<u32, u32>,
    /// The sites. [`place`](Self::place) finds one by its number.
    pub places: Vec<Place>,
    /// The threads with their events.
    pub lanes: Vec<Lane>,
    /// How many events the process has dropped because its memory for them was full: always the oldest ones.
    pub lost: u64,
    /// Who used the cores, in the order of time. The events of the samples are in no lane.
    pub samples: Vec<Sample>,
}

/// Who has used the cores since the sample before this one. Of the first sample only the time means something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// When it was taken, in nanoseconds since the trace began.
    pub time: u64,
    /// How long all cores of the machine together were busy, in nanoseconds. The system counts it in units of 10 ms.
    pub busy: u64,
    /// The threads of the process that have run or waited for a core: their numbers in the system, how long they have
    /// run, and how long they have waited, in nanoseconds.
    pub threads: Vec<(u32, u64, u64)>,
}

/// A site: a label, and a source location.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    /// What is there: the kind of a wait, the name of a span.
    pub label: String,
    /// The source file; empty if unknown.
    pub file: String,
    /// The line, from 1; zero if unknown.
    pub line: u32,
    /// The column, from 1; zero if unknown.
    pub column: u32,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Its number in the trace.
    pub id: u32,
    /// Its number in the system; zero if unknown.
    pub thread: u32,
    /// Its name.
    pub name: String,
    /// How many of its events were lost, all before the first one here.
    pub lost: u64,
    /// Its events, in the order of their times, which are in nanoseconds since the trace began.
    pub events: Vec<(u64, Event)>,
}

/// Why a file is no trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The file does not begin as a trace does.
    Foreign,
    /// The trace has another version of the format.
    Version(String),
    /// The file ends in the middle.
    Truncated {
        /// The position of the end, in bytes.
        at: usize,
    },
    /// The content of a section contradicts the format.
    Corrupt {
        /// The position of the section, in bytes.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("this is not a trace of anabranch"),
            Self::Version(found) => write!(
                f,
                "the trace has version {found} of the format, and this program reads version {}",
                String::from_utf8_lossy(&MAGIC[6..])
            ),
            Self::Truncated { at } => write!(f, "the trace is truncated: it ends at byte {at}"),
            Self::Corrupt { at, what } => write!(f, "the trace is corrupt: {what} in the section at byte {at}"),
        }
    }
}

impl error::Error for ReadError {}

impl Trace {
    /// Reads a trace. Takes time and memory proportional to the length of `bytes`, whatever they are.
    ///
    /// # Errors
    /// Returns an error if `bytes` is not a whole trace.
    ///
    /// ```
    /// use anabranch_trace::{event::Event, read::Trace, write::Writer};
    ///
    /// let mut writer = Writer::new(Vec::new())?;
    /// writer.lane(0, 4711, "main", 0)?;
    /// writer.events(0, [Event::SpanEnd.encode(25)])?;
    /// let trace = Trace::read(&writer.finish()?).unwrap();
    /// assert_eq!(trace.lanes[0].name, "main");
    /// assert_eq!(trace.lanes[0].events, [(25, Event::SpanEnd)]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let (magic, _) =
            bytes.split_at_checked(MAGIC.len()).ok_or(if MAGIC.starts_with(bytes) && !bytes.is_empty() {
                ReadError::Truncated { at: bytes.len() }
            } else {
                ReadError::Foreign
            })?;
        if magic[..6] != MAGIC[..6] {
            return Err(ReadError::Foreign);
        }
        if magic != MAGIC {
            return Err(ReadError::Version(String::from_utf8_lossy(&magic[6..]).into_owned()));
        }
        let (mut trace, mut at, mut count) = (Self::default(), MAGIC.len(), 0);
        let (mut lanes, mut checksum) = (BTreeMap::new(), Checksum::default());
        loop {
            let truncated = || ReadError::Truncated { at: bytes.len() };
            let head = bytes.get(at..at + SECTION_HEAD).ok_or_else(truncated)?;
            let mut fields = Content { rest: head, at };
            let (kind, len) = (fields.bytes(4)?, usize::try_from(fields.u64()?).map_err(|_| truncated())?);
            let begin = at + SECTION_HEAD;
            let end = begin.checked_add(len).ok_or_else(truncated)?;
            let mut content = Content { rest: bytes.get(begin..end).ok_or_else(truncated)?, at };
            if kind != b"DONE" {
                checksum.add(head);
                checksum.add(content.rest);
            }
            match kind {
                b"META" => {
                    let key = content.text()?;
                    trace.meta.insert(key, content.text()?);
                }
                b"POOL" => {
                    let pool = content.u32()?;
                    trace.pools.insert(pool, content.u32()?);
                }
                b"SITE" => trace.places.push(Place {
                    label: content.text()?,
                    file: content.text()?,
                    line: content.u32()?,
                    column: content.u32()?,
                }),
                b"LANE" => {
                    let lane = lane_of(&mut lanes, content.u32()?);
                    lane.thread = content.u32()?;
                    lane.lost = content.u64()?;
                    lane.name = content.text()?;
                }
                b"EVTS" => {
                    let lane = lane_of(&mut lanes, content.u32()?);
                    content.u32()?;
                    count += content.events(lane)?;
                }
                b"DONE" => {
                    let (events, lost) = (content.u64()?, content.u64()?);
                    let counted = lanes.values().fold(0, |sum: u64, lane| sum.saturating_add(lane.lost));
                    if events != count || lost != counted {
                        return Err(ReadError::Corrupt { at, what: "another number of events" });
                    }
                    if content.u64()? != checksum.get() {
                        return Err(ReadError::Corrupt { at, what: "another checksum" });
                    }
                    trace.lost = lost;
                    trace.lanes = lanes.into_values().collect();
                    trace.take_samples();
                    return Ok(trace);
                }
                _ => {}
            }
            at = end;
        }
    }

    /// Moves the samples out of the lanes, so that the thread that has taken them is not one of the program's.
    fn take_samples(&mut self) {
        let (samples, mut before) = (&mut self.samples, None);
        self.lanes.retain_mut(|lane| {
            let len = lane.events.len();
            lane.events.retain(|&(time, event)| {
                match event {
                    Event::CoresBusy(busy) => {
                        let since = busy.saturating_sub(before.replace(busy).unwrap_or(busy));
                        samples.push(Sample { time, busy: since, threads: Vec::new() });
                    }
                    Event::ThreadTime { thread, ran, waited } => {
                        if let Some(sample) = samples.last_mut() {
                            let [ran, waited] = [ran, waited].map(|units| u64::from(units) * SAMPLE_UNIT);
                            sample.threads.push((thread, ran, waited));
                        }
                    }
                    _ => return true,
                }
                false
            });
            len == 0 || !lane.events.is_empty()
        });
        self.samples.sort_by_key(|sample| sample.time);
    }

    /// Returns what is known of a site.
    pub fn place(&self, site: Site) -> Option<&Place> {
        self.places.get(usize::try_from(site.0).ok()?.checked_sub(1)?)
    }

    /// Returns when the trace was saved, in nanoseconds since it began, if it says so.
    pub fn saved_at(&self) -> Option<u64> {
        let saved: u64 = self.meta.get("saved")?.parse().ok()?;
        // Events cannot be later either.
        (saved >> TIME_BITS == 0 && self.lanes.iter().any(|lane| !lane.events.is_empty())).then_some(saved)
    }

    /// Returns the times of the first and of the last event; zeros if there is none.
    pub fn extent(&self) -> (u64, u64) {
        let first = self.lanes.iter().filter_map(|lane| lane.events.first()).map(|&(time, _)| time).min();
        let last = self.lanes.iter().filter_map(|lane| lane.events.last()).map(|&(time, _)| time).max();
        (first.unwrap_or(0), last.unwrap_or(0))
    }
}

impl fmt::Display for Place {
    /// Writes the name of the file without its directories, and the line, after the label.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = Path::new(&self.file).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        match (self.label.is_empty(), file.is_empty()) {
            (true, true) => f.write_str("an unknown place"),
            (false, true) => f.write_str(&self.label),
            (true, false) => write!(f, "{file}:{}", self.line),
            (false, false) => write!(f, "{} at {file}:{}", self.label, self.line),
        }
    }
}

fn lane_of(lanes: &mut BTreeMap<u32, Lane>, id: u32) -> &mut Lane {
    lanes.entry(id).or_insert_with(|| Lane { id, thread: 0, name: String::new(), lost: 0, events: Vec::new() })
}

/// The rest of the content of the section at `at`.
struct Content<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Content<'a> {
    fn bytes(&mut self, len: usize) -> Result<&'a [u8], ReadError> {
        let short = ReadError::Corrupt { at: self.at, what: "too little content" };
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(short)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        Ok(self.bytes(N)?.try_into().expect("as many bytes as asked for"))
    }

    fn u32(&mut self) -> Result<u32, ReadError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ReadError> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String, ReadError> {
        let len = usize::try_from(self.u32()?).unwrap_or(usize::MAX);
        let corrupt = ReadError::Corrupt { at: self.at, what: "a text that is not UTF-8" };
        String::from_utf8(self.bytes(len)?.to_vec()).map_err(|_| corrupt)
    }

    /// Appends the events to the lane, and returns the number of records, of which some may be unknown.
    fn events(&mut self, lane: &mut Lane) -> Result<u64, ReadError> {
        if !self.rest.len().is_multiple_of(16) {
            return Err(ReadError::Corrupt { at: self.at, what: "half an event" });
        }
        let mut last = lane.events.last().map_or(0, |&(time, _)| time);
        let mut count = 0;
        while !self.rest.is_empty() {
            let (time, event) = Event::decode([self.u64()?, self.u64()?]);
            count += 1;
            if time < last {
                return Err(ReadError::Corrupt { at: self.at, what: "an event before its predecessor" });
            }
            last = time;
            lane.events.extend(event.map(|event| (time, event)));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{event::State, write::Writer};

    fn sample() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.meta("program", "sample").unwrap();
        writer.pool(1, 2).unwrap();
        let site = writer.site("recv", "src/main.rs", 12, 9).unwrap();
        writer.lane(0, 100, "main", 3).unwrap();
        let state = Event::State { state: State::Waiting, site };
        writer.events(0, [Event::SpanBegin(site).encode(5), state.encode(7)]).unwrap();
        writer.events(0, [Event::SpanEnd.encode(7)]).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn trace_is_read_as_it_was_written() {
        let trace = Trace::read(&sample()).unwrap();
        assert_eq!(trace.meta["program"], "sample");
        assert_eq!(trace.pools, BTreeMap::from([(1, 2)]));
        assert_eq!(trace.place(Site(1)).unwrap().to_string(), "recv at main.rs:12");
        assert_eq!(trace.place(Site::UNKNOWN), None);
        assert_eq!(trace.place(Site(2)), None);
        let [lane] = &trace.lanes[..] else { panic!("{:?}", trace.lanes) };
        assert_eq!((lane.id, lane.thread, lane.lost, &lane.name[..]), (0, 100, 3, "main"));
        assert_eq!(lane.events.iter().map(|&(time, _)| time).collect::<Vec<_>>(), [5, 7, 7]);
        assert_eq!((trace.lost, trace.extent()), (3, (5, 7)));
    }

    #[test]
    fn samples_are_in_no_lane() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        let thread = |thread, ran, waited| Event::ThreadTime { thread, ran, waited };
        writer.lane(0, 100, "main", 0).unwrap();
        writer.lane(1, 101, "sampler", 0).unwrap();
        writer.events(0, [Event::SpanEnd.encode(25)]).unwrap();
        let events = [(7, Event::CoresBusy(500)), (10, thread(100, 1, 2)), (20, Event::CoresBusy(900))];
        writer.events(1, events.map(|(time, event)| event.encode(time))).unwrap();
        writer.events(1, [thread(100, 3, 0).encode(21), thread(101, 4, 5).encode(22)]).unwrap();
        let trace = Trace::read(&writer.finish().unwrap()).unwrap();
        assert_eq!(trace.lanes.iter().map(|lane| &lane.name[..]).collect::<Vec<_>>(), ["main"]);
        let second = Sample { time: 20, busy: 400, threads: vec![(100, 30_000, 0), (101, 40_000, 50_000)] };
        let first = Sample { time: 7, busy: 0, threads: vec![(100, 10_000, 20_000)] };
        assert_eq!(trace.samples, [first, second]);
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = sample();
        assert_eq!(Trace::read(&[]).unwrap_err(), ReadError::Foreign);
        for len in 1..bytes.len() {
            assert_eq!(Trace::read(&bytes[..len]).unwrap_err(), ReadError::Truncated { at: len });
        }
    }

    #[test]
    fn foreign_files_and_versions_are_refused() {
        assert_eq!(Trace::read(b"\x7fELF and more").unwrap_err(), ReadError::Foreign);
        let mut bytes = sample();
        bytes[7] = b'9';
        assert_eq!(Trace::read(&bytes).unwrap_err(), ReadError::Version("09".into()));
    }

    #[test]
    fn unknown_sections_are_skipped() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.section(*b"NEWS", b"abc").unwrap();
        writer.lane(0, 100, "main", 0).unwrap();
        assert_eq!(Trace::read(&writer.finish().unwrap()).unwrap().lanes.len(), 1);
    }

    #[test]
    fn contradictions_are_refused() {
        let mut unordered = Writer::new(Vec::new()).unwrap();
        unordered.events(0, [Event::SpanEnd.encode(7), Event::SpanEnd.encode(5)]).unwrap();
        let error = Trace::read(&unordered.finish().unwrap()).unwrap_err();
        assert_eq!(error, ReadError::Corrupt { at: 8, what: "an event before its predecessor" });

        let mut bytes = sample();
        let end = bytes.len();
        bytes[end - 24] += 1;
        let Err(ReadError::Corrupt { what: "another number of events", .. }) = Trace::read(&bytes) else { panic!() };
    }

    #[test]
    fn changes_of_one_or_two_bytes_are_refused() {
        let bytes = sample();
        for index in 0..bytes.len() {
            for value in [1, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[index] ^= value;
                assert!(Trace::read(&changed).is_err(), "byte {index}");
                changed[(index + 16) % bytes.len()] ^= value;
                assert!(Trace::read(&changed).is_err(), "byte {index} and another one");
            }
        }
    }
}
