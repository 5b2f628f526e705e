//! The state of a pool's fibers and threads as plain data, to find out why a program hangs.

use crate::pool::{
    blocked_thread::{self, BlockedThread},
    id::PoolId,
    stack_text,
};
use std::{backtrace::Backtrace, collections::HashMap, fmt, panic::Location, sync::Arc, time::Duration};

/// The state of a fiber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FiberState {
    /// It has not started; any worker may take it.
    Unstarted,
    /// It is ready: its worker has yet to resume it.
    Ready,
    /// It runs.
    Running,
    /// It waits: [`FiberInfo::waits_for`] returns for what.
    Waiting,
}

/// A snapshot of a fiber, or of a thread that waits. See [`Pool::fibers`](crate::Pool::fibers).
#[derive(Debug, Clone)]
pub struct FiberInfo {
    pub(crate) pool: PoolId,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) state: FiberState,
    pub(crate) waits_for: Option<&'static str>,
    pub(crate) location: Option<&'static Location<'static>>,
    pub(crate) elapsed: Option<Duration>,
    pub(crate) has_deadline: bool,
    pub(crate) spawned_at: Option<&'static Location<'static>>,
    pub(crate) holder: Option<LockHolder>,
    pub(crate) worker: Option<usize>,
    pub(crate) is_thread: bool,
    pub(crate) key: FiberKey,
    pub(crate) stack: Option<Arc<Backtrace>>,
}

/// By what a fiber or thread is recognized when its stack is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FiberKey {
    /// The index of its worker entry in the pool.
    pub(crate) worker: usize,
    /// The address of its block.
    pub(crate) block: usize,
    /// The tick at which its wait began.
    pub(crate) since: u32,
}

/// The fiber or thread that holds the lock that another fiber or thread waits for. See [`FiberInfo::lock_holder`].
#[derive(Debug, Clone)]
pub struct LockHolder {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) spawned_at: Option<&'static Location<'static>>,
    pub(crate) is_thread: bool,
}

impl LockHolder {
    /// Returns the name of the fiber or thread, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns where the fiber was spawned, if that is known.
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.spawned_at
    }

    /// Returns whether it is a thread that waits inside [`run`](crate::run).
    pub fn is_thread(&self) -> bool {
        self.is_thread
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_thread { "thread" } else { "fiber" };
        write!(f, "{kind} `{}`", self.name().unwrap_or("unnamed"))?;
        match self.spawned_at {
            Some(place) => write!(f, " (spawned at {place})"),
            None => Ok(()),
        }
    }
}

impl FiberInfo {
    /// Returns the pool to which it belongs.
    pub fn pool(&self) -> PoolId {
        self.pool
    }

    /// Returns the name of the fiber or thread, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns its state.
    pub fn state(&self) -> FiberState {
        self.state
    }

    /// Returns what it waits for, if it waits: for example `"sleep"`.
    pub fn waits_for(&self) -> Option<&'static str> {
        self.waits_for
    }

    /// Returns where in the program it waits.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// Returns how long it has waited, if it waits, in milliseconds. A suspension reads no clock. So the time of a
    /// fiber counts from the moment at which its worker began its present round of fibers, and exceeds the wait by the
    /// time that the worker ran other fibers in between: less than a millisecond, unless a fiber computed.
    pub fn elapsed(&self) -> Option<Duration> {
        self.elapsed
    }

    /// Returns whether its wait ends by itself at some time: it sleeps, or its operation or scope has a deadline.
    pub fn has_deadline(&self) -> bool {
        self.has_deadline
    }

    /// Returns where the fiber was spawned. Returns `None` for a half of [`Cx::join`](crate::Cx::join), and for a
    /// thread. For the fibers of functions such as [`Cx::map_concurrent`](crate::Cx::map_concurrent) this is a place
    /// inside this crate.
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.spawned_at
    }

    /// Returns which fiber or thread holds the lock that this fiber or thread waits for: a
    /// [`Mutex`](crate::sync::Mutex), or an [`RwLock`](crate::sync::RwLock) that was locked for writing. Returns `None`
    /// if it waits for something else, if the lock was taken by `try_lock`, async code or `select!`, or if the holder
    /// is a thread that does not wait.
    ///
    /// This is the fiber or thread that has taken the lock, even if it has sent the guard to another fiber since.
    pub fn lock_holder(&self) -> Option<&LockHolder> {
        self.holder.as_ref()
    }

    /// Returns whether it is not a fiber but a thread that waits inside [`run`](crate::run).
    pub fn is_thread(&self) -> bool {
        self.is_thread
    }

    /// Returns the index of the worker that started it. Returns `None` if it has not started, or if it is a thread that
    /// does not belong to the pool.
    pub fn worker(&self) -> Option<usize> {
        self.worker
    }

    /// Returns the stack on which it waits, if this is part of a [report with stacks](crate::Pool::report_with_stacks)
    /// and the thread of the stack has answered. It begins with functions of this crate, which wait and capture.
    ///
    /// Printing it looks up the names of its functions, which takes some milliseconds for the first stack in a process.
    pub fn stack(&self) -> Option<&Backtrace> {
        self.stack.as_deref()
    }

    fn kind(&self) -> &'static str {
        if self.is_thread { "thread " } else { "" }
    }

    /// Writes what it does, in words that suit one fiber.
    fn write_state(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.state, self.waits_for, self.location) {
            (FiberState::Unstarted, ..) => f.write_str("not started"),
            (FiberState::Ready, ..) => f.write_str("ready"),
            (FiberState::Running, ..) => f.write_str("running"),
            (FiberState::Waiting, Some(what), Some(location)) => write!(f, "waits for {what} at {location}"),
            (FiberState::Waiting, ..) => f.write_str("waits"),
        }
    }

    fn write_origin(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spawned_at.map_or(Ok(()), |place| write!(f, ", spawned at {place}"))
    }
}

