//! `anabranch plan`: how a number of elements is spread over a device, and why.

use std::path::PathBuf;

use anabranch_kernel::{Device, Plan};
use serde::Serialize;

use crate::exit::Failure;
use crate::output::{Target, to_stdout};
use crate::signals::Signals;
use crate::units::{bytes, three};
use crate::values::number;

/// Increases by one when a field is removed or changes its meaning, not when one is added.
const SCHEMA: u32 = 1;

/// The arguments.
#[derive(clap::Args)]
pub struct Args {
    /// Number of elements of the vectors
    #[arg(long, value_name = "N", value_parser = elements, allow_negative_numbers = true)]
    n: u64,

    /// The device: 'this' for the processor of this machine, 'auto' for its GPU, a known name such as h100 or c2050, or
    /// a description: cores=14,warps=48,lanes=32
    #[arg(long, value_name = "NAME", default_value = "this")]
    device: Device,

    /// Also write the plan to FILE; '-' is standard output, and the table goes to standard error
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn elements(text: &str) -> Result<u64, String> {
    number(text, 0, u64::MAX, "")
}

/// Prints the plan.
pub fn run(args: &Args) -> Result<(), Failure> {
    let plan = args.device.plan(args.n);
    let Some(path) = &args.json else { return to_stdout(&text(&args.device, &plan, false)) };
    let signals = Signals::install()?;
    let target = Target::open(path, &signals)?;
    let on_stdout = target.is_stdout();
    target.write(&to_json(&args.device, &plan))?;
    let text = text(&args.device, &plan, on_stdout);
    if on_stdout {
        text.lines().for_each(crate::exit::print_line);
        return Ok(());
    }
    to_stdout(&text)
}

/// Returns the table and the reason, with a line end.
fn text(device: &Device, plan: &Plan, on_stderr: bool) -> String {
    let shape = device.shape();
    let mut table = crate::table::new(on_stderr);
    table.set_header(["device", device.name()]);
    let mut row = |name: &str, value: String| {
        table.add_row([name, &value]);
    };
    row("cores", shape.cores.to_string());
    row("lanes of a vector", shape.lanes.to_string());
    row("resident vectors a core", shape.resident_vectors.to_string());
    row("largest block", format!("{} vectors", shape.max_block_vectors));
    row("memory", device.memory().map_or("unknown".to_owned(), bytes));
    let rate = |rate: u64| format!("{} GB/s", three(rate as f64 / 1e9));
    row("bandwidth", device.bandwidth().map_or("unknown".to_owned(), rate));
    row("source", device.source().to_owned());
    row("plan", plan.to_string());
    format!("{}\n\n{}\n", table.trim_fmt(), plan.reason())
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    device: DeviceFields<'a>,
    plan: PlanFields,
}

#[derive(Serialize)]
struct DeviceFields<'a> {
    name: &'a str,
    cores: u32,
    lanes: u32,
    resident_vectors: u32,
    max_block_vectors: u32,
    memory_bytes: Option<u64>,
    bandwidth_bytes_per_s: Option<u64>,
    source: &'a str,
}

#[derive(Serialize)]
struct PlanFields {
    elements: u64,
    vectors: u64,
    blocks: u64,
    vectors_per_block: u32,
    lanes_per_block: u64,
    elements_per_lane: u64,
    waves: u64,
    /// From 0 to 1.
    occupancy: f64,
    rule: &'static str,
    reason: String,
}

/// Returns the document, with a line end.
fn to_json(device: &Device, plan: &Plan) -> String {
    let shape = device.shape();
    let document = Document {
        schema: SCHEMA,
        device: DeviceFields {
            name: device.name(),
            cores: shape.cores,
            lanes: shape.lanes,
            resident_vectors: shape.resident_vectors,
            max_block_vectors: shape.max_block_vectors,
            memory_bytes: device.memory(),
            bandwidth_bytes_per_s: device.bandwidth(),
            source: device.source(),
        },
        plan: PlanFields {
            elements: plan.elements(),
            vectors: plan.vectors(),
            blocks: plan.blocks(),
            vectors_per_block: plan.vectors_per_block(),
            lanes_per_block: plan.lanes_per_block(),
            elements_per_lane: plan.elements_per_lane(),
            waves: plan.waves(),
            occupancy: plan.occupancy(),
            rule: plan.rule().name(),
            reason: plan.reason().to_string(),
        },
    };
    // Numbers and texts can always be serialized.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
