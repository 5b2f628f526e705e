//! The benches as suites of workloads whose contenders are known by name.
//!
//! The benches of this crate have a type of their own for their peers. A suite hides it, so that one program can run
//! workloads of all of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bench::{AnyWorkload, Peers, Variant, variants};
use crate::contest::{self, Listed, matches};
use crate::sample::Sample;
use crate::workloads::Spinner;
use crate::{compute_and_serve, fibers, iterators, messages, net, pipes, workloads};

/// A contender with a number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contender {
    /// The contender: a library, or a way to use it.
    pub peer: String,
    /// Its threads, or `None` if the contender decides.
    pub threads: Option<usize>,
    /// Whether the contender is a variant of anabranch.
    pub ours: bool,
    /// Whether others are compared with the contender.
    pub baseline: bool,
}

/// The peers and the numbers of threads of a run.
#[derive(Clone, Debug)]
pub struct Field {
    /// The names of the peers; a name may end in `*`. `None` means all.
    pub peers: Option<Vec<String>>,
    /// The numbers of threads, for workloads that leave them to the user.
    pub threads: Vec<usize>,
}

impl Field {
    /// Returns whether a contender takes part. The variants of anabranch and the baseline always do.
    fn contains<K: Peers>(&self, peer: K) -> bool {
        let is_named = |name: &String| matches(name, &peer.to_string());
        let is_chosen = self.peers.as_ref().is_none_or(|names| names.iter().any(is_named));
        is_chosen || peer.is_of_anabranch() || peer == K::BASELINE
    }
}

/// The sizes of the workloads of every suite.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Smaller and shorter.
    pub quick: bool,
    /// Calibrated CPU work.
    pub spinner: Spinner,
}

/// A bench: its workloads and its peers.
pub trait Suite: Sync {
    /// Returns the name of the bench.
    fn name(&self) -> &'static str;

    /// Returns the names of the workloads.
    fn workloads(&self) -> Vec<&'static str>;

    /// Returns the names of the peers that were compiled in.
    fn peers(&self) -> Vec<String>;

    /// Builds the data of the workload called `name`.
    ///
    /// # Panics
    /// Panics if there is none.
    fn build(&self, name: &str, sizes: Sizes, field: &Field) -> Box<dyn Contest>;
}

/// A workload with its data and its contenders.
pub trait Contest {
    /// Returns a short description.
    fn title(&self) -> String;

    /// Returns the unit of [`Sample::value`].
    fn unit(&self) -> &'static str;

    /// Returns the number of rounds if the user requests `asked`.
    fn rounds(&self, asked: usize) -> usize;

    /// Returns the contenders, in the order of the table.
    fn contenders(&self) -> Vec<Contender>;

    /// Takes a sample with the contender of this index.
    ///
    /// # Panics
    /// Panics if the result is wrong.
    fn sample(&self, contender: usize) -> Sample;
}

struct Bench<K: 'static, S: 'static> {
    name: &'static str,
    all: &'static [Listed<K, S>],
    settings: fn(Sizes) -> S,
}

impl<K: Peers + Sync, S: 'static> Suite for Bench<K, S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn workloads(&self) -> Vec<&'static str> {
        self.all.iter().map(|(name, _)| *name).collect()
    }

    fn peers(&self) -> Vec<String> {
        built::<K>().map(|peer| peer.to_string()).collect()
    }

    fn build(&self, name: &str, sizes: Sizes, field: &Field) -> Box<dyn Contest> {
        let found = self.all.iter().find(|(other, _)| *other == name);
        let (_, build) = found.unwrap_or_else(|| panic!("{} has no workload {name}", self.name));
        let workload = build(&(self.settings)(sizes));
        let peers: Vec<K> = built::<K>().filter(|peer| field.contains(*peer)).collect();
        let variants = variants(&*workload, &peers, &field.threads);
        Box::new(Contested { workload, variants })
    }
}

/// Returns the peers, without Go, which needs its own toolchain.
fn built<K: Peers>() -> impl Iterator<Item = K> {
    K::ALL.iter().copied().filter(|peer| peer.to_string() != "go")
}

struct Contested<K> {
    workload: Box<dyn AnyWorkload<K>>,
    variants: Vec<Variant<K>>,
}

impl<K: Peers> Contest for Contested<K> {
    fn title(&self) -> String {
        self.workload.title()
    }

    fn unit(&self) -> &'static str {
        self.workload.unit()
    }

    fn rounds(&self, asked: usize) -> usize {
        self.workload.rounds(asked)
    }

    fn contenders(&self) -> Vec<Contender> {
        let baseline = contest::baseline(self.variants.iter().map(|variant| variant.peer));
        let contender = |variant: &Variant<K>| Contender {
            peer: variant.peer.to_string(),
            threads: variant.threads,
            ours: variant.peer.is_of_anabranch(),
            baseline: Some(variant.peer) == baseline,
        };
        self.variants.iter().map(contender).collect()
    }

    fn sample(&self, contender: usize) -> Sample {
        let variant = self.variants[contender];
        self.workload.sample_with(variant.peer, variant.threads.unwrap_or(0))
    }
}

fn extent(sizes: Sizes) -> messages::workloads::Extent {
    messages::workloads::Extent::For(Duration::from_millis(if sizes.quick { 10 } else { 40 }))
}

/// All suites, in the order of the documentation.
pub static ALL: [&dyn Suite; 7] = [
    &Bench {
        name: "fork_join",
        all: &workloads::ALL,
        settings: |Sizes { quick, spinner }| workloads::Settings {
            quick,
            fib: if quick { workloads::fib::Fib::QUICK } else { workloads::fib::Fib::USUAL },
            spinner,
        },
    },
    &Bench {
        name: "iterators",
        all: &iterators::ALL,
        settings: |sizes| iterators::Settings::new(sizes.quick, sizes.spinner),
    },
    &Bench {
        name: "fibers",
        all: &fibers::workloads::ALL,
        settings: |sizes| fibers::workloads::Settings { quick: sizes.quick },
    },
    &Bench {
        name: "messages",
        all: &messages::workloads::ALL,
        settings: |sizes| messages::workloads::Settings { extent: extent(sizes) },
    },
    &Bench { name: "pipes", all: &pipes::ALL, settings: |sizes| pipes::Settings { extent: extent(sizes) } },
    &Bench { name: "net", all: &net::ALL, settings: |sizes| net::Settings::new(sizes.quick) },
    &Bench {
        name: "compute_and_serve",
        all: &compute_and_serve::ALL,
        settings: |sizes| compute_and_serve::Settings::new(sizes.quick),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anabranch_and_the_baseline_always_take_part() {
        let sizes = Sizes { quick: true, spinner: Spinner::with_speed(100.0) };
        let field = Field { peers: Some(vec!["ray*".to_owned()]), threads: vec![1, 3] };
        let contest = ALL[0].build("leaves-1us", sizes, &field);
        let contenders = contest.contenders();
        let found: Vec<_> = contenders.iter().map(|one| (one.peer.as_str(), one.threads)).collect();
        let mut expected = vec![("plain", Some(1)), ("anabranch", Some(1)), ("anabranch", Some(3))];
        expected.push(("anabranch-outside", None));
        if cfg!(feature = "peers") {
            expected.extend([("rayon", Some(1)), ("rayon", Some(3))]);
        }
        assert_eq!(found, expected);
        assert!(contenders[0].baseline && contenders[1].ours);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<String> = ALL
            .iter()
            .flat_map(|suite| suite.workloads().into_iter().map(|name| format!("{}/{name}", suite.name())))
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert!(names.len() == count && count > 80, "{names:?}");
    }
}
