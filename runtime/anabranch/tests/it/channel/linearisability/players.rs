//! Small random programs that record their operations.

use super::{Event, Recorder};
use crate::common::{LONG, Random, pool, watchdog};
use anabranch::{Cx, JoinError, Pool};
use std::{
    panic::resume_unwind,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// The operations of a program, each with the number of its object.
pub type Events<O> = Vec<(usize, Event<O>)>;

/// A participant: its random numbers, and what it has done.
pub struct Player<O> {
    pub random: Random,
    recorder: Arc<Recorder>,
    events: Events<O>,
    value: u64,
}

impl<O> Player<O> {
    fn new(number: u64, seed: u64, recorder: &Arc<Recorder>) -> Self {
        let random = Random(seed.wrapping_mul(64) + number);
        Self { random, recorder: Arc::clone(recorder), events: Vec::new(), value: 100 * (number + 1) }
    }

    /// A value that no other participant sends.
    pub fn value(&mut self) -> u64 {
        self.value += 1;
        self.value
    }

    /// An operation begins.
    pub fn begin(&self) -> u64 {
        self.recorder.now()
    }

    /// Records the end of the operation.
    pub fn end(&mut self, from: u64, object: usize, op: O) {
        let to = self.recorder.now();
        self.events.push((object, Event { op, from, to }));
    }

    /// Waits for a short random time.
    pub fn linger(&mut self, cx: &Cx<'_>) {
        match self.random.below(4) {
            0 => cx.yield_now(),
            1 => (0..self.random.below(200)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}

pub type Part<O> = Box<dyn FnOnce(&Cx<'_>, &mut Player<O>) + Send>;

/// Runs the participants on fibers, the last one sometimes on a thread, and cancels one now and then. Calls `end` when
/// nothing happens any more, after which none may wait, and `rest` when all have ended. Returns what all have done.
pub fn play<O: Send + 'static>(
    pool: &Pool,
    seed: u64,
    mut parts: Vec<Part<O>>,
    end: impl FnOnce(&mut Player<O>),
    rest: impl FnOnce(&mut Player<O>),
) -> Events<O> {
    let recorder = Arc::new(Recorder::default());
    let all = Arc::new(Mutex::new(Vec::new()));
    let mut me = Player::new(0, seed, &recorder);
    let on_thread = if me.random.below(3) == 0 { parts.pop() } else { None };
    let handles: Vec<_> = (1..)
        .zip(parts)
        .map(|(number, part)| {
            let mut player = Player::new(number, seed, &recorder);
            let all = Arc::clone(&all);
            pool.spawn(move |cx| {
                part(cx, &mut player);
                all.lock().unwrap().append(&mut player.events);
            })
        })
        .collect();
    thread::scope(|s| {
        if let Some(part) = on_thread {
            let mut player = Player::new(20, seed, &recorder);
            let all = &all;
            s.spawn(move || {
                pool.run(|cx| part(cx, &mut player));
                all.lock().unwrap().append(&mut player.events);
            });
        }
        if me.random.below(4) == 0 {
            let victim = me.random.below(handles.len() as u64) as usize;
            thread::sleep(Duration::from_micros(me.random.below(60)));
            handles[victim].cancel();
        }
        // Until nothing happens for a while. If that is too early, the history is valid all the same.
        let mut before = u64::MAX;
        while before != recorder.count() {
            before = recorder.count();
            thread::sleep(Duration::from_micros(20));
        }
        end(&mut me);
    });
    for handle in handles {
        if let Err(JoinError::Panicked(panic)) = pool.run(|cx| handle.join(cx)) {
            resume_unwind(panic);
        }
    }
    rest(&mut me);
    let mut events = std::mem::take(&mut *all.lock().unwrap());
    events.append(&mut me.events);
    events
}

/// A program for each seed, in pools of several sizes. `ANABRANCH_SOAK` is the number of seconds to go on for.
pub fn many(programs: u64, program: impl Fn(&Pool, u64)) {
    let soak = Duration::from_secs(std::env::var("ANABRANCH_SOAK").map_or(0, |seconds| seconds.parse().unwrap()));
    watchdog(LONG + 2 * soak, || {
        let pools = [pool(1), pool(2), pool(4)];
        let start = Instant::now();
        let seeds = (0..).take_while(|&seed| seed < programs || start.elapsed() < soak);
        seeds.for_each(|seed| program(&pools[seed as usize % 3], seed));
    });
}
