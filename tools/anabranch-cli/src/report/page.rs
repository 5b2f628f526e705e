//! The page of a trace.

use anabranch_trace::explain::Explanation;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::model::{Model, STATES};
use super::plots::{self, time};
use super::totals::Totals;
use super::{data, explanation, tables, units};

const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/data.js"),
    include_str!("script/text.js"),
    include_str!("script/draw.js"),
    include_str!("script/use.js"),
    "})();\n",
);
/// The style of plots: all that a picture needs.
pub const PLOT_STYLE: &str = include_str!("plot.css");
const STYLE: &str = include_str!("report.css");

/// The keys of the timeline, and what they do.
const KEYS: [(&str, &str); 9] = [
    ("+  −", "zoom in, zoom out; also the mouse wheel"),
    ("←  →", "move in time; also drag"),
    ("↑  ↓", "choose the row above or below"),
    ("n  p", "choose the next or previous piece in the row, or moment"),
    ("Enter", "pin the details of what is chosen; also a click"),
    ("z", "zoom to what is chosen"),
    ("0", "show the whole trace"),
    ("Esc", "unpin"),
    ("?", "show or hide this list"),
];

/// Returns the whole document.
pub fn document(title: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // The page loads nothing.
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(PLOT_STYLE)) (PreEscaped(STYLE)) }
            }
            body { (content) }
        }
    };
    page.into_string()
}

/// Returns the page of a trace. The name is that of the file, and the prediction a section or nothing.
pub fn trace(name: &str, model: &Model, explanation: &Explanation, prediction: &Markup) -> String {
    let totals = Totals::new(model);
    let program = model.meta.get("program").map_or(name, String::as_str);
    let content = html! {
        a.skip href="#timeline" { "To the timeline" }
        header {
            h1 { (program) }
            p.facts {
                (time(model.wall)) " on " (model.lanes.len()) " threads, " (units::count(model.events)) " events"
                @if model.lost > 0 {
                    "; " strong { (units::count(model.lost)) " older events were lost" }
                    ", as the memory for them was full"
                }
                ". Times count from the first event."
            }
        }
        main {
            (plots::cores_plot(model))
            (explanation::section(explanation))
            (prediction)
            section aria-labelledby="timeline" {
                h2 #timeline tabindex="-1" { "Timeline" }
                (legend(&totals))
                (viewer())
                div.static { (plots::timeline(model)) }
            }
            section aria-labelledby="plots" {
                h2 #plots { "Plots" }
                (plots::shares(&totals))
                (plots::utilisation_plot(model))
                (plots::lengths_plot(&totals))
                (plots::ready_plot(&explanation.ready_waits))
            }
            section aria-labelledby="tables" {
                h2 #tables { "Tables" }
                (tables::all(model, &totals))
            }
        }
        script #description type="application/json" { (PreEscaped(data::description(model))) }
        script #numbers type="text/plain" { (PreEscaped(data::numbers(model))) }
        script { (PreEscaped(SCRIPT)) }
    };
    document(&format!("{program}: trace"), &content)
}

/// The colours of the states, and the symbols. Only states that occur are shown.
fn legend(totals: &Totals) -> Markup {
    html! {
        ul.legend aria-label="Legend" {
            @for (state, name) in STATES.iter().enumerate().filter(|(state, _)| totals.state(*state) > 0) {
                li { span.swatch.{"c" (state)} {} (name) }
            }
            @if totals.moments[0] > 0 { li { span.stroke.steal {} "steal: victim → thief" } }
            @if totals.moments[3] > 0 { li { span.stroke.wake {} "wake of a fiber → where it continues" } }
            @if totals.moments[5] > 0 { li { span.stroke.unpark {} "wake of a thread" } }
            @if totals.moments[6] > 0 { li { span.stroke.mark {} "mark" } }
        }
    }
}

/// The part that the script fills. Without scripts it is hidden, and the picture for printing is shown.
fn viewer() -> Markup {
    let switches =
        [("steals", "Steals", true), ("wakes", "Wakes of fibers", true), ("unparks", "Wakes of threads", false)];
    html! {
        div.viewer hidden {
            div.toolbar role="toolbar" aria-label="Timeline" {
                button #zoom-in type="button" { "Zoom in" }
                button #zoom-out type="button" { "Zoom out" }
                button #zoom-all type="button" { "Whole trace" }
                @for (id, label, is_on) in switches {
                    label { input id=(id) type="checkbox" checked[is_on]; " " (label) }
                }
                button #help type="button" aria-expanded="false" aria-controls="keys" { "Keys" }
                output #range {}
            }
            dl #keys hidden { @for (key, effect) in KEYS { div { dt { kbd { (key) } } dd { (effect) } } } }
            div #map { canvas aria-hidden="true" {} div #window {} }
            div #lanes tabindex="0" role="application" aria-roledescription="timeline"
                aria-label="Timeline of the threads. Arrow keys move, plus and minus zoom, question mark lists the keys."
                aria-describedby="chosen"
            {
                div #space {
                    div #sheets { canvas #picture aria-hidden="true" {} canvas #overlay aria-hidden="true" {} }
                }
            }
            div #hover hidden {}
            p #chosen role="status" aria-live="polite" { "Point at something, or press the arrow keys." }
            section #details hidden aria-label="Pinned details" tabindex="-1" {
                button #unpin type="button" aria-label="Unpin" { "×" }
                h3 {} dl {} div.related {}
            }
        }
    }
}
