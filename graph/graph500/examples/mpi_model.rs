//! Prints what the model of distributed searches says for larger machines, as the table of `docs/MPI.md`:
//! `cargo run --release -p graph500 --example mpi_model`.
//!
//! The shares of the levels are those of scale 20 (`--verbose`): at larger scales searches have about as many. The
//! rate of a process is an assumption, 20 GTEPS. The network is one port of 100 Gbit/s.

use graph500::distributed::{LevelKind, LevelShape, Network, predicted_bytes, predicted_seconds};

/// A level: how it is searched, and its share of the connected vertices.
const LEVELS: [(LevelKind, f64); 7] = [
    (LevelKind::TopDown, 1e-6),
    (LevelKind::TopDown, 4e-5),
    (LevelKind::BottomUpBitmap, 0.06),
    (LevelKind::BottomUpBitmap, 0.67),
    (LevelKind::BottomUpBitmap, 0.265),
    (LevelKind::BottomUpList, 0.0045),
    (LevelKind::TopDown, 2e-5),
];
/// Edges per vertex.
const EDGE_FACTOR: u64 = 16;
/// Traversed edges that one process alone searches in a second.
const RATE: f64 = 2e10;
const NETWORK: Network = Network { latency: 2e-6, bandwidth: 12.5e9 };

/// The levels of a search in a graph with this many connected vertices.
fn levels(connected: u64) -> Vec<LevelShape> {
    let vertices = |share: f64| (share * connected as f64).max(1.0) as u64;
    let found = LEVELS.iter().skip(1).map(|&(_, share)| vertices(share)).chain([0]);
    let shape = |(&(kind, share), found)| LevelShape { kind, frontier: vertices(share), edges: 0, found };
    LEVELS.iter().zip(found).map(shape).collect()
}

fn main() {
    println!("scale  processes  connected      GB received   work s   total s   GTEPS   bytes of the bitmap");
    for (scale, processes) in [(20, 4), (30, 16), (36, 1024), (42, 65536)] {
        // At the benchmark's density the share of connected vertices falls slowly with the scale.
        let connected = ((1u64 << scale) as f64 * 0.617 * 0.955f64.powi(scale - 20)) as u64;
        let (levels, edges) = (levels(connected), EDGE_FACTOR << scale);
        let alone = edges as f64 / RATE;
        let bytes: f64 = predicted_bytes(&levels, connected, processes).iter().sum::<f64>() / processes as f64;
        let seconds = predicted_seconds(&levels, connected, processes, alone, &NETWORK);
        println!(
            "{scale:5}  {processes:9}  {connected:13}  {:11.3}  {:7.4}  {seconds:8.4}  {:6.0}   {}",
            bytes / 1e9,
            alone / processes as f64,
            edges as f64 / seconds / 1e9,
            connected / 8
        );
    }
}
