//! The checks over the input tuples: (3), (4), (5), and the number of edges of the component.
//!
//! A tuple costs two reads of its ends. So the pass reads a *tag* of 16 bits for each vertex: its level, and above it
//! the low bits of its parent. The word decides only if the tag says that the tuple may be a tree edge. A run sorts the
//! tuples by the blocks of both ends, after kernel 1. Then the tags of both blocks are in cache.
//!
//! A tuple can be a tree edge only if the levels differ by one. Then the pass compares the parent of the lower end. If
//! it matches, the vertex itself replaces the parent in its word, which means "seen". At the end, a vertex that is not
//! its own parent has a tree edge that is not in the input. Two threads that see the same tree edge store the same
//! word. The pass collects such tuples of a batch first, and then reads their words: so the cache misses overlap.
//!
//! A tree with more than [`MOST_LEVELS`] levels does not fit into tags. Its tuples read the words.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicU64};

use anabranch::prelude::*;

use super::{OUTSIDE, ValidationError, Verdict, blocks, each_vertex, level, parent, ranges, word};
use crate::edge::Tuple;
use crate::watch::Halt;

/// The vertices of a block in the order of tuples. The tags of two blocks take 256 KB, and fit into a second-level
/// cache.
const VERTICES: u32 = 1 << 16;
/// Tuples whose candidates for tree edges are collected.
const BATCH: usize = 512;
/// The level in the tag of a vertex that is not in the tree. It is not next to a level in the tree.
const TAG_OUTSIDE: u16 = 0xff;
/// The largest depth of a tree with tags.
const MOST_LEVELS: u32 = TAG_OUTSIDE as u32 - 2;

/// Sorts tuples by the blocks of both ends.
pub(crate) fn sort(edges: &mut [impl Tuple]) {
    edges.par_sort_unstable_by_key(|edge| {
        let (a, b) = edge.low_ends();
        (a / VERTICES, b / VERTICES)
    });
}

/// Checks 3 and 4, and marks the tree edges for check 5. Returns the number of edges in the component.
pub(super) fn check(
    edges: &[impl Tuple],
    words: &[AtomicU64],
    tags: &[AtomicU16],
    depth: u32,
    halt: &Halt<'_>,
) -> Result<u64, Verdict> {
    if depth > MOST_LEVELS {
        return blocks(edges.len(), halt, |inside, index| check_words(edges, words, inside, index), |a, b| a + b);
    }
    each_vertex(words.len(), halt, |vertex| {
        tags[vertex].store(tag(words[vertex].load(Relaxed)), Relaxed);
        Ok(())
    })?;
    let check = |inside: &mut u64, block: Range<usize>| {
        let mut candidates = [(0, 0); BATCH];
        for start in block.clone().step_by(BATCH) {
            let batch = start..(start + BATCH).min(block.end);
            *inside += check_batch(edges, batch, words, tags, &mut candidates)?;
        }
        Ok(())
    };
    ranges(edges.len(), halt, check, |a, b| a + b)
}

fn tag(word: u64) -> u16 {
    if word == OUTSIDE { TAG_OUTSIDE } else { level(word) as u16 | parent_tag(parent(word)) }
}

/// Returns what a tag has of the parent.
#[inline]
fn parent_tag(parent: u32) -> u16 {
    (parent as u16) << 8
}

/// Checks the tuples of a batch. Returns the number of edges in the component.
#[inline]
fn check_batch(
    edges: &[impl Tuple],
    batch: Range<usize>,
    words: &[AtomicU64],
    tags: &[AtomicU16],
    candidates: &mut [(u32, u32); BATCH],
) -> Result<u64, ValidationError> {
    let (mut inside, mut count) = (0, 0);
    for (index, edge) in batch.clone().zip(&edges[batch]) {
        let (a, b) = edge.low_ends();
        let (tag_a, tag_b) = (tags[a as usize].load(Relaxed), tags[b as usize].load(Relaxed));
        let (level_a, level_b) = (tag_a & 0xff, tag_b & 0xff);
        inside += u64::from(level_a != TAG_OUTSIDE);
        if level_a.abs_diff(level_b) > 1 {
            return Err(broken(index, *edge, words));
        }
        // One branch, which is rarely taken. Which end is the lower one cannot be predicted.
        let is_parent_a = tag_b == (level_a + 1) | parent_tag(a);
        let is_parent_b = tag_a == (level_b + 1) | parent_tag(b);
        if is_parent_a | is_parent_b {
            candidates[count] = if is_parent_a { (a, b) } else { (b, a) };
            count += 1;
        }
    }
    for &candidate in &candidates[..count] {
        see(words, candidate);
    }
    Ok(inside)
}

fn check_words(
    edges: &[impl Tuple],
    words: &[AtomicU64],
    inside: &mut u64,
    index: usize,
) -> Result<(), ValidationError> {
    let (a, b) = edges[index].low_ends();
    let (word_a, word_b) = (words[a as usize].load(Relaxed), words[b as usize].load(Relaxed));
    let (level_a, level_b) = (level(word_a), level(word_b));
    *inside += u64::from(word_a != OUTSIDE);
    let (upper, lower) = if level_a < level_b { (a, b) } else { (b, a) };
    match level_a.abs_diff(level_b) {
        0 => {}
        1 if word_a != OUTSIDE && word_b != OUTSIDE => see(words, (upper, lower)),
        _ => return Err(broken(index, edges[index], words)),
    }
    Ok(())
}

/// Marks the tree edge of `lower` as seen if `upper` is its parent.
#[inline]
fn see(words: &[AtomicU64], (upper, lower): (u32, u32)) {
    let found = words[lower as usize].load(Relaxed);
    if parent(found) == upper {
        words[lower as usize].store(word(level(found), lower), Relaxed);
    }
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
