//! A reverse proxy for HTTP/1.1: it passes requests on to backends, and their responses back.
//!
//! The code of an exchange reads from top to bottom. One deadline covers all of its waits: for the backend, for the
//! client, for names and for connections. The body of a request goes on a fiber of its own, so that a backend may
//! answer before it has read all.
//!
//! A body is passed on as it arrives. Its framing is made anew, so that the proxy and the backend cannot read it
//! differently. What follows the last chunk of a body is left out.

use crate::{
    Failure,
    connection::{Connection, is_stopping},
    http::{self, Buffer, CopyError, Framing, Refused, Request, Response, copy_body, read_head},
};
use anabranch::{
    Cx, TimedOut,
    net::{TcpStream, is_cancelled},
    sync::Event,
};
use std::{
    cell::Cell,
    fmt,
    io::{self, BufRead, BufReader, ErrorKind, Write},
    net::{Shutdown, SocketAddr},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// How long a client may be silent between two requests.
const IDLE: Duration = Duration::from_secs(30);

/// How long the head of a request may take, and an answer of the proxy's own.
const HEAD: Duration = Duration::from_secs(5);

/// The most connections that are kept for each backend.
const KEPT: usize = 32;

/// What clients and backends see of the proxy.
pub const NAME: &str = "1.1 anabranch";

/// A proxy before some backends, which take turns.
pub struct Proxy {
    backends: Vec<Backend>,
    turn: AtomicUsize,
    deadline: Duration,
}

struct Backend {
    address: String,
    /// Connections on which a response has ended, for other requests.
    kept: Mutex<Vec<TcpStream>>,
}

/// Why there is no response, or only a part of it.
#[derive(Debug)]
pub enum Fault {
    /// What the client sends is wrong.
    Refused(Refused),
    Client(io::Error),
    Backend(io::Error),
    /// The deadline has passed.
    Late,
}

impl Fault {
    /// Returns what to tell the client.
    pub fn status(&self) -> u16 {
        match self {
            Self::Refused(refused) => refused.status,
            Self::Client(_) => 400,
            Self::Backend(_) => 502,
            Self::Late => 504,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Client(error) => write!(f, "the client: {error}"),
            Self::Backend(error) => write!(f, "the backend: {error}"),
            Self::Late => f.write_str("the deadline of the request has passed"),
        }
    }
}

impl std::error::Error for Fault {}

impl From<TimedOut> for Fault {
    fn from(_: TimedOut) -> Self {
        Self::Late
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// A client, and the part of its bytes that was read ahead.
struct Client<'a> {
    stream: &'a TcpStream,
    address: SocketAddr,
    buffer: Buffer,
    stop: &'a Event,
}

impl Backend {
    /// Returns a connection that was kept, and that the backend has not closed since.
    fn take(&self) -> Option<TcpStream> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open =
            |stream: &TcpStream| stream.try_read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        std::iter::from_fn(|| kept.pop()).find(is_open)
    }

    fn keep(&self, stream: TcpStream) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            kept.push(stream);
        }
    }
}

impl Proxy {
    /// Makes a proxy. Each request with its response has to end within `deadline`.
    ///
    /// # Panics
    /// Panics if there is no backend.
    pub fn new(backends: impl IntoIterator<Item = String>, deadline: Duration) -> Self {
        let backend = |address| Backend { address, kept: Mutex::default() };
        let backends: Vec<_> = backends.into_iter().map(backend).collect();
        assert!(!backends.is_empty(), "a proxy needs a backend");
        Self { backends, turn: AtomicUsize::new(0), deadline }
    }

    /// Serves a client: one request after the other.
    ///
    /// # Errors
    /// Returns the errors of the stream, and those of an exchange that has failed within the response.
    pub fn connection(
        &self,
        cx: &Cx<'_>,
        stream: &TcpStream,
        address: SocketAddr,
        stop: &Event,
    ) -> Result<(), Failure> {
        let mut client = Client { stream, address, buffer: Buffer::default(), stop };
        loop {
            let mut own = Connection::new(cx, stream, stop);
            own.set_time(IDLE);
            own.set_idle(true);
            let mut reader = client.buffer.over(own);
            match reader.fill_buf() {
                Ok([]) => return Ok(()),
                Ok(_) => {}
                Err(error) if is_stopping(&error) || error.kind() == ErrorKind::TimedOut => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            reader.get_mut().set_idle(false);
            reader.get_mut().set_time(HEAD);
            let request = match read_head(&mut reader) {
                Ok(Some(head)) => Request::parse(&head),
                Ok(None) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    Err(Refused { status: 408, reason: "the request is too slow" })
                }
                Err(error) => Err(Refused::of(&error).ok_or(error)?),
            };
            let result = match request {
                Ok(request) => self.answer(cx, &mut client, &request)?,
                Err(refused) => Err(Fault::Refused(refused)),
            };
            let mut own = Connection::new(cx, stream, stop);
            match result {
                Ok(true) => continue,
                Ok(false) => {}
                Err(fault) => {
                    own.set_time(HEAD);
                    own.write_all(&http::text(fault.status(), &format!("{fault}\n"), false))?;
                }
            }
            own.linger();
            return Ok(());
        }
    }

