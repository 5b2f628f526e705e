//! The peers and the workloads of a bench.

use std::fmt;

use serde::Serialize;

use crate::sample::Sample;
use crate::target::Target;

/// The peers of a bench.
pub trait Peers: Copy + Eq + fmt::Display + Serialize + 'static {
    /// All peers, in the order of the report.
    const ALL: &'static [Self];

    /// The peer to which the others are compared, if it takes part.
    const BASELINE: Self;

    /// Returns the thread counts with which the peer runs, if the workload uses `asked`. `None` means that the peer
    /// decides.
    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        asked.iter().copied().map(Some).collect()
    }

    /// Returns whether the peer is one of several variants of anabranch.
    fn is_ours(self) -> bool {
        self == Self::BASELINE
    }

    /// Returns whether the peer uses anabranch in any way.
    fn is_of_anabranch(self) -> bool {
        self.is_ours()
    }

    /// Returns the number of threads as the report prints it.
    fn threads_shown(self, threads: Option<usize>) -> String {
        threads.map_or_else(|| "dflt".into(), |threads| threads.to_string())
    }
}

/// Returns the peer with which the others of a workload are compared: [`Peers::BASELINE`], or another variant of the
/// same library if that does not take part.
pub fn baseline<K: Peers>(peers: impl Iterator<Item = K> + Clone) -> Option<K> {
    peers.clone().find(|peer| *peer == K::BASELINE).or_else(|| peers.clone().find(|peer| peer.is_ours()))
}

/// Returns the names of all peers, separated by commas.
pub fn names<K: Peers>() -> String {
    K::ALL.iter().map(K::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the peer called `name`.
///
/// # Errors
/// Fails if there is none; the message lists all names.
pub fn by_name<K: Peers>(name: &str) -> Result<K, String> {
    let found = K::ALL.iter().copied().find(|peer| peer.to_string() == name);
    found.ok_or_else(|| format!("no peer is called `{name}`; there are {}", names::<K>()))
}

/// Returns the peers with these names. A name may end in `*`, and stands for all that begin with it.
///
/// # Errors
/// Fails if a name stands for no peer; the message lists all names.
pub fn chosen<K: Peers>(wanted: &[String]) -> Result<Vec<K>, String> {
    let mut peers = Vec::new();
    for name in wanted {
        let before = peers.len();
        peers.extend(K::ALL.iter().filter(|peer| matches(name, &peer.to_string())));
        if peers.len() == before {
            return Err(format!("no peer is called `{name}`; there are {}", names::<K>()));
        }
    }
    Ok(peers)
}

/// Returns whether `pattern` is `name`, or its beginning with a `*`.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// The thread counts with which a workload runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Those that the user chose.
    Asked,
    /// This fixed number, which is part of the workload.
    Fixed(usize),
    /// These fixed numbers.
    Several(&'static [usize]),
}

/// A workload whose peer is chosen at run time.
pub trait AnyWorkload<K> {
    /// Returns a short description.
    fn title(&self) -> String;
    /// Returns the unit of [`Sample::value`].
    fn unit(&self) -> &'static str;
    /// Returns the thread counts with which the workload runs.
    fn threads(&self) -> Threads;
    /// Returns the number of rounds if the user requests `asked`.
    fn rounds(&self, asked: usize) -> usize;
    /// Returns whether `kind` can take part.
    fn suits(&self, kind: K) -> bool;
    /// Returns whether the target refers to `kind`; see [`Outcome::verdict`](crate::bench::Outcome::verdict).
    fn is_rival(&self, _kind: K) -> bool {
        false
    }
    /// Returns the target: a share of the best rival's value.
    fn bar(&self) -> Option<f64> {
        None
    }
    /// Returns the target as the most by which the value may exceed the best rival's, in the workload's unit.
    fn most_above(&self) -> Option<f64> {
        None
    }
    /// Returns the targets that are judged one by one.
    fn targets(&self) -> Vec<Target<K>> {
        Vec::new()
    }
    /// Makes a pool of `threads` threads of the peer, and takes one sample in it.
    fn sample_with(&self, kind: K, threads: usize) -> Sample;
}

/// The name of a workload on the command line, and a function that builds the workload from settings of type `S`.
pub type Listed<K, S> = (&'static str, fn(&S) -> Box<dyn AnyWorkload<K>>);
