//! The plots of a trace, as SVG. Colours come from the style sheet of the page, which knows light and dark.

use std::fmt::Write as _;

use anabranch_trace::explain::{ReadyWaits, WaitBucket};
use maud::{Markup, html};

use super::model::{Model, MomentKind, Piece, STATES};
use super::totals::{Totals, for_each_part, utilisation};
use crate::units;

/// The inside a plot, in units of the picture.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 180.0;
/// The space for the numbers at the axes.
const LEFT: f64 = 60.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 12.0;
/// Half of the last number of a time axis.
const RIGHT: f64 = 24.0;

/// The columns of the printed timeline.
const COLUMNS: usize = 480;
/// The threads of the printed timeline.
const MOST_LANES: usize = 64;
/// The marks of the printed timeline.
const MOST_MARKS: usize = 40;

/// Formats nanoseconds.
pub fn time(nanoseconds: u64) -> String {
    units::seconds(nanoseconds as f64 * 1e-9)
}

/// A plot with its title and a description for those who do not see it.
fn figure(title: &str, description: &str, height: f64, content: &Markup) -> Markup {
    let (width, height) = (LEFT + WIDTH + RIGHT, TOP + height + BOTTOM);
    html! {
        figure {
            figcaption { (title) }
            svg.plot viewBox={"0 0 " (width) " " (height)} role="img" aria-label={(title) ". " (description)} {
                g transform={"translate(" (LEFT) " " (TOP) ")"} { (content) }
            }
        }
    }
}

/// Draws a vertical axis from zero to `most`, with the grid.
fn vertical(most: f64, label: impl Fn(f64) -> String) -> Markup {
    let step = nice_step(most);
    let steps = (most / step).floor() as usize;
    html! {
        @for value in (0..=steps).map(|index| index as f64 * step) {
            @let y = format!("{:.1}", HEIGHT - value / most * HEIGHT);
            line.grid x1="0" x2=(WIDTH) y1=(y) y2=(y) {}
            text.tick x="-8" y=(y) text-anchor="end" dominant-baseline="middle" { (label(value)) }
        }
    }
}

/// Returns 1, 2 or 5 times a power of ten, of which at most about five fit.
pub fn nice_step(most: f64) -> f64 {
    let power = 10_f64.powf((most / 5.0).log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power * 5.5 >= most).unwrap_or(10.0);
    times * power
}

/// The share of each state in the time of all threads, as one bar.
pub fn shares(totals: &Totals) -> Markup {
    let all = totals.all_states().max(1) as f64;
    let mut x = 0.0;
    let parts: Vec<(usize, u64, f64, f64)> = (0..STATES.len())
        .map(|state| {
            let (time, begin) = (totals.state(state), x);
            x += time as f64 / all * (WIDTH + LEFT);
            (state, time, begin, x)
        })
        .filter(|&(_, time, ..)| time > 0)
        .collect();
    let description: Vec<String> = parts
        .iter()
        .map(|&(state, time, ..)| format!("{} {:.1} %", STATES[state], time as f64 / all * 100.0))
        .collect();
    html! {
        figure {
            figcaption { "Time of all threads by state" }
            svg.plot viewBox={"0 0 " (WIDTH + LEFT + RIGHT) " 34"} role="img"
                aria-label={"Time of all threads by state: " (description.join(", "))}
            {
                @for (state, time_of, begin, end) in parts {
                    rect.{"c" (state)} x=(format!("{begin:.2}")) y="2" width=(format!("{:.2}", end - begin)) height="30" {
                        title { (STATES[state]) ": " (time(time_of)) }
                    }
                    @if end - begin > 60.0 {
                        text.on-bar x=(format!("{:.2}", f64::midpoint(begin, end))) y="21" text-anchor="middle" {
                            (format!("{:.1} %", time_of as f64 / all * 100.0))
                        }
                    }
                }
            }
        }
    }
}