    /// Answers a request within the deadline, and returns whether the connection stays open. Returns a fault if the
    /// response has not begun.
    fn answer(&self, cx: &Cx<'_>, client: &mut Client<'_>, request: &Request) -> Result<Result<bool, Fault>, Fault> {
        let begun = Cell::new(false);
        let result = cx.timeout(self.deadline, |cx| self.exchange(cx, client, request, &begun));
        match result {
            // The client sees that the response is cut off, as the connection ends.
            Err(fault) if begun.get() => Err(fault),
            result => Ok(result),
        }
    }

    fn exchange(
        &self,
        cx: &Cx<'_>,
        client: &mut Client<'_>,
        request: &Request,
        begun: &Cell<bool>,
    ) -> Result<bool, Fault> {
        if request.method == "CONNECT" {
            return Err(Refused { status: 501, reason: "this is no proxy for tunnels" }.into());
        }
        let framing = request.framing()?;
        // Only what can be sent twice goes over a connection that the backend may have closed meanwhile.
        let mut may_be_kept = framing == Framing::Length(0) && matches!(request.method.as_str(), "GET" | "HEAD");
        loop {
            let (backend, stream, is_new) = self.connect(cx, may_be_kept).map_err(Fault::Backend)?;
            let head = outgoing(request, framing, client.address, &backend.address).to_bytes();
            match transfer(cx, client, request, framing, &head, &stream, begun) {
                Err(Fault::Backend(error)) if !is_new && !begun.get() && !is_cancelled(&error) => may_be_kept = false,
                Err(fault) => return Err(fault),
                Ok(Outcome { client_stays, backend_stays }) => {
                    if backend_stays {
                        backend.keep(stream);
                    }
                    return Ok(client_stays);
                }
            }
        }
    }

