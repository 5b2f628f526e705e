//! `anabranch explain`: where the time of a trace went.

use std::path::PathBuf;

use anabranch_trace::explain::{Explanation, Options, explain};
use anabranch_trace::read::{Place, Trace};
use serde::Serialize;

use crate::exit::Failure;
use crate::output;
use crate::trace::{read, read_alone};

/// The version of the JSON form.
const SCHEMA: u32 = 1;

/// The arguments.
#[derive(clap::Args)]
pub struct Args {
    /// The trace, which ANABRANCH_TRACE=FILE makes a program write
    trace: PathBuf,
    /// A trace of the same program with one worker: what its work takes more than there is lost to the machine
    #[arg(long, value_name = "ONE_WORKER_TRACE")]
    alone: Option<PathBuf>,
    /// Print all figures as JSON; times are in seconds
    #[arg(long)]
    json: bool,
}

/// The JSON form. The sites in the explanation are numbers: site n is the n-th place, from 1, and 0 is unknown.
#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    explanation: &'a Explanation,
    places: &'a [Place],
}

/// Explains a trace.
pub fn run(args: &Args) -> Result<(), Failure> {
    let trace = read(&args.trace)?;
    let alone = args.alone.as_deref().map(|alone| read_alone(alone, &trace)).transpose()?;
    let mut options = Options::default();
    options.alone = alone.as_ref();
    let explanation = explain(&trace, &options);
    if explanation.pools.is_empty() {
        let trace = args.trace.display();
        return Err(Failure::Run(format!("{trace}: no thread enters a pool in this trace; record a longer one")));
    }
    output::to_stdout(&if args.json { json(&trace, &explanation) } else { explanation.to_string() })
}

fn json(trace: &Trace, explanation: &Explanation) -> String {
    let document = Document { schema: SCHEMA, explanation, places: &trace.places };
    let mut text = serde_json::to_string_pretty(&document).expect("a map with text keys");
    text.push('\n');
    text
}
