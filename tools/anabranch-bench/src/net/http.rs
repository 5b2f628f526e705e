//! The HTTP/1.1 handler that all servers share: it finds the requests in a buffer, and has one answer.

/// The request of the load generator.
pub const REQUEST: &[u8] = b"GET /hello HTTP/1.1\r\nHost: localhost\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n";

/// The answer to each request.
pub const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!";

/// The size of a connection's buffer.
pub const BUFFER: usize = 4096;

/// The bytes of a connection that are not yet parsed.
pub struct Requests {
    /// The bytes, and room for more.
    pub buffer: [u8; BUFFER],
    /// The number of bytes.
    pub len: usize,
}

impl Requests {
    /// An empty buffer.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "4 KiB are not made by chance")]
    pub fn new() -> Self {
        Self { buffer: [0; BUFFER], len: 0 }
    }

    /// Takes the complete requests out of the buffer, and returns their number. `None`: not HTTP.
    pub fn take(&mut self) -> Option<usize> {
        self.take_each(|_| ())
    }

    /// Does the same, and calls `each` with the target of each request.
    pub fn take_each(&mut self, mut each: impl FnMut(&str)) -> Option<usize> {
        let (mut count, mut start) = (0, 0);
        while start < self.len {
            let mut headers = [httparse::EMPTY_HEADER; 16];
            let mut request = httparse::Request::new(&mut headers);
            match request.parse(&self.buffer[start..self.len]).ok()? {
                httparse::Status::Complete(len) => {
                    if request.method != Some("GET") {
                        return None;
                    }
                    each(request.path?);
                    start += len;
                    count += 1;
                }
                httparse::Status::Partial if start == 0 && self.len == BUFFER => return None,
                httparse::Status::Partial => break,
            }
        }
        self.buffer.copy_within(start..self.len, 0);
        self.len -= start;
        Some(count)
    }
}
