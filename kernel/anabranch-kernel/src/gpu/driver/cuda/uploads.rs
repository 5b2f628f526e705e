//! Chunks of locked memory, through which uploads are copied.
//!
//! Small uploads have chunks of their own: otherwise a few uploads of some bytes each would occupy all chunks. Large
//! uploads have their own chunks too, because they do not wait for kernels.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::api::LARGE;
use crate::Error;

/// The bytes of the chunks of each kind: for small uploads, others, and large ones.
const BYTES: [usize; 3] = [4 << 10, 1 << 20, 1 << 20];
/// The most bytes of all chunks of a kind.
const MOST_BYTES: usize = 16 << 20;

/// The bytes of an upload that are copied at once.
pub(super) const PART: usize = BYTES[2];

/// The chunks of a device, which are `T`. Those of a kind are in the order of their last use.
pub(super) struct Uploads<T> {
    chunks: [Mutex<VecDeque<Arc<T>>>; 3],
}

impl<T> Default for Uploads<T> {
    fn default() -> Self {
        Self { chunks: Default::default() }
    }
}

impl<T> Uploads<T> {
    /// Returns a chunk for a part of an upload of `bytes`: the one of its kind whose last use is longest ago, if it is
    /// free or there are enough. Otherwise makes one, of the bytes that `make` takes.
    pub(super) fn chunk(
        &self,
        bytes: usize,
        is_free: impl FnOnce(&T) -> bool,
        make: impl FnOnce(u64) -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let kind = usize::from(bytes > BYTES[0]) + usize::from(bytes as u64 >= LARGE);
        let mut chunks = self.chunks[kind].lock().unwrap_or_else(PoisonError::into_inner);
        let are_enough = chunks.len() >= MOST_BYTES / BYTES[kind];
        let has_free = chunks.front().is_some_and(|oldest| are_enough || is_free(oldest));
        let oldest = if has_free { chunks.pop_front() } else { None };
        let chunk = match oldest {
            Some(oldest) => oldest,
            None => Arc::new(make(BYTES[kind] as u64)?),
        };
        chunks.push_back(Arc::clone(&chunk));
        Ok(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes of the chunk of an upload while all chunks are in use, and whether it is a new one.
    fn chunk(uploads: &Uploads<u64>, bytes: usize) -> (u64, bool) {
        let mut is_new = false;
        let chunk = uploads.chunk(
            bytes,
            |_| false,
            |bytes| {
                is_new = true;
                Ok(bytes)
            },
        );
        (*chunk.unwrap(), is_new)
    }

    #[test]
    fn small_and_large_uploads_leave_chunks_to_others() {
        let uploads = Uploads::default();
        for _ in 0..4096 {
            assert_eq!(chunk(&uploads, 4), (4096, true));
        }
        for _ in 0..16 {
            assert_eq!(chunk(&uploads, 4097), (PART as u64, true));
            assert_eq!(chunk(&uploads, 4 * PART), (PART as u64, true));
        }
        // The next ones wait for the first of their kind.
        assert_eq!(chunk(&uploads, 4096), (4096, false));
        assert_eq!(chunk(&uploads, 4097), (PART as u64, false));
        assert_eq!(chunk(&uploads, PART), (PART as u64, false));
    }

    #[test]
    fn a_chunk_is_used_again_once_it_is_free() {
        let uploads = Uploads::default();
        let first = uploads.chunk(4, |_| false, Ok).unwrap();
        let second = uploads.chunk(4, |_| true, Ok).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
    }
}
