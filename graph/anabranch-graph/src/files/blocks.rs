//! Parses the lines of a text in parallel.
//!
//! A plain file is cut into blocks of [`BLOCK`] bytes. A block has the lines that begin in it. Each thread reads a
//! block into its own buffer at an offset, so the file is never in memory as a whole. A stream is read in batches:
//! while the threads parse the blocks of a batch, one of them reads the next batch.
//!
//! The results come in the order of the file. If several blocks have errors, the first in the file is reported.
//!
//! One of several processes parses a part of a plain file: the lines that begin in its share of the bytes.

use std::fs::File;
use std::io::{self, BufRead};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anabranch::prelude::*;

use super::error::Fault;
use super::observer::Watch;
use super::scan::Misread;
use super::source::{Source, fill, read_at};

/// Half of a usual second-level cache.
const BLOCK: usize = 1 << 20;
/// Blocks in a batch of a stream.
const BATCH: usize = 32;
/// A line this long is no line of a graph. The limit bounds what a thread reads beyond its block.
const MAX_LINE: usize = 1 << 20;

/// A text, from which a parser has perhaps taken the first lines.
pub(crate) struct Text {
    source: Source,
    /// The lines taken, and their bytes with those before them.
    lines: u64,
    bytes: u64,
    share: Share,
}

/// One of equal parts of a file.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    /// From 0.
    pub(crate) part: usize,
    pub(crate) parts: usize,
}

impl Share {
    const WHOLE: Share = Share { part: 0, parts: 1 };

    /// Returns this part of `0..len`.
    pub(crate) fn of(self, len: u64) -> Range<u64> {
        let start = |part: usize| (u128::from(len) * part as u128 / self.parts as u128) as u64;
        start(self.part)..start(self.part + 1)
    }
}

impl Text {
    pub(crate) fn new(source: Source) -> io::Result<Text> {
        let (source, bytes) = source.into_text()?;
        Ok(Text { source, lines: 0, bytes, share: Share::WHOLE })
    }

    /// Parses only the lines that begin in this part of the bytes after the lines taken. Only a file has parts.
    pub(crate) fn with_share(mut self, share: Share) -> Result<Text, Fault> {
        self.source.file()?;
        self.share = share;
        Ok(self)
    }

    /// Takes the next line, with its end. It is empty at the end of the text.
    pub(crate) fn line(&mut self) -> Result<Vec<u8>, Fault> {
        let mut line = Vec::new();
        let mut reader = io::Read::take(self.source.reader(), MAX_LINE as u64 + 1);
        reader.read_until(b'\n', &mut line)?;
        if line.len() > MAX_LINE {
            return Err(too_long().at(self.lines + 1, 1));
        }
        self.lines += u64::from(!line.is_empty());
        self.bytes += line.len() as u64;
        Ok(line)
    }

    /// Returns an error in the line taken last.
    pub(crate) fn locate(&self, misread: Misread) -> Fault {
        misread.fault.at(self.lines, misread.at as u64 + 1)
    }

