//! As much of HTTP/1.1 as the programs need. It does no input or output of its own but in [`read_head`], so the
//! versions on tokio use it too.

mod body;
mod buffer;
mod head;

pub use self::{
    body::{CopyError, Decoder, Framing, copy_body, encode},
    buffer::{Buffer, Buffered},
    head::{Headers, Request, Response},
};
use std::{
    error::Error,
    fmt,
    io::{self, BufRead},
};

/// The most bytes of a head.
pub const LONGEST_HEAD: usize = 16 << 10;

/// A message that is not answered as it wishes, with the status that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    pub status: u16,
    pub reason: &'static str,
}

impl Refused {
    pub(crate) const fn bad(reason: &'static str) -> Self {
        Self { status: 400, reason }
    }

    /// Returns the refusal in an error of [`read_head`] or [`copy_body`], if it is one.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)
    }
}

impl Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        Self::new(io::ErrorKind::InvalidData, refused)
    }
}

/// What a line at the end of the bytes so far means.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// The head goes on.
    More,
    /// The head is complete.
    Last,
    /// The stream has ended before a head began.
    End,
}

/// Judges the head after another line, which begins at `start`. Empty lines before the head are removed.
pub fn judge_line(head: &mut Vec<u8>, start: usize) -> Result<Line, io::Error> {
    match &head[start..] {
        b"\r\n" | b"\n" if start > 0 => Ok(Line::Last),
        b"\r\n" | b"\n" => {
            head.clear();
            Ok(Line::More)
        }
        line if line.ends_with(b"\n") => Ok(Line::More),
        _ if head.len() >= LONGEST_HEAD => Err(Refused { status: 431, reason: "the head is too long" }.into()),
        [] if head.is_empty() => Ok(Line::End),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Reads a head with the empty line after it. Returns `None` at the end of the stream.
///
/// # Errors
/// Returns the errors of the reader, and a [`Refused`] if the head is longer than [`LONGEST_HEAD`].
pub fn read_head(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    loop {
        let start = head.len();
        io::Read::take(&mut *reader, (LONGEST_HEAD - start) as u64).read_until(b'\n', &mut head)?;
        match judge_line(&mut head, start)? {
            Line::More => {}
            Line::Last => return Ok(Some(head)),
            Line::End => return Ok(None),
        }
    }
}

/// Returns a whole response with a short text.
pub fn text(status: u16, body: &str, keeps_open: bool) -> Vec<u8> {
    let (len, reason) = (body.len(), reason(status));
    let connection = if keeps_open { "keep-alive" } else { "close" };
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {len}\r\nConnection: {connection}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}
