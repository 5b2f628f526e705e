//! One worker's timers, used by its thread alone: an implicit 4-ary heap.
//!
//! An entry of the heap contains the deadline, the order of insertion, and the number of a slot in [`Slots`]. The slot
//! contains the rest of the timer and the entry's position, so that a timer can be found and removed before it fires.
//! Entries move, slots do not.
//!
//! Four siblings share one cache line (LaMarca, Ladner 1996). The root is entry 3, the children of entry `p` are the
//! group `p - 2`, and the parent of entry `p` is `p / 4 + 2`. A group with fewer timers is filled up with [`VACANT`],
//! which is later than all timers. So three comparisons without a conditional branch find the first of four.
//!
//! Invariant: a slot in use refers to the one entry that refers to it, and an entry in the heap refers to a slot in
//! use. So a key is valid if and only if the entry to which its slot refers refers back to that slot, and the
//! generation matches the key's.
//!
//! The order among equal deadlines is a 32-bit number, assigned at insertion. When the numbers run out, all timers are
//! renumbered. That sorts them, once in 4 billion insertions.
//!
//! Why not a timing wheel (Varghese, Lauck 1987)? One was measured against the heap, with 11 levels of 64 lists down to
//! single nanoseconds. Nanoseconds per operation, with 100,000 timers over a minute:
//!
//! |       | insert later ones | insert any | remove any | remove the earliest | insert, remove 32 later | fire |
//! |-------|-------------------|------------|------------|---------------------|-------------------------|------|
//! | heap  | 14                | 20         | 32         | 54                  | 17                      | 71   |
//! | wheel | 10                | 8          | 9          | 4                   | 5                       | 52   |
//!
//! A clock read, which each insertion needs, takes 30 ns. In return for the difference the heap knows the next deadline
//! exactly. A wheel knows only the list of the next deadline. A worker that is about to sleep would have to search that
//! list, which may contain all timers, or wake up too early. The heap also keeps past deadlines in order without
//! another structure.
//!
//! A million timers take 33.6 bytes each. At no size from ten thousand to two million do they take more than 36.4. The
//! heap's array shrinks with the number of timers. Scattered remaining timers keep a chunk of the slab each, up to 4
//! KiB.

use crate::time::{slots::Slots, tick::Tick};

/// See the [module](self).
pub(crate) struct Timers<T> {
    /// Empty, or the root's group and the groups after it.
    groups: Vec<Group>,
    len: usize,
    slots: Slots<T>,
    /// The order number of the next inserted timer.
    order: u32,
    /// The generation of the next inserted timer.
    generation: u32,
}

/// The name of a timer. A key of a timer that has fired or was removed is harmless. It matches another timer only if it
/// was kept while a multiple of 2^32 timers was inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    slot: u32,
    generation: u32,
}

/// The fields are in the order of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    deadline: Tick,
    /// The order of insertion in the high half, the number of the slot in the low half.
    tag: u64,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group([Entry; 4]);

const ROOT: usize = 3;

/// No timer. Its order number is higher than that of any timer.
const VACANT: Entry = Entry { deadline: Tick::MAX, tag: u64::MAX };

/// The number of groups that a search for timers which are due together visits.
const MAX_VISITED: usize = 32;

/// At most this many groups keep their memory.
const FEW: usize = 64;

impl Entry {
    #[inline]
    fn new(deadline: Tick, order: u32, slot: u32) -> Self {
        Self { deadline, tag: u64::from(order) << 32 | u64::from(slot) }
    }

    #[inline]
    fn slot(self) -> u32 {
        self.tag as u32
    }

    #[inline]
    fn is_before(self, other: Self) -> bool {
        let whole = |entry: Self| u128::from(entry.deadline) << 64 | u128::from(entry.tag);
        whole(self) < whole(other)
    }
}

impl<T: Copy> Timers<T> {
    pub(crate) const fn new() -> Self {
        Self { groups: Vec::new(), len: 0, slots: Slots::new(), order: 0, generation: 0 }
    }

