//! Files compressed by gzip or zstd.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::StreamingDecoder;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BUFFER: usize = 1 << 18;
/// A file of this many bytes may be decompressed whatever the ratio.
const FREE: u64 = 16 << 20;

/// Returns whether a skippable frame of zstd begins with `bytes`. pzstd writes one in front, for its threads, and files
/// with a table for random access have one at the end.
fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Returns whether the next bytes of `reader` are compressed.
pub(crate) fn is_compressed(reader: &mut impl BufRead) -> io::Result<bool> {
    let bytes = reader.fill_buf()?;
    Ok(bytes.starts_with(GZIP) || bytes.starts_with(ZSTD) || is_skippable(bytes))
}

/// Decompresses `reader`, to at most `max_expansion` times `len` bytes, and to 16 MiB in any case.
pub(crate) fn decompress(
    reader: impl BufRead + Send + 'static,
    len: u64,
    max_expansion: u64,
) -> Box<dyn BufRead + Send> {
    let left = len.saturating_mul(max_expansion).max(FREE);
    let reader = Members { state: Some(State::Between(reader)) };
    Box::new(BufReader::with_capacity(BUFFER, Limited { reader, left, max_expansion }))
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

/// The members of a gzip file or the frames of a zstd file, one after the other. Zeros between and behind them, with
/// which tapes and some tools fill a block, are skipped, as gzip does.
struct Members<R: BufRead> {
    /// `None` after an error.
    state: Option<State<R>>,
}

/// A reader, with the bytes that have been taken from it.
type Begun<R> = io::Chain<io::Cursor<[u8; 4]>, R>;

enum State<R: BufRead> {
    Between(R),
    Gzip(Box<GzDecoder<Begun<R>>>),
    Zstd(Box<StreamingDecoder<Begun<R>, ruzstd::decoding::FrameDecoder>>),
}

impl<R: BufRead> State<R> {
    /// Begins the next member. Returns `Between` at the end.
    fn next(mut reader: R) -> io::Result<State<R>> {
        loop {
            let bytes = reader.fill_buf()?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            if bytes.is_empty() {
                return Ok(State::Between(reader));
            }
            if zeros > 0 {
                reader.consume(zeros);
                continue;
            }
            let mut magic = [0; 4];
            reader.read_exact(&mut magic)?;
            if is_skippable(&magic) {
                let mut len = [0; 4];
                reader.read_exact(&mut len)?;
                let len = u64::from(u32::from_le_bytes(len));
                if io::copy(&mut reader.by_ref().take(len), &mut io::sink())? < len {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                continue;
            }
            let begun = io::Cursor::new(magic).chain(reader);
            return Ok(if magic.starts_with(GZIP) {
                State::Gzip(Box::new(GzDecoder::new(begun)))
            } else {
                State::Zstd(Box::new(StreamingDecoder::new(begun).map_err(io::Error::other)?))
            });
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let (len, state) = match self.state.take() {
                Some(State::Between(reader)) => match State::next(reader)? {
                    State::Between(reader) => {
                        self.state = Some(State::Between(reader));
                        return Ok(0);
                    }
                    state => (0, state),
                },
                Some(State::Gzip(mut decoder)) => match decoder.read(buffer)? {
                    0 => (0, State::Between(decoder.into_inner().into_inner().1)),
                    len => (len, State::Gzip(decoder)),
                },
                Some(State::Zstd(mut decoder)) => match decoder.read(buffer)? {
                    0 => (0, State::Between(decoder.into_inner().into_inner().1)),
                    len => (len, State::Zstd(decoder)),
                },
                None => return Err(io::Error::other("a read after an error")),
            };
            self.state = Some(state);
            if len > 0 {
                return Ok(len);
            }
        }
    }
}