/// Returns the area of a row of a stacked plot. It is between the sum of the rows before it and this sum with its own.
fn stacked<const N: usize>(parts: &[[f64; N]], most: f64, row: usize) -> String {
    let column = WIDTH / parts.len() as f64;
    let mut path = String::new();
    for (index, part) in parts.iter().enumerate().filter(|(_, part)| part[row] > 0.0) {
        let (low, high) = (part[..row].iter().sum::<f64>(), part[..=row].iter().sum::<f64>());
        let (top, height) = (HEIGHT - high / most * HEIGHT, (high - low) / most * HEIGHT);
        let _ = write!(path, "M{:.1} {top:.1}h{column:.1}v{height:.1}h-{column:.1}z", index as f64 * column);
    }
    path
}

/// How many cores are in use, and by whom, over time. Empty if the trace has no samples.
pub fn cores_plot(model: &Model) -> Markup {
    const PARTS: usize = 320;
    /// The classes and names of the areas, from below. The threads of the last one use no core.
    const USERS: [(&str, &str); 4] = [
        ("c0", "threads of pools"),
        ("k2", "other threads of the process"),
        ("c2", "other processes"),
        ("c7", "threads of the process that are ready, without a core"),
    ];
    if model.cores.is_empty() {
        return html! {};
    }
    let mut parts = vec![[0.0; USERS.len()]; PARTS];
    for part in &model.cores {
        let piece = Piece { begin: part.begin, end: part.end, class: 0, subject: 0, detail: 0 };
        for_each_part(&piece, model.wall as f64 / PARTS as f64, PARTS, |index, share| {
            let users = [part.pool, part.process, part.others, part.ready];
            parts[index].iter_mut().zip(users).for_each(|(sum, cores)| *sum += cores * share);
        });
    }
    let cores: f64 = model.meta.get("cores").and_then(|cores| cores.parse().ok()).unwrap_or(0.0);
    let most = parts.iter().map(|part| part.iter().sum()).fold(cores.max(1.0), f64::max) * 1.05;
    let mean = |user: usize| parts.iter().map(|part| part[user]).sum::<f64>() / PARTS as f64;
    let means: Vec<String> =
        USERS.iter().enumerate().map(|(user, (_, name))| format!("{name} {:.2}", mean(user))).collect();
    let description = format!("Means: {}.", means.join(", "));
    let content = html! {
        @for (user, (class, name)) in USERS.iter().enumerate() {
            @let path = stacked(&parts, most, user);
            @if !path.is_empty() { path.(*class) d=(path) { title { (name) } } }
        }
        (vertical(most, |value| format!("{}", (value * 100.0).round() / 100.0)))
        @if cores > 0.0 { path.limit d=(format!("M0 {:.1}h{WIDTH}", HEIGHT - cores / most * HEIGHT)) { title { "all cores" } } }
        text.tick x="-44" y=(HEIGHT / 2.0) text-anchor="middle"
            transform={"rotate(-90 -44 " (HEIGHT / 2.0) ")"} { "cores" }
        (time_axis(model.wall, HEIGHT))
    };
    html! {
        (figure("CPU in use over time", &description, HEIGHT, &content))
        p.key {
            @for (user, (class, name)) in USERS.iter().enumerate() {
                span.swatch.(*class) {} " " (name) " (" (format!("{:.2}", mean(user))) ") "
            }
            "The dashed line is the number of cores. In brackets: the mean."
        }
    }
}

/// How many threads are in each state, over time.
pub fn utilisation_plot(model: &Model) -> Markup {
    const PARTS: usize = 320;
    let parts = utilisation(model, PARTS);
    let most = parts.iter().map(|part| part.iter().sum::<f64>()).fold(1.0, f64::max);
    let working = parts.iter().map(|part| part[0]).sum::<f64>() / PARTS as f64;
    let description = format!("On average {working:.2} threads work.");
    let content = html! {
        @for state in 0..STATES.len() {
            @let path = stacked(&parts, most, state);
            @if !path.is_empty() { path.{"c" (state)} d=(path) { title { (STATES[state]) } } }
        }
        (vertical(most, |value| format!("{}", (value * 100.0).round() / 100.0)))
        text.tick x="-44" y=(HEIGHT / 2.0) text-anchor="middle"
            transform={"rotate(-90 -44 " (HEIGHT / 2.0) ")"} { "threads" }
        (time_axis(model.wall, HEIGHT))
    };
    figure("Threads by state over time", &description, HEIGHT, &content)
}

