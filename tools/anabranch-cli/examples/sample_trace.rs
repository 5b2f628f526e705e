//! Writes a trace of a made-up program to standard output: `sample_trace 1000000` has about a million events.

#[path = "../tests/it/common/sample.rs"]
mod sample;

use std::io::Write;

fn main() {
    let events = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(10_000);
    std::io::stdout().write_all(&sample::trace(events)).expect("standard output can be written");
}
