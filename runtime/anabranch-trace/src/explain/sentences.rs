//! Plain sentences.

use crate::{
    event::{Event, Site},
    explain::{Cause, Explanation, Finding, KeptThread, ReadyWaits, Subject},
    read::{Lane, Trace},
    timeline::lost_pool,
};
use std::fmt;

/// The most pools that the text describes.
const MOST_POOLS: usize = 10;

/// The most places of runs that kept a thread in the text.
const MOST_KEPT: usize = 5;

/// The advice about fibers that keep their thread.
const KEEPS: &str = "Compute in `Cx::blocking`, or call `Cx::yield_now` now and then.";

/// Writes the sentences and the advice of all findings.
pub(super) fn describe(explanation: &mut Explanation, trace: &Trace) {
    let alone = explanation.work.alone;
    let cores: Option<u64> = trace.meta.get("cores").and_then(|cores| cores.parse().ok()).filter(|&cores| cores > 0);
    let (threads, work) = (explanation.threads, explanation.work.time);
    for finding in &mut explanation.findings {
        finding.sentence =
            format!("{} of the lost time {}.", percent(finding.share), what(finding, trace, alone, work));
        finding.advice = advice(finding, threads, cores);
    }
    for kept in &mut explanation.ready_waits.kept {
        kept.sentence = keeps(kept, trace);
        kept.advice = KEEPS.to_owned();
    }
}

/// Returns the sentence about runs that kept a thread.
fn keeps(kept: &KeptThread, trace: &Trace) -> String {
    let place =
        |before: &str, site: Site| trace.place(site).map_or_else(String::new, |place| format!("{before}{place}"));
    let name = trace.place(kept.name).map_or_else(String::new, |name| format!(" {:?}", name.label));
    let spawned = place(" spawned at ", kept.spawned);
    let between = match (place(", after ", kept.after), place("before ", kept.until)) {
        (after, until) if until.is_empty() => after,
        (after, until) if after.is_empty() => format!(", {until}"),
        (after, until) => format!("{after} and {until}"),
    };
    let longest = time(kept.longest);
    let waits = match kept.waits {
        1 => "Another fiber of the thread could run and waited.".to_owned(),
        waits => format!("Other fibers of the thread could run and waited {waits} times."),
    };
    match kept.runs {
        1 => format!("The fiber{name}{spawned} kept its thread for {longest}{between}. {waits}"),
        runs => format!("Fibers{spawned} kept their threads {runs} times, for {longest} at most{between}. {waits}"),
    }
}

impl ReadyWaits {
    /// Returns the figures as a sentence.
    pub fn sentence(&self) -> String {
        let (median, high, max) = (time(self.p50), time(self.p99), time(self.max));
        let often = how_often(self.count);
        format!("Fibers that could run waited for their thread {often}: p50 {median}, p99 {high}, max {max}.")
    }
}

/// Returns the rest of the sentence.
fn what(finding: &Finding, trace: &Trace, alone: Option<f64>, work: f64) -> String {
    let place = |site: Site| trace.place(site).map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let site = place(finding.site);
    let span = trace.place(finding.span).map_or_else(String::new, |span| format!(", in the span {:?}", span.label));
    let longest = time(finding.longest);
    let times = |one: &str, many: &str| match finding.count {
        1 => format!("{one} of {longest}"),
        count => format!("{count} {many}, the longest of {longest}"),
    };
    let between = |calls: &str| {
        let known = |site: Site| site != Site::UNKNOWN;
        match (known(finding.site), known(finding.until)) {
            (true, true) => format!(", after {calls}{site} and before {calls}{}", place(finding.until)),
            (true, false) => format!(", after {calls}{site}"),
            (false, true) => format!(", before {calls}{}", place(finding.until)),
            (false, false) => String::new(),
        }
    };
    let from = if finding.site == Site::UNKNOWN { String::new() } else { format!(" from {site}") };
    match (finding.cause, finding.subject) {
        (Cause::SequentialOutside, _) => {
            let phases = times("one sequential phase", "sequential phases");
            format!("is {phases} outside of any call into the pool{}", between("the call at "))
        }
        (Cause::SequentialInside, _) => {
            let phases = times("one sequential phase", "sequential phases");
            format!("is {phases}{}{span}", between(""))
        }
        (Cause::LongPiece, _) => {
            let pieces = times("one long piece of work", "long pieces of work");
            format!("passes in waits for {pieces}{from}{span}")
        }
        (Cause::Locked, Subject::Standstill) => {
            let who = waits(finding.count);
            format!("passes while {who} for a lock and no thread works: {site}, {longest} at most")
        }
        (Cause::Locked, _) => format!("passes while {} for a lock: {site}, {longest} at most", waits(finding.count)),
        (Cause::Kept, _) => {
            let fibers = if finding.count == 1 { "a fiber" } else { "fibers" };
            let (often, keeper) = (how_often(finding.count), place(finding.site));
            format!(
                "passes while {fibers} could run, and waited {often} for the thread that ran a fiber spawned at {keeper}, \
                 {longest} at most"
            )
        }
        (Cause::Idle, Subject::Wait) => format!("passes while {}: {site}, {longest} at most", waits(finding.count)),
        (Cause::Idle, Subject::Piece) => {
            format!("is idle: there were fewer pieces than threads while pieces{from} ran{span}")
        }
        (Cause::Idle, _) => "is idle: nothing was open in the pool, or no thread had begun with it".to_owned(),
        (Cause::Competing, _) => {
            format!("is searching for pieces{from} that were there, {}", how_often(finding.count))
        }
        (Cause::Overhead, _) => format!("is spent on publishing forks{from}, {}", how_often(finding.count)),
        (Cause::Blocked, Subject::Outside) => {
            format!(
                "passes outside of any call while the thread is blocked in foreign calls{}",
                between("the call at ")
            )
        }
        (Cause::Blocked, _) => format!("passes while threads are blocked in foreign calls in pieces{from}{span}"),
        (Cause::Machine, Subject::Work) => {
            let alone = alone.unwrap_or_default();
            let slower = if alone > 0.0 { (alone + finding.time) / alone } else { 0.0 };
            format!("is due to the machine: the work takes {slower:.2} times the {} that one worker takes", time(work))
        }
        (Cause::Machine, _) => "passes while threads can run and have no core".to_owned(),
    }
}

