//! A small server of HTTP/1.1, for the programs that need something to talk to.

use crate::{
    Failure,
    connection::{Connection, is_stopping},
    http::{self, Refused, Request, copy_body, encode, read_head},
};
use anabranch::{Cx, net::TcpStream, sync::Event};
use std::{
    io::{self, BufRead, BufReader, ErrorKind, Write},
    time::Duration,
};

/// How long a client may be silent, and how long a request and its answer may take.
pub const IDLE: Duration = Duration::from_secs(30);

/// The most bytes of a body.
const LONGEST_BODY: usize = 16 << 20;

/// The body of a request. It refuses more bytes than [`LONGEST_BODY`].
#[derive(Debug, Default)]
pub struct Body(pub Vec<u8>);

impl Write for Body {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST_BODY {
            return Err(Refused { status: 413, reason: "the body is too long" }.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    /// Whether the body is sent in chunks.
    pub is_chunked: bool,
}

impl Answer {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), is_chunked: false }
    }

    fn to_bytes(&self, keeps_open: bool) -> Vec<u8> {
        let connection = if keeps_open { "keep-alive" } else { "close" };
        let mut bytes = format!("HTTP/1.1 {} -\r\nConnection: {connection}\r\n", self.status).into_bytes();
        if self.is_chunked {
            bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            for part in self.body.chunks(1000) {
                encode(part, true, &mut bytes);
            }
            encode(b"", true, &mut bytes);
        } else {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", self.body.len()).as_bytes());
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

/// Answers the requests of a connection by `answer`, which gets the body, too.
///
/// # Errors
/// Returns the errors of the stream.
pub fn connection(
    cx: &Cx<'_>,
    stream: &TcpStream,
    stop: &Event,
    answer: impl Fn(&Cx<'_>, &Request, &[u8]) -> Result<Answer, Failure>,
) -> Result<(), Failure> {
    let mut reader = BufReader::new(Connection::new(cx, stream, stop));
    loop {
        reader.get_mut().set_time(IDLE);
        reader.get_mut().set_idle(true);
        match reader.fill_buf() {
            Ok(_) => {}
            Err(error) if is_stopping(&error) || error.kind() == ErrorKind::TimedOut => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        reader.get_mut().set_idle(false);
        let request = match read_request(&mut reader) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) => {
                let refused = Refused::of(&error).ok_or(error)?;
                reader.get_mut().write_all(&http::text(refused.status, &format!("{refused}\n"), false))?;
                reader.get_mut().linger();
                return Ok(());
            }
        };
        let (request, body) = request;
        let answer = answer(cx, &request, &body)?;
        let keeps_open = request.keeps_open() && !reader.get_ref().is_stopping();
        let mut bytes = answer.to_bytes(keeps_open);
        if request.method == "HEAD" {
            bytes.truncate(bytes.len() - answer.body.len());
        }
        reader.get_mut().write_all(&bytes)?;
        if !keeps_open {
            return Ok(());
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Option<(Request, Vec<u8>)>> {
    let Some(head) = read_head(reader)? else { return Ok(None) };
    let request = Request::parse(&head)?;
    let mut body = Body::default();
    copy_body(reader, request.framing()?, &mut body, false)?;
    Ok(Some((request, body.0)))
}
