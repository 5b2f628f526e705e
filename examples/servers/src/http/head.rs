//! The heads of requests and responses.

use super::{Framing, Refused};
use std::io::Write;

/// The most fields of a head.
const MOST_FIELDS: usize = 64;

/// What only concerns one connection, and is not passed on (RFC 9110, 7.6.1).
const HOP_BY_HOP: [&str; 8] = [
    "Connection",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
];

/// The fields of a head, in their order.
#[derive(Debug, Clone, Default)]
pub struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    fn new(fields: &[httparse::Header<'_>]) -> Self {
        Self(fields.iter().map(|field| (field.name.to_owned(), field.value.to_vec())).collect())
    }

    /// Returns the values of all fields of this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1.as_slice())
    }

    /// Returns the elements of the lists in all fields of this name.
    pub fn elements<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let elements = self.all(name).flat_map(|value| value.split(|&byte| byte == b','));
        elements.map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
    }

    /// Returns whether a list in a field of this name has this element.
    pub fn has(&self, name: &str, element: &str) -> bool {
        self.elements(name).any(|other| other.eq_ignore_ascii_case(element.as_bytes()))
    }

    pub fn push(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        self.0.push((name.to_owned(), value.into()));
    }

    pub fn remove(&mut self, name: &str) {
        self.0.retain(|field| !field.0.eq_ignore_ascii_case(name));
    }

    /// Adds an element to a list.
    pub fn append(&mut self, name: &str, element: &str) {
        let mut elements: Vec<_> = self.elements(name).map(<[u8]>::to_vec).collect();
        elements.push(element.as_bytes().to_vec());
        self.remove(name);
        self.push(name, elements.join(&b", "[..]));
    }

    /// Removes what only concerns the connection of the head, and what it says about its body.
    pub fn remove_hop_by_hop(&mut self) {
        let named: Vec<_> =
            self.elements("Connection").map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        for name in named.iter().map(String::as_str).chain(HOP_BY_HOP) {
            // A length that is named there would be lost otherwise, and with it the end of the body.
            if !name.eq_ignore_ascii_case("Content-Length") {
                self.remove(name);
            }
        }
    }

    fn write_to(&self, bytes: &mut Vec<u8>) {
        for (name, value) in &self.0 {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
    }

    fn keeps_open(&self, version: u8) -> bool {
        !self.has("Connection", "close") && (version == 1 || self.has("Connection", "keep-alive"))
    }

    /// Returns the length by `Content-Length`. Several that differ are refused.
    fn length(&self) -> Result<Option<u64>, Refused> {
        let mut length = None;
        for element in self.elements("Content-Length") {
            let digits = element.iter().all(u8::is_ascii_digit).then(|| String::from_utf8_lossy(element));
            let this = digits.and_then(|digits| digits.parse().ok()).ok_or(Refused::bad("a length is no number"))?;
            if length.is_some_and(|other| other != this) {
                return Err(Refused::bad("there are two lengths"));
            }
            length = Some(this);
        }
        Ok(length)
    }

    /// Returns whether the body is chunked, if there is a transfer encoding.
    fn is_chunked(&self) -> Option<bool> {
        let last = self.elements("Transfer-Encoding").last()?;
        Some(last.eq_ignore_ascii_case(b"chunked"))
    }
}

/// The head of a request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub target: String,
    /// The number after `HTTP/1.`.
    pub version: u8,
    pub headers: Headers,
}

impl Request {
    /// Parses what [`read_head`](super::read_head) has returned.
    ///
    /// # Errors
    /// Refuses what is no head of a request, and one without exactly one host.
    pub fn parse(head: &[u8]) -> Result<Self, Refused> {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(head) {
            Ok(httparse::Status::Complete(len)) if len == head.len() => {}
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Refused { status: 431, reason: "there are too many fields" });
            }
            _ => return Err(Refused::bad("this is no head of a request")),
        }
        let request = Self {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            version: request.version.unwrap_or_default(),
            headers: Headers::new(request.headers),
        };
        let hosts = request.headers.all("Host").count();
        if hosts > 1 || (hosts == 0 && request.version == 1) {
            return Err(Refused::bad("there must be one host"));
        }
        Ok(request)
    }

    /// Returns how the end of the body is known (RFC 9112, 6.3).
    ///
    /// # Errors
    /// Refuses what two programs could read differently.
    pub fn framing(&self) -> Result<Framing, Refused> {
        match (self.headers.is_chunked(), self.headers.length()?) {
            (None, None) => Ok(Framing::Length(0)),
            (None, Some(length)) => Ok(Framing::Length(length)),
            (Some(true), None) if self.version == 1 && self.headers.elements("Transfer-Encoding").count() == 1 => {
                Ok(Framing::Chunked)
            }
            _ => Err(Refused::bad("the length of the body is not clear")),
        }
    }

    /// Returns whether the client wishes to send other requests over the connection.
    pub fn keeps_open(&self) -> bool {
        self.headers.keeps_open(self.version)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(512);
        let _ = write!(bytes, "{} {} HTTP/1.1\r\n", self.method, self.target);
        self.headers.write_to(&mut bytes);
        bytes
    }
}

/// The head of a response.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub reason: String,
    /// The number after `HTTP/1.`.
    pub version: u8,
    pub headers: Headers,
}

impl Response {
    /// Parses what [`read_head`](super::read_head) has returned.
    ///
    /// # Errors
    /// Refuses what is no head of a response.
    pub fn parse(head: &[u8]) -> Result<Self, Refused> {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        match response.parse(head) {
            Ok(httparse::Status::Complete(len)) if len == head.len() => Ok(Self {
                status: response.code.unwrap_or_default(),
                reason: response.reason.unwrap_or_default().to_owned(),
                version: response.version.unwrap_or_default(),
                headers: Headers::new(response.headers),
            }),
            _ => Err(Refused::bad("this is no head of a response")),
        }
    }

    /// Returns how the end of the body is known, in the response to a request with this method (RFC 9112, 6.3).
    ///
    /// # Errors
    /// Refuses lengths that differ.
    pub fn framing(&self, method: &str) -> Result<Framing, Refused> {
        if method == "HEAD" || matches!(self.status, 100..=199 | 204 | 304) {
            return Ok(Framing::Length(0));
        }
        match (self.headers.is_chunked(), self.headers.length()?) {
            (Some(true), _) => Ok(Framing::Chunked),
            (Some(false), _) | (None, None) => Ok(Framing::UntilEnd),
            (None, Some(length)) => Ok(Framing::Length(length)),
        }
    }

    /// Returns whether the server keeps the connection open for other requests.
    pub fn keeps_open(&self) -> bool {
        self.headers.keeps_open(self.version)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(512);
        let _ = write!(bytes, "HTTP/1.1 {} {}\r\n", self.status, self.reason);
        self.headers.write_to(&mut bytes);
        bytes
    }
}
