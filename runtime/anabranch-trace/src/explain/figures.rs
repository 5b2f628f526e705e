//! From the sums of all pools to the figures of the program.

use crate::{
    event::Site,
    explain::{
        Cause, Explanation, Finding, Loss, Options, PoolAccount, SpanAccount, Subject, Work, WorkSpan,
        account::Account,
        ledger::{Amount, Key, Ledger},
        path, ready, sentences,
        sweep::sweep,
    },
    read::Trace,
    timeline::Timeline,
};
use std::collections::BTreeMap;

/// The nanoseconds of a second.
const SECOND: f64 = 1e9;

/// See [`explain`](crate::explain::explain).
pub(super) fn explain(trace: &Trace, options: &Options<'_>) -> Explanation {
    let timeline = Timeline::new(trace);
    let (pools, mut ledger) = sweep(trace, &timeline);
    let mut work = Work::default();
    let mut lost = [0.0; Cause::ALL.len()];
    for account in &pools.accounts {
        add(&mut work, &seconds(&account.work));
        for (sum, lost) in lost.iter_mut().zip(account.lost) {
            *sum += lost / SECOND;
        }
    }
    let on_cores = work.time;
    let alone = options.alone.map(|alone| explain(alone, &Options { alone: None, findings: 0 }));
    if let Some(alone) = &alone {
        let excess = (work.time - alone.work.time).max(0.0);
        work.alone = Some(alone.work.time);
        work.time -= excess;
        lost[Cause::Machine as usize] += excess;
        let key = Key::at(Cause::Machine, Subject::Work, Site::UNKNOWN);
        ledger.add(key, Amount { time: excess * SECOND, wall: excess * SECOND, end: timeline.end });
    }
    let all_lost: f64 = lost.iter().sum();
    let critical_path = path::critical_path(trace, &timeline) / SECOND;
    let mut explanation = Explanation {
        begin: timeline.complete_from,
        end: timeline.end,
        lost_events: trace.lost,
        wall: (timeline.end - timeline.complete_from) as f64 / SECOND,
        threads: pools.accounts.iter().map(|account| u64::from(account.threads)).sum(),
        capacity: pools.accounts.iter().map(capacity).sum(),
        work,
        lost: all_lost,
        losses: losses(lost),
        work_span: WorkSpan::of(trace),
        critical_path,
        parallelism: if critical_path > 0.0 { on_cores / critical_path } else { 0.0 },
        findings: findings(&ledger, all_lost, options.findings),
        ready_waits: ready::ready_waits(&timeline, options.findings),
        pools: pools.accounts.iter().map(pool_account).collect(),
        spans: spans(trace, &timeline, &ledger),
        notes: Vec::new(),
    };
    sentences::note(&mut explanation, trace, options.alone.zip(alone.as_ref()), pools.has_ignored);
    sentences::describe(&mut explanation, trace);
    explanation
}

fn seconds(work: &Work) -> Work {
    Work {
        time: work.time / SECOND,
        wall: work.wall / SECOND,
        measured: work.measured / SECOND,
        cpu: work.cpu / SECOND,
        alone: None,
    }
}

fn add(sum: &mut Work, work: &Work) {
    sum.time += work.time;
    sum.wall += work.wall;
    sum.measured += work.measured;
    sum.cpu += work.cpu;
}

fn wall(account: &Account) -> f64 {
    account.within(0, u64::MAX) / SECOND
}

fn capacity(account: &Account) -> f64 {
    wall(account) * f64::from(account.threads)
}

/// Sorts losses, the largest first.
fn losses(lost: [f64; Cause::ALL.len()]) -> Vec<Loss> {
    let all: f64 = lost.iter().sum();
    let share = |time: f64| if all > 0.0 { time / all } else { 0.0 };
    let mut losses: Vec<Loss> = Cause::ALL
        .iter()
        .map(|&cause| (cause, lost[cause as usize]))
        .map(|(cause, time)| Loss { cause, time, share: share(time) })
        .collect();
    losses.sort_by(|one, two| two.time.total_cmp(&one.time));
    losses
}

fn pool_account(account: &Account) -> PoolAccount {
    PoolAccount {
        pool: account.number,
        threads: account.threads,
        guests: account.all_guests,
        spares: account.all_spares,
        wall: wall(account),
        capacity: capacity(account),
        work: seconds(&account.work),
        losses: losses(account.lost.map(|lost| lost / SECOND)),
    }
}

fn findings(ledger: &Ledger, all_lost: f64, most: usize) -> Vec<Finding> {
    let mut entries: Vec<_> = ledger.entries.iter().collect();
    entries.sort_by(|one, two| two.1.time.total_cmp(&one.1.time));
    let finding = |(key, entry): (&Key, &crate::explain::ledger::Entry)| {
        let (time, longest) = (entry.time / SECOND, entry.longest);
        Finding {
            cause: key.cause,
            time,
            share: if all_lost > 0.0 { time / all_lost } else { 0.0 },
            subject: key.subject,
            site: key.site,
            until: key.until,
            span: key.span,
            count: entry.count,
            longest: longest.wall / SECOND,
            // A float above the range becomes the largest number.
            longest_begin: longest.end.saturating_sub(longest.wall as u64),
            longest_end: longest.end,
            sentence: String::new(),
            advice: None,
        }
    };
    entries.into_iter().take(most).map(finding).collect()
}

fn spans(trace: &Trace, timeline: &Timeline, ledger: &Ledger) -> Vec<SpanAccount> {
    let mut accounts: BTreeMap<Site, SpanAccount> = BTreeMap::new();
    for span in &timeline.spans {
        let name = || trace.place(span.site).map_or_else(|| "an unknown span".into(), |place| place.label.clone());
        let new = || SpanAccount { site: span.site, name: name(), count: 0, time: 0.0, lost: 0.0 };
        let account = accounts.entry(span.site).or_insert_with(new);
        account.count += 1;
        account.time += (span.end - span.begin) as f64 / SECOND;
    }
    for (key, entry) in &ledger.entries {
        if let Some(account) = accounts.get_mut(&key.span) {
            account.lost += entry.time / SECOND;
        }
    }
    let mut accounts: Vec<SpanAccount> = accounts.into_values().collect();
    accounts.sort_by(|one, two| two.time.total_cmp(&one.time));
    accounts
}