    /// Returns a connection to the backend whose turn it is, or to the next that accepts one, and whether it is new.
    fn connect(&self, cx: &Cx<'_>, may_be_kept: bool) -> io::Result<(&Backend, TcpStream, bool)> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed) % self.backends.len();
        let (before, after) = self.backends.split_at(first);
        let mut last = None;
        for backend in after.iter().chain(before) {
            if may_be_kept && let Some(stream) = backend.take() {
                return Ok((backend, stream, false));
            }
            match TcpStream::connect(cx, backend.address.as_str()) {
                Ok(stream) => return Ok((backend, stream, true)),
                Err(error) if is_cancelled(&error) => return Err(error),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("there is a backend"))
    }
}

/// Returns the request as the backend gets it.
pub fn outgoing(request: &Request, framing: Framing, client: SocketAddr, backend: &str) -> Request {
    let mut request = request.clone();
    let has_length = request.headers.all("Content-Length").next().is_some();
    let headers = &mut request.headers;
    headers.remove_hop_by_hop();
    headers.remove("Content-Length");
    // The proxy itself has told the client to go on.
    headers.remove("Expect");
    match framing {
        Framing::Length(length) if has_length => headers.push("Content-Length", length.to_string()),
        Framing::Chunked => headers.push("Transfer-Encoding", "chunked"),
        _ => {}
    }
    if headers.all("Host").next().is_none() {
        headers.push("Host", backend);
    }
    headers.append("X-Forwarded-For", &client.ip().to_string());
    headers.append("Via", NAME);
    request
}

/// How a response is passed on.
pub struct Passing {
    pub response: Response,
    pub is_chunked: bool,
    pub keeps_open: bool,
}

/// Returns the response as the client gets it.
pub fn incoming(request: &Request, mut response: Response, framing: Framing, is_stopping: bool) -> Passing {
    let has_length = matches!(framing, Framing::Length(_));
    // Clients of HTTP/1.0 know no chunks: they read to the end of the stream.
    let is_chunked = !has_length && request.version == 1;
    let keeps_open = request.keeps_open() && !is_stopping && (has_length || is_chunked);
    let headers = &mut response.headers;
    headers.remove_hop_by_hop();
    if !has_length {
        headers.remove("Content-Length");
    }
    if is_chunked {
        headers.push("Transfer-Encoding", "chunked");
    }
    headers.push("Connection", if keeps_open { "keep-alive" } else { "close" });
    Passing { response, is_chunked, keeps_open }
}

/// What remains after an exchange.
struct Outcome {
    client_stays: bool,
    backend_stays: bool,
}

/// Sends the request to the backend, and its response to the client, both at a time.
fn transfer(
    cx: &Cx<'_>,
    client: &mut Client<'_>,
    request: &Request,
    framing: Framing,
    head: &[u8],
    backend: &TcpStream,
    begun: &Cell<bool>,
) -> Result<Outcome, Fault> {
    if framing == Framing::Length(0) {
        backend.write_all(cx, head).map_err(Fault::Backend)?;
        return download(cx, client.stream, client.stop, request, backend, begun);
    }
    let Client { stream, buffer, stop, .. } = client;
    let (stream, stop) = (*stream, *stop);
    if request.headers.has("Expect", "100-continue") {
        stream.write_all(cx, b"HTTP/1.1 100 Continue\r\n\r\n").map_err(Fault::Client)?;
    }
    cx.scope(|s| {
        let upload = s.spawn(move |cx| upload(cx, stream, buffer, framing, head, backend));
        let downloaded = download(cx, stream, stop, request, backend, begun);
        if !upload.is_finished() {
            // The backend has answered without waiting for the rest, or it is too late for the rest.
            s.cancel();
        }
        let uploaded = upload.join(cx).unwrap_or(Ok(false));
        match (downloaded, uploaded) {
            (Ok(outcome), Ok(true)) => Ok(outcome),
            (Ok(_), _) => Ok(Outcome { client_stays: false, backend_stays: false }),
            (Err(_), Err(fault)) => Err(fault),
            (Err(fault), Ok(_)) => Err(fault),
        }
    })
}

/// Sends the head and the body of a request. Returns whether the backend has taken all.
fn upload(
    cx: &Cx<'_>,
    client: &TcpStream,
    buffer: &mut Buffer,
    framing: Framing,
    head: &[u8],
    backend: &TcpStream,
) -> Result<bool, Fault> {
    let (mut reader, mut writer) = (buffer.over(client.with(cx)), backend.with(cx));
    let sent = writer.write_all(head).map_err(CopyError::Write);
    match sent.and_then(|()| copy_body(&mut reader, framing, &mut writer, framing == Framing::Chunked)) {
        Ok(()) => Ok(true),
        // Perhaps it has answered before.
        Err(CopyError::Write(_)) => Ok(false),
        Err(CopyError::Read(error)) => {
            // Ends the wait for a response.
            let _ = backend.shutdown(Shutdown::Both);
            Err(Refused::of(&error).map_or(Fault::Client(error), Fault::Refused))
        }
    }
}

/// Passes the response on.
fn download(
    cx: &Cx<'_>,
    client: &TcpStream,
    stop: &Event,
    request: &Request,
    backend: &TcpStream,
    begun: &Cell<bool>,
) -> Result<Outcome, Fault> {
    let wrong = |refused: Refused| Fault::Backend(refused.into());
    let mut reader = BufReader::with_capacity(16 << 10, backend.with(cx));
    let response = loop {
        let head = read_head(&mut reader).map_err(Fault::Backend)?;
        let head = head.ok_or_else(|| Fault::Backend(ErrorKind::UnexpectedEof.into()))?;
        let response = Response::parse(&head).map_err(wrong)?;
        match response.status {
            // The proxy has sent its own, if any.
            100 => {}
            101 => return Err(wrong(Refused { status: 502, reason: "it changes the protocol" })),
            102..200 if request.version == 0 => {}
            102..200 => client.write_all(cx, &response.to_bytes()).map_err(Fault::Client)?,
            _ => break response,
        }
    };
    let framing = response.framing(&request.method).map_err(wrong)?;
    let may_stay = response.keeps_open() && framing != Framing::UntilEnd;
    let passing = incoming(request, response, framing, stop.is_set());
    begun.set(true);
    let mut writer = client.with(cx);
    writer.write_all(&passing.response.to_bytes()).map_err(Fault::Client)?;
    copy_body(&mut reader, framing, &mut writer, passing.is_chunked).map_err(|error| match error {
        CopyError::Read(error) => Fault::Backend(error),
        CopyError::Write(error) => Fault::Client(error),
    })?;
    let backend_stays = may_stay && reader.buffer().is_empty();
    Ok(Outcome { client_stays: passing.keeps_open, backend_stays })
}