/// Shows all but the time and the place of the spawn, which a [`Report`] shows.
impl fmt::Display for FiberInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: ", self.kind(), self.name().unwrap_or("unnamed"))?;
        self.write_state(f)?;
        if let Some(holder) = &self.holder {
            write!(f, ", locked by {holder}")?;
        }
        match self.worker {
            Some(worker) => write!(f, " (worker {worker})"),
            None => Ok(()),
        }
    }
}

/// The state of a thread of a pool. See [`ThreadInfo`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ThreadState {
    /// It has no work: it sleeps, or looks for work at intervals.
    Idle,
    /// It works, or searches for work.
    Working,
    /// It waits for work that another thread has taken, or inside [`run`](crate::run).
    Waiting,
    /// It is blocked in a foreign call. Detected on Linux only, and only while no other thread could work.
    Blocked,
}

/// A snapshot of a thread of a pool, or of a thread from outside that works in it. See [`Report::threads`].
#[derive(Debug, Clone)]
pub struct ThreadInfo {
    pub(crate) pool: PoolId,
    pub(crate) worker: usize,
    pub(crate) is_guest: bool,
    pub(crate) state: ThreadState,
}

impl ThreadInfo {
    /// Returns the pool in which it works.
    pub fn pool(&self) -> PoolId {
        self.pool
    }

    /// Returns the index of its worker entry, see [`FiberInfo::worker`].
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Returns whether it is a thread from outside.
    pub fn is_guest(&self) -> bool {
        self.is_guest
    }

    /// Returns the state of the thread.
    pub fn state(&self) -> ThreadState {
        self.state
    }
}

/// A report of what the fibers and threads of a pool, or of all pools, do and wait for. Its `Display` is meant for
/// people.
///
/// See [`Pool::report`](crate::Pool::report) and [`report_all`](crate::fiber::report_all).
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub(crate) pools: Vec<PoolId>,
    pub(crate) fibers: Vec<FiberInfo>,
    pub(crate) threads: Vec<ThreadInfo>,
    /// Each is a list of indices of `fibers`; each waits for a lock of the next, and the last for one of the first.
    pub(crate) cycles: Vec<Vec<usize>>,
    pub(crate) is_deadlock: bool,
    /// The threads that are blocked in foreign calls, where that is known.
    pub(crate) blocked: Vec<BlockedThread>,
    /// How many of the stacks that were asked for have not come. `None` if none was asked for.
    pub(crate) missing_stacks: Option<usize>,
}

impl Report {
    /// Returns the started fibers, the fibers that have not started, and the threads that wait inside
    /// [`run`](crate::run).
    pub fn fibers(&self) -> &[FiberInfo] {
        &self.fibers
    }

    /// Returns the pools' own threads, and the threads from outside that work in a pool.
    pub fn threads(&self) -> &[ThreadInfo] {
        &self.threads
    }

    /// Returns the cycles of fibers and threads that wait for each other's locks: each waits for a lock that the next
    /// member of the cycle holds, and the last member waits for a lock of the first.
    ///
    /// A lock counts as held by the fiber or thread that has taken it. So a reported cycle may not be a deadlock if a
    /// guard was sent to another fiber.
    pub fn cycles(&self) -> impl ExactSizeIterator<Item = Vec<&FiberInfo>> {
        self.cycles.iter().map(|cycle| cycle.iter().map(|&index| &self.fibers[index]).collect())
    }

    /// Returns whether it was certain, when the report was made, that nothing in the process can proceed. Only a report
    /// that a pool makes on its own determines this, see [`Builder::on_deadlock`](crate::Builder::on_deadlock).
    pub fn is_deadlock(&self) -> bool {
        self.is_deadlock
    }

    /// Returns how many fibers and threads were asked for their stack and have not answered within a second. Returns 0
    /// for a report without stacks.
    ///
    /// The worker of a fiber answers the request, but not while it computes or is blocked in a foreign call. The stacks
    /// of suspended fibers are available only on Linux on x86-64.
    pub fn missing_stacks(&self) -> usize {
        self.missing_stacks.unwrap_or(0)
    }

    /// Returns how many fibers and threads wait.
    pub fn waiting(&self) -> usize {
        self.fibers.iter().filter(|fiber| fiber.state == FiberState::Waiting).count()
    }

