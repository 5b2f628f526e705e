//! The compared libraries, one per file, behind one trait.
//!
//! A workload is written once, against [`Peer`], and compiled for each of them. The argument of a library's closures (a
//! scope, a worker, nothing) is passed by reference as [`Peer::Cx`]. So the resulting calls are those of a program
//! written for that library alone.

pub mod anabranch;
#[cfg(feature = "peers")]
pub mod chili;
#[cfg(feature = "peers")]
pub mod forte;
pub mod plain;
#[cfg(feature = "peers")]
pub mod rayon;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::bench::{self, Peers};

/// A library that can run two closures in parallel.
///
/// `join(cx, a, b)` runs `a` before `b` if no thread takes either of them. A peer with the other order swaps its
/// arguments. The reason: a tree is allocated in the order of the walk, and a walk against that order takes twice as
/// long.
pub trait Peer: 'static {
    /// The argument of the library's closures; `()` if there is none.
    type Cx<'a>;
    /// A pool of threads; dropped when it is no longer needed.
    type Pool;

    /// Makes a pool in which `threads` threads work, the calling thread included if the library lets it work.
    fn pool(threads: usize) -> Self::Pool;

    /// Enters the pool from a plain thread and runs `f` there.
    fn enter<R, F>(pool: &Self::Pool, f: F) -> R
    where
        R: Send,
        F: for<'c> FnOnce(&Self::Cx<'c>) -> R + Send;

    /// Runs `a` and `b`, possibly in parallel.
    fn join<A, B, RA, RB>(cx: &Self::Cx<'_>, a: A, b: B) -> (RA, RB)
    where
        A: for<'c> FnOnce(&Self::Cx<'c>) -> RA + Send,
        B: for<'c> FnOnce(&Self::Cx<'c>) -> RB + Send,
        RA: Send,
        RB: Send;
}

/// A column of the comparison: a peer, or a way to use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Recursion on one thread without any library: the baseline.
    Plain,
    /// The work cut into equal parts beforehand, for threads that wait for it: the upper bound.
    Hand,
    /// `anabranch::join` inside `Pool::install`.
    Anabranch,
    /// `anabranch::join` called from a plain thread, on the default pool.
    AnabranchOutside,
    /// `rayon::join` inside `ThreadPool::install`.
    Rayon,
    /// `chili::Scope::join`.
    Chili,
    /// `forte::Worker::join`.
    Forte,
}

impl Kind {
    /// Returns the name on the command line and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Plain => "plain",
            Kind::Hand => "hand",
            Kind::Anabranch => "anabranch",
            Kind::AnabranchOutside => "anabranch-outside",
            Kind::Rayon => "rayon",
            Kind::Chili => "chili",
            Kind::Forte => "forte",
        }
    }
}

impl Peers for Kind {
    const ALL: &'static [Kind] = &[
        Kind::Plain,
        Kind::Hand,
        Kind::Anabranch,
        Kind::AnabranchOutside,
        #[cfg(feature = "peers")]
        Kind::Rayon,
        #[cfg(feature = "peers")]
        Kind::Chili,
        #[cfg(feature = "peers")]
        Kind::Forte,
    ];

    const BASELINE: Kind = Kind::Plain;

    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        match self {
            Kind::Plain => vec![Some(1)],
            Kind::AnabranchOutside => vec![None],
            _ => asked.iter().copied().map(Some).collect(),
        }
    }

    fn is_of_anabranch(self) -> bool {
        matches!(self, Kind::Anabranch | Kind::AnabranchOutside)
    }

    fn threads_shown(self, threads: Option<usize>) -> String {
        match (self, threads) {
            (Kind::Plain, _) => "-".into(),
            (_, Some(threads)) => threads.to_string(),
            (_, None) => "dflt".into(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        bench::by_name(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in Kind::ALL.iter().copied() {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert!("plan".parse::<Kind>().unwrap_err().contains("plain"));
    }

    fn walks_in_order<P: Peer>() {
        // With one thread no other thread takes anything, so the order is that of the walk.
        let seen = std::sync::Mutex::new(Vec::new());
        let answer = P::enter(&P::pool(1), |cx| {
            P::join(
                cx,
                |cx| P::join(cx, |_| seen.lock().unwrap().push(1), |_| seen.lock().unwrap().push(2)),
                |cx| {
                    seen.lock().unwrap().push(3);
                    P::join(cx, |_| "left", |_| "right")
                },
            )
        });
        assert_eq!(answer, (((), ()), ("left", "right")));
        assert_eq!(seen.into_inner().unwrap(), [1, 2, 3]);
    }

    #[test]
    fn peers_walk_left_before_right_and_keep_results_apart() {
        walks_in_order::<plain::Plain>();
        walks_in_order::<anabranch::Installed>();
        #[cfg(feature = "peers")]
        {
            walks_in_order::<rayon::Rayon>();
            walks_in_order::<chili::Chili>();
            walks_in_order::<forte::Forte>();
        }
    }
}
