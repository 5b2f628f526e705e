//! Opened files: plain ones that many threads read at once, and streams, which are decompressed or come from pipes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::decompress::{decompress, is_compressed};
use super::error::{Fault, ReadErrorKind};

const BUFFER: usize = 1 << 16;
/// With it some programs begin texts in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An opened file.
pub(crate) enum Source {
    /// A regular file. Parts of it can be read at any offset.
    File(BufReader<File>),
    /// Bytes in order.
    Stream(Box<dyn BufRead + Send>),
}

impl Source {
    /// Opens the file. Decompresses it if its first bytes say that it is compressed.
    pub(crate) fn open(path: &Path, max_expansion: u64) -> Result<Source, Fault> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let mut reader = BufReader::with_capacity(BUFFER, file);
        if is_compressed(&mut reader)? {
            return Ok(Source::Stream(decompress(reader, metadata.len(), max_expansion)));
        }
        Ok(if metadata.is_file() { Source::File(reader) } else { Source::Stream(Box::new(reader)) })
    }

    /// Skips a byte order mark at the start of a text. Returns the number of bytes skipped, and a source in which lines
    /// end with LF, also if the first one ends with CR alone, as on the first Macintosh.
    pub(crate) fn into_text(mut self) -> io::Result<(Source, u64)> {
        let bytes = self.reader().fill_buf()?;
        let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let has_cr = end.is_some_and(|end| bytes[end] == b'\r' && bytes.get(end + 1).is_none_or(|&byte| byte != b'\n'));
        let mark = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        self.reader().consume(mark);
        let source = match self {
            _ if !has_cr => self,
            Source::File(reader) => Source::Stream(Box::new(BufReader::with_capacity(BUFFER, CrLines(reader)))),
            Source::Stream(reader) => Source::Stream(Box::new(BufReader::with_capacity(BUFFER, CrLines(reader)))),
        };
        Ok((source, mark as u64))
    }

    /// Returns the length of the bytes, if it is known.
    pub(crate) fn len(&self) -> io::Result<Option<u64>> {
        match self {
            Source::File(reader) => reader.get_ref().metadata().map(|metadata| Some(metadata.len())),
            Source::Stream(_) => Ok(None),
        }
    }

    /// Returns the file, if parts of it can be read at any offset.
    pub(crate) fn file(&self) -> Result<&File, Fault> {
        match self {
            Source::File(reader) => Ok(reader.get_ref()),
            Source::Stream(_) => {
                let message =
                    "a compressed file, a pipe or a text whose lines end with CR cannot be read in parts; convert it";
                Err(Fault::new(ReadErrorKind::Unsupported, message))
            }
        }
    }

    /// Returns the bytes in order.
    pub(crate) fn reader(&mut self) -> &mut dyn BufRead {
        match self {
            Source::File(reader) => reader,
            Source::Stream(reader) => reader,
        }
    }
}

/// A text in which each CR is read as LF.
struct CrLines<R>(R);

impl<R: Read> Read for CrLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.0.read(buffer)?;
        buffer[..len].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(len)
    }
}

/// Fills `buffer` from `offset` of the file. Returns the number of bytes, fewer only at the end of the file.
pub(crate) fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<usize> {
    let mut len = 0;
    while !buffer.is_empty() {
        match read_some_at(file, buffer, offset) {
            Ok(0) => break,
            Ok(count) => {
                len += count;
                offset += count as u64;
                buffer = &mut buffer[count..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

#[cfg(unix)]
fn read_some_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_some_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Reads from `reader` until `buffer` has `len` bytes or the end is reached.
pub(crate) fn fill(reader: &mut dyn BufRead, buffer: &mut Vec<u8>, len: usize) -> io::Result<()> {
    let missing = len.saturating_sub(buffer.len()) as u64;
    reader.take(missing).read_to_end(buffer).map(drop)
}
