//! The charts of a workload: speed-up by threads, samples, and the course over builds.

use std::collections::BTreeMap;

use anabranch_bench::record::{Record, Series, Workload};
use maud::{Markup, html};

use super::super::plots::nice_step;
use crate::units::three;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 44.0;
/// The height of a row of the names of lines.
const LEGEND_ROW: f64 = 18.0;
/// The colours of lines on a light ground. `plot.css` has them too, with those on a dark ground, for viewers that know
/// variables.
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#b5578d", "#a87400", "#2f8fc4", "#7b3294", "#57606a"];
/// The colour of the grid on a light ground.
const FAINT: &str = "#d8dee4";
/// The number of shapes of points.
const SHAPES: usize = 4;
/// The results in the course of a workload.
const MOST_BUILDS: usize = 60;

/// A value with its interval.
#[derive(Clone, Copy)]
struct Point {
    /// The position on the horizontal axis, from 0 to 1.
    at: f64,
    value: f64,
    low: f64,
    high: f64,
}

/// The points of one contender.
struct Line {
    name: String,
    /// Whether the contender is a variant of anabranch.
    ours: bool,
    points: Vec<(Point, String)>,
}

/// A drawn chart. [`Chart::figure`] is its form in a page, and `picture` that of a file.
pub struct Chart {
    pub title: String,
    /// The text for readers who do not see the chart.
    pub description: String,
    pub content: Markup,
    pub height: f64,
}

impl Chart {
    /// The width of every chart.
    pub const WIDTH: f64 = LEFT + WIDTH + 10.0;

    /// Draws lines over an axis with labels, from zero to the greatest value. Returns `None` if there is no value.
    /// `about` ends the description.
    fn new(title: &str, unit: &str, lines: &[Line], ticks: &[(f64, String)], about: &str) -> Option<Chart> {
        let values = lines.iter().flat_map(|line| &line.points).map(|(point, _)| point.high.max(point.value));
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        if most <= 0.0 {
            return None;
        }
        let most = most * 1.05;
        let x = |at: f64| format!("{:.1}", 10.0 + at * (WIDTH - 20.0));
        let y = |value: f64| format!("{:.1}", HEIGHT - (value / most).clamp(0.0, 1.0) * HEIGHT);
        let step = nice_step(most);
        let (legend, rows) = legend(lines);
        let content = html! {
            g transform={"translate(" (LEFT) " " (TOP) ")"} {
                @for value in (0..=(most / step) as usize).map(|index| index as f64 * step) {
                    line.grid stroke=(FAINT) x1="0" x2=(WIDTH) y1=(y(value)) y2=(y(value)) {}
                    text.tick x="-8" y=(y(value)) text-anchor="end" dominant-baseline="middle" { (short(value)) }
                }
                text.tick x="-46" y=(HEIGHT / 2.0) text-anchor="middle"
                    transform={"rotate(-90 -46 " (HEIGHT / 2.0) ")"} { (unit) }
                @for (at, label) in ticks {
                    line.axis stroke=(FAINT) x1=(x(*at)) x2=(x(*at)) y1=(HEIGHT) y2=(HEIGHT + 5.0) {}
                    @let anchor = if *at > 0.9 { "end" } else { "middle" };
                    text.tick x=(x(*at)) y=(HEIGHT + 19.0) text-anchor=(anchor) { (label) }
                }
                @for (number, line) in lines.iter().enumerate() {
                    @let corners = line.points.iter().map(|(point, _)| format!("{},{}", x(point.at), y(point.value)));
                    g.line.ours[line.ours].{"l" (number % COLOURS.len())} {
                        @if line.points.len() > 1 {
                            polyline fill="none" stroke=(colour(number)) stroke-width="1.6"
                                points=(corners.collect::<Vec<_>>().join(" ")) {}
                        }
                        @for (point, text) in &line.points {
                            line.interval stroke=(colour(number)) x1=(x(point.at)) x2=(x(point.at))
                                y1=(y(point.low)) y2=(y(point.high)) {}
                            (marker(number, &x(point.at), &y(point.value), &format!("{}: {text}", line.name)))
                        }
                    }
                }
                g transform={"translate(0 " (HEIGHT + BOTTOM) ")"} { (legend) }
            }
        };
        let (title, description) = (title.to_owned(), format!("{title} in {unit}. {about}"));
        Some(Chart { title, description, content, height: TOP + HEIGHT + BOTTOM + rows as f64 * LEGEND_ROW })
    }