    /// Returns the number of timers that have neither fired nor been removed.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a timer. O(log n), and in practice O(1) when deadlines increase.
    pub(crate) fn insert(&mut self, deadline: Tick, item: T) -> Key {
        if self.order == u32::MAX {
            self.number_anew();
        }
        let slot = self.slots.take(item, self.generation);
        let key = Key { slot, generation: self.generation };
        let entry = Entry::new(deadline, self.order, slot);
        self.generation = self.generation.wrapping_add(1);
        self.order += 1;
        self.len += 1;
        let position = ROOT + self.len - 1;
        if position / 4 == self.groups.len() {
            self.add_group();
        }
        self.rise(position, entry);
        key
    }

    /// Removes a timer before it fires. Returns `false` if it has fired or was removed. O(log n), and O(1) on average
    /// except for the earliest timer.
    pub(crate) fn remove(&mut self, key: Key) -> bool {
        let Some(slot) = self.slots.get(key.slot) else { return false };
        let position = slot.position as usize;
        let is_current = slot.generation == key.generation
            && self.groups.get(position / 4).is_some_and(|group| group.0[position % 4].slot() == key.slot);
        if is_current {
            self.slots.free(key.slot);
            self.vacate(position);
        }
        is_current
    }

    /// Returns the earliest deadline.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Tick> {
        if self.len == 0 { None } else { Some(self.entry(ROOT).deadline) }
    }

    /// Returns the latest deadline that is at most `slack` after the earliest. Visits at most [`MAX_VISITED`] groups,
    /// the upper ones first. So among many timers the result may be an earlier deadline.
    pub(crate) fn last_deadline_within(&self, slack: Tick) -> Option<Tick> {
        let first = self.next_deadline()?;
        let limit = first.saturating_add(slack);
        let mut last = first;
        // A group contains the children of one position, see `sink`.
        let mut queue = [0u32; MAX_VISITED];
        let (mut seen, mut count) = (0, 1);
        queue[0] = ROOT as u32;
        while seen < count {
            let position = queue[seen] as usize;
            seen += 1;
            let Some(Group(children)) = self.groups.get(position - 2) else { continue };
            for (index, child) in children.iter().enumerate() {
                if child.deadline <= limit && child.tag != VACANT.tag {
                    last = last.max(child.deadline);
                    if count < MAX_VISITED {
                        queue[count] = ((position - 2) * 4 + index) as u32;
                        count += 1;
                    }
                }
            }
        }
        Some(last)
    }

    /// Takes the first timer whose deadline is `now` or earlier, and returns it with its deadline. The order is that of
    /// deadlines and, where they are equal, of insertion. O(log n).
    pub(crate) fn pop_due(&mut self, now: Tick) -> Option<(Tick, T)> {
        let deadline = self.next_deadline()?;
        if deadline > now {
            return None;
        }
        let item = self.slots.free(self.entry(ROOT).slot());
        self.vacate(ROOT);
        Some((deadline, item))
    }

    #[inline]
    fn entry(&self, position: usize) -> Entry {
        self.groups[position / 4].0[position % 4]
    }

    #[inline]
    fn put(&mut self, position: usize, entry: Entry) {
        self.groups[position / 4].0[position % 4] = entry;
        self.slots.set_position(entry.slot(), position);
    }

    /// Puts an entry at `position`, which is empty, or above it.
    #[inline]
    fn rise(&mut self, mut position: usize, entry: Entry) {
        while position > ROOT {
            let parent = position / 4 + 2;
            let above = self.entry(parent);
            if !entry.is_before(above) {
                break;
            }
            self.put(position, above);
            position = parent;
        }
        self.put(position, entry);
    }

    /// Puts an entry at `position`, which is empty, or below it.
    #[inline]
    fn sink(&mut self, mut position: usize, entry: Entry) {
        while let Some(Group([a, b, c, d])) = self.groups.get(position - 2) {
            let (left, l) = if b.is_before(*a) { (*b, 1) } else { (*a, 0) };
            let (right, r) = if d.is_before(*c) { (*d, 3) } else { (*c, 2) };
            let (first, f) = if right.is_before(left) { (right, r) } else { (left, l) };
            if !first.is_before(entry) {
                break;
            }
            self.put(position, first);
            position = (position - 2) * 4 + f;
        }
        self.put(position, entry);
    }

    /// Fills an empty position with the last entry of the heap.
    fn vacate(&mut self, position: usize) {
        let end = ROOT + self.len - 1;
        self.len -= 1;
        let last = self.entry(end);
        self.groups[end / 4].0[end % 4] = VACANT;
        if end.is_multiple_of(4) {
            self.drop_group();
        }
        if position == end {
            return;
        }
        if position > ROOT && last.is_before(self.entry(position / 4 + 2)) {
            self.rise(position, last);
        } else {
            self.sink(position, last);
        }
    }

    /// Adds a group. Grows the memory by a quarter, where a vector would double it.
    fn add_group(&mut self) {
        let len = self.groups.len();
        if len == self.groups.capacity() {
            self.groups.reserve_exact((len / 4).max(4));
        }
        self.groups.push(Group([VACANT; 4]));
    }

    /// Drops the last group. If less than half of the memory is in use, frees the rest except for a quarter of the used
    /// part.
    fn drop_group(&mut self) {
        self.groups.pop();
        let len = self.groups.len();
        if self.groups.capacity() > (2 * len).max(FEW) {
            self.groups.shrink_to(len + len / 4);
        }
    }

    /// Returns the number of allocated bytes.
    #[cfg(test)]
    fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Group>() + self.slots.memory()
    }

    /// Renumbers the order of all timers from zero. A sorted array is a heap.
    #[cold]
    fn number_anew(&mut self) {
        let mut entries: Vec<_> = (ROOT..ROOT + self.len).map(|position| self.entry(position)).collect();
        entries.sort_unstable();
        self.order = 0;
        for (position, entry) in (ROOT..).zip(entries) {
            self.put(position, Entry::new(entry.deadline, self.order, entry.slot()));
            self.order += 1;
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use super::*;
    use crate::time::tick::NEVER;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn drain(timers: &mut Timers<u64>) -> Vec<u64> {
        std::iter::from_fn(|| timers.pop_due(NEVER)).map(|(_, item)| item).collect()
    }

    #[test]
    fn timers_fire_when_they_are_due_and_not_before() {
        let mut timers = Timers::new();
        timers.insert(20, 'b');
        timers.insert(10, 'a');
        assert_eq!((timers.next_deadline(), timers.pop_due(9)), (Some(10), None));
        assert_eq!(
            (timers.pop_due(10), timers.pop_due(19), timers.pop_due(50)),
            (Some((10, 'a')), None, Some((20, 'b')))
        );
        assert_eq!((timers.next_deadline(), timers.pop_due(NEVER), timers.len()), (None, None, 0));
    }

    #[test]
    fn equal_deadlines_fire_in_the_order_of_insertion() {
        let mut timers = Timers::new();
        let keys: Vec<_> = (0..1000).map(|i| timers.insert(i % 3, i)).collect();
        for key in keys.iter().step_by(5) {
            assert!(timers.remove(*key));
        }
        let mut expected: Vec<_> = (0..1000).filter(|i| i % 5 != 0).collect();
        expected.sort_by_key(|i| i % 3);
        assert_eq!(drain(&mut timers), expected);
    }

    #[test]
    fn last_deadline_within_finds_timers_due_together() {
        let mut timers = Timers::new();
        assert_eq!(timers.last_deadline_within(10), None);
        timers.insert(100, 0);
        assert_eq!(timers.last_deadline_within(10), Some(100));
        for later in [111, 105, 110, 300, 104, NEVER] {
            timers.insert(later, 0);
        }
        assert_eq!(timers.last_deadline_within(10), Some(110));
        assert_eq!(timers.last_deadline_within(0), Some(100));
        assert_eq!(timers.last_deadline_within(Tick::MAX), Some(NEVER));
        for deadline in 0..10_000 {
            timers.insert(1_000 + deadline, 0);
        }
        let last = timers.last_deadline_within(5_000).unwrap();
        assert!((110..=5_100).contains(&last), "{last}");
    }

    #[test]
    fn stale_key_removes_nothing() {
        let mut timers = Timers::new();
        let fired = timers.insert(1, 1);
        let removed = timers.insert(2, 2);
        assert_eq!(timers.pop_due(1), Some((1, 1)));
        assert!(timers.remove(removed));
        assert!(!timers.remove(fired) && !timers.remove(removed), "of free places");
        timers.insert(3, 3);
        timers.insert(4, 4);
        assert!(!timers.remove(fired) && !timers.remove(removed), "of places that others have");
        assert_eq!(timers.len(), 2);
    }

    #[test]
    fn endless_timer_comes_last_and_can_be_removed() {
        let mut timers = Timers::new();
        let keys = [0, 1, 2, 3, 4].map(|i| timers.insert(NEVER, i));
        timers.insert(NEVER - 1, 5);
        assert!(timers.remove(keys[2]));
        assert_eq!(timers.pop_due(NEVER - 1), Some((NEVER - 1, 5)));
        assert_eq!((timers.next_deadline(), timers.pop_due(NEVER - 1)), (Some(NEVER), None));
        assert_eq!(drain(&mut timers), [0, 1, 3, 4]);
    }

    #[test]
    fn million_timers_take_at_most_40_bytes_each() {
        let mut timers = Timers::new();
        for i in 0..1_000_000_u64 {
            timers.insert(i, i);
            if i.is_power_of_two() && i > 10_000 {
                assert!(timers.memory() <= 40 * timers.len(), "{} bytes for {i}", timers.memory());
            }
        }
        assert!(timers.memory() <= 40_000_000, "{} bytes", timers.memory());
    }

    #[test]
    fn memory_is_freed() {
        let mut timers = Timers::new();
        let keys: Vec<_> = (0..100_000).map(|i| timers.insert(i, i)).collect();
        let full = timers.memory();
        for key in &keys[..50_000] {
            timers.remove(*key);
        }
        assert!(timers.memory() < full * 2 / 3, "{} of {full} bytes are left after a half", timers.memory());
        while timers.pop_due(99_990).is_some() {}
        assert!(timers.memory() < full / 50, "{} of {full} bytes are left after all but nine", timers.memory());
        assert_eq!(drain(&mut timers), (99_991..100_000).collect::<Vec<_>>());
    }

    #[derive(Debug, Clone)]
    enum Step {
        /// Inserts this many timers, each later than the last by this much.
        Insert {
            count: usize,
            first: Tick,
            apart: Tick,
        },
        /// Removes this many keys, out of all keys so far; some are stale.
        Remove {
            count: usize,
            which: usize,
        },
        Fire {
            now: Tick,
            at_most: usize,
        },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let deadline = prop_oneof![4 => 0..60_u64, 1 => 0..NEVER, 1 => NEVER - 3..=NEVER];
        let count = prop_oneof![3 => 1..4_usize, 1 => 1..800_usize];
        let step = prop_oneof![
            (count.clone(), deadline.clone(), 0..3_u64).prop_map(|(count, first, apart)| Step::Insert {
                count,
                first,
                apart
            }),
            (count.clone(), any::<usize>()).prop_map(|(count, which)| Step::Remove { count, which }),
            (deadline, count).prop_map(|(now, at_most)| Step::Fire { now, at_most }),
        ];
        prop::collection::vec(step, 1..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// In some of the cases the numbers of order and of generation overflow.
        #[test]
        fn timers_match_sorted_map(steps in steps(), left in prop_oneof![Just(u32::MAX), 0..2000_u32]) {
            let mut timers = Timers::new();
            (timers.order, timers.generation) = (u32::MAX - left, u32::MAX - left);
            let mut model = BTreeMap::new();
            let mut inserted = Vec::new();
            for step in steps {
                match step {
                    Step::Insert { count, first, apart } => for i in 0..count as u64 {
                        let (deadline, number) = (first.saturating_add(i * apart), inserted.len());
                        inserted.push((deadline, timers.insert(deadline, number)));
                        model.insert((deadline, number), number);
                    },
                    Step::Remove { count, which } => for i in 0..count.min(inserted.len()) {
                        let number = (which % inserted.len() + i * 7) % inserted.len();
                        let (deadline, key) = inserted[number];
                        prop_assert_eq!(timers.remove(key), model.remove(&(deadline, number)).is_some());
                    },
                    Step::Fire { now, at_most } => for _ in 0..at_most {
                        let first = model.first_entry().filter(|first| first.key().0 <= now);
                        let first = first.map(|first| (first.key().0, first.remove()));
                        prop_assert_eq!(timers.pop_due(now), first);
                    },
                }
                prop_assert_eq!(timers.len(), model.len());
                prop_assert_eq!(timers.next_deadline(), model.keys().next().map(|(deadline, _)| *deadline));
            }
        }
    }
}
