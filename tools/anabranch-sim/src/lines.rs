//! Cache lines: which core owns or shares each, and the cost of an access.
//!
//! A line is found by its address, so that false sharing costs as much as in reality. A line that no core has used is
//! private to the first core that uses it. A line moves to one core at a time: an access that needs a transfer waits
//! for the transfer before it. A store leaves through the store buffer, so the core continues at once, and the next
//! read-modify-write or fence of the core waits until the line has arrived.

use crate::machine::{Access, Machine, Picos};
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// The size of a line.
pub(crate) const LINE: usize = 64;

/// The most cores that a machine can have.
pub(crate) const MAX_CORES: usize = 128;

struct Line {
    /// The core that wrote last.
    owner: usize,
    /// The cores that have a valid copy, a bit for each.
    copies: u128,
    /// The end of the last transfer.
    free_at: Picos,
}

impl Line {
    fn is_hit(&self, core: usize, access: Access) -> bool {
        if access == Access::Load { self.copies & 1 << core != 0 } else { self.copies == 1 << core }
    }
}

/// All lines that were used.
#[derive(Default)]
pub(crate) struct Lines(HashMap<usize, Line, BuildHasherDefault<LineHasher>>);

impl Lines {
    /// Returns when an access of `core` ends that begins at `now`. `drained` is when the store buffer of the core is
    /// empty.
    pub(crate) fn access(
        &mut self,
        machine: &Machine,
        (core, drained): (usize, &mut Picos),
        address: usize,
        access: Access,
        now: Picos,
    ) -> Picos {
        let me = 1u128 << core;
        let line = self.0.entry(address / LINE).or_insert(Line { owner: core, copies: me, free_at: 0 });
        let is_hit = line.is_hit(core, access);
        let base = machine.base(access);
        // A read-modify-write is a full fence.
        let begin = if access == Access::Update { now.max(*drained) } else { now };
        if is_hit {
            return begin + base;
        }
        // A writer that has a copy still waits for the farthest other copy to be given up.
        let source = if line.owner != core { line.owner } else { (line.copies & !me).trailing_zeros() as usize };
        let transfer = machine.transfer(source, core);
        if access == Access::Load && line.copies.count_ones() > 1 {
            // The shared cache serves any number of readers at a time.
            line.copies |= me;
            return begin + transfer + base;
        }
        let arrival = begin.max(line.free_at) + transfer;
        line.free_at = arrival;
        if access == Access::Load {
            line.copies |= me;
            return arrival + base;
        }
        (line.owner, line.copies) = (core, me);
        if access == Access::Store {
            *drained = arrival.max(*drained);
            return begin + base;
        }
        arrival + base
    }

    /// Returns whether an access hits in the cache of a core.
    pub(crate) fn is_hit(&self, core: usize, address: usize, access: Access) -> bool {
        self.0.get(&(address / LINE)).is_some_and(|line| line.is_hit(core, access))
    }

    /// Forgets the lines of memory that was freed or allocated.
    pub(crate) fn forget(&mut self, address: usize, bytes: usize) {
        let lines = address / LINE..(address + bytes).div_ceil(LINE);
        if lines.len() > self.0.len() {
            return self.0.retain(|line, _| !lines.contains(line));
        }
        for line in lines {
            self.0.remove(&line);
        }
    }
}

/// A multiplicative hash: the numbers of lines are not from an adversary.
#[derive(Default)]
pub(crate) struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(usize::from(byte)));
    }

    fn write_usize(&mut self, value: usize) {
        self.0 = (self.0 ^ value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(lines: &mut Lines, core: usize, address: usize, access: Access, now: Picos) -> Picos {
        lines.access(&Machine::server(64), (core, &mut 0), address, access, now) - now
    }

    #[test]
    fn line_of_other_core_and_socket_costs_more() {
        let (mut lines, machine) = (Lines::default(), Machine::server(64));
        assert_eq!(end(&mut lines, 0, 0, Access::Update, 0), machine.update);
        assert_eq!(end(&mut lines, 0, 63, Access::Load, 0), machine.load);
        assert_eq!(end(&mut lines, 1, 8, Access::Load, 0), machine.near + machine.load);
        assert_eq!(end(&mut lines, 1, 8, Access::Load, 1_000_000), machine.load);
        assert_eq!(end(&mut lines, 32, 8, Access::Update, 1_000_000), machine.far + machine.update);
        assert_eq!(end(&mut lines, 1, 8, Access::Load, 9_000_000), machine.far + machine.load);
        assert_eq!(end(&mut lines, 1, 64, Access::Load, 0), machine.load, "another line");
    }

    #[test]
    fn transfers_of_one_line_queue_up() {
        let (mut lines, machine) = (Lines::default(), Machine::server(8));
        let ends = [0, 1, 2, 3].map(|core| end(&mut lines, core, 0, Access::Update, 0));
        assert_eq!(ends, [0, 1, 2, 3].map(|before| before * machine.near + machine.update));
    }

    #[test]
    fn store_returns_before_line_has_arrived_and_next_update_waits() {
        let (mut lines, machine, mut drained) = (Lines::default(), Machine::server(8), 0);
        end(&mut lines, 1, 0, Access::Store, 0);
        let end = lines.access(&machine, (0, &mut drained), 0, Access::Store, 0);
        assert_eq!((end, drained), (machine.store, machine.near));
        let end = lines.access(&machine, (0, &mut drained), 640, Access::Update, end);
        assert_eq!(end, machine.near + machine.update);
    }

    #[test]
    fn forgotten_line_belongs_to_next_core() {
        let (mut lines, machine) = (Lines::default(), Machine::server(8));
        end(&mut lines, 0, 0, Access::Update, 0);
        lines.forget(0, 1);
        assert_eq!(end(&mut lines, 1, 0, Access::Update, 0), machine.update);
    }
}
