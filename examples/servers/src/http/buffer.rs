//! A buffer that goes from fiber to fiber.

use std::io::{self, BufRead, Read};

/// Bytes that were read from a stream and not used yet.
///
/// A [`BufReader`](std::io::BufReader) holds its stream, and so the `Cx` with which the stream waits. This holds the
/// bytes alone. So one fiber can read the head of a request, and another one the body.
#[derive(Debug)]
pub struct Buffer {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Default for Buffer {
    fn default() -> Self {
        Self { bytes: vec![0; 16 << 10].into(), start: 0, end: 0 }
    }
}

impl Buffer {
    /// Returns a reader that takes from the buffer first.
    pub fn over<R: Read>(&mut self, stream: R) -> Buffered<'_, R> {
        Buffered { buffer: self, stream }
    }
}

/// A stream with a [`Buffer`] before it.
#[derive(Debug)]
pub struct Buffered<'a, R> {
    buffer: &'a mut Buffer,
    stream: R,
}

impl<R> Buffered<'_, R> {
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.stream
    }
}

impl<R: Read> BufRead for Buffered<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let Buffer { bytes, start, end } = self.buffer;
        if start == end {
            (*start, *end) = (0, self.stream.read(bytes)?);
        }
        Ok(&bytes[*start..*end])
    }

    fn consume(&mut self, count: usize) {
        self.buffer.start += count;
        debug_assert!(self.buffer.start <= self.buffer.end);
    }
}

impl<R: Read> Read for Buffered<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}
