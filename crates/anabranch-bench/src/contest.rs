//! Who takes part, and in what: the peers of a bench, and its workloads.

use std::fmt;

use serde::Serialize;

use crate::sample::Sample;

/// The peers of a bench.
pub trait Peers: Copy + Eq + fmt::Display + Serialize + 'static {
    /// All of them, in the order in which they are reported.
    const ALL: &'static [Self];

    /// The peer that the others are related to, if it takes part.
    const BASELINE: Self;

    /// The thread counts with which it is run where the workload wants these. `None`: it decides for itself.
    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        asked.iter().copied().map(Some).collect()
    }

    /// Whether it is one of several ways to use what is measured against the others.
    fn is_ours(self) -> bool {
        self == Self::BASELINE
    }

    /// How a number of threads is shown in its lines.
    fn threads_shown(self, threads: Option<usize>) -> String {
        threads.map_or_else(|| "dflt".into(), |threads| threads.to_string())
    }
}

/// The names of all peers, separated by commas.
pub fn names<K: Peers>() -> String {
    K::ALL.iter().map(K::to_string).collect::<Vec<_>>().join(", ")
}

/// The peer that is shown as `name`.
///
/// # Errors
/// If none is; the message lists them.
pub fn by_name<K: Peers>(name: &str) -> Result<K, String> {
    let found = K::ALL.iter().copied().find(|peer| peer.to_string() == name);
    found.ok_or_else(|| format!("no peer is called `{name}`; there are {}", names::<K>()))
}

/// The thread counts with which a workload is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Those that the user chose.
    Asked,
    /// This one, as the workload is about it.
    Fixed(usize),
}

/// A workload whose peer is chosen at run time.
pub trait AnyWorkload<K> {
    /// What it does, in a few words.
    fn title(&self) -> String;
    /// The unit of [`Sample::value`].
    fn unit(&self) -> &'static str;
    /// The thread counts with which it is run.
    fn threads(&self) -> Threads;
    /// How many rounds it is run when the user asks for `asked`.
    fn rounds(&self, asked: usize) -> usize;
    /// Whether `kind` can take part.
    fn suits(&self, kind: K) -> bool;
    /// Whether `kind` is one of those to be beaten; see [`Outcome::verdict`](crate::bench::Outcome::verdict).
    fn is_rival(&self, _kind: K) -> bool {
        false
    }
    /// How much of the value of the best rival would be good.
    fn bar(&self) -> Option<f64> {
        None
    }
    /// How much more than the best rival's value would be good, in the workload's unit.
    fn most_above(&self) -> Option<f64> {
        None
    }
    /// Makes a pool of `threads` threads of the peer, and takes one sample there.
    fn sample_with(&self, kind: K, threads: usize) -> Sample;
}