    /// Returns the chart as a part of a page.
    pub fn figure(&self) -> Markup {
        html! {
            figure {
                figcaption { (self.title) }
                svg.plot viewBox={"0 0 " (Chart::WIDTH) " " (self.height)} role="img" aria-label=(self.description) {
                    (self.content)
                }
            }
        }
    }
}

fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// Draws a point in the shape of its line.
fn marker(number: usize, x: &str, y: &str, text: &str) -> Markup {
    let path = match number % SHAPES {
        0 => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        1 => "M-3.6 -3.6h7.2v7.2h-7.2z",
        2 => "M0 -4.8L4.6 3.6H-4.6z",
        _ => "M0 -5L5 0L0 5L-5 0z",
    };
    html! { path.marker fill=(colour(number)) d=(path) transform={"translate(" (x) " " (y) ")"} { title { (text) } } }
}

/// Draws the names of the lines below the axis, and returns the number of rows.
fn legend(lines: &[Line]) -> (Markup, usize) {
    let (mut x, mut row) = (0.0, 0);
    let mut places = Vec::new();
    for line in lines {
        // The font of the reader is unknown: this is more than most need.
        let each = if line.ours { 7.8 } else { 6.8 };
        let width = 32.0 + each * line.name.chars().count() as f64;
        if x > 0.0 && x + width > WIDTH {
            (x, row) = (0.0, row + 1);
        }
        places.push((x, row as f64 * LEGEND_ROW));
        x += width;
    }
    let names = html! {
        @for (number, (line, (x, y))) in lines.iter().zip(places).enumerate() {
            g.line.ours[line.ours].{"l" (number % COLOURS.len())} transform={(format!("translate({x:.1} {y:.1})"))} {
                (marker(number, "5", "-4", &line.name))
                text x="14" { (line.name) }
            }
        }
    };
    (names, row + 1)
}

/// Formats a value at an axis.
fn short(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value >= 10_000.0 {
        format!("{:.0}k", value / 1000.0)
    } else {
        three(value)
    }
}

/// Returns the name of a series in the charts.
fn name(series: &Series) -> String {
    series
        .threads
        .map_or_else(|| series.peer.clone(), |threads| format!("{}, {threads} threads", series.peer))
        .replace(" 1 threads", " 1 thread")
}

