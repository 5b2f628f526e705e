//! The memory for events: chunks that the threads fill, and of which the oldest are used again.
//!
//! A thread writes its events into a chunk of its own, without a lock. When the chunk is full, the thread puts it at
//! the end of one list for all threads and takes a new one. If the memory for events is used up, the new one is the
//! first of that list: the chunk that has been full for longest, whichever thread has filled it. So what is kept is the
//! last part of what happened, for threads with many events and with few. A thread takes the lock once in
//! [`RECORDS`] events.
//!
//! A reader takes references to the chunks under the lock and reads them afterwards, while their threads may write on.
//! The count of a chunk (release, acquire) carries the events before it. A chunk is used again only by a thread that
//! has the one reference to it.

use anabranch_trace::event::Record;
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Instant, SystemTime},
};

/// The number of events in a chunk.
pub(super) const RECORDS: usize = 1024;

/// The memory for events by default, in bytes.
pub(super) const DEFAULT_MEMORY: usize = 64 << 20;

/// The size of a chunk, in bytes.
const CHUNK_BYTES: usize = RECORDS * size_of::<Record>();

static STORE: Mutex<Store> = Mutex::new(Store::new(DEFAULT_MEMORY));
static IS_ON: AtomicBool = AtomicBool::new(false);
static START: OnceLock<Start> = OnceLock::new();

/// When the trace began, by both clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) instant: Instant,
    pub(super) time: SystemTime,
}

/// Some events of one thread.
pub(super) struct Chunk {
    len: AtomicUsize,
    words: Box<[[AtomicU64; 2]]>,
}

impl Chunk {
    fn new() -> Arc<Self> {
        // Never on the stack, which may be the small one of a fiber.
        let words = (0..RECORDS).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect();
        Arc::new(Self { len: AtomicUsize::new(0), words })
    }

    /// Writes the event at an index, which is the number of events before it. Only the thread that fills the chunk
    /// calls this.
    #[inline]
    pub(super) fn write(&self, index: usize, [head, argument]: Record) {
        let words = &self.words[index];
        words[0].store(head, Ordering::Relaxed);
        words[1].store(argument, Ordering::Relaxed);
        self.len.store(index + 1, Ordering::Release);
    }

    pub(super) fn records(&self) -> impl Iterator<Item = Record> {
        let len = self.len.load(Ordering::Acquire);
        self.words[..len].iter().map(|words| [words[0].load(Ordering::Relaxed), words[1].load(Ordering::Relaxed)])
    }
}

/// What is known of a thread.
#[derive(Clone)]
pub(super) struct Lane {
    pub(super) id: u32,
    /// Its number in the system.
    pub(super) thread: u32,
    pub(super) name: String,
    pub(super) lost: u64,
    /// The chunk that it fills; `None` once the thread has ended.
    current: Option<Arc<Chunk>>,
    /// How many of the full chunks are its own.
    full: usize,
}

/// See the [module](self).
pub(super) struct Store {
    /// How many chunks there may be, and how many there are.
    limit: usize,
    chunks: usize,
    /// The full chunks with their threads, the oldest first.
    full: VecDeque<(u32, Arc<Chunk>)>,
    /// In the order of their numbers.
    lanes: Vec<Lane>,
    next_lane: u32,
    /// The lost events of threads of which no event is left.
    lost: u64,
    /// The number of each pool, and that of its threads.
    pools: Vec<(u32, u32)>,
}

/// All that a trace consists of, but for the sites, at one time.
pub(super) struct Snapshot {
    pub(super) start: Start,
    pub(super) pools: Vec<(u32, u32)>,
    pub(super) lanes: Vec<Lane>,
    /// The chunks with their threads, those of a thread in the order of time.
    pub(super) chunks: Vec<(u32, Arc<Chunk>)>,
    /// The lost events of threads of which no event is left.
    pub(super) lost: u64,
}

/// Begins to record, for a pool. Returns whether it is the first pool.
pub(super) fn start(pool: u32, threads: usize) -> bool {
    lock().pools.push((pool, u32::try_from(threads).unwrap_or(u32::MAX)));
    since();
    !IS_ON.swap(true, Ordering::Relaxed)
}

/// Returns whether there is a traced pool, or was one.
#[inline]
pub(super) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Returns when the trace began.
pub(super) fn since() -> Start {
    *START.get_or_init(|| Start { instant: Instant::now(), time: SystemTime::now() })
}

