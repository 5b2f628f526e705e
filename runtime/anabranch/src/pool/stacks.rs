//! Adds the stacks of waiting fibers and threads to a report. `pool::stack_request` describes how they answer.

use crate::{
    fiber::kick::Kick,
    pool::{
        registry::Registry,
        report::{FiberState, Report, alike},
        stack_request::StackRequest,
        sysmon,
        worker::Worker,
    },
    sys::{channel::channel, clock::Instant, thread_stack},
};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
    time::Duration,
};

/// How long a report waits for stacks.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(1);

/// The largest number of stacks in a report. A capture takes some microseconds, and the memory of its frames.
const MAX_STACKS: usize = 256;

/// How long a blocked thread has been asleep before it is asked for its stack.
const MIN_SLEEP: Duration = Duration::from_millis(10);

/// Adds stacks to a report of these pools. Blocks until they have come, for a second at most.
pub(crate) fn add(report: &mut Report, registries: &[&Registry]) {
    add_blocked(report);
    let chosen = choose(report);
    report.missing_stacks = Some(chosen.len());
    if cfg!(any(shuttle, miri)) {
        return;
    }
    let (sender, answers) = channel();
    let mut requests: HashMap<(usize, usize), StackRequest> = HashMap::new();
    for index in chosen {
        let fiber = &report.fibers[index];
        let Some(pool) = registries.iter().position(|registry| registry.id == fiber.pool) else { continue };
        let request = requests.entry((pool, fiber.key.worker)).or_insert_with(|| StackRequest {
            fibers: HashMap::new(),
            thread: None,
            answers: sender.clone(),
        });
        if fiber.is_thread {
            request.thread = Some(index);
        } else {
            request.fibers.insert(fiber.key.block, (index, fiber.key.since));
        }
    }
    drop(sender);
    for ((pool, worker), request) in requests {
        ask(registries[pool].worker(worker), request);
    }
    let start = Instant::now();
    // All senders are gone when each request was answered.
    while let Some((index, stack)) = answers.recv_timeout(CAPTURE_TIMEOUT.saturating_sub(start.elapsed())) {
        report.fibers[index].stack = Some(Arc::new(stack));
        report.missing_stacks = report.missing_stacks.map(|count| count - 1);
    }
}

/// Adds the stacks of blocked threads: those that do not run for a while.
fn add_blocked(report: &mut Report) {
    let threads: Vec<u32> = report.blocked.iter().map(|blocked| blocked.number).take(MAX_STACKS).collect();
    let clocks = || threads.iter().map(|&thread| sysmon::cpu_clock(thread));
    let before: Vec<_> = clocks().collect();
    if threads.is_empty() {
        return;
    }
    std::thread::sleep(MIN_SLEEP);
    let still = threads.iter().zip(before.iter().zip(clocks())).filter(|(_, (before, now))| **before == *now);
    let still: Vec<u32> = still.map(|(thread, _)| *thread).collect();
    for (thread, stack) in thread_stack::capture(&still) {
        let blocked = report.blocked.iter_mut().find(|blocked| blocked.number == thread);
        blocked.expect("it was asked for").set_stack(&stack);
    }
}

/// Passes a request to the thread of a worker, and wakes it.
fn ask(worker: &Worker, request: StackRequest) {
    let (has_fibers, has_thread) = (!request.fibers.is_empty(), request.thread.is_some());
    worker.fibers.stack_requests.push(request);
    if std::ptr::eq(worker, Worker::current()) {
        worker.fibers.answer_stack_requests(false);
        return;
    }
    if has_fibers {
        // SAFETY: the kick and the inbox are those of the worker, which belongs to a registry that the caller borrows.
        // Its thread does not end before it has settled the inbox; after that, the inbox has no mark, so no thread is
        // woken.
        unsafe {
            Kick::send(&raw const worker.fibers.stack_requests.kick, &raw const worker.fibers.kicks, || {
                worker.parking.unpark();
            });
        }
    }
    if has_thread {
        worker.parking.unpark_elsewhere();
    }
}

/// Returns the indices of the fibers and threads whose stacks are in the report: those that wait, and, if there are too
/// many, first one of each group that does the same, then a second one, and so on.
fn choose(report: &Report) -> Vec<usize> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut indices = HashMap::new();
    for (index, fiber) in report.fibers.iter().enumerate() {
        if fiber.state == FiberState::Waiting {
            let group = match indices.entry((fiber.pool, alike(fiber))) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    groups.push(Vec::new());
                    *entry.insert(groups.len() - 1)
                }
            };
            groups[group].push(index);
        }
    }
    let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..longest).flat_map(|turn| groups.iter().filter_map(move |group| group.get(turn)));
    in_turn.copied().take(MAX_STACKS).collect()
}
