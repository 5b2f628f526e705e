//! The counters of a pool, for the crate `metrics`.

use crate::pool::stats::Stats;
use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};
use std::time::Duration;

/// The time that the threads of the pool have spent in each state.
const TIME: &str = "anabranch_time_micros_total";

/// The timers by how late they were: a histogram with the conventions of Prometheus.
const TIMERS: &str = "anabranch_timer_lateness_seconds_bucket";

/// Each counter: its name, what it counts, and its value.
fn counters(stats: &Stats) -> [(&'static str, &'static str, u64); 9] {
    let total = stats.total();
    [
        ("anabranch_published_forks_total", "Forks that their thread published on request", total.published),
        ("anabranch_raided_forks_total", "Forks that another thread published", total.raided),
        ("anabranch_stolen_total", "Pieces of work taken from other threads", total.stolen),
        ("anabranch_searches_total", "Searches for work", total.searches),
        ("anabranch_parks_total", "Times that a thread has parked", total.parks),
        ("anabranch_fibers_total", "Fibers that have begun", total.fibers),
        ("anabranch_switches_total", "Switches to a fiber", total.switches),
        ("anabranch_lent_slots_total", "Times that the slot of a blocked thread was lent", stats.slots_lent),
        ("anabranch_blocking_calls_total", "Blocking calls that have begun", stats.blocking_calls),
    ]
}

/// Each gauge: its name, what it measures, and its value.
fn gauges(stats: &Stats) -> [(&'static str, &'static str, u64); 5] {
    [
        ("anabranch_threads", "The pool's own threads, without spares", stats.workers.len() as u64),
        ("anabranch_spare_threads", "Spare threads", stats.spare_threads as u64),
        ("anabranch_live_fibers", "Fibers that have begun and not ended", stats.total().live),
        ("anabranch_blocking_threads", "Threads for blocking calls", stats.blocking_threads as u64),
        ("anabranch_blocking_queued", "Blocking calls that wait for a thread", stats.blocking_queued as u64),
    ]
}

impl Stats {
    /// Reports these statistics to the recorder of the crate `metrics`, with `pool` as the value of the label `pool`
    /// (feature `metrics`).
    ///
    /// Call this at intervals, for example in a fiber that sleeps between two calls. The counters are set to the totals
    /// since the pool was made, so nothing is lost between two calls. All names begin with `anabranch_`. The time of
    /// the pool's own threads is `anabranch_time_micros_total`, with the label `state`: `working`, `searching` or
    /// `parked`.
    ///
    /// The histogram [`timer_lateness`](crate::pool::WorkerStats::timer_lateness) is exported as counters with the
    /// conventions of Prometheus: `anabranch_timer_lateness_seconds_bucket`, with the label `le`, counts the timers
    /// that were late by less than `le` seconds.
    ///
    /// ```
    /// let pool = anabranch::Pool::builder().threads(2).build()?;
    /// pool.stats().describe_metrics();        // once
    /// pool.stats().report_metrics("main");    // now and then
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn report_metrics(&self, pool: &str) {
        for (name, _, value) in counters(self) {
            counter!(name, "pool" => pool.to_owned()).absolute(value);
        }
        for (name, _, value) in gauges(self) {
            gauge!(name, "pool" => pool.to_owned()).set(value as f64);
        }
        let total = self.total();
        for (state, time) in [("working", total.working), ("searching", total.searching), ("parked", total.parked)] {
            let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
            counter!(TIME, "pool" => pool.to_owned(), "state" => state).absolute(micros);
        }
        let mut timers = 0;
        for (range, count) in total.timer_lateness.buckets() {
            timers += count;
            let le = if range.end == Duration::MAX { "+Inf".to_owned() } else { range.end.as_secs_f64().to_string() };
            counter!(TIMERS, "pool" => pool.to_owned(), "le" => le).absolute(timers);
        }
    }

    /// Describes the metrics of [`report_metrics`](Self::report_metrics) to the recorder (feature `metrics`). Call this
    /// once, after the recorder was installed.
    pub fn describe_metrics(&self) {
        for (name, description, _) in counters(self) {
            describe_counter!(name, Unit::Count, description);
        }
        for (name, description, _) in gauges(self) {
            describe_gauge!(name, Unit::Count, description);
        }
        describe_counter!(TIME, Unit::Microseconds, "Time of the pool's own threads by what they do");
        describe_counter!(TIMERS, Unit::Count, "Timers of fibers that have fired, by how late they were");
    }
}