    /// Returns the number of lines taken.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Parses the remaining lines. `parse` gets whole lines.
    pub(crate) fn parse<R, P>(self, parse: P, watch: &Watch<'_>) -> Result<Vec<R>, Fault>
    where
        R: Send,
        P: Fn(&[u8]) -> Result<R, Misread> + Sync,
    {
        match self.source {
            Source::File(reader) => parse_file(reader.get_ref(), self.bytes, self.share, &parse, watch),
            Source::Stream(reader) => parse_stream(reader, self.lines, &parse, watch),
        }
    }
}

fn too_long() -> Fault {
    Fault::malformed(format!("the line is longer than {MAX_LINE} bytes; check that this is a text file"))
}

fn parse_file<R, P>(file: &File, start: u64, share: Share, parse: &P, watch: &Watch<'_>) -> Result<Vec<R>, Fault>
where
    R: Send,
    P: Fn(&[u8]) -> Result<R, Misread> + Sync,
{
    let bytes = share.of(file.metadata()?.len().saturating_sub(start));
    // The first block with an error. Blocks after it need not be parsed.
    let failed = AtomicU64::new(u64::MAX);
    let block = |buffer: &mut Vec<u8>, index: u64| {
        if failed.load(Relaxed) < index {
            return Ok(None);
        }
        let within = bytes.start + index * BLOCK as u64;
        let (offset, has_before) = (start + within, within > 0);
        let size = (bytes.end - within).min(BLOCK as u64) as usize;
        let result = read_block(file, offset, size, has_before, buffer).and_then(|lines| {
            let text = &buffer[lines];
            let first = offset - u64::from(has_before) + (buffer.len() - text.len()) as u64;
            parse(text).map_err(|misread| {
                let lines = count_lines(file, first).unwrap_or(0);
                locate(misread, text, lines)
            })
        });
        watch.advance(BLOCK as u64);
        if result.is_err() {
            failed.fetch_min(index, Relaxed);
        }
        result.map(Some)
    };
    let blocks = (bytes.end - bytes.start).div_ceil(BLOCK as u64);
    let results: Vec<_> = (0..blocks).into_par_iter().map_init(Vec::new, block).collect();
    results.into_iter().filter_map(Result::transpose).collect()
}

/// Reads the lines that begin within a block of `size` bytes at `offset`. `has_before` says that the block is not the
/// first. Returns the part of `buffer` with the lines; it ends where the buffer ends.
fn read_block(
    file: &File,
    offset: u64,
    size: usize,
    has_before: bool,
    buffer: &mut Vec<u8>,
) -> Result<Range<usize>, Fault> {
    // The byte before the block is needed: if it ends a line, a line begins at the block's first byte.
    let before = usize::from(has_before);
    buffer.resize(before + size, 0);
    let len = read_at(file, buffer, offset - before as u64)?;
    buffer.truncate(len);
    let is_end = |byte: &u8| *byte == b'\n';
    let first = if has_before { buffer.iter().position(is_end).map_or(len, |end| end + 1) } else { 0 };
    // With the byte before the block, a last byte that ends a line ends the block's last line.
    if first == len || len < before + size || buffer.last().is_some_and(is_end) {
        return Ok(first..len);
    }
    loop {
        const STEP: usize = 1 << 12;
        let end = buffer.len();
        buffer.resize(end + STEP, 0);
        let count = read_at(file, &mut buffer[end..], offset - before as u64 + end as u64)?;
        if let Some(last) = buffer[end..end + count].iter().position(is_end) {
            buffer.truncate(end + last + 1);
            break;
        }
        buffer.truncate(end + count);
        if count < STEP {
            break;
        }
        if end - len > MAX_LINE {
            let start = buffer.iter().rposition(is_end).map_or(0, |end| end + 1);
            let lines = count_lines(file, offset - before as u64 + start as u64)?;
            return Err(too_long().at(lines + 1, 1));
        }
    }
    Ok(first..buffer.len())
}

/// Counts the lines before `end`.
fn count_lines(file: &File, end: u64) -> io::Result<u64> {
    let mut buffer = vec![0; BLOCK];
    let (mut at, mut lines) = (0, 0);
    while at < end {
        let wanted = (end - at).min(BLOCK as u64) as usize;
        let len = read_at(file, &mut buffer[..wanted], at)?;
        if len == 0 {
            break;
        }
        lines += newlines(&buffer[..len]);
        at += len as u64;
    }
    Ok(lines)
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Translates the index of a byte of `text` into a line and a column, after `lines` lines.
fn locate(misread: Misread, text: &[u8], lines: u64) -> Fault {
    let before = &text[..misread.at.min(text.len())];
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() as u64 + 1;
    misread.fault.at(lines + newlines(before) + 1, column)
}

fn parse_stream<R, P>(
    mut reader: Box<dyn BufRead + Send>,
    mut lines: u64,
    parse: &P,
    watch: &Watch<'_>,
) -> Result<Vec<R>, Fault>
where
    R: Send,
    P: Fn(&[u8]) -> Result<R, Misread> + Sync,
{
    let mut results = Vec::new();
    let mut batch = Vec::new();
    fill(&mut reader, &mut batch, BATCH * BLOCK)?;
    while !batch.is_empty() {
        // The last line of a full batch is incomplete, unless its end is there.
        let is_last = batch.len() < BATCH * BLOCK;
        let end = match batch.iter().rposition(|&byte| byte == b'\n') {
            _ if is_last => batch.len(),
            Some(end) => end + 1,
            None => return Err(too_long().at(lines + 1, 1)),
        };
        let (whole, rest) = batch.split_at(end);
        if rest.len() > MAX_LINE {
            return Err(too_long().at(lines + newlines(whole) + 1, 1));
        }
        let mut next = rest.to_vec();
        let blocks = split(whole);
        let (parsed, filled) = anabranch::join(
            || blocks.par_iter().map(|&block| parse(&whole[block.0..block.1])).collect::<Vec<_>>(),
            || if is_last { Ok(()) } else { fill(&mut reader, &mut next, BATCH * BLOCK) },
        );
        for (result, (start, end)) in parsed.into_iter().zip(blocks) {
            let misread = |misread| locate(misread, &whole[start..end], lines + newlines(&whole[..start]));
            results.push(result.map_err(misread)?);
        }
        filled?;
        lines += newlines(whole);
        watch.advance(whole.len() as u64);
        batch = next;
    }
    Ok(results)
}

/// Cuts `text` at ends of lines into blocks of about [`BLOCK`] bytes.
fn split(text: &[u8]) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let target = (start + BLOCK).min(text.len());
        let rest = &text[target..];
        let end = target + rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
        blocks.push((start, end));
        start = end;
    }
    blocks
}