/// How much faster each contender is with more threads than the baseline, or than itself with the fewest threads.
/// `None` if no contender ran with two numbers of threads.
pub fn speed_up(workload: &Workload) -> Option<Chart> {
    let median = |series: &Series| series.figures.as_ref().map(|figures| figures.interval);
    let baseline = workload
        .series
        .iter()
        .filter(|series| series.baseline)
        .find_map(|series| Some((&series.peer, median(series)?)));
    let mut peers: Vec<(&str, BTreeMap<usize, &Series>)> = Vec::new();
    for series in &workload.series {
        let (Some(threads), Some(_)) = (series.threads, median(series)) else { continue };
        match peers.iter_mut().find(|(peer, _)| *peer == series.peer) {
            Some((_, by_threads)) => {
                by_threads.insert(threads, series);
            }
            None => peers.push((&series.peer, BTreeMap::from([(threads, series)]))),
        }
    }
    peers.retain(|(_, by_threads)| by_threads.len() > 1);
    // The first colours are those of anabranch in every chart.
    let is_ours = |by_threads: &BTreeMap<usize, &Series>| by_threads.values().any(|series| series.ours);
    peers.sort_by_key(|(_, by_threads)| !is_ours(by_threads));
    let threads: Vec<usize> = {
        let mut all: Vec<usize> = peers.iter().flat_map(|(_, by_threads)| by_threads.keys().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (&fewest, &greatest) = (threads.first()?, threads.last()?);
    let place = |threads: usize| (threads - fewest) as f64 / (greatest - fewest).max(1) as f64;
    let lines: Vec<Line> = peers
        .iter()
        .map(|(peer, by_threads)| {
            let own = by_threads.values().next().and_then(|series| median(series)).map(|estimate| estimate.value);
            let one = baseline.map(|(_, estimate)| estimate.value).or(own).unwrap_or(f64::NAN);
            let point = |(&threads, series): (&usize, &&Series)| {
                let estimate = median(series)?;
                let point = Point {
                    at: place(threads),
                    value: one / estimate.value,
                    low: one / estimate.high,
                    high: one / estimate.low,
                };
                Some((point, format!("{} times as fast with {threads} threads", three(point.value))))
                    .filter(|_| point.high.is_finite())
            };
            Line {
                name: (*peer).to_owned(),
                ours: is_ours(by_threads),
                points: by_threads.iter().filter_map(point).collect(),
            }
        })
        .collect();
    let ticks: Vec<(f64, String)> = threads.iter().map(|&threads| (place(threads), format!("{threads}"))).collect();
    let than = baseline.map_or("itself with the fewest threads", |(peer, _)| peer);
    let title = format!("Speed-up by threads, against {than}");
    Chart::new(&title, "times as fast", &lines, &ticks, &spoken(&lines))
}

/// How many times as fast a program is predicted to be on some cores, and could be with the best scheduler. The axis is
/// logarithmic. Each point is a number of cores, the prediction, and the bound.
#[cfg(unix)]
pub fn predicted(points: &[(usize, f64, f64)]) -> Option<Chart> {
    let logarithms = points.iter().map(|&(cores, ..)| (cores as f64).log2());
    let (least, most) = logarithms.fold((f64::MAX, 0.0_f64), |(least, most), at| (least.min(at), most.max(at)));
    let place = |cores: usize| ((cores as f64).log2() - least) / (most - least).max(f64::MIN_POSITIVE);
    let line = |name: &str, ours: bool, of: fn(&(usize, f64, f64)) -> f64| Line {
        name: name.to_owned(),
        ours,
        points: points
            .iter()
            .map(|point| {
                let (at, value) = (place(point.0), of(point));
                let text = format!("{} times as fast on {} cores", three(value), point.0);
                (Point { at, value, low: value, high: value }, text)
            })
            .collect(),
    };
    let lines = [line("predicted", true, |point| point.1), line("at most, by work and span", false, |point| point.2)];
    let ticks: Vec<(f64, String)> = points.iter().map(|&(cores, ..)| (place(cores), cores.to_string())).collect();
    Chart::new("Predicted speed-up by cores", "times as fast", &lines, &ticks, &spoken(&lines))
}

/// Returns the points of all lines in words.
fn spoken(lines: &[Line]) -> String {
    let points = |line: &Line| line.points.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(", ");
    lines.iter().map(|line| format!("{}: {}.", line.name, points(line))).collect::<Vec<_>>().join(" ")
}

/// All samples of each series, with the median and its interval.
pub fn samples(workload: &Workload) -> Markup {
    const ROW: f64 = 26.0;
    const LABELS: f64 = 190.0;
    let series: Vec<(&Series, Vec<f64>)> = workload
        .series
        .iter()
        .map(|series| (series, series.values()))
        .filter(|(_, values)| !values.is_empty() && values.iter().all(|value| value.is_finite()))
        .collect();
    let most = series.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max) * 1.02;
    if most <= 0.0 {
        return html! {};
    }
    let inside = WIDTH + LEFT - LABELS;
    let x = |value: f64| format!("{:.1}", LABELS + (value / most).clamp(0.0, 1.0) * inside);
    let (width, height) = (LABELS + inside + 20.0, series.len() as f64 * ROW);
    let step = nice_step(most);
    html! {
        figure {
            figcaption { "Samples: each one, and the interval of the median" }
            svg.plot viewBox={"0 0 " (width) " " (height + 30.0)} role="img"
                aria-label={"All samples of " (workload.full_name()) " in " (workload.unit) ". The table has their quantiles."}
            {
                @for value in (0..=(most / step) as usize).map(|index| index as f64 * step) {
                    line.grid x1=(x(value)) x2=(x(value)) y1="0" y2=(height) {}
                    text.tick x=(x(value)) y=(height + 16.0) text-anchor="middle" { (short(value)) }
                }
                text.tick x=(width - 4.0) y=(height + 28.0) text-anchor="end" { (workload.unit) }
                @for (number, (series, values)) in series.iter().enumerate() {
                    @let middle = (number as f64 + 0.5) * ROW;
                    text.tick x="0" y=(middle + 4.0) { (name(series).chars().take(30).collect::<String>()) }
                    g.{"l" (number % COLOURS.len())}.line {
                        @if let Some(figures) = &series.figures {
                            line.band x1=(x(figures.interval.low)) x2=(x(figures.interval.high)) y1=(middle) y2=(middle) {}
                            line.median x1=(x(figures.interval.value)) x2=(x(figures.interval.value)) y1=(middle - 8.0) y2=(middle + 8.0) {}
                        }
                        @for (index, value) in values.iter().enumerate() {
                            // Neighbours are at different heights, so that equal samples are seen.
                            circle.sample cx=(x(*value)) cy=(format!("{:.1}", middle - 4.0 + (index % 5) as f64 * 2.0)) r="2.4" {
                                title { (three(*value)) " " (workload.unit) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The medians of anabranch and of the baseline in each result, the oldest first. `None` if there is one result.
pub fn course(workload: &Workload, records: &[&(String, Record)]) -> Option<Chart> {
    let records = &records[records.len().saturating_sub(MOST_BUILDS)..];
    let has = |record: &Record| record.workloads.iter().any(|other| is_same(other, workload));
    let records: Vec<&(String, Record)> = records.iter().copied().filter(|(_, record)| has(record)).collect();
    if records.len() < 2 {
        return None;
    }
    let place = |index: usize| index as f64 / (records.len() - 1) as f64;
    let shown = workload
        .series
        .iter()
        .filter(|series| series.ours || series.baseline)
        .filter(|series| series.figures.is_some());
    let lines: Vec<Line> = shown
        .map(|series| {
            let points = records.iter().enumerate().filter_map(|(index, (_, record))| {
                let workload = record.workloads.iter().find(|other| is_same(other, workload))?;
                let is_same = |other: &&Series| other.peer == series.peer && other.threads == series.threads;
                let estimate = workload.series.iter().find(is_same)?.figures.as_ref()?.interval;
                let point = Point { at: place(index), value: estimate.value, low: estimate.low, high: estimate.high };
                Some((
                    point,
                    format!("{} {} on {}, {}", three(estimate.value), workload.unit, record.date, build(record)),
                ))
            });
            Line { name: name(series), ours: series.ours, points: points.collect() }
        })
        .collect();
    let every = records.len().div_ceil(6);
    let ticks: Vec<(f64, String)> = records
        .iter()
        .enumerate()
        .filter(|(index, _)| index.is_multiple_of(every))
        .map(|(index, (_, record))| (place(index), build(record)))
        .collect();
    let about = format!("{} results, the oldest first.", records.len());
    Chart::new("Course over builds", &workload.unit, &lines, &ticks, &about)
}

/// Returns whether two results are of the same workload of the same size.
fn is_same(a: &Workload, b: &Workload) -> bool {
    (&a.suite, &a.name, &a.title, &a.unit) == (&b.suite, &b.name, &b.title, &b.unit)
}

/// Returns the commit of a build, or the date of its result.
pub fn build(record: &Record) -> String {
    match &record.build.commit {
        Some(commit) => {
            let digits: String = commit.chars().take(8).collect();
            if record.build.modified { digits + "+" } else { digits }
        }
        None => record.date.chars().take(10).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{COLOURS, FAINT};
    use crate::report::page::PLOT_STYLE;

    #[test]
    fn style_sheet_has_the_same_colours() {
        for (number, colour) in COLOURS.iter().enumerate() {
            assert!(PLOT_STYLE.contains(&format!(".l{number} {{ --l: {colour} }}")), "{colour}");
        }
        assert!(PLOT_STYLE.contains(&format!("--line: {FAINT}")));
    }
}
