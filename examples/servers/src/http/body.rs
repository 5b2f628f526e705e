//! Bodies: where they end, and how they are passed on.

use super::Refused;
use std::io::{self, BufRead, Write};

/// The most bytes of a line within a chunked body, and of all lines after its last chunk.
const LONGEST_LINE: usize = 8 << 10;

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By its length.
    Length(u64),
    /// By an empty chunk.
    Chunked,
    /// By the end of the stream.
    UntilEnd,
}

/// Finds the data and the end of a body in the bytes of a stream.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    line: Vec<u8>,
    trailers: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// So many bytes of data, then the end.
    Data(u64),
    UntilEnd,
    /// The line with the length of a chunk.
    Size,
    /// So many bytes of data, then the end of the chunk.
    Chunk(u64),
    ChunkEnd,
    /// A line after the last chunk.
    Trailer,
    Done,
}

impl Decoder {
    pub fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Data(length),
            Framing::Chunked => State::Size,
            Framing::UntilEnd => State::UntilEnd,
        };
        Self { state, line: Vec::new(), trailers: 0 }
    }

    /// Returns whether the body has ended.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Uses a part of the input. Returns how many bytes it has used, and the data in them.
    ///
    /// # Errors
    /// Refuses what is no chunked body.
    pub fn decode<'a>(&mut self, input: &'a [u8]) -> Result<(usize, &'a [u8]), Refused> {
        let within = |left: u64| usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
        match self.state {
            State::Done => Ok((0, &[])),
            State::UntilEnd => Ok((input.len(), input)),
            State::Data(left) => {
                let count = within(left);
                let left = left - count as u64;
                self.state = if left == 0 { State::Done } else { State::Data(left) };
                Ok((count, &input[..count]))
            }
            State::Chunk(left) => {
                let count = within(left);
                let left = left - count as u64;
                self.state = if left == 0 { State::ChunkEnd } else { State::Chunk(left) };
                Ok((count, &input[..count]))
            }
            State::Size | State::ChunkEnd | State::Trailer => Ok((self.take_line(input)?, &[])),
        }
    }

    /// Takes bytes of a line, and does what it says when it is complete.
    fn take_line(&mut self, input: &[u8]) -> Result<usize, Refused> {
        let end = input.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(input.len(), |end| end + 1);
        self.line.extend_from_slice(&input[..used]);
        if self.line.len() > LONGEST_LINE {
            return Err(Refused::bad("a line of the body is too long"));
        }
        if end.is_some() {
            let line = self.line.strip_suffix(b"\r\n").ok_or(Refused::bad("a line of the body ends wrongly"))?;
            self.state = match self.state {
                State::Size => match size(line)? {
                    0 => State::Trailer,
                    size => State::Chunk(size),
                },
                State::ChunkEnd if line.is_empty() => State::Size,
                State::ChunkEnd => return Err(Refused::bad("a chunk is longer than it says")),
                _ if line.is_empty() => State::Done,
                _ => {
                    self.trailers += line.len();
                    State::Trailer
                }
            };
            if self.trailers > LONGEST_LINE {
                return Err(Refused::bad("there is too much after the body"));
            }
            self.line.clear();
        }
        Ok(used)
    }

    /// Takes the end of the stream.
    ///
    /// # Errors
    /// Returns an error if it comes too early.
    pub fn end(&mut self) -> io::Result<()> {
        match self.state {
            State::UntilEnd | State::Done => {
                self.state = State::Done;
                Ok(())
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Returns the length of a chunk. Extensions are ignored.
fn size(line: &[u8]) -> Result<u64, Refused> {
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii_end();
    let is_number = (1..=16).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    let text = str::from_utf8(digits).ok().filter(|_| is_number);
    text.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or(Refused::bad("the length of a chunk is no number"))
}

/// Appends data as it is sent: as a chunk, or as it is. No data ends a chunked body.
pub fn encode(data: &[u8], is_chunked: bool, bytes: &mut Vec<u8>) {
    if is_chunked {
        let _ = write!(bytes, "{:x}\r\n", data.len());
    }
    bytes.extend_from_slice(data);
    if is_chunked {
        bytes.extend_from_slice(b"\r\n");
    }
}

/// What failed while a body was passed on.
#[derive(Debug)]
pub enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

/// Forgets which stream has failed.
impl From<CopyError> for io::Error {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Read(error) | CopyError::Write(error) => error,
        }
    }
}

/// Passes a body on. What arrives together is sent together, and nothing is kept back.
///
/// # Errors
/// Returns the errors of both streams. That of reading is a [`Refused`] if the body is wrong.
pub fn copy_body(
    from: &mut impl BufRead,
    framing: Framing,
    to: &mut impl Write,
    is_chunked: bool,
) -> Result<(), CopyError> {
    let (mut decoder, mut bytes) = (Decoder::new(framing), Vec::new());
    while !decoder.is_done() {
        let input = from.fill_buf().map_err(CopyError::Read)?;
        if input.is_empty() {
            decoder.end().map_err(CopyError::Read)?;
            break;
        }
        let (used, data) = decoder.decode(input).map_err(|refused| CopyError::Read(refused.into()))?;
        if !data.is_empty() {
            bytes.clear();
            encode(data, is_chunked, &mut bytes);
            to.write_all(&bytes).map_err(CopyError::Write)?;
        }
        from.consume(used);
    }
    if is_chunked {
        to.write_all(b"0\r\n\r\n").map_err(CopyError::Write)?;
    }
    Ok(())
}
