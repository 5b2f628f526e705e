//! Files compressed by gzip or zstd.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BUFFER: usize = 1 << 18;
/// A file of this many bytes may be decompressed whatever the ratio.
const FREE: u64 = 16 << 20;

/// Returns whether the next bytes of `reader` are compressed.
pub(crate) fn is_compressed(reader: &mut impl BufRead) -> io::Result<bool> {
    let bytes = reader.fill_buf()?;
    Ok(bytes.starts_with(GZIP) || bytes.starts_with(ZSTD))
}

/// Decompresses `reader`, to at most `max_expansion` times `len` bytes, and to 16 MiB in any case.
pub(crate) fn decompress(
    mut reader: impl BufRead + Send + 'static,
    len: u64,
    max_expansion: u64,
) -> io::Result<Box<dyn BufRead + Send>> {
    let left = len.saturating_mul(max_expansion).max(FREE);
    Ok(if reader.fill_buf()?.starts_with(GZIP) {
        Box::new(BufReader::with_capacity(BUFFER, Limited { reader: MultiGzDecoder::new(reader), left, max_expansion }))
    } else {
        let frames = Frames { state: Some(State::Between(reader)) };
        Box::new(BufReader::with_capacity(BUFFER, Limited { reader: frames, left, max_expansion }))
    })
}

/// A reader of a limited number of bytes.
struct Limited<R> {
    reader: R,
    left: u64,
    max_expansion: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.reader.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => io::Error::other(format!("the compressed data are damaged ({error}); copy the file again")),
        })?;
        self.left = self.left.checked_sub(len as u64).ok_or_else(|| {
            let limit = self.max_expansion;
            io::Error::other(format!("the data are compressed more than {limit} times; decompress the file first"))
        })?;
        Ok(len)
    }
}

/// The frames of a zstd file, one after the other.
struct Frames<R: BufRead> {
    /// `None` after an error.
    state: Option<State<R>>,
}

enum State<R: BufRead> {
    Between(R),
    Within(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self.state.take() {
                Some(State::Between(mut reader)) => {
                    if reader.fill_buf()?.is_empty() {
                        self.state = Some(State::Between(reader));
                        return Ok(0);
                    }
                    self.state =
                        Some(State::Within(Box::new(StreamingDecoder::new(reader).map_err(io::Error::other)?)));
                }
                Some(State::Within(mut decoder)) => {
                    let len = decoder.read(buffer)?;
                    if len > 0 {
                        self.state = Some(State::Within(decoder));
                        return Ok(len);
                    }
                    self.state = Some(State::Between(decoder.into_inner()));
                }
                None => return Err(io::Error::other("a read after an error")),
            }
        }
    }
}
