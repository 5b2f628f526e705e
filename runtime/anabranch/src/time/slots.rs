//! Numbered slots for the timers of a worker: a slab in chunks.
//!
//! A slot keeps its number while it is in use; the numbers of free slots are reused. The slots are in chunks, so that
//! growing moves at most one chunk. A chunk returns its memory when its last timer is removed. One remaining timer
//! keeps its whole chunk.
//!
//! New timers go to the *current* chunk, which was used a moment ago. It stays current until it is full. Then the next
//! chunk in which a slot becomes free takes over. If there is none, the lowest chunk with a free slot takes over, so
//! that high chunks can empty.

/// The number of slots in a chunk.
const CHUNK: usize = 256;

/// The end of a list of free slots.
const NONE: u32 = u32::MAX;

/// A slot. The item of a free slot is meaningless.
pub(super) struct Slot<T> {
    item: T,
    /// The position of the timer in the heap. In a free slot: the next free slot of the chunk.
    pub(super) position: u32,
    pub(super) generation: u32,
}

struct Chunk<T> {
    slots: Vec<Slot<T>>,
    /// The first of the free slots that were used before.
    free: u32,
    taken: u32,
}

/// See the [module](self).
pub(super) struct Slots<T> {
    chunks: Vec<Chunk<T>>,
    /// One bit per chunk: whether it has a free slot. A chunk without memory counts as having one.
    open: Vec<u64>,
    current: usize,
}

impl<T> Chunk<T> {
    const EMPTY: Self = Self { slots: Vec::new(), free: NONE, taken: 0 };

    fn is_full(&self) -> bool {
        self.taken as usize == CHUNK
    }
}

impl<T: Copy> Slots<T> {
    pub(super) const fn new() -> Self {
        Self { chunks: Vec::new(), open: Vec::new(), current: 0 }
    }

    /// Takes a free slot and returns its number. The caller sets the position next.
    ///
    /// # Panics
    /// Panics when there are some four billion timers.
    #[inline]
    pub(super) fn take(&mut self, item: T, generation: u32) -> u32 {
        if self.chunks.get(self.current).is_none_or(Chunk::is_full) {
            self.current = self.lowest_open();
        }
        let chunk = &mut self.chunks[self.current];
        let slot = Slot { item, position: NONE, generation };
        let offset = if chunk.free == NONE {
            chunk.slots.push(slot);
            chunk.slots.len() - 1
        } else {
            let offset = chunk.free as usize;
            let place = &mut chunk.slots[offset];
            chunk.free = place.position;
            *place = slot;
            offset
        };
        chunk.taken += 1;
        if chunk.is_full() {
            self.open[self.current / 64] &= !(1 << (self.current % 64));
        }
        (self.current * CHUNK + offset) as u32
    }

    /// Returns the lowest chunk with a free slot, or else a new one.
    #[cold]
    fn lowest_open(&mut self) -> usize {
        if let Some(word) = self.open.iter().position(|word| *word != 0) {
            return word * 64 + self.open[word].trailing_zeros() as usize;
        }
        let new = self.chunks.len();
        assert!(new < NONE as usize / CHUNK, "too many timers on one worker");
        self.chunks.push(Chunk::EMPTY);
        if new.is_multiple_of(64) {
            self.open.push(0);
        }
        self.open[new / 64] |= 1 << (new % 64);
        new
    }

    /// Frees a slot in use, and returns its item.
    #[inline]
    pub(super) fn free(&mut self, number: u32) -> T {
        let (index, offset) = split(number);
        let chunk = &mut self.chunks[index];
        let slot = &mut chunk.slots[offset];
        let item = slot.item;
        slot.position = chunk.free;
        chunk.free = offset as u32;
        if chunk.is_full() {
            self.open[index / 64] |= 1 << (index % 64);
        }
        chunk.taken -= 1;
        // The current chunk is kept; otherwise the next timer might allocate it again.
        if index != self.current {
            if chunk.taken == 0 {
                *chunk = Chunk::EMPTY;
            } else if self.chunks[self.current].is_full() {
                self.current = index;
            }
        }
        item
    }

    /// Returns a slot, in use or free, or `None` if there is no slot with this number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&Slot<T>> {
        let (index, offset) = split(number);
        self.chunks.get(index)?.slots.get(offset)
    }

    /// Records that the timer of a slot in use is now at `position`.
    #[inline]
    pub(super) fn set_position(&mut self, number: u32, position: usize) {
        let (index, offset) = split(number);
        self.chunks[index].slots[offset].position = position as u32;
    }

    /// Returns the number of allocated bytes.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        let slots: usize = self.chunks.iter().map(|chunk| chunk.slots.capacity()).sum();
        slots * size_of::<Slot<T>>() + self.chunks.capacity() * size_of::<Chunk<T>>() + self.open.capacity() * 8
    }
}

#[inline]
fn split(number: u32) -> (usize, usize) {
    (number as usize / CHUNK, number as usize % CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(len: usize) -> (Slots<usize>, Vec<u32>) {
        let mut slots = Slots::new();
        let numbers = (0..len).map(|i| slots.take(i, 0)).collect();
        (slots, numbers)
    }

    #[test]
    fn slots_are_numbered_without_gaps_and_reused() {
        let (mut slots, numbers) = filled(3 * CHUNK);
        assert_eq!(numbers, (0..3 * CHUNK as u32).collect::<Vec<_>>());
        let freed = [5, 700, 300, 6];
        for number in freed {
            assert_eq!(slots.free(number), number as usize);
        }
        let mut again = freed.map(|_| slots.take(0, 1));
        again.sort_unstable();
        assert_eq!(again, [5, 6, 300, 700]);
        assert_eq!(slots.take(0, 1), 3 * CHUNK as u32);
    }

    #[test]
    fn lowest_chunk_with_room_is_filled_first() {
        let (mut slots, _) = filled(4 * CHUNK);
        // The chunk of the first freed slot takes over. Of the others the lowest is next.
        for number in [2, 3, 1].map(|chunk| chunk * CHUNK as u32) {
            slots.free(number);
        }
        assert_eq!([0; 3].map(|item| slots.take(item, 1) as usize / CHUNK), [2, 1, 3]);
    }

    #[test]
    fn empty_chunk_frees_memory() {
        let (mut slots, numbers) = filled(100 * CHUNK);
        let full = slots.memory();
        let (last, others) = numbers.split_last().unwrap();
        for number in others {
            slots.free(*number);
        }
        assert!(slots.memory() < full / 20, "{} of {full} bytes are left", slots.memory());
        assert!(slots.get(CHUNK as u32).is_none());
        assert_eq!(slots.free(*last), numbers.len() - 1);
    }

    #[test]
    fn chunk_is_kept_for_next_timer() {
        let (mut slots, _) = filled(CHUNK);
        let alone = slots.take(0, 1);
        let before = slots.memory();
        slots.free(alone);
        assert_eq!(slots.memory(), before);
    }
}
