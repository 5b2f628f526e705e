//! Progress bars on a terminal, one per phase, removed when the run has succeeded.

use std::io::Write;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Painter, Snapshot, about};
use crate::units;

/// The columns beside the bar: the spaces around it, "100%" and the longest note.
const BESIDE: usize = 26;

/// The bars drawn so far.
pub struct Bars {
    all: MultiProgress,
    shown: Vec<Option<ProgressBar>>,
    running: ProgressStyle,
    ended: ProgressStyle,
}

impl Bars {
    pub fn new(names: &[&str]) -> Self {
        let name_width = names.iter().map(|name| name.len()).max().unwrap_or(0);
        let columns = terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
        let width = columns.saturating_sub(name_width + BESIDE).clamp(4, 40);
        let style = |colour: &str| {
            ProgressStyle::with_template(&format!(
                "{{prefix:<{name_width}}} {{bar:{width}{colour}}} {{pos:>3}}%  {{msg}}"
            ))
            .expect("a sound template")
            .progress_chars("=> ")
        };
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let (running, ended) = if colours { (".cyan", ".green") } else { ("", "") };
        Self {
            // The painter's ticks control the rate, so that the last one is drawn too.
            all: MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(60)),
            shown: vec![None; names.len()],
            running: style(running),
            ended: style(ended),
        }
    }
}

impl Painter for Bars {
    fn paint(&mut self, phases: &[Option<Snapshot>]) {
        for (phase, bar) in phases.iter().zip(&mut self.shown) {
            let Some(phase) = phase else { continue };
            let bar = bar.get_or_insert_with(|| {
                let bar = ProgressBar::new(100).with_style(self.running.clone()).with_prefix(phase.name.to_string());
                self.all.add(bar)
            });
            if bar.is_finished() {
                continue;
            }
            match phase.took {
                Some(took) => {
                    bar.set_style(self.ended.clone());
                    bar.set_position(100);
                    bar.finish_with_message(units::seconds(took.as_secs_f64()));
                }
                None => {
                    bar.set_message(note(phase));
                    bar.set_position(phase.percent());
                    bar.tick();
                }
            }
        }
    }

    /// After Ctrl-C the bars stay. The terminal has written `^C` after the last bar, perhaps on a new line, so no line
    /// above can be cleared.
    fn finish(&mut self, interrupted: bool) {
        if !interrupted {
            let _ = self.all.clear();
            return;
        }
        self.all.set_draw_target(ProgressDrawTarget::hidden());
        if self.shown.iter().any(Option::is_some) {
            let _ = writeln!(std::io::stderr());
        }
    }
}

fn note(phase: &Snapshot) -> String {
    match phase.left() {
        // An early estimate of a long phase is unreliable.
        Some(left) if phase.running >= Duration::from_millis(500) => {
            format!("{} left", about(left))
        }
        _ => String::new(),
    }
}
