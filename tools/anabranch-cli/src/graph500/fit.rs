//! A check that the run fits into memory, before anything is allocated.

use graph500::{Config, MemoryPlan, Spec};

use crate::exit::{Failure, print_message};
use crate::machine;
use crate::units;

/// Prints the peak memory of the run and returns it in bytes. Fails if the machine does not have that much.
pub fn check(config: &Config) -> Result<u64, Failure> {
    check_plan(config, MemoryPlan::of, machine::available(&machine::files), true)
}

/// The same for one of several processes, which prints the peak if it `prints`. It may use `there` bytes, if that is
/// known.
#[cfg(feature = "mpi")]
pub fn check_process(config: &Config, processes: usize, there: Option<u64>, prints: bool) -> Result<u64, Failure> {
    check_plan(config, |config| MemoryPlan::of_process(config, processes as u64), there, prints)
}

fn check_plan(
    config: &Config,
    plan_of: impl Fn(&Config) -> MemoryPlan,
    there: Option<u64>,
    prints: bool,
) -> Result<u64, Failure> {
    let plan = plan_of(config);
    let peak = plan.peak();
    if let Some(there) = there.filter(|there| peak > *there) {
        return Err(Failure::Run(refusal(config, plan_of, there)));
    }
    if !prints {
        return Ok(peak);
    }
    let there = there.map_or("what there is cannot be checked on this system".to_owned(), |there| {
        format!("{} available", units::bytes(there))
    });
    print_message(&format!("memory: {} at the peak, {there}", units::bytes(peak)));
    print_message(&format!("memory: {}", parts(&plan)));
    Ok(peak)
}

/// Lists the largest parts of the peak as shares, short enough for a line of a terminal.
fn parts(plan: &MemoryPlan) -> String {
    let mut parts: Vec<_> = plan.stages().iter().filter(|(_, bytes)| *bytes > 0).collect();
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let share = |bytes: u64| 100.0 * bytes as f64 / plan.peak() as f64;
    let parts = parts.iter().take(3).map(|(name, bytes)| format!("{name} {:.0}%", share(*bytes)));
    parts.collect::<Vec<_>>().join(", ")
}

fn refusal(config: &Config, plan_of: impl Fn(&Config) -> MemoryPlan, there: u64) -> String {
    let plan = plan_of(config);
    let largest = (1..config.spec.scale()).rev().find(|&scale| {
        Spec::new(scale, config.spec.edge_factor(), config.spec.seed())
            .is_ok_and(|spec| plan_of(&Config { spec, ..*config }).peak() <= there)
    });
    let advice = match largest {
        Some(scale) => format!("the largest scale that fits is {scale}"),
        None => "no scale fits; use a smaller --edge-factor".to_owned(),
    };
    let terms = plan.stages().iter().map(|(name, bytes)| format!("{name} {}", units::bytes(*bytes)));
    format!(
        "scale {} needs {} of memory and {} are available; {advice} ({}, {}: {})",
        config.spec.scale(),
        units::bytes(plan.peak()),
        units::bytes(there),
        units::counted(config.spec.num_vertices(), "vertex"),
        units::counted(config.spec.num_edges(), "edge tuple"),
        terms.collect::<Vec<_>>().join(" + ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(scale: u32) -> Config {
        let spec = Spec::new(scale, 16, 1).expect("a sound size");
        Config::official(spec)
    }

    #[test]
    fn error_names_largest_fitting_scale() {
        let there = MemoryPlan::of(&config(20)).peak();
        let plan = MemoryPlan::of(&config(25));
        let text = refusal(&config(25), MemoryPlan::of, there);
        assert!(text.starts_with("scale 25 needs ") && text.contains("the largest scale that fits is 20 ("), "{text}");
        let text = refusal(&config(25), MemoryPlan::of, there - 1);
        assert!(text.contains("fits is 19 (33,554,432 vertices, 536,870,912 edge tuples: edge tuples "), "{text}");
        assert_eq!(text.matches(" + ").count(), plan.stages().len() - 1, "{text}");
        let text = refusal(&config(25), MemoryPlan::of, 0);
        assert!(text.contains("no scale fits"), "{text}");
    }

    #[test]
    fn largest_part_comes_first() {
        let plan = MemoryPlan::of(&config(20));
        // Of equal parts the first one: the tuples and the adjacency lists take the same.
        let (name, bytes) = plan.stages().iter().rev().max_by_key(|(_, bytes)| *bytes).expect("a plan has parts");
        let line = parts(&plan);
        let percent = (100.0 * *bytes as f64 / plan.peak() as f64).round();
        assert!(line.starts_with(&format!("{name} {percent}%")), "{line}");
        assert!(!line.contains('\n') && line.split(", ").count() <= 3, "{line}");
    }
}
