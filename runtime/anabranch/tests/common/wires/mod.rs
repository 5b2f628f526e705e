//! Streams for tests of wires, all polled by hand: one that plays recorded bytes, and a pipe of limited capacity.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod served;

use anabranch::proto::wire::{AsyncRead, AsyncWrite, WireError};
use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

/// The other side, which sends these bytes and then ends the stream, whatever it receives. In async code it sends one
/// frame, and the next one after it has received something.
#[derive(Default)]
pub struct Played {
    says: Vec<u8>,
    at: usize,
    /// The position up to which it may send now.
    until: usize,
    reader: Option<Waker>,
    pub heard: Arc<Mutex<Vec<u8>>>,
}

impl Played {
    /// `hello` is the number of bytes before the first frame.
    pub fn new(says: impl Into<Vec<u8>>, hello: usize) -> Self {
        Self { says: says.into(), at: 0, until: hello, reader: None, heard: Arc::default() }
    }

    /// Returns the end of the frame that starts at `start`.
    fn end(&self, start: usize) -> usize {
        let Some(length) = self.says.get(start..).and_then(|rest| rest.first_chunk::<4>()) else { return usize::MAX };
        start.saturating_add(4).saturating_add(u32::from_le_bytes(*length) as usize)
    }
}

impl Read for Played {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut rest = &self.says[self.at..];
        let count = rest.read(to)?;
        self.at += count;
        Ok(count)
    }
}

impl Write for Played {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.heard.lock().unwrap().write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsyncRead for Played {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut [u8]) -> Poll<io::Result<usize>> {
        let most = to.len().min(self.until - self.at);
        if most == 0 && self.at < self.says.len() {
            self.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(self.read(&mut to[..most]))
    }
}

impl AsyncWrite for Played {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.until = self.end(self.until);
        wake(&mut self.reader);
        Poll::Ready(self.write(from))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// One direction of a pipe.
#[derive(Default)]
pub struct Way {
    bytes: VecDeque<u8>,
    capacity: usize,
    /// How often the reader looked, whether there were bytes or not.
    pub reads: usize,
    /// Bytes that have been read.
    pub taken: usize,
    is_closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// One end of a pipe in memory that takes so many bytes each way.
pub struct Pipe {
    pub from: Arc<Mutex<Way>>,
    pub to: Arc<Mutex<Way>>,
    /// Whether a write takes the place of a read that waits, as in a stream that must read in order to write.
    pub writes_wait_for_reads: bool,
}

pub fn pipe(capacity: usize) -> (Pipe, Pipe) {
    let [one, two] = [(); 2].map(|()| Arc::new(Mutex::new(Way { capacity, ..Way::default() })));
    let end =
        |from: &Arc<_>, to: &Arc<_>| Pipe { from: Arc::clone(from), to: Arc::clone(to), writes_wait_for_reads: false };
    (end(&one, &two), end(&two, &one))
}

impl Pipe {
    /// Sends bytes, all at once.
    pub fn say(&self, bytes: &[u8]) {
        let mut way = self.to.lock().unwrap();
        way.bytes.extend(bytes);
        wake(&mut way.reader);
    }

    /// What was sent to this end.
    pub fn heard(&self) -> Vec<u8> {
        self.from.lock().unwrap().bytes.iter().copied().collect()
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut way = self.from.lock().unwrap();
        way.reads += 1;
        let count = way.bytes.len().min(to.len());
        if count == 0 && !way.is_closed {
            way.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        for (to, byte) in to.iter_mut().zip(way.bytes.drain(..count)) {
            *to = byte;
        }
        way.taken += count;
        wake(&mut way.writer);
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        if self.writes_wait_for_reads {
            self.from.lock().unwrap().reader = Some(context.waker().clone());
        }
        let mut way = self.to.lock().unwrap();
        if way.is_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let count = (way.capacity - way.bytes.len()).min(from.len());
        if count == 0 {
            way.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        way.bytes.extend(&from[..count]);
        wake(&mut way.reader);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        for way in [&self.from, &self.to] {
            let mut way = way.lock().unwrap();
            way.is_closed = true;
            wake(&mut way.reader);
            wake(&mut way.writer);
        }
    }
}

/// Returns a frame of these bytes.
pub fn frame(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes(), body].concat()
}

/// Returns the text of an error, which must be one sentence on one line.
#[track_caller]
pub fn sentence(error: &WireError) -> String {
    let text = error.to_string();
    assert!(!text.contains('\n') && text.len() > 20 && !text.ends_with('.'), "{text:?}");
    text
}
