//! The sites of a trace: labels and source locations, which events refer to by numbers.

use anabranch_trace::event::Site;
use std::{
    cell::RefCell,
    collections::HashMap,
    panic::Location,
    sync::{Arc, Mutex, PoisonError},
};

/// The most sites of a trace. Events refer to further ones as unknown. A program that gives each fiber a name of its
/// own would otherwise fill the memory.
const LIMIT: usize = 1 << 16;

/// What is known of a site.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Known {
    pub(super) label: Arc<str>,
    pub(super) at: Option<&'static Location<'static>>,
}

static SITES: Mutex<Sites> = Mutex::new(Sites::new());

/// All sites, in the order of their numbers from 1 on.
struct Sites {
    all: Vec<Known>,
    numbers: Option<HashMap<Known, Site>>,
}

impl Sites {
    const fn new() -> Self {
        Self { all: Vec::new(), numbers: None }
    }

    /// Returns the number of a site, and adds the site if it is new.
    fn number(&mut self, known: Known) -> Site {
        let numbers = self.numbers.get_or_insert_with(HashMap::new);
        if let Some(&site) = numbers.get(&known) {
            return site;
        }
        if self.all.len() >= LIMIT {
            return Site::UNKNOWN;
        }
        self.all.push(known.clone());
        let site = Site(self.all.len() as u32);
        numbers.insert(known, site);
        site
    }
}

fn number(known: Known) -> Site {
    SITES.lock().unwrap_or_else(PoisonError::into_inner).number(known)
}

/// Returns the sites, in the order of their numbers from 1 on. Those of events that were recorded before are among
/// them.
pub(super) fn all() -> Vec<Known> {
    SITES.lock().unwrap_or_else(PoisonError::into_inner).all.clone()
}

/// The address and the length of a label, and the address of a location.
type Key = (usize, usize, usize);

thread_local! {
    /// The sites that the thread has used, so that it looks each of them up once.
    static USED: RefCell<HashMap<Key, Site>> = RefCell::new(HashMap::new());
}

/// Returns the number of a site.
pub(super) fn site(label: &'static str, at: Option<&'static Location<'static>>) -> Site {
    let at_address = at.map_or(0, |at| (&raw const *at).addr());
    find((label.as_ptr().addr(), label.len(), at_address), || Known { label: label.into(), at })
}

/// The crates whose functions are no place in the program: this one and std, and rayon on the drop-in for rayon-core.
const FOREIGN: [&str; 6] = ["anabranch::", "core::", "alloc::", "std::", "rayon_core::", "rayon::"];

/// Returns whether the drop-in for rayon-core has made a job, from the name of its type.
pub(super) fn is_wrapped(job: &str) -> bool {
    job.contains("rayon_core::")
}

/// Returns the number of the site of a loop, or of a call through a wrapper, by the type of the job.
pub(super) fn of_job(job: &'static str) -> Site {
    // No location has this address.
    find((job.as_ptr().addr(), job.len(), usize::MAX), || Known { label: loop_of(job).into(), at: None })
}

fn find(key: Key, known: impl Fn() -> Known) -> Site {
    let number = || number(known());
    // The thread may be about to end.
    USED.try_with(|used| *used.borrow_mut().entry(key).or_insert_with(number)).unwrap_or_else(|_| number())
}

/// Describes a job by the name of its type: by the first function of the program in it, which mostly is that of a
/// closure. A job that the drop-in has made may be no loop.
fn loop_of(job: &str) -> String {
    let is_path = |c: char| c.is_alphanumeric() || "_:{}#".contains(c);
    let is_own = |path: &&str| {
        !path.replace("{{closure}}", "").trim_matches(':').is_empty()
            && !FOREIGN.iter().any(|foreign| path.starts_with(foreign))
    };
    let closures = job.match_indices("::{{closure}}").map(|(end, _)| {
        let function = without_arguments(&job[..end]);
        let start = function.rfind(|c| !is_path(c)).map_or(0, |last| last + 1);
        &function[start..]
    });
    let paths = job.split(|c| !is_path(c)).filter(|path| path.contains("::"));
    let is_loop = !is_wrapped(job) || job.contains("rayon::iter::");
    // The type before the name of a method may be left out.
    match (is_loop, closures.chain(paths).find(is_own).map(|function| function.trim_start_matches(':'))) {
        (true, Some(function)) => format!("a loop in {function}"),
        (true, None) => "a loop".into(),
        (false, Some(function)) => function.into(),
        (false, None) => "a call of rayon".into(),
    }
}

