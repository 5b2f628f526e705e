//! One sample: one measurement of a workload with one peer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The result of one run of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The main figure, in the workload's unit.
    pub value: f64,
    /// The duration of the measured part, in seconds.
    pub wall: f64,
    /// User and system time of all threads of the process during the measured part, in seconds.
    pub cpu: f64,
    /// The CPU time per unit, in the unit of the value; if the value is not a time, the whole CPU time in seconds.
    pub cpu_each: f64,
    /// Other figures, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, f64>,
}

impl Sample {
    /// Creates the sample whose value is the time per unit for `units`, counted in `unit_seconds` (1e-9 for
    /// nanoseconds).
    pub fn per_unit(meter: Meter, units: f64, unit_seconds: f64) -> Sample {
        let each = |seconds: f64| seconds / units / unit_seconds;
        let (value, cpu_each) = (each(meter.wall), each(meter.cpu));
        Sample { value, wall: meter.wall, cpu: meter.cpu, cpu_each, extra: BTreeMap::new() }
    }

    /// Adds another figure.
    pub fn with(mut self, name: &str, figure: f64) -> Sample {
        self.extra.insert(name.to_owned(), figure);
        self
    }
}

/// Wall and CPU time of a measured part, in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Meter {
    /// The wall time.
    pub wall: f64,
    /// User and system time of all threads of the process.
    pub cpu: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_figures_survive_the_pipe() {
        let sample = Sample::per_unit(Meter { wall: 1.0, cpu: 2.0 }, 1.0, 1.0).with("switches", 3.0);
        let text = serde_json::to_string(&sample).unwrap();
        let back: Sample = serde_json::from_str(&text).unwrap();
        assert_eq!(back.extra["switches"], 3.0);
        assert_eq!((back.value, back.wall, back.cpu), (1.0, 1.0, 2.0));
    }
}
