//! A model of what a search sends, and how long it takes. `docs/MPI.md` derives it and compares it with runs.

use super::LevelKind;
use super::search::SPARSE;

/// A level of a search as the model needs it. Apart from the form of a gathered frontier it does not depend on the
/// number of processes, so a run on one process shows the levels for any number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelShape {
    /// Whether the level is searched bottom-up. The model chooses between a list and a bitmap itself.
    pub kind: LevelKind,
    /// Vertices in the frontier.
    pub frontier: u64,
    /// The sum of their degrees if it is known, else 0.
    pub edges: u64,
    /// Vertices that are found.
    pub found: u64,
}

/// A network between processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// The time from the start of a small message to its end, in seconds.
    pub latency: f64,
    /// Bytes that a process sends or receives in a second.
    pub bandwidth: f64,
}

/// Returns the bytes that all of `processes` processes together send in each level of a search, in a graph with this
/// many connected vertices.
///
/// ```
/// use graph500::distributed::{LevelKind, LevelShape, predicted_bytes};
/// let level = LevelShape { kind: LevelKind::BottomUpBitmap, frontier: 30_000, edges: 0, found: 10_000 };
/// // A bitmap of 512 bytes from each of 16 processes to 15 others, and twice 16 bytes for the counts.
/// assert_eq!(predicted_bytes(&[level], 1 << 16, 16), [16.0 * 15.0 * (512.0 + 32.0)]);
/// assert_eq!(predicted_bytes(&[level], 1 << 16, 1), [0.0]);
/// ```
pub fn predicted_bytes(levels: &[LevelShape], connected: u64, processes: u64) -> Vec<f64> {
    let pairs = (processes * (processes - 1)) as f64;
    let stride = connected.div_ceil(processes).next_multiple_of(64);
    let bytes = |(index, level): (usize, &LevelShape)| {
        // The counts of the next frontier; before the first level, those of the root.
        let counts = pairs * 16.0 * if index == 0 { 2.0 } else { 1.0 };
        counts
            + if level.kind == LevelKind::TopDown {
                pairs * 8.0 + 8.0 * messages(level, processes as f64)
            } else if level.frontier * SPARSE < stride * processes {
                4.0 * level.frontier as f64 * (processes - 1) as f64
            } else {
                pairs * stride as f64 / 8.0
            }
    };
    levels.iter().enumerate().map(bytes).collect()
}

/// Returns the expected messages of a level top-down.
///
/// The edges of the frontier lead to `found` vertices, m each. The sources of these m are on processes at random, so
/// P (1 - (1 - 1 / P)^m) processes send a vertex, all but the owner as a message. In a level after others bottom-up
/// nearly all edges lead to vertices that the sender knows as visited, and m is about 1.
fn messages(level: &LevelShape, processes: f64) -> f64 {
    let found = level.found as f64;
    let multiplicity = if level.edges == 0 { 1.0 } else { (level.edges as f64 / found.max(1.0)).max(1.0) };
    found * (processes - 1.0) * (1.0 - (1.0 - 1.0 / processes).powf(multiplicity))
}

/// Returns the time of a search in seconds, if one process alone searches it in `seconds`.
///
/// The work is divided evenly. An all-gather takes log2 P steps, and an all-to-all two of up to P - 1 messages. A
/// process receives what all others send it.
///
/// ```
/// use graph500::distributed::{LevelKind, LevelShape, Network, predicted_seconds};
/// let level = LevelShape { kind: LevelKind::BottomUpBitmap, frontier: 60_000, edges: 0, found: 10_000 };
/// let network = Network { latency: 2e-6, bandwidth: 1e10 };
/// assert_eq!(predicted_seconds(&[level], 1 << 16, 1, 1.0, &network), 1.0);
/// assert!(predicted_seconds(&[level], 1 << 16, 4, 1.0, &network) > 0.25);
/// ```
pub fn predicted_seconds(
    levels: &[LevelShape],
    connected: u64,
    processes: u64,
    seconds: f64,
    network: &Network,
) -> f64 {
    let steps = (processes as f64).log2().ceil();
    let latencies = |level: &LevelShape| match level.kind {
        LevelKind::TopDown => 2.0 * (processes - 1) as f64 + steps,
        _ => 2.0 * steps,
    };
    let bytes: f64 = predicted_bytes(levels, connected, processes).iter().sum();
    let waits: f64 = levels.iter().map(latencies).sum();
    seconds / processes as f64 + waits * network.latency + bytes / processes as f64 / network.bandwidth
}
