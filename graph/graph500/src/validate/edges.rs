//! The checks over the input tuples: (3), (4), (5), and the number of edges of the component.
//!
//! A tuple costs two reads, one for each end. So the pass reads a *tag* of 32 bits for each vertex: its level, and
//! above it the low bits of its parent. A run sorts the tuples after kernel 1. Then the tags of the first ends are in
//! cache, and those of the second ends follow each other.
//!
//! The pass finds a tree edge where the tag of one end has the next level and the other end as the parent. Then the
//! vertex itself replaces the parent in its tag, which means "seen". At the end, a vertex that is not its own parent
//! has a tree edge that is not in the input. Two threads that see the same tree edge store the same tag.
//!
//! In graphs of many vertices, or for deep trees, a tag has not all bits of the parent. Then the word of the vertex
//! decides, and has the mark.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use anabranch::prelude::*;

use super::{OUTSIDE, ValidationError, Verdict, blocks, each_vertex, level, parent, ranges, word};
use crate::edge::Tuple;
use crate::watch::Halt;

/// First ends whose tuples are together. Their tags take 256 KB, and fit into a second-level cache.
const FIRST_ENDS: u32 = 1 << 16;
/// Second ends whose tuples are in any order, within those of the first ends. Their tags take 1 KB.
const SECOND_ENDS: u32 = 1 << 8;
/// Tuples of a batch.
const BATCH: usize = 256;

/// Sorts tuples into an order in which the ends of neighbours have tags in cache.
pub(crate) fn sort(edges: &mut [impl Tuple]) {
    edges.par_sort_unstable_by_key(|edge| {
        let (a, b) = edge.low_ends();
        u64::from(a / FIRST_ENDS) << 32 | u64::from(b / SECOND_ENDS)
    });
}

/// What the bits of a tag mean.
#[derive(Clone, Copy, Default)]
pub(super) struct TagFormat {
    /// The bits of the level. Levels count from 1, and outside of the tree all these bits are set. So no level in the
    /// tree is next to that, not even if it wraps around.
    level: u32,
    /// How many these are, from 2 to 32.
    level_bits: u32,
    /// Whether a tag has all bits of the parent.
    is_exact: bool,
}

impl TagFormat {
    fn new(depth: u32, vertices: usize) -> TagFormat {
        let level_bits = u32::BITS.min(u64::BITS - (u64::from(depth) + 3).leading_zeros());
        let is_exact = vertices as u64 <= (1 << 32) >> level_bits;
        TagFormat { level: u32::MAX >> (32 - level_bits), level_bits, is_exact }
    }

    /// Returns the tag of a vertex. Outside of the tree a vertex is its own parent, so it has no tree edge to see.
    fn tag(self, vertex: u32, found: u64) -> u32 {
        let (level, parent) = if found == OUTSIDE { (self.level, vertex) } else { (level(found) + 1, parent(found)) };
        level | self.parent_bits(parent)
    }

    #[inline]
    fn parent_bits(self, parent: u32) -> u32 {
        // In two steps, since 32 bits are one too many for a shift.
        parent << (self.level_bits - 1) << 1
    }

    /// Returns whether the pass has seen the tree edge of a vertex with this tag and this word, or it has none.
    #[inline]
    pub(super) fn is_seen(self, vertex: u32, tag: u32, word: impl FnOnce() -> u64) -> bool {
        if self.is_exact {
            tag & !self.level == self.parent_bits(vertex)
        } else {
            let word = word();
            word == OUTSIDE || parent(word) == vertex
        }
    }
}

/// Checks 3 and 4, and marks the tree edges for check 5. Returns the number of edges in the component, and what the
/// tags mean.
pub(super) fn check(
    edges: &[impl Tuple],
    words: &[AtomicU64],
    tags: &[AtomicU32],
    depth: u32,
    halt: &Halt<'_>,
) -> Result<(u64, TagFormat), Verdict> {
    let format = TagFormat::new(depth, words.len());
    each_vertex(words.len(), halt, |vertex| {
        tags[vertex].store(format.tag(vertex as u32, words[vertex].load(Relaxed)), Relaxed);
        Ok(())
    })?;
    let pass = Pass { words, tags, format };
    let check = |inside: &mut u64, block: Range<usize>| {
        let start = block.start;
        *inside += pass.check(&edges[block]).map_err(|index| broken(start + index, edges[start + index], words))?;
        Ok(())
    };
    Ok((ranges(edges.len(), halt, check, |a, b| a + b)?, format))
}

/// The pass over the tuples.
struct Pass<'a> {
    words: &'a [AtomicU64],
    tags: &'a [AtomicU32],
    format: TagFormat,
}

