//! The file of a trace.

use crate::{
    MAGIC, SECTION_HEAD,
    checksum::Checksum,
    event::{Record, Site},
};
use std::io::{self, Write};

/// Writes the sections of a trace in any order. [`finish`](Self::finish) writes the last one.
///
/// ```
/// use anabranch_trace::{event::{Event, Site}, write::Writer};
///
/// let mut bytes = Vec::new();
/// let mut writer = Writer::new(&mut bytes)?;
/// writer.meta("program", "example")?;
/// let site = writer.site("parse", "main.rs", 3, 5)?;
/// writer.lane(0, 4711, "main", 0)?;
/// writer.events(0, [Event::SpanBegin(site).encode(10), Event::SpanEnd.encode(25)])?;
/// writer.finish()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    sites: u32,
    events: u64,
    lost: u64,
    checksum: Checksum,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// Returns the error of `out`, as all methods do.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&MAGIC)?;
        Ok(Self { out, sites: 0, events: 0, lost: 0, checksum: Checksum::default() })
    }

    /// Writes something that is known of the process or the machine.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn meta(&mut self, key: &str, value: &str) -> io::Result<()> {
        let mut content = Vec::new();
        push_text(&mut content, key);
        push_text(&mut content, value);
        self.section(*b"META", &content)
    }

    /// Writes the number of a pool, and how many threads it has.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn pool(&mut self, pool: u32, threads: u32) -> io::Result<()> {
        let mut content = pool.to_le_bytes().to_vec();
        content.extend(threads.to_le_bytes());
        self.section(*b"POOL", &content)
    }

    /// Writes the next site, and returns its number. The first one is 1.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn site(&mut self, label: &str, file: &str, line: u32, column: u32) -> io::Result<Site> {
        let mut content = Vec::new();
        push_text(&mut content, label);
        push_text(&mut content, file);
        content.extend(line.to_le_bytes());
        content.extend(column.to_le_bytes());
        self.section(*b"SITE", &content)?;
        self.sites += 1;
        Ok(Site(self.sites))
    }

    /// Writes what is known of a thread: its number in the trace, its number in the system, its name, and how many of
    /// its events were lost.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn lane(&mut self, lane: u32, thread: u32, name: &str, lost: u64) -> io::Result<()> {
        let mut content = lane.to_le_bytes().to_vec();
        content.extend(thread.to_le_bytes());
        content.extend(lost.to_le_bytes());
        push_text(&mut content, name);
        self.lost += lost;
        self.section(*b"LANE", &content)
    }

    /// Writes the next events of a thread, in the order of their times.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn events(&mut self, lane: u32, records: impl IntoIterator<Item = Record>) -> io::Result<()> {
        let mut content = u64::from(lane).to_le_bytes().to_vec();
        for [head, argument] in records {
            content.extend(head.to_le_bytes());
            content.extend(argument.to_le_bytes());
            self.events += 1;
        }
        self.section(*b"EVTS", &content)
    }

    /// Ends the trace, and returns the output, which it has flushed.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn finish(mut self) -> io::Result<W> {
        let mut content = self.events.to_le_bytes().to_vec();
        content.extend(self.lost.to_le_bytes());
        content.extend(self.checksum.get().to_le_bytes());
        self.section(*b"DONE", &content)?;
        self.out.flush()?;
        Ok(self.out)
    }

    pub(crate) fn section(&mut self, kind: [u8; 4], content: &[u8]) -> io::Result<()> {
        let mut head = [0; SECTION_HEAD];
        head[..4].copy_from_slice(&kind);
        head[4..].copy_from_slice(&(content.len() as u64).to_le_bytes());
        self.checksum.add(&head);
        self.checksum.add(content);
        self.out.write_all(&head)?;
        self.out.write_all(content)
    }
}

/// Appends a text with its length. A text of 4 GiB is cut off.
fn push_text(content: &mut Vec<u8>, text: &str) {
    let mut len = text.len().min(u32::MAX as usize);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    content.extend((len as u32).to_le_bytes());
    content.extend(&text.as_bytes()[..len]);
}