/// Locks the store. No code that can panic runs while it is locked, except when memory is used up.
pub(super) fn lock() -> MutexGuard<'static, Store> {
    STORE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    const fn new(bytes: usize) -> Self {
        Self {
            limit: bytes / CHUNK_BYTES,
            chunks: 0,
            full: VecDeque::new(),
            lanes: Vec::new(),
            next_lane: 0,
            lost: 0,
            pools: Vec::new(),
        }
    }

    /// Sets the memory for events, in bytes. Chunks that exist stay.
    pub(super) fn set_memory(&mut self, bytes: usize) {
        self.limit = bytes / CHUNK_BYTES;
    }

    /// Adds a thread, and returns its number and its first chunk.
    pub(super) fn add_lane(&mut self, thread: u32, name: String) -> (u32, Arc<Chunk>) {
        let (id, chunk) = (self.next_lane, self.take_chunk());
        self.next_lane = self.next_lane.wrapping_add(1);
        let current = Some(Arc::clone(&chunk));
        self.lanes.push(Lane { id, thread, name, lost: 0, current, full: 0 });
        (id, chunk)
    }

    fn lane(&mut self, id: u32) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.id == id)
    }

    /// Takes the full chunk of a thread, and returns an empty one.
    pub(super) fn replace(&mut self, id: u32) -> Arc<Chunk> {
        let chunk = self.take_chunk();
        if let Some(lane) = self.lane(id) {
            let full = lane.current.replace(Arc::clone(&chunk));
            lane.full += usize::from(full.is_some());
            self.full.extend(full.map(|full| (id, full)));
        }
        chunk
    }

    /// Records that a thread has ended.
    pub(super) fn end_lane(&mut self, id: u32) {
        if let Some(lane) = self.lane(id)
            && let Some(last) = lane.current.take()
        {
            lane.full += 1;
            self.full.push_back((id, last));
        }
    }

    /// Returns an empty chunk: a new one, or the one that has been full for longest.
    fn take_chunk(&mut self) -> Arc<Chunk> {
        if self.chunks >= self.limit
            && let Some((id, mut oldest)) = self.full.pop_front()
        {
            self.forget(id, oldest.len.load(Ordering::Acquire) as u64);
            // A reader may have a reference to it still.
            if let Some(chunk) = Arc::get_mut(&mut oldest) {
                *chunk.len.get_mut() = 0;
                return oldest;
            }
            return Chunk::new();
        }
        self.chunks += 1;
        Chunk::new()
    }

    /// Counts the events of a thread's oldest chunk as lost.
    fn forget(&mut self, id: u32, lost: u64) {
        let Some(lane) = self.lane(id) else { return };
        lane.full -= 1;
        lane.lost += lost;
        if lane.full == 0 && lane.current.is_none() {
            self.lost += lane.lost;
            self.lanes.retain(|lane| lane.id != id);
        }
    }

    /// Returns references to all that there is.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut chunks: Vec<_> = self.full.iter().cloned().collect();
        let current = self.lanes.iter().filter_map(|lane| Some((lane.id, Arc::clone(lane.current.as_ref()?))));
        chunks.extend(current);
        Snapshot { start: since(), pools: self.pools.clone(), lanes: self.lanes.clone(), chunks, lost: self.lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store of four chunks.
    fn small() -> Store {
        Store::new(4 * CHUNK_BYTES)
    }

    /// Fills the rest of a chunk by events with these numbers.
    fn fill(chunk: &Chunk, number: u64) {
        for index in chunk.records().count()..RECORDS {
            chunk.write(index, [number, 0]);
        }
    }

    fn numbers(store: &Store, lane: u32) -> Vec<u64> {
        let mut numbers: Vec<u64> = store
            .snapshot()
            .chunks
            .iter()
            .filter(|(id, _)| *id == lane)
            .flat_map(|(_, chunk)| chunk.records().map(|record| record[0]).collect::<Vec<_>>())
            .collect();
        numbers.dedup();
        numbers
    }

    #[test]
    fn oldest_chunk_of_all_threads_makes_room() {
        let mut store = small();
        let (first, mut chunk) = store.add_lane(1, "first".into());
        fill(&chunk, 1);
        chunk = store.replace(first);
        let (second, mut other) = store.add_lane(2, "second".into());
        for number in [10, 11] {
            fill(&other, number);
            other = store.replace(second);
        }
        fill(&other, 12);
        // That made five chunks, and the one with ones was the oldest.
        fill(&chunk, 2);
        assert_eq!((numbers(&store, first), numbers(&store, second)), (vec![2], vec![10, 11, 12]));
        assert_eq!((store.lane(first).unwrap().lost, store.lane(second).unwrap().lost), (RECORDS as u64, 0));
        assert_eq!(store.chunks, 4);
    }

    #[test]
    fn ended_thread_keeps_its_events_until_they_make_room() {
        let mut store = small();
        let (ended, chunk) = store.add_lane(1, "ended".into());
        chunk.write(0, [7, 0]);
        drop(chunk);
        store.end_lane(ended);
        store.end_lane(ended);
        assert_eq!(numbers(&store, ended), [7]);
        let (other, mut chunk) = store.add_lane(2, "other".into());
        for number in 0..4 {
            fill(&chunk, number);
            chunk = store.replace(other);
        }
        assert!(store.lane(ended).is_none());
        let snapshot = store.snapshot();
        let lost = snapshot.lost + snapshot.lanes.iter().map(|lane| lane.lost).sum::<u64>();
        assert_eq!(lost, 1 + RECORDS as u64);
    }

    #[test]
    fn chunk_that_is_being_read_is_not_used_again() {
        let mut store = small();
        let (lane, mut chunk) = store.add_lane(1, String::new());
        fill(&chunk, 1);
        chunk = store.replace(lane);
        let snapshot = store.snapshot();
        for number in 2..20 {
            fill(&chunk, number);
            chunk = store.replace(lane);
        }
        assert!(snapshot.chunks[0].1.records().all(|record| record[0] == 1));
        assert_eq!(numbers(&store, lane), [17, 18, 19]);
    }

    #[test]
    fn threads_beyond_the_memory_get_a_chunk_each() {
        let mut store = small();
        let lanes: Vec<_> = (0..9).map(|thread| store.add_lane(thread, String::new())).collect();
        lanes.iter().for_each(|(id, chunk)| chunk.write(0, [u64::from(*id), 0]));
        assert!(lanes.iter().all(|&(id, _)| numbers(&store, id) == [u64::from(id)]));
    }
}
