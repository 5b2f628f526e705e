//! The memory that a run will take, computed before it starts.

use crate::bfs::BfsKind;
use crate::construct::Layout;
use crate::run::Config;
use crate::{Edge, validate};

/// The memory in use at the peak of a run.
///
/// The peak is the end of kernel 1 or, with few edges per vertex, the searches. The program itself and small buffers, a
/// few megabytes, are not counted.
///
/// ```
/// use graph500::{BfsKind, Config, MemoryPlan, Spec};
/// let config = Config { spec: Spec::new(26, 16, 1)?, bfs: BfsKind::Direction, roots: 64, validate: true };
/// let plan = MemoryPlan::of(&config);
/// assert_eq!(plan.stages().iter().map(|(_, bytes)| bytes).sum::<u64>(), plan.peak());
/// assert!(plan.peak() < 28_000_000_000);
/// # Ok::<(), graph500::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    stages: Vec<(&'static str, u64)>,
}

impl MemoryPlan {
    /// Computes the plan of `config`.
    pub fn of(config: &Config) -> MemoryPlan {
        let (vertices, edges) = (config.spec.num_vertices(), config.spec.num_edges());
        let layout = Layout::new(vertices as usize, edges as usize);
        let arcs = 2 * edges;
        let bitmap = vertices.div_ceil(64) * 8;
        let common = [
            ("edge tuples", edges * size_of::<Edge>() as u64),
            ("adjacency lists", arcs * 4),
            ("row index", (vertices + layout.bands as u64) * 4),
            ("first neighbours", vertices * 4 + bitmap),
        ];
        let kernel = match config.bfs {
            BfsKind::Sequential => vertices * 4,
            BfsKind::Color => vertices * 2,
            BfsKind::Direction => vertices * 8 + bitmap * 3,
        };
        let sources = if layout.is_packed() { 0 } else { arcs * 2 };
        let construction = [("arc sources", sources), ("degree ranks", vertices * 8)];
        let search = [
            ("parents", vertices * 8),
            ("search", kernel),
            ("validation", if config.validate { validate::bytes(vertices) } else { 0 }),
        ];
        let total = |part: &[(&str, u64)]| part.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let more = if total(&construction) >= total(&search) { &construction[..] } else { &search[..] };
        let stages = common.iter().chain(more).copied().filter(|&(_, bytes)| bytes > 0).collect();
        MemoryPlan { stages }
    }

    /// Returns the parts with their bytes, all in memory at the same time.
    pub fn stages(&self) -> &[(&'static str, u64)] {
        &self.stages
    }

    /// Returns the sum of all parts, in bytes.
    pub fn peak(&self) -> u64 {
        self.stages.iter().map(|(_, bytes)| bytes).sum()
    }
}
