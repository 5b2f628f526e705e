//! Reads a graph, and prints how long reading and construction took: `read_graph FILE`.

use std::sync::Mutex;
use std::time::Instant;

use anabranch_graph::{Observer, Phase, ReadOptions, read_with};

/// Prints the duration of each phase.
struct Times(Mutex<Instant>);

impl Observer for Times {
    fn begin(&self, _: Phase, _: u64) {
        if let Ok(mut start) = self.0.lock() {
            *start = Instant::now();
        }
    }

    fn end(&self, phase: Phase) {
        if let Ok(start) = self.0.lock() {
            println!("{phase:?}: {:.3} s", start.elapsed().as_secs_f64());
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a file")?;
    let input = read_with::<()>(path, &ReadOptions::default(), &Times(Mutex::new(Instant::now())))?;
    println!("{} vertices, {} edges", input.graph.num_vertices(), input.graph.num_edges());
    Ok(())
}