    fn write_headline(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.fibers.iter().filter(|fiber| fiber.is_thread).count();
        let (fibers, waiting) = (self.fibers.len() - threads, self.waiting());
        let blocked = if self.is_deadlock { self.blocked.len() } else { 0 };
        let threads = threads + blocked;
        let (fibers, threads) = (Count(fibers, "fiber"), Count(threads, "thread"));
        if self.is_deadlock {
            return writeln!(
                f,
                "deadlock: nothing in the process can proceed. {fibers} and {threads} wait, without a deadline, and no \
                 other thread could wake them"
            );
        }
        if !self.cycles.is_empty() {
            f.write_str("fibers wait for each other's locks. ")?;
        }
        writeln!(f, "{fibers} and {threads} in {}; {waiting} wait", Count(self.pools.len(), "pool"))
    }

    fn write_threads(&self, f: &mut fmt::Formatter<'_>, pool: PoolId) -> fmt::Result {
        let count = |state| self.threads.iter().filter(|thread| thread.pool == pool && thread.state == state).count();
        write!(
            f,
            "threads: {} idle, {} working, {} waiting, {} blocked",
            count(ThreadState::Idle),
            count(ThreadState::Working),
            count(ThreadState::Waiting),
            count(ThreadState::Blocked)
        )?;
        // If it is known which threads these are, they are below.
        let is_shown = |thread: &&ThreadInfo| {
            self.blocked.is_empty() && thread.pool == pool && thread.state == ThreadState::Blocked
        };
        for thread in self.threads.iter().filter(is_shown) {
            write!(f, " (worker {} in a foreign call)", thread.worker)?;
        }
        writeln!(f)
    }
}

/// A number of things, with their name in the singular.
struct Count(usize, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// A group of fibers that do the same: what they have in common.
pub(super) type Alike<'a> = (
    bool,
    Option<&'a str>,
    FiberState,
    Option<&'a str>,
    Option<&'a Location<'a>>,
    Option<&'a Location<'a>>,
    Option<(Option<&'a str>, Option<&'a Location<'a>>)>,
);

/// Returns what fibers have in common that are shown on one line.
pub(super) fn alike(fiber: &FiberInfo) -> Alike<'_> {
    let holder = fiber.holder.as_ref().map(|holder| (holder.name(), holder.spawned_at));
    (fiber.is_thread, fiber.name(), fiber.state, fiber.waits_for, fiber.location, fiber.spawned_at, holder)
}

/// Shows fibers that do the same, at the same place, on one line.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_headline(f)?;
        for cycle in self.cycles() {
            writeln!(f, "cycle of {}:", cycle.len())?;
            for fiber in cycle {
                write!(f, "  {fiber}")?;
                fiber.write_origin(f)?;
                writeln!(f)?;
            }
        }
        for &pool in &self.pools {
            if self.pools.len() > 1 {
                write!(f, "pool {}, ", pool.number())?;
            }
            self.write_threads(f, pool)?;
            // In the order in which the first of each group was found.
            let mut groups: Vec<Vec<&FiberInfo>> = Vec::new();
            let mut indices = HashMap::new();
            for fiber in self.fibers.iter().filter(|fiber| fiber.pool == pool) {
                let index = *indices.entry(alike(fiber)).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[index].push(fiber);
            }
            for group in groups {
                write_group(f, &group)?;
                if let Some(stack) = group.iter().find_map(|fiber| fiber.stack()) {
                    stack_text::write(f, stack, group.len() > 1)?;
                }
            }
        }
        blocked_thread::write(f, &self.blocked)?;
        match self.missing_stacks() {
            0 => Ok(()),
            missing => writeln!(f, "{} missing: no answer within a second", Count(missing, "stack")),
        }
    }
}

fn write_group(f: &mut fmt::Formatter<'_>, group: &[&FiberInfo]) -> fmt::Result {
    let first = group[0];
    f.write_str("  ")?;
    match (group.len(), first.is_thread, first.name()) {
        (1, false, Some(name)) => write!(f, "fiber `{name}`: ")?,
        (1, false, None) => f.write_str("fiber: ")?,
        (1, true, name) => write!(f, "thread `{}`: ", name.unwrap_or("unnamed"))?,
        (count, is_thread, name) => {
            write!(f, "{count} {}", if is_thread { "threads" } else { "fibers" })?;
            name.map_or(Ok(()), |name| write!(f, " `{name}`"))?;
            f.write_str(": ")?;
        }
    }
    first.write_state(f)?;
    let times = || group.iter().filter_map(|fiber| fiber.elapsed);
    if let (Some(least), Some(most)) = (times().min(), times().max()) {
        if least == most { write!(f, " for {least:?}")? } else { write!(f, " for {least:?} to {most:?}")? }
    }
    if let Some(holder) = &first.holder {
        write!(f, ", locked by {holder}")?;
    }
    first.write_origin(f)?;
    match first.worker {
        Some(worker) if group.len() == 1 => write!(f, " (worker {worker})")?,
        _ => {}
    }
    writeln!(f)
}
