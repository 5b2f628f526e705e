//! WebSockets by the synchronous interface of tungstenite, which waits on fibers without knowing of them.

use crate::{
    Failure,
    connection::{Connection, is_stopping},
    http::{self, Refused, Request, read_head},
};
use anabranch::{Cx, net::TcpStream, sync::Event};
use std::{
    io::{self, BufReader, Cursor, ErrorKind, Read, Write},
    time::Duration,
};
use tungstenite::{
    Error, Message, WebSocket, accept_hdr_with_config,
    handshake::server::{ErrorResponse, Request as Handshake, Response},
    protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
};

/// How long a handshake, an answer or a farewell may take.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// After this time without a message the server sends a ping. After the same time without an answer it closes.
const IDLE: Duration = Duration::from_secs(20);

/// A page that opens a socket, sends a text and some bytes, and shows what comes back.
const PAGE: &str = include_str!("websocket.html");

/// What the server allows.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The most bytes of a message. A longer one ends the connection, and is not kept in memory.
    pub max_message: usize,
    /// Which requests become sockets. Others are answered with 404.
    pub accepts: fn(&Handshake) -> bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { max_message: 64 << 10, accepts: |request| request.uri().path() == "/echo" }
    }
}

/// The connection, before which the head of the request is read again. The server has read it to tell sockets from
/// pages, and tungstenite reads it to answer it.
struct Prefixed<'a> {
    head: Cursor<Vec<u8>>,
    connection: Connection<'a>,
}

impl Read for Prefixed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.read(buffer)? {
            0 => self.connection.read(buffer),
            count => Ok(count),
        }
    }
}

impl Write for Prefixed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.connection.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.connection.flush()
    }
}

/// Serves a connection: the page, or a socket that sends each message back.
///
/// # Errors
/// Returns the errors of the stream and of the protocol.
pub fn connection(cx: &Cx<'_>, stream: &TcpStream, rules: Rules, stop: &Event) -> Result<(), Failure> {
    let mut reader = BufReader::new(Connection::new(cx, stream, stop));
    reader.get_mut().set_time(HANDSHAKE);
    let request = match read_head(&mut reader) {
        Ok(None) => return Ok(()),
        Ok(Some(head)) => Request::parse(&head).map(|request| (request, [&head, reader.buffer()].concat())),
        Err(error) => Err(Refused::of(&error).ok_or(error)?),
    };
    let mut connection = reader.into_inner();
    let page = match request {
        Ok((request, head)) if request.headers.has("Upgrade", "websocket") => {
            return socket(Prefixed { head: Cursor::new(head), connection }, rules);
        }
        Ok((request, _)) if request.method != "GET" => http::text(405, "only GET\n", false),
        Ok((request, _)) if request.target == "/" => {
            let len = PAGE.len();
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n{PAGE}"
            )
            .into_bytes()
        }
        Ok(_) => http::text(404, "there is a page at /, and a socket at /echo\n", false),
        Err(refused) => http::text(refused.status, &format!("{refused}\n"), false),
    };
    connection.write_all(&page)?;
    connection.linger();
    Ok(())
}

fn socket(stream: Prefixed<'_>, rules: Rules) -> Result<(), Failure> {
    let most = Some(rules.max_message);
    let config = WebSocketConfig::default().max_message_size(most).max_frame_size(most).read_buffer_size(8 << 10);
    #[allow(clippy::result_large_err, reason = "the type is one of tungstenite")]
    let check = |request: &Handshake, response: Response| {
        if (rules.accepts)(request) {
            return Ok(response);
        }
        let mut refusal = ErrorResponse::new(Some("there is no socket here\n".to_owned()));
        *refusal.status_mut() = tungstenite::http::StatusCode::NOT_FOUND;
        Err(refusal)
    };
    // The error of tungstenite holds the stream.
    let mut socket = accept_hdr_with_config(stream, check, Some(config)).map_err(|error| error.to_string())?;
    let result = echo(&mut socket);
    let Some((code, reason)) = farewell(&result, socket.get_ref().connection.is_stopping()) else {
        return Ok(result?);
    };
    // Both sides say that they close.
    socket.get_mut().connection.set_idle(false);
    socket.get_mut().connection.set_time(HANDSHAKE);
    socket.close(Some(CloseFrame { code, reason: reason.into() }))?;
    // After an error tungstenite must not read again.
    while result.is_ok() && socket.read().is_ok() {}
    socket.get_mut().connection.linger();
    result.map_err(Failure::from)
}

/// Returns what to tell the client, if the server is the first to close.
fn farewell(result: &Result<(), Error>, is_stopping: bool) -> Option<(CloseCode, &'static str)> {
    match result {
        Ok(()) => is_stopping.then_some((CloseCode::Away, "the server is to stop")),
        Err(Error::Capacity(_)) => Some((CloseCode::Size, "the message is too long")),
        Err(Error::Utf8(_)) => Some((CloseCode::Invalid, "the text is not UTF-8")),
        Err(Error::Protocol(_)) => Some((CloseCode::Protocol, "this is no frame")),
        Err(_) => None,
    }
}

/// Sends each message back, until the client closes or the server is to stop.
fn echo(socket: &mut WebSocket<Prefixed<'_>>) -> Result<(), Error> {
    let mut is_silent = false;
    loop {
        let connection = &mut socket.get_mut().connection;
        if connection.is_stopping() {
            return Ok(());
        }
        connection.set_time(IDLE);
        connection.set_idle(true);
        let message = socket.read();
        let connection = &mut socket.get_mut().connection;
        connection.set_idle(false);
        connection.set_time(HANDSHAKE);
        match message {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => socket.send(message)?,
            // tungstenite has made the answer, and the next read would send it.
            Ok(Message::Ping(_) | Message::Close(_)) => match socket.flush() {
                Err(Error::ConnectionClosed) => return Ok(()),
                result => result?,
            },
            Ok(_) => {}
            Err(Error::ConnectionClosed) => return Ok(()),
            Err(Error::Io(error)) if is_stopping(&error) => return Ok(()),
            // A read that was late has read nothing, so the socket is as before.
            Err(Error::Io(error)) if error.kind() == ErrorKind::TimedOut && !is_silent => {
                is_silent = true;
                socket.send(Message::Ping(tungstenite::Bytes::new()))?;
                continue;
            }
            Err(error) => return Err(error),
        }
        is_silent = false;
    }
}
