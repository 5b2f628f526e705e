//! Arrays of numbers in files.

use std::fs::File;
use std::io::{self, BufRead, Read};

use super::source::read_at;

/// Bytes read at a time.
const BLOCK: u64 = 1 << 20;

/// A number of a file, in little-endian order.
pub(crate) trait Word: Copy {
    /// Appends the numbers in `bytes`.
    fn append(bytes: &[u8], into: &mut Vec<Self>);
}

macro_rules! word {
    ($($type:ty),*) => {$(
        impl Word for $type {
            fn append(bytes: &[u8], into: &mut Vec<$type>) {
                into.extend(bytes.as_chunks().0.iter().map(|&bytes| <$type>::from_le_bytes(bytes)));
            }
        }
    )*};
}
word!(u32, u64);

/// Reads `count` numbers. The memory grows with the bytes that are there, whatever the count.
pub(crate) fn words<T: Word>(reader: &mut dyn BufRead, count: u64) -> io::Result<Vec<T>> {
    let size = size_of::<T>() as u64;
    let mut words = Vec::new();
    let mut buffer = Vec::new();
    let mut missing = count * size;
    while missing > 0 {
        let wanted = missing.min(BLOCK);
        buffer.clear();
        reader.take(wanted).read_to_end(&mut buffer)?;
        if (buffer.len() as u64) < wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        T::append(&buffer, &mut words);
        missing -= wanted;
    }
    Ok(words)
}

/// Reads `count` numbers at `offset` of a file that has them.
pub(crate) fn words_at<T: Word>(file: &File, mut offset: u64, count: u64) -> io::Result<Vec<T>> {
    let mut words = Vec::new();
    let mut missing = count * size_of::<T>() as u64;
    let mut buffer = vec![0; missing.min(BLOCK) as usize];
    while missing > 0 {
        let block = &mut buffer[..missing.min(BLOCK) as usize];
        if read_at(file, block, offset)? < block.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        T::append(block, &mut words);
        offset += block.len() as u64;
        missing -= block.len() as u64;
    }
    Ok(words)
}