/// Draws the axis of time below a plot of some height.
fn time_axis(wall: u64, height: f64) -> Markup {
    let step = nice_step(wall.max(1) as f64);
    let count = (wall as f64 / step).floor() as usize;
    html! {
        @for value in (0..=count).map(|index| index as f64 * step) {
            @let x = format!("{:.1}", value / wall.max(1) as f64 * WIDTH);
            line.axis x1=(x) x2=(x) y1=(height) y2=(height + 5.0) {}
            text.tick x=(x) y=(height + 18.0) text-anchor="middle" {
                @if value == 0.0 { "0" } @else { (time(value as u64)) }
            }
        }
    }
}

/// How long the pieces are for which threads work without a break.
pub fn lengths_plot(totals: &Totals) -> Markup {
    histogram(
        "Lengths of pieces of work: how long threads work without a break",
        ["pieces", "the working time"],
        &totals.lengths,
        |pieces, half| format!("{pieces} pieces. Half of the working time is in pieces of at least {half}."),
    )
}

/// How long fibers that could run waited for their thread.
pub fn ready_plot(waits: &ReadyWaits) -> Markup {
    let bucket = |bucket: &WaitBucket| (bucket.count, (bucket.time * 1e9).round() as u64);
    let buckets: Vec<(u64, u64)> = waits.buckets.iter().map(bucket).collect();
    histogram(
        "Lateness of fibers: how long those that could run waited for their thread",
        ["waits", "the waiting time"],
        &buckets,
        |count, half| format!("{count} waits. Half of the waiting time is in waits of at least {half}."),
    )
}

/// Draws how many things took at least 2^n nanoseconds and less than 2^(n+1), and how long these took in sum. The first
/// element of `lengths` is for n = 0. `names` are those of the things and of their time. `describe` gets the number of
/// things, and the begin of the bucket that reaches half of the time.
fn histogram(
    title: &str,
    names: [&str; 2],
    lengths: &[(u64, u64)],
    describe: impl Fn(String, String) -> String,
) -> Markup {
    let used = |part: &(u64, u64)| part.0 > 0;
    let (Some(first), Some(last)) = (lengths.iter().position(used), lengths.iter().rposition(used)) else {
        return html! {};
    };
    let [things, of_time] = names;
    let buckets = &lengths[first..=last];
    let (count, sum) = buckets.iter().fold((0, 0), |(count, sum), part| (count + part.0, sum + part.1));
    let most = buckets.iter().map(|part| part.0 as f64 / count as f64).fold(0.0, f64::max);
    let most = buckets.iter().map(|part| part.1 as f64 / sum.max(1) as f64).fold(most, f64::max) * 100.0;
    let column = WIDTH / buckets.len() as f64;
    let bar = column.min(60.0) * 0.42;
    let every = buckets.len().div_ceil(10);
    let half = buckets
        .iter()
        .scan(0, |seen, part| {
            *seen += part.1;
            Some(*seen)
        })
        .position(|seen| seen * 2 >= sum);
    let description = describe(units::count(count), time(1 << (first + half.unwrap_or(0))));
    let content = html! {
        (vertical(most, |value| format!("{value} %")))
        @for (index, &(count_of, time_of)) in buckets.iter().enumerate() {
            @let middle = (index as f64 + 0.5) * column;
            @let range = format!("{} to {}", time(1 << (first + index)), time(1 << (first + index + 1)));
            @for (class, x, share, what) in [
                ("share-of-count", middle - bar, count_of as f64 / count as f64, format!("{} {things}", units::count(count_of))),
                ("share-of-time", middle, time_of as f64 / sum.max(1) as f64, time(time_of)),
            ] {
                @let height = share * 100.0 / most * HEIGHT;
                rect.(class) x=(format!("{x:.1}")) y=(format!("{:.1}", HEIGHT - height)) width=(format!("{bar:.1}"))
                    height=(format!("{height:.1}")) { title { (range) ": " (what) } }
            }
            @if index.is_multiple_of(every) {
                text.tick x=(format!("{:.1}", middle - column / 2.0)) y=(HEIGHT + 18.0) text-anchor="middle" {
                    (time(1 << (first + index)))
                }
            }
        }
        line.axis x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
    };
    html! {
        (figure(title, &description, HEIGHT, &content))
        p.key {
            span.swatch.share-of-count {} " share of all " (things) " "
            span.swatch.share-of-time {} " share of " (of_time) ". "
            (description)
        }
    }
}

