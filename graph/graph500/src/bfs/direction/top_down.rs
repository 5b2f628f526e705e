//! A level top-down: every vertex of the frontier claims its unvisited neighbours.
//!
//! A thread claims a neighbour by setting its bit in `visited`, after a plain load that rules out most. The thread that
//! set the bit writes the parent, and puts the neighbour into its own buffer. A full buffer is appended to the queue. A
//! long row is itself cut into pieces, because the first levels are often one hub.
//!
//! In a part of a distributed graph some neighbours belong to other processes. The thread that sets such a neighbour's
//! bit writes a *message* to the owner: the neighbour, and the label of the parent. So a process sends at most one
//! message for each vertex in a search. The owner claims in the same way.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use anabranch::prelude::*;

use super::Frontier;
use super::convert::Tail;
use crate::graph::Graph;
use crate::memory::Shared;
use crate::watch::Halt;

/// Frontier vertices per piece. Most first frontiers are some fifty hubs, whose rows are long.
const PIECE: usize = 4;
/// Neighbours of one vertex per piece.
const ROW_PIECE: usize = 512;
/// Messages per piece.
const MESSAGES: usize = 1024;
/// Claimed vertices in a buffer before they enter the queue.
const BUFFER: usize = 512;

/// The state that all pieces of a level share.
struct Level<'a> {
    graph: &'a Graph,
    visited: &'a [AtomicU64],
    tree: &'a [AtomicU32],
    tail: Tail<'a>,
}

/// The vertices that a piece claimed and has not put into the queue.
#[derive(Default)]
struct Claims {
    buffer: Vec<u32>,
    /// The degrees of all vertices that the piece claimed.
    edges: u64,
    /// The messages to the owners of other vertices that the piece claimed.
    remote: Vec<u64>,
}

/// Returns the message that `parent` is the label of a possible parent of `vertex`.
#[inline]
fn message(vertex: u32, parent: u32) -> u64 {
    u64::from(vertex) << 32 | u64::from(parent)
}

/// Returns the vertex of a message.
#[inline]
pub(crate) fn message_vertex(message: u64) -> u32 {
    (message >> 32) as u32
}

/// Runs one level from `places` in the queue. Its vertices follow behind.
pub(crate) fn level(
    graph: &Graph,
    visited: &mut [u64],
    queue: &mut [u32],
    places: Range<usize>,
    tree: &mut [u32],
    halt: &Halt<'_>,
) -> Frontier {
    let end = places.end;
    let (before, behind) = queue.split_at_mut(end);
    let frontier = &before[places];
    let level = Level { graph, visited: visited.shared(), tree: tree.shared(), tail: Tail::new(behind) };
    let fold = |claims, vertices: &[u32]| {
        if halt.is_cancelled() {
            return claims;
        }
        vertices.iter().fold(claims, |claims, &vertex| level.explore(claims, vertex))
    };
    let pieces = frontier.par_chunks(PIECE).fold(Claims::default, fold);
    let claims = pieces.reduce(Claims::default, |a, b| level.combine(a, b));
    level.tail.append(&claims.buffer);
    Frontier { places: end..end + level.tail.len(), edges: claims.edges, remote: claims.remote }
}

/// Claims the vertices of messages from other processes. They enter the queue from `end` on.
pub(crate) fn receive(
    graph: &Graph,
    visited: &mut [u64],
    queue: &mut [u32],
    end: usize,
    tree: &mut [u32],
    messages: &[u64],
) -> Frontier {
    let tail = Tail::new(&mut queue[end..]);
    let level = Level { graph, visited: visited.shared(), tree: tree.shared(), tail };
    let fold = |mut claims, messages: &[u64]| {
        messages.iter().for_each(|&message| level.claim_one(&mut claims, message_vertex(message), message as u32));
        claims
    };
    let pieces = messages.par_chunks(MESSAGES).fold(Claims::default, fold);
    let claims = pieces.reduce(Claims::default, |a, b| level.combine(a, b));
    level.tail.append(&claims.buffer);
    Frontier { places: end..end + level.tail.len(), edges: claims.edges, remote: claims.remote }
}

impl Level<'_> {
    fn explore(&self, mut claims: Claims, vertex: u32) -> Claims {
        let row = self.graph.row(vertex);
        if row.len() <= 2 * ROW_PIECE {
            self.claim(&mut claims, vertex, row);
            return claims;
        }
        let fold = |mut claims, row: &[u32]| {
            self.claim(&mut claims, vertex, row);
            claims
        };
        let pieces = row.par_chunks(ROW_PIECE).fold(Claims::default, fold);
        self.combine(claims, pieces.reduce(Claims::default, |a, b| self.combine(a, b)))
    }

    #[inline]
    fn claim(&self, claims: &mut Claims, vertex: u32, row: &[u32]) {
        let label = self.graph.labels[(self.graph.start + vertex) as usize];
        row.iter().for_each(|&neighbour| self.claim_one(claims, neighbour, label));
    }

    /// Claims `neighbour` with `label` as the label of its parent.
    #[inline]
    fn claim_one(&self, claims: &mut Claims, neighbour: u32, label: u32) {
        let word = &self.visited[(neighbour / 64) as usize];
        let bit = 1 << (neighbour % 64);
        if word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0 {
            let own = neighbour.wrapping_sub(self.graph.start);
            if let Some(parent) = self.tree.get(own as usize) {
                parent.store(label, Relaxed);
                claims.edges += u64::from(self.graph.row_len(own));
                self.push(&mut claims.buffer, own);
            } else {
                claims.remote.push(message(neighbour, label));
            }
        }
    }

    #[inline]
    fn push(&self, buffer: &mut Vec<u32>, vertex: u32) {
        if buffer.len() == BUFFER {
            self.tail.append(buffer);
            buffer.clear();
        } else if buffer.capacity() == 0 {
            buffer.reserve_exact(BUFFER);
        }
        buffer.push(vertex);
    }

    fn combine(&self, mut a: Claims, b: Claims) -> Claims {
        a.edges += b.edges;
        a.remote.extend(b.remote);
        self.tail.append(&b.buffer);
        a
    }
}
