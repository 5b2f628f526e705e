//! A server that computes: it counts the fragments of DNA sequences that clients send.
//!
//! A fiber that calls a parallel loop itself keeps its thread busy, and the other fibers of the thread wait meanwhile.
//! So the handler hands the loop over with [`Cx::blocking`], and light requests are answered beside it.

use crate::{
    Failure,
    http::{Refused, Request},
    site::{self, Answer},
};
use anabranch::{Cx, net::TcpStream, prelude::*, sync::Event};
use std::fmt::Write;

/// The longest fragment. Longer ones would need more counters than a table can have.
pub const LONGEST: usize = 10;

/// The fragments that are counted without a look at the next piece.
const PIECE: usize = 16 << 10;

/// The most fragments of an answer.
const MOST_LINES: usize = 1000;

/// The answer to a light request.
pub const HELP: &str = "POST a DNA sequence to /K to get the counts of its fragments of K bases, for example to /4\n";

/// A sequence of bases, and the length of the fragments to count.
#[derive(Debug, Clone)]
pub struct Query {
    /// The bases as numbers below four.
    bases: Vec<u8>,
    length: usize,
}

impl Query {
    /// Reads a query from a request. Line breaks are ignored.
    ///
    /// # Errors
    /// Refuses requests that are no query.
    pub fn parse(request: &Request, body: &[u8]) -> Result<Self, Refused> {
        let length = request.target.strip_prefix('/').and_then(|length| length.parse().ok());
        let length = length.ok_or(Refused { status: 404, reason: "there is only /K" })?;
        if !(1..=LONGEST).contains(&length) {
            return Err(Refused { status: 404, reason: "fragments have 1 to 10 bases" });
        }
        if request.method != "POST" {
            return Err(Refused { status: 405, reason: "only POST, with a sequence" });
        }
        let letters = body.iter().filter(|byte| !byte.is_ascii_whitespace());
        let bases = letters.map(|letter| match letter {
            b'a' | b'A' => Ok(0),
            b'c' | b'C' => Ok(1),
            b'g' | b'G' => Ok(2),
            b't' | b'T' => Ok(3),
            _ => Err(Refused { status: 400, reason: "a sequence has the letters A, C, G and T" }),
        });
        Ok(Self { bases: bases.collect::<Result<_, _>>()?, length })
    }

    /// Returns the number of fragments, which overlap.
    fn fragments(&self) -> usize {
        (self.bases.len() + 1).saturating_sub(self.length)
    }

    /// Returns the number of pieces that can be counted independently.
    pub fn pieces(&self) -> usize {
        self.fragments().div_ceil(PIECE)
    }

    /// Returns a counter for each possible fragment.
    pub fn table(&self) -> Vec<u32> {
        vec![0; 1 << (2 * self.length)]
    }

    /// Adds the fragments that begin in a piece.
    pub fn count_piece(&self, mut table: Vec<u32>, piece: usize) -> Vec<u32> {
        let mask = table.len() - 1;
        let first = piece * PIECE;
        let bases = &self.bases[first..self.bases.len().min(first + PIECE + self.length - 1)];
        let push = |code: usize, base: &u8| code << 2 & mask | usize::from(*base);
        let (head, rest) = bases.split_at(self.length - 1);
        let mut code = head.iter().fold(0, push);
        for base in rest {
            code = push(code, base);
            table[code] += 1;
        }
        table
    }

    /// Returns the counts as a text, the most frequent fragment first.
    pub fn text(&self, table: &[u32]) -> String {
        let mut found: Vec<_> = table.iter().enumerate().filter(|(_, count)| **count > 0).collect();
        found.sort_by_key(|(code, count)| (std::cmp::Reverse(**count), *code));
        let mut text = String::new();
        for (code, count) in found.into_iter().take(MOST_LINES) {
            let base = |place: usize| char::from(b"ACGT"[code >> (2 * place) & 3]);
            text.extend((0..self.length).rev().map(base));
            let _ = writeln!(text, " {count}");
        }
        text
    }
}

/// Adds the counters of two tables.
pub fn add(mut left: Vec<u32>, right: Vec<u32>) -> Vec<u32> {
    left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
    left
}

/// Counts with all threads of the pool.
pub fn count(query: &Query) -> String {
    let pieces = (0..query.pieces()).into_par_iter();
    let counted = pieces.fold(|| query.table(), |table, piece| query.count_piece(table, piece));
    query.text(&counted.reduce(|| query.table(), add))
}

/// Serves a connection.
///
/// # Errors
/// Returns the errors of the stream.
pub fn connection(cx: &Cx<'_>, stream: &TcpStream, stop: &Event) -> Result<(), Failure> {
    site::connection(cx, stream, stop, |cx, request, body| {
        if request.target == "/" {
            return Ok(Answer::new(200, HELP));
        }
        // A long sequence takes milliseconds to read, too. The closure borrows the request.
        let counted = cx.blocking(|| Query::parse(request, body).map(|query| count(&query)))?;
        Ok(counted.map_or_else(
            |refused| Answer::new(refused.status, format!("{refused}\n")),
            |counts| Answer::new(200, counts),
        ))
    })
}

/// Returns a random sequence, the same for the same seed.
pub fn sequence(count: usize, mut seed: u64) -> Vec<u8> {
    let base = |_| {
        // A linear congruential generator by Knuth. Its high bits are the random ones.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b"ACGT"[(seed >> 62) as usize]
    };
    (0..count).map(base).collect()
}