/// Removes the generic arguments at the end of a path.
fn without_arguments(path: &str) -> &str {
    let mut depth = 0;
    for (index, c) in path.char_indices().rev() {
        match c {
            // The arrow of a function type.
            '>' if path[..index].ends_with('-') => {}
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            // A type in brackets is the beginning of a path and not its arguments.
            return if c == '<' && !path[..index].ends_with(':') { &path[..index] } else { path };
        }
    }
    path
}

/// Returns the number of a name that is not known at compile time.
pub(super) fn name(name: &str) -> Site {
    number(Known { label: name.into(), at: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_site_has_the_same_number() {
        let here = Location::caller();
        let mut sites = Sites::new();
        let mut number = |label: &str, at| sites.number(Known { label: label.into(), at });
        let first = number("recv", Some(here));
        assert_ne!(first, Site::UNKNOWN);
        assert_eq!(number("recv", Some(here)), first);
        assert_ne!(number("send", Some(here)), first);
        assert_ne!(number("recv", None), first);
        assert_eq!(sites.all.len(), 3);
    }

    #[test]
    fn loop_is_described_by_a_function_of_the_program() {
        let closure = "anabranch::iter::Piece<anabranch::iter::Slice<u64>, Map<core::A, app::run::{{closure}}>>";
        assert_eq!(loop_of(closure), "a loop in app::run");
        assert_eq!(loop_of("anabranch::iter::Piece<Map<core::A, (app::Item, app::square)>>"), "a loop in app::Item");
        assert_eq!(loop_of("anabranch::Piece<app::<impl app::Item>::run::{{closure}}>"), "a loop in run");
        assert_eq!(loop_of("anabranch::iter::Piece<Sum<u64>, alloc::vec::Vec<u64>>"), "a loop");
        assert_eq!(loop_of(""), "a loop");
        // Closures in generic functions.
        for arguments in ["u64", "alloc::vec::Vec<u64>", "app::Item, fn(u64) -> u64"] {
            let job = format!("anabranch::iter::Piece<Map<core::A, app::run<{arguments}>::{{{{closure}}}}>>");
            assert_eq!(loop_of(&job), "a loop in app::run");
        }
        assert_eq!(loop_of("anabranch::Piece<<app::Item<u8> as app::Run>::run<u8>::{{closure}}>"), "a loop in run");
        assert_eq!(
            loop_of("anabranch::Piece<core::map<u8>::{{closure}}, app::run::{{closure}}>"),
            "a loop in app::run"
        );
    }

    #[test]
    fn calls_through_the_drop_in_are_described_by_the_program_too() {
        let join = "anabranch::fork::join::Closure<anabranch::fork::join::join<\
                    rayon_core::join::join<app::sort<u32>::{{closure}}, app::sort<u32>::{{closure}}, (), ()>::\
                    {{closure}}::{{closure}}>::{{closure}}>";
        assert!(is_wrapped(join));
        assert_eq!(loop_of(join), "app::sort");
        let map = "rayon_core::join::join_context<rayon::iter::plumbing::bridge_producer_consumer::helper<\
                   rayon::range::IterProducer<u32>, rayon::iter::map::MapConsumer<rayon::iter::sum::SumConsumer<u64>, \
                   app::main::{{closure}}>>::{{closure}}>::{{closure}}";
        assert_eq!(loop_of(map), "a loop in app::main");
        assert_eq!(loop_of("rayon_core::join::join<fn(), fn(), (), ()>::{{closure}}"), "a call of rayon");
        assert!(!is_wrapped("app::main::{{closure}}"));
    }

    #[test]
    fn sites_beyond_the_limit_are_unknown() {
        let mut sites = Sites::new();
        let mut number = |number: usize| sites.number(Known { label: number.to_string().into(), at: None });
        assert!((0..LIMIT).map(&mut number).all(|site| site != Site::UNKNOWN));
        assert_eq!(number(LIMIT), Site::UNKNOWN);
        assert_eq!(number(5), Site(6));
    }
}
