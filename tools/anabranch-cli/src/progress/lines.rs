//! Plain progress lines, for logs: at the start and the end of a phase, and at intervals in between.

use std::time::{Duration, Instant};

use super::{Painter, Snapshot, about};
use crate::exit::print_message;
use crate::units;

/// The interval after the phase's last line.
const BETWEEN: Duration = Duration::from_secs(10);

/// The lines printed for each phase.
pub struct Lines {
    said: Vec<Said>,
}

#[derive(Clone, Copy)]
enum Said {
    Nothing,
    Running(Instant),
    Ended,
}

impl Lines {
    pub fn new(phases: usize) -> Self {
        Self { said: vec![Said::Nothing; phases] }
    }
}

impl Painter for Lines {
    fn paint(&mut self, phases: &[Option<Snapshot>]) {
        for (phase, said) in phases.iter().zip(&mut self.said) {
            let Some(phase) = phase else { continue };
            if let Some((line, next)) = next_line(phase, *said, Instant::now()) {
                print_message(&line);
                *said = next;
            }
        }
    }
}

fn next_line(phase: &Snapshot, said: Said, now: Instant) -> Option<(String, Said)> {
    let name = &phase.name;
    match (said, phase.took) {
        (Said::Ended, _) => None,
        (_, Some(took)) => Some((format!("{name}: done in {}", units::seconds(took.as_secs_f64())), Said::Ended)),
        (Said::Nothing, None) => Some((format!("{name}: begun"), Said::Running(now))),
        (Said::Running(last), None) if now.duration_since(last) >= BETWEEN => {
            let left = phase.left().map(|left| format!(", about {} left", about(left))).unwrap_or_default();
            Some((format!("{name}: {}%{left}", phase.percent()), Said::Running(now)))
        }
        (Said::Running(_), None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_at_begin_interval_and_end() {
        let start = Instant::now();
        let at = |seconds: u64, said: Said, took: Option<u64>| {
            let running = Duration::from_secs(seconds);
            let phase = Snapshot {
                name: "work".into(),
                total: 100,
                done: 2 * seconds,
                running,
                took: took.map(Duration::from_secs),
            };
            next_line(&phase, said, start + running)
        };
        let (line, said) = at(1, Said::Nothing, None).unwrap();
        assert_eq!(line, "work: begun");
        assert!(at(5, said, None).is_none(), "too soon for another");
        let (line, said) = at(12, said, None).unwrap();
        assert_eq!(line, "work: 24%, about 38 s left");
        assert!(at(13, said, None).is_none());
        let (line, said) = at(14, said, Some(13)).unwrap();
        assert_eq!(line, "work: done in 13.0 s");
        assert!(at(40, said, Some(13)).is_none(), "ended is ended");
    }
}
