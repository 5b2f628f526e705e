//! The picture of the guide: the latency of requests over time, without loops and beside them.
//!
//! It is an SVG element without a style sheet, so that it can be part of a page: text has the colour of the page.

use std::fmt::Write as _;
use std::time::Duration;

use super::clients::Answer;

/// The points of a curve.
const POINTS: usize = 100;

/// The size of a panel, and the margins around the panels.
const PANEL: (f64, f64) = (300.0, 200.0);
const LEFT: f64 = 56.0;
const TOP: f64 = 44.0;
const GAP: f64 = 16.0;
const BOTTOM: f64 = 34.0;

/// The lines of the scale, in milliseconds.
const DECADES: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

/// The highest latency of the scale, in milliseconds.
const HIGHEST: f64 = 300.0;

/// The colours of the curves, apart for people with any kind of colour vision.
const COLOURS: [&str; 3] = ["#0072b2", "#d55e00", "#009e73"];

/// Returns the worst latency in milliseconds of the requests that were open in each part of the time, or zero where
/// there are none. A server that stops answering shows as a plateau, although no client sends a request meanwhile.
pub fn worst(answers: &[Answer], time: Duration) -> Vec<f64> {
    let mut worst = vec![0.0; POINTS];
    for answer in answers {
        let part = |at: Duration| (at.as_secs_f64() / time.as_secs_f64() * POINTS as f64) as usize;
        let (first, last) = (part(answer.at).min(POINTS - 1), part(answer.at + answer.latency).min(POINTS - 1));
        for worst in &mut worst[first..=last] {
            *worst = f64::max(*worst, answer.latency.as_secs_f64() * 1e3);
        }
    }
    worst
}

/// Draws two panels, the first beside nothing and the second beside loops. A curve has its name and the worst
/// latencies for both panels.
pub fn draw(curves: &[(String, [Vec<f64>; 2])], time: Duration) -> String {
    let (width, height) = (LEFT + 2.0 * PANEL.0 + GAP + 12.0, TOP + PANEL.1 + BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"Worst latency of HTTP requests over time, without loops and beside loops\" \
         style=\"max-width:{width}px;width:100%\" font-family=\"sans-serif\" font-size=\"11\" fill=\"currentColor\">\n"
    );
    for (panel, title) in ["nothing else", "a thread calls one loop after another"].into_iter().enumerate() {
        let left = LEFT + panel as f64 * (PANEL.0 + GAP);
        let centre = left + PANEL.0 / 2.0;
        let _ = writeln!(svg, "<text x=\"{centre}\" y=\"{}\" text-anchor=\"middle\">{title}</text>", TOP - 8.0);
        for decade in DECADES {
            let y = y(decade);
            let _ = writeln!(
                svg,
                "<path d=\"M{left} {y:.1}h{}\" stroke=\"currentColor\" stroke-opacity=\"0.25\"/>",
                PANEL.0
            );
            if panel == 0 {
                let _ = writeln!(
                    svg,
                    "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{decade} ms</text>",
                    left - 6.0,
                    y + 4.0
                );
            }
        }
        for second in [0.0, 0.5, 1.0] {
            let (x, y) = (left + second * PANEL.0, TOP + PANEL.1 + 14.0);
            let seconds = second * time.as_secs_f64();
            let anchor = ["start", "middle", "end"][(second * 2.0) as usize];
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{seconds} s</text>");
        }
        for ((_, halves), colour) in curves.iter().zip(COLOURS.iter().cycle()) {
            let points: String = halves[panel].iter().enumerate().filter(|(_, worst)| **worst > 0.0).fold(
                String::new(),
                |mut points, (part, worst)| {
                    let x = left + (part as f64 + 0.5) / POINTS as f64 * PANEL.0;
                    let _ = write!(points, "{x:.1},{:.1} ", y(*worst));
                    points
                },
            );
            let points = points.trim_end();
            let _ =
                writeln!(svg, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"/>");
        }
    }
    let mut x = LEFT;
    for ((name, _), colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let _ = writeln!(svg, "<path d=\"M{x} 13h18\" stroke=\"{colour}\" stroke-width=\"2.4\"/>");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"17\">{name}</text>", x + 24.0);
        x += 44.0 + 6.5 * name.len() as f64;
    }
    svg.push_str("</svg>\n");
    svg
}

/// Returns the height of a latency on a logarithmic scale.
fn y(latency: f64) -> f64 {
    let (low, high) = (DECADES[0].ln(), HIGHEST.ln());
    let share = (latency.clamp(DECADES[0], HIGHEST).ln() - low) / (high - low);
    TOP + PANEL.1 * (1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_of_the_time_has_the_worst_latency_of_open_requests() {
        let answer = |at, latency| Answer {
            at: Duration::from_millis(at),
            latency: Duration::from_millis(latency),
            is_heavy: false,
        };
        let worst = worst(&[answer(0, 3), answer(9, 7), answer(30, 20), answer(999, 5)], Duration::from_secs(1));
        assert_eq!(worst[..7], [7.0, 7.0, 0.0, 20.0, 20.0, 20.0, 0.0]);
        assert_eq!(worst[99], 5.0);
    }

    #[test]
    fn curves_stay_within_the_panels() {
        let curves = [("one".to_owned(), [vec![0.0, 0.001, 1_000.0], vec![1.0; POINTS]])];
        let svg = draw(&curves, Duration::from_secs(2));
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains(">2 s</text>") && svg.contains(">one</text>"), "{svg}");
        assert_eq!((y(0.0), y(1e9)), (TOP + PANEL.1, TOP));
    }
}
