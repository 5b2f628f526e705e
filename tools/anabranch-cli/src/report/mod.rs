//! `anabranch report`: writes one HTML file that shows a trace, or the results of benchmarks. The file loads nothing.

mod data;
mod explanation;
mod model;
mod page;
mod plots;
#[cfg(unix)]
mod prediction;
mod results;
mod tables;
mod totals;

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use anabranch_trace::explain::{Options, explain};

use results::Results;

use crate::exit::Failure;
use crate::output::Target;
use crate::signals::Signals;
use crate::{trace, units};

/// The arguments.
#[derive(clap::Args)]
pub struct Args {
    /// A trace, or a directory of results of `anabranch bench`
    #[arg(value_name = "TRACE|DIR")]
    from: PathBuf,
    /// The file to write; '-' is standard output [default: TRACE.html, index.html or curve.svg in DIR, or DIR.md]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A trace of the same program with one worker: additional time compared with it counts as lost to the machine
    #[arg(long, value_name = "ONE_WORKER_TRACE")]
    alone: Option<PathBuf>,
    /// Write only the speed-up curve of this workload of the newest result, as an SVG picture for light and dark pages
    #[arg(long, value_name = "SUITE/WORKLOAD")]
    curve: Option<String>,
    /// Write a page in Markdown: the missed targets, the newest result of each bench, and the Markdown files in DIR
    #[arg(long, conflicts_with = "curve")]
    markdown: bool,
}

/// Writes the report. The file is opened before the trace is read, so that a wrong path is reported at once.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Args { from, output, alone, curve, markdown } = args;
    let metadata = fs::metadata(from).map_err(|error| failure(from, &error))?;
    let default = || match (metadata.is_dir(), curve) {
        (true, None) if *markdown => from.with_extension("md"),
        (true, None) => from.join("index.html"),
        (true, Some(_)) => from.join("curve.svg"),
        (false, _) => beside(from),
    };
    let output = output.clone().unwrap_or_else(default);
    let signals = Signals::install()?;
    let target = Target::open(&output, &signals)?;
    if metadata.is_dir() && alone.is_some() {
        return Err(Failure::Usage("--alone is for a trace, not for a directory".to_owned()));
    }
    if !metadata.is_dir() && (curve.is_some() || *markdown) {
        return Err(Failure::Usage(
            "--curve and --markdown are for a directory of results, not for a trace".to_owned(),
        ));
    }
    let is_stdout = target.is_stdout();
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let text = if metadata.is_dir() {
        let whole = fs::canonicalize(from).map_err(|error| failure(from, &error))?;
        let results = Results::read(from)?;
        match curve {
            Some(workload) => results.curve(workload)?,
            None if *markdown => results.markdown(from)?,
            None => results.page(&name(&whole).unwrap_or_default()),
        }
    } else {
        trace_page(from, &name(from).unwrap_or_default(), alone.as_deref())?
    };
    target.write(&text)?;
    if !is_stdout {
        crate::exit::print_line(&format!("{} ({})", output.display(), units::bytes(text.len() as u64)));
    }
    Ok(())
}

/// Returns the page of a trace.
fn trace_page(path: &Path, name: &str, alone: Option<&Path>) -> Result<String, Failure> {
    let trace = trace::read(path)?;
    let alone = alone.map(|alone| trace::read_alone(alone, &trace)).transpose()?;
    let model = model::Model::new(&trace);
    let mut options = Options::default();
    options.alone = alone.as_ref();
    let explanation = explain(&trace, &options);
    Ok(page::trace(name, &model, &explanation, &prediction(&trace)))
}

/// Returns the section about other numbers of cores, if the trace has every fork.
#[cfg(unix)]
fn prediction(trace: &anabranch_trace::read::Trace) -> maud::Markup {
    crate::predict::of_report(trace).map_or_else(Default::default, |prediction| prediction::section(&prediction))
}

#[cfg(not(unix))]
fn prediction(_: &anabranch_trace::read::Trace) -> maud::Markup {
    maud::Markup::default()
}

fn failure(path: &Path, why: &dyn Display) -> Failure {
    Failure::Run(format!("{}: {why}", path.display()))
}

/// Returns the path of the report beside what it shows.
fn beside(from: &Path) -> PathBuf {
    let mut name = from.file_name().unwrap_or_else(|| "report".as_ref()).to_owned();
    name.push(".html");
    from.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use anabranch_trace::event::Event;
    use anabranch_trace::read::Trace;
    use anabranch_trace::write::Writer;

    use super::*;

    /// A trace of random events, which contradict each other.
    fn random(seed: u64) -> Trace {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |bound: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % bound
        };
        let mut writer = Writer::new(Vec::new()).unwrap();
        for site in 0..below(4) {
            writer.site("label", "file.rs", site as u32, 0).unwrap();
        }
        for lane in 0..below(5) as u32 {
            let mut time = below(50);
            let mut records = Vec::new();
            for _ in 0..below(200) {
                time += below(4);
                // Small numbers meet each other; the largest one stands for none.
                let mut number = || if below(8) == 0 { u64::from(u32::MAX) } else { below(4) };
                let argument = number() << 32 | number();
                records.push([time << 16 | below(28) << 8 | below(7), argument]);
            }
            writer.events(lane, records).unwrap();
        }
        Trace::read(&writer.finish().unwrap()).unwrap()
    }

    #[test]
    fn contradictory_traces_have_a_report_with_ordered_rows() {
        let mut kinds = 0;
        for seed in 1..400 {
            let trace = random(seed);
            let model = model::Model::new(&trace);
            for lane in &model.lanes {
                let rows = [&lane.states, &lane.fibers].into_iter().chain(&lane.spans);
                for row in rows {
                    let ordered = row.windows(2).all(|pair| pair[0].end <= pair[1].begin);
                    assert!(ordered && row.iter().all(|piece| piece.begin <= piece.end), "{seed}: {row:?}");
                    assert!(row.iter().all(|piece| piece.end <= model.wall), "{seed}: {row:?}");
                }
                kinds += lane.spans.len().min(1) + lane.fibers.len().min(1) + lane.states.len().min(1);
            }
            for link in &model.links {
                assert!(link.from.1 <= link.to.1 && link.to.1 <= model.wall, "{seed}: {link:?}");
            }
            kinds += model.links.len().min(1);
            assert!(
                page::trace("name", &model, &explain(&trace, &Options::default()), &maud::html! {})
                    .ends_with("</html>")
            );
        }
        assert!(kinds > 1000, "the traces have everything: {kinds}");
    }

    #[test]
    fn time_outside_of_the_pool_has_no_state() {
        use anabranch_trace::event::{Role, Site, State};
        let mut writer = Writer::new(Vec::new()).unwrap();
        let enter = Event::Enter { role: Role::Guest, pool: 1, worker: 2 };
        let working = Event::State { state: State::Working, site: Site::UNKNOWN };
        let events =
            [(5, enter), (5, Event::Root(Site(9))), (6, working), (10, Event::Leave), (20, enter), (20, working)];
        writer.events(0, events.map(|(time, event)| event.encode(time))).unwrap();
        writer.events(1, [Event::Mark(Site(9)).encode(25)]).unwrap();
        let model = model::Model::new(&Trace::read(&writer.finish().unwrap()).unwrap());
        let pieces = |row: &[model::Piece]| row.iter().map(|piece| (piece.begin, piece.end)).collect::<Vec<_>>();
        assert_eq!(pieces(&model.lanes[0].states), [(1, 5), (15, 20)]);
        assert_eq!(pieces(&model.lanes[0].spans[0]), [(0, 5)]);
    }
}
