//! How fast the program would be on other numbers of cores: what `anabranch predict` finds in a record of all forks.

use maud::{Markup, html};

use super::results::charts;
use super::tables::table;
use super::units;
use crate::predict::Prediction;

/// Returns the section.
pub fn section(prediction: &Prediction) -> Markup {
    let points: Vec<(usize, f64, f64)> =
        prediction.points.iter().map(|point| (point.cores, point.speed_up, point.bound_speed_up)).collect();
    let head = html! {
        th scope="col" { "cores" } th.number scope="col" { "time" } th.number scope="col" { "times as fast" }
        th.number scope="col" { "at most" } th scope="col" { "limited by" }
    };
    let body = html! {
        @for point in &prediction.points {
            tr {
                th.number scope="row" { (point.cores) }
                td.number data-value=(point.time) { (units::seconds(point.time)) }
                td.number data-value=(point.speed_up) { (units::three(point.speed_up)) }
                td.number data-value=(point.bound_speed_up) { (units::three(point.bound_speed_up)) }
                td { (point.limits()) }
            }
        }
    };
    html! {
        section aria-labelledby="prediction" {
            h2 #prediction { "On other numbers of cores" }
            p { (prediction.summary()) " " (Prediction::LIMITS) }
            @if let Some(chart) = charts::predicted(&points) { (chart.figure()) }
            (table("Predicted times", "predicted", &head, &body))
        }
    }
}