/// The timeline as it is printed, or shown without scripts: the states of each thread, and the first marks.
pub fn timeline(model: &Model) -> Markup {
    const ROW: f64 = 20.0;
    const LABELS: f64 = 120.0;
    let lanes = &model.lanes[..model.lanes.len().min(MOST_LANES)];
    let height = lanes.len() as f64 * ROW;
    let marks = model.lanes.iter().flat_map(|lane| &lane.moments).filter(|moment| moment.kind == MomentKind::Mark);
    let width = LABELS + WIDTH + RIGHT;
    html! {
        svg.plot viewBox={"0 0 " (width) " " (height + BOTTOM)} role="img"
            aria-label="The states of each thread over time"
        {
            @for (index, lane) in lanes.iter().enumerate() {
                @let y = index as f64 * ROW;
                text.tick x="0" y=(y + 13.0) { (lane.name.chars().take(18).collect::<String>()) }
                g transform={"translate(" (LABELS) " " (y) ")"} { (row(&lane.states, model.wall, ROW - 4.0)) }
            }
            g transform={"translate(" (LABELS) " 0)"} {
                @for mark in marks.take(MOST_MARKS) {
                    @let x = format!("{:.1}", mark.time as f64 / model.wall.max(1) as f64 * WIDTH);
                    line.mark x1=(x) x2=(x) y1="0" y2=(height) { title { (model.site(mark.numbers[0])) } }
                }
                (time_axis(model.wall, height))
            }
        }
        @if lanes.len() < model.lanes.len() {
            p { (model.lanes.len() - lanes.len()) " more threads are not in this picture." }
        }
    }
}

/// Draws the states of a thread in columns. In each column the states are above each other by their shares.
fn row(states: &[Piece], wall: u64, height: f64) -> Markup {
    let width = wall.max(1) as f64 / COLUMNS as f64;
    let mut columns = vec![[0.0; STATES.len()]; COLUMNS];
    for piece in states {
        for_each_part(piece, width, COLUMNS, |column, share| columns[column][usize::from(piece.class)] += share);
    }
    let column = WIDTH / COLUMNS as f64;
    let mut paths = vec![String::new(); STATES.len()];
    let mut index = 0;
    while index < COLUMNS {
        // Equal columns are one.
        let same = columns[index..].iter().take_while(|other| **other == columns[index]).count();
        let mut y = 0.0;
        for (state, &share) in columns[index].iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let (part, wide) = (share * height, same as f64 * column);
            let _ = write!(paths[state], "M{:.1} {y:.1}h{wide:.1}v{part:.1}h-{wide:.1}z", index as f64 * column);
            y += part;
        }
        index += same;
    }
    html! {
        @for (state, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            path.{"c" (state)} d=(path) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_axes_are_round() {
        assert_eq!(nice_step(4.0), 1.0);
        assert_eq!(nice_step(100.0), 20.0);
        assert_eq!(nice_step(0.35), 0.1);
        assert_eq!(nice_step(1.0), 0.2);
    }
}