fn how_often(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{count} times") }
}

fn many(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn waits(count: u64) -> String {
    let who = if count == 1 { "a fiber or thread waits" } else { "fibers or threads wait" };
    format!("{who} {}", how_often(count))
}

/// Returns what to do about a loss, if that is certain.
fn advice(finding: &Finding, threads: u64, cores: Option<u64>) -> Option<String> {
    let advice = match (finding.cause, finding.subject) {
        (Cause::LongPiece, Subject::Piece) if finding.share >= 0.1 => "Divide these pieces further.",
        (Cause::Locked, Subject::Standstill) => {
            "The holder waits too: hold no lock while waiting, or take locks in one order."
        }
        (Cause::Locked, _) => "Hold the lock for a shorter time, or divide what it guards.",
        (Cause::Kept, _) => KEEPS,
        (Cause::Overhead, _) if finding.share >= 0.1 => "Fork larger pieces.",
        (Cause::Idle, Subject::Piece) if finding.share >= 0.1 => "Divide the work into more pieces.",
        (Cause::Machine, Subject::Program) => {
            let cores = cores.filter(|&cores| cores < threads)?;
            return Some(format!(
                "The machine has {} for {threads} threads: use at most {}.",
                many(cores, "core", "cores"),
                many(cores, "thread", "threads")
            ));
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Notes what restricts the figures.
pub(super) fn note(
    explanation: &mut Explanation,
    trace: &Trace,
    alone: Option<(&Trace, &Explanation)>,
    has_ignored: bool,
) {
    let notes = &mut explanation.notes;
    if explanation.pools.is_empty() {
        notes.push("No thread enters a pool in this trace, so there is nothing to explain.".to_owned());
        return;
    }
    if explanation.lost_events > 0 {
        let begin = time(explanation.begin as f64 / 1e9);
        notes.push(format!(
            "{} lost. The figures are for the time from {begin} after the begin of the trace.",
            match explanation.lost_events {
                1 => "The oldest event was".to_owned(),
                lost => format!("The {lost} oldest events were"),
            }
        ));
    }
    let is_unknown = |lane: &&Lane| {
        let has_entry = |&(_, event): &(u64, Event)| matches!(event, Event::Enter { .. });
        lane.lost > 0 && !lane.events.is_empty() && !lane.events.iter().any(has_entry)
    };
    let unknown = trace.lanes.iter().filter(is_unknown).count();
    if unknown > 0 && lost_pool(trace).is_none() {
        notes.push(format!(
            "{} left out: it was lost to which of several pools they belong.",
            many(unknown as u64, "thread is", "threads are")
        ));
    }
    if has_ignored {
        notes.push("There are more than 64 pools at a time. The figures are for the first ones.".to_owned());
    }
    let has_thefts = || {
        let mut events = trace.lanes.iter().flat_map(|lane| &lane.events);
        events.any(|(_, event)| matches!(event, Event::Steal { .. }))
    };
    if explanation.work_span.is_some() && has_thefts() {
        notes.push("What was stolen is missing in the measured work and span: measure with one thread.".to_owned());
    }
    let unmeasured = explanation.work.wall - explanation.work.measured;
    if unmeasured > 0.1 * explanation.work.wall {
        notes.push(format!(
            "There are no CPU times for {} of the work, which counts as if it had been on a core all the time.",
            percent(unmeasured / explanation.work.wall)
        ));
    }
    if let Some((alone_trace, alone)) = alone {
        if alone.threads != 1 {
            notes.push(format!("The trace of one worker is one of {} threads.", alone.threads));
        }
        let differs = |key: &str| alone_trace.meta.get(key) != trace.meta.get(key);
        if differs("program") || differs("arguments") {
            notes.push("The trace of one worker is one of another program, or of other arguments.".to_owned());
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = if self.threads == 1 { "thread".to_owned() } else { format!("threads in {}", pools(self)) };
        writeln!(f, "{} of wall time, {} {threads}", time(self.wall), self.threads)?;
        writeln!(f)?;
        let part = |time: f64| if self.capacity > 0.0 { percent(time / self.capacity) } else { percent(0.0) };
        let line = |f: &mut fmt::Formatter<'_>, name: &str, seconds: f64| {
            writeln!(f, "{name:<34}{:>10} {:>7}", time(seconds), part(seconds))
        };
        line(f, "threads x wall time", self.capacity)?;
        line(f, "work", self.work.time)?;
        for loss in self.losses.iter().filter(|loss| loss.time > 0.0) {
            line(f, loss.cause.name(), loss.time)?;
        }
        writeln!(f)?;
        if self.work.measured > 0.0 {
            let (cpu, wall) = (time(self.work.cpu), time(self.work.measured));
            writeln!(f, "Threads worked for {}. In {wall} of it they used {cpu} of CPU time.", time(self.work.wall))?;
        } else {
            writeln!(f, "Threads worked for {}.", time(self.work.wall))?;
        }
        if let Some(alone) = self.work.alone {
            writeln!(f, "One worker needs {} for the same.", time(alone))?;
        }
        if let Some(measured) = &self.work_span {
            let (work, span, calls) = (time(measured.work), time(measured.span), measured.calls);
            let parallelism = measured.parallelism();
            let calls = if calls == 1 { "one call".to_owned() } else { format!("{calls} calls") };
            writeln!(f, "Measured in {calls}: work {work}, span {span}, parallelism {parallelism:.1}.")?;
        } else {
            writeln!(
                f,
                "The critical path through the pieces in the trace is {}: the span is at most this long. So the parallelism \
                 is at least {:.2}. Forks that no thread took are not in the trace, and may allow more.",
                time(self.critical_path),
                self.parallelism
            )?;
        }
        if self.ready_waits.count > 0 {
            writeln!(f)?;
            writeln!(f, "{}", self.ready_waits.sentence())?;
            for kept in self.ready_waits.kept.iter().take(MOST_KEPT) {
                writeln!(f, "{} {}", kept.sentence, kept.advice)?;
            }
        }
        if self.pools.len() > 1 {
            writeln!(f)?;
            let mut largest: Vec<_> = self.pools.iter().collect();
            largest.sort_by(|one, two| two.capacity.total_cmp(&one.capacity));
            for pool in largest.iter().take(MOST_POOLS) {
                let worst = pool.losses.first().filter(|loss| loss.time > 0.0);
                let worst = worst.map_or_else(String::new, |loss| {
                    format!(", and lost most as: {} ({})", loss.cause.name(), time(loss.time))
                });
                let (number, wall) = (pool.pool, time(pool.wall));
                let threads = many(pool.threads.into(), "thread", "threads");
                let work = time(pool.work.time);
                writeln!(f, "Pool {number} had {threads} for {wall}, did {work} of work{worst}.")?;
            }
            if largest.len() > MOST_POOLS {
                writeln!(
                    f,
                    "The other {} could have worked for less.",
                    many((largest.len() - MOST_POOLS) as u64, "pool", "pools")
                )?;
            }
        }
        let mut named = self.spans.iter().filter(|span| span.time > 0.0).take(10).peekable();
        if named.peek().is_some() {
            writeln!(f)?;
            for span in named {
                let name = &span.name;
                writeln!(
                    f,
                    "Span {name:?}: {}, {} in all, {} lost there.",
                    how_often(span.count),
                    time(span.time),
                    time(span.lost)
                )?;
            }
        }
        let mut findings = self.main_findings().take(10).peekable();
        if findings.peek().is_some() {
            writeln!(f)?;
            for finding in findings {
                f.write_str(&finding.sentence)?;
                if let Some(advice) = &finding.advice {
                    write!(f, " {advice}")?;
                }
                writeln!(f)?;
            }
        }
        if !self.notes.is_empty() {
            writeln!(f)?;
            for note in &self.notes {
                writeln!(f, "Note: {note}")?;
            }
        }
        Ok(())
    }
}

fn pools(explanation: &Explanation) -> String {
    match explanation.pools.len() {
        1 => "one pool".into(),
        count => format!("{count} pools"),
    }
}

/// Formats a part of one.
fn percent(part: f64) -> String {
    format!("{:.0}%", part * 100.0)
}

/// Formats a time in seconds, with at least two significant digits.
fn time(seconds: f64) -> String {
    let digits = |value: f64, unit: &str| {
        let decimals = if value >= 9.95 { 0 } else { 1 };
        format!("{value:.decimals$} {unit}")
    };
    match seconds {
        s if s < 999.5e-9 => digits(s * 1e9, "ns"),
        s if s < 999.5e-6 => digits(s * 1e6, "us"),
        s if s < 0.9995 => digits(s * 1e3, "ms"),
        s => format!("{s:.2} s"),
    }
}