impl Pass<'_> {
    /// Checks some tuples. Returns the number of those in the component.
    ///
    /// # Errors
    /// Returns the index of the first tuple whose ends are too far apart.
    #[inline(never)]
    fn check(&self, edges: &[impl Tuple]) -> Result<u64, usize> {
        let mut batch = Batch::EMPTY;
        let (mut outside, mut broken) = (0, 0);
        for edges in edges.chunks(BATCH) {
            batch.read(edges, self.tags);
            let counts = batch.check(edges.len(), self.format);
            (outside, broken) = (outside + counts.outside, broken + counts.broken);
            self.see_candidates(edges, &batch);
        }
        if broken > 0 { Err(self.first_broken(edges)) } else { Ok(edges.len() as u64 - u64::from(outside)) }
    }

    /// Marks the tree edges among the candidates of a batch.
    #[inline]
    fn see_candidates(&self, edges: &[impl Tuple], batch: &Batch) {
        for (edges, candidates) in edges.chunks(8).zip(batch.is_candidate.chunks(8)) {
            if candidates.iter().fold(0, |any, candidate| any | candidate) == 0 {
                continue;
            }
            for (edge, &is_candidate) in edges.iter().zip(candidates) {
                if is_candidate != 0 {
                    self.see(edge.low_ends());
                }
            }
        }
    }

    /// Marks the tree edge that two ends can be by their tags.
    #[inline]
    fn see(&self, (a, b): (u32, u32)) {
        let (level_a, level_b) = (self.level(a), self.level(b));
        let (upper, lower, level) = if level_a < level_b { (a, b, level_b) } else { (b, a, level_a) };
        if self.format.is_exact {
            self.tags[lower as usize].store(level | self.format.parent_bits(lower), Relaxed);
        } else {
            self.see_word(upper, lower);
        }
    }

    fn level(&self, vertex: u32) -> u32 {
        self.tags[vertex as usize].load(Relaxed) & self.format.level
    }

    /// Marks the tree edge of `lower` in its word, if `upper` is its parent.
    #[cold]
    #[inline(never)]
    fn see_word(&self, upper: u32, lower: u32) {
        let lower_word = &self.words[lower as usize];
        let found = lower_word.load(Relaxed);
        if parent(found) == upper {
            lower_word.store(word(level(found), lower), Relaxed);
        }
    }

    #[cold]
    fn first_broken(&self, edges: &[impl Tuple]) -> usize {
        let is_broken = |edge: &_| {
            let (a, b) = Tuple::low_ends(*edge);
            are_apart(self.level(a), self.level(b))
        };
        edges.iter().position(is_broken).expect("a tuple whose ends are too far apart")
    }
}

/// Tuples that are read before they are checked, as columns. So the compiler vectorises the checks.
struct Batch {
    ends: [[u32; BATCH]; 2],
    tags: [[u32; BATCH]; 2],
    /// Not 0 if the tags say that the tuple may be a tree edge. A flag of 32 bits, like what it is computed from.
    is_candidate: [u32; BATCH],
}

/// The tuples of a batch outside of the tree, and those whose ends are too far apart.
struct Counts {
    outside: u32,
    broken: u32,
}

impl Batch {
    const EMPTY: Batch = Batch { ends: [[0; BATCH]; 2], tags: [[0; BATCH]; 2], is_candidate: [0; BATCH] };

    #[inline]
    fn read(&mut self, edges: &[impl Tuple], tags: &[AtomicU32]) {
        let ([ends_a, ends_b], [tags_a, tags_b]) = (&mut self.ends, &mut self.tags);
        for (i, edge) in edges.iter().enumerate() {
            let (a, b) = edge.low_ends();
            (ends_a[i], ends_b[i]) = (a, b);
            (tags_a[i], tags_b[i]) = (tags[a as usize].load(Relaxed), tags[b as usize].load(Relaxed));
        }
    }

    /// Checks the first `len` tuples.
    #[inline]
    fn check(&mut self, len: usize, format: TagFormat) -> Counts {
        let ([ends_a, ends_b], [tags_a, tags_b]) = (&self.ends, &self.tags);
        let mut counts = Counts { outside: 0, broken: 0 };
        for i in 0..len {
            let (level_a, level_b) = (tags_a[i] & format.level, tags_b[i] & format.level);
            counts.outside += u32::from(level_a == format.level);
            counts.broken += u32::from(are_apart(level_a, level_b));
            let is_parent_a = (tags_b[i] ^ format.parent_bits(ends_a[i])).wrapping_sub(level_a) == 1;
            let is_parent_b = (tags_a[i] ^ format.parent_bits(ends_b[i])).wrapping_sub(level_b) == 1;
            self.is_candidate[i] = u32::from(is_parent_a | is_parent_b);
        }
        counts
    }
}

/// Returns whether an edge between these levels breaks check 3 or 4.
#[inline]
fn are_apart(level_a: u32, level_b: u32) -> bool {
    level_a.wrapping_sub(level_b).wrapping_add(1) > 2
}

/// Returns the error of a tuple whose ends are too far apart.
#[cold]
fn broken(index: usize, edge: impl Tuple, words: &[AtomicU64]) -> ValidationError {
    let of = |vertex: u32| (words[vertex as usize].load(Relaxed), vertex);
    let (a, b) = edge.low_ends();
    let ((_, inside), (lower, outside)) = (of(a).min(of(b)), of(a).max(of(b)));
    let index = index as u64;
    if lower == OUTSIDE {
        ValidationError::Component { edge: index, inside: inside.into(), outside: outside.into() }
    } else {
        ValidationError::EdgeSpansLevels {
            edge: index,
            ends: (a.into(), b.into()),
            levels: (level(of(a).0), level(of(b).0)),
        }
    }
}

/// Counts the input tuples whose ends are inside a component, if the tree is not validated.
pub(crate) fn count_edges(
    edges: &[impl Tuple],
    is_inside: impl Fn(u32) -> bool + Sync,
    halt: &Halt<'_>,
) -> Result<u64, Verdict> {
    let inside = |inside: &mut u64, index: usize| {
        *inside += u64::from(is_inside(edges[index].low_ends().0));
        Ok(())
    };
    blocks(edges.len(), halt, inside, |a, b| a + b)
}
