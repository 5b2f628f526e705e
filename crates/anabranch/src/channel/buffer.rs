//! The values of a shared channel: in a ring that was made for so many, or in blocks.

use super::blocks::Blocks;
use std::collections::VecDeque;

/// Bounded channels have their memory allocated when they are made if it is no more than this many bytes.
const AT_ONCE: usize = 1 << 16;

pub(super) enum Buffer<T> {
    Ring(VecDeque<T>),
    Blocks(Blocks<T>),
}

impl<T> Buffer<T> {
    pub(super) fn new(capacity: Option<usize>) -> Self {
        match capacity {
            Some(capacity) => {
                let fitting = AT_ONCE / size_of::<T>().max(1);
                Self::Ring(VecDeque::with_capacity(capacity.min(fitting)))
            }
            None => Self::Blocks(Blocks::new()),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ring(ring) => ring.len(),
            Self::Blocks(blocks) => blocks.len(),
        }
    }

    #[inline]
    pub(super) fn push_back(&mut self, value: T) {
        match self {
            Self::Ring(ring) => ring.push_back(value),
            Self::Blocks(blocks) => blocks.push_back(value),
        }
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<T> {
        match self {
            Self::Ring(ring) => ring.pop_front(),
            Self::Blocks(blocks) => blocks.pop_front(),
        }
    }
}
