//! The result of a sample.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sample::Meter;

/// The result of a peer, and its duration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    /// The result that the workload checks.
    pub answer: u64,
    /// The measurement of the timed part.
    #[serde(flatten)]
    pub meter: Meter,
    /// Other figures, by name.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
}

impl Done {
    /// Creates a result without other figures.
    pub fn new(answer: u64, meter: Meter) -> Done {
        Done { answer, meter, figures: BTreeMap::new() }
    }
}
