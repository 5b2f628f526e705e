//! The choice of workloads and contenders by their names.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anabranch_bench::contest::matches;
use anabranch_bench::suite::{self, Suite};

use crate::exit::Failure;

/// A workload: the name of its suite, and its own.
pub type Name = (&'static str, &'static str);

/// The workloads of a run without names. They take a few minutes.
const USUAL: [Name; 10] = [
    ("fork_join", "tree-1k"),
    ("fork_join", "fib"),
    ("fork_join", "leaves-1us"),
    ("iterators", "sum-10k"),
    ("iterators", "collect-map"),
    ("fibers", "yield-pair"),
    ("fibers", "lock-four"),
    ("messages", "ring-100"),
    ("messages", "stream"),
    ("pipes", "ping-pong"),
];

fn all() -> impl Iterator<Item = Name> {
    suite::ALL.iter().flat_map(|suite| suite.workloads().into_iter().map(|name| (suite.name(), name)))
}

/// Returns the workloads with these names, in the order of the suites, or the usual ones if there are no names.
pub fn workloads(names: &[String]) -> Result<Vec<Name>, Failure> {
    let is_named = |wanted: &str, (suite, name): Name| {
        wanted == "all" || wanted == suite || matches(wanted, name) || matches(wanted, &format!("{suite}/{name}"))
    };
    if let Some(unknown) = names.iter().find(|wanted| !all().any(|name| is_named(wanted, name))) {
        return Err(Failure::Usage(format!("no workload is called '{unknown}' (see 'anabranch bench --list')")));
    }
    let is_chosen = |name: &Name| match names {
        [] => USUAL.contains(name),
        _ => names.iter().any(|wanted| is_named(wanted, *name)),
    };
    Ok(all().filter(is_chosen).collect())
}

/// Returns the patterns of the peers, or `None` for all peers. Each has to fit a peer of the chosen workloads.
pub fn peers(names: &[String], workloads: &[Name]) -> Result<Option<Vec<String>>, Failure> {
    if names.is_empty() {
        return Ok(None);
    }
    if names == ["none"] {
        return Ok(Some(Vec::new()));
    }
    let is_chosen = |suite: &&&dyn Suite| workloads.iter().any(|(name, _)| *name == suite.name());
    let known: BTreeSet<String> = suite::ALL.iter().filter(is_chosen).flat_map(|suite| suite.peers()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.iter().any(|peer| matches(name, peer))) {
        let known: Vec<String> = known.into_iter().collect();
        let hint = if anabranch_bench::HAS_PEERS { "" } else { "; other libraries need the cargo feature `peers`" };
        return Err(Failure::Usage(format!(
            "no contender is called '{unknown}'; there are {}{hint}",
            known.join(", ")
        )));
    }
    Ok(Some(names.to_vec()))
}

/// Returns the text of `--list`.
pub fn list() -> String {
    let mut text = String::new();
    for suite in suite::ALL {
        for name in suite.workloads() {
            let usual = if USUAL.contains(&(suite.name(), name)) { "  (usual)" } else { "" };
            let _ = writeln!(text, "{}/{name}{usual}", suite.name());
        }
        let _ = writeln!(text, "  contenders: {}\n", suite.peers().join(", "));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Vec<Name> {
        workloads(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn names_are_those_of_workloads_and_suites() {
        assert_eq!(found(&["fib"]), [("fork_join", "fib"), ("fibers", "fib")]);
        assert_eq!(found(&["fibers/fib"]), [("fibers", "fib")]);
        assert_eq!(
            found(&["pipes/ring*", "pair"]),
            [("fork_join", "pair"), ("pipes", "ring-4"), ("pipes", "ring-4-room")]
        );
        assert!(found(&["pipes"]).iter().all(|(suite, _)| *suite == "pipes"));
        assert_eq!(found(&["all"]).len(), all().count());
        assert!(matches!(workloads(&["fob".to_owned()]), Err(Failure::Usage(why)) if why.contains("'fob'")));
    }

    #[test]
    fn usual_workloads_exist() {
        assert_eq!(found(&[]).len(), USUAL.len());
    }

    #[test]
    fn peers_are_those_of_the_chosen_suites() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(peers(&[], &[("fork_join", "fib")]).unwrap(), None);
        assert_eq!(peers(&names(&["none"]), &[("fork_join", "fib")]).unwrap(), Some(Vec::new()));
        assert!(peers(&names(&["std*"]), &[("messages", "stream")]).is_ok());
        assert!(peers(&names(&["std*"]), &[("fork_join", "fib")]).is_err());
    }
}
