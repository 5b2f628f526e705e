//! One message that goes around: a ring of 503 (the thread-ring of the Benchmarks Game), or of two (ping-pong).
//!
//! Only one member can run at a time, so this measures the cost of waking one and switching to it. The first lap, in
//! which all members start, does not count.

#[cfg(feature = "peers")]
use tokio::runtime::Runtime;
#[cfg(feature = "peers")]
use tokio::task::spawn;

use super::{Amount, Frame, Job, Workload};
use crate::fibers::peers::Done;
use crate::messages::blocking::{self, Blocking};
use crate::messages::peers::Kind;
#[cfg(feature = "peers")]
use crate::messages::tasks;
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

/// The workload with this number of members.
#[derive(Clone, Copy)]
pub struct Token {
    members: u64,
    is_of_threads: bool,
}

impl Token {
    /// Creates a ring of `members` fibers, coroutines or tasks.
    pub fn new(members: u64) -> Token {
        Token { members, is_of_threads: false }
    }

    /// Creates a ring of two threads of the system.
    pub fn between_threads() -> Token {
        Token { members: 2, is_of_threads: true }
    }
}

impl Amount for Token {
    /// Ping-pong counts round trips.
    fn units(&self, times: u64) -> u64 {
        if self.members == 2 { times } else { self.members * times }
    }

    /// Each member adds one.
    fn expected(&self, times: u64) -> u64 {
        self.members * times
    }
}

impl Job for Token {
    fn blocking<S: Blocking, C: blocking::Channel<S>>(&self, pool: &S::Pool, times: u64) -> Done {
        let Token { members, .. } = *self;
        S::root(pool, move |cx| {
            let (mut first, mut last) = C::new();
            for _ in 1..members {
                let (mut next, after) = C::new();
                let mut before = std::mem::replace(&mut last, after);
                S::spawn(move |cx| {
                    while let Some(value) = C::recv(cx, &mut before) {
                        C::send(cx, &mut next, value + 1);
                    }
                });
            }
            C::send(cx, &mut first, 0);
            blocking::must_recv::<S, C>(cx, &mut last);
            let watch = Stopwatch::start();
            let mut token = 0;
            for _ in 0..times {
                C::send(cx, &mut first, token);
                token = blocking::must_recv::<S, C>(cx, &mut last) + 1;
            }
            let meter = watch.stop();
            // The other members end one after the other, so the end of the last one means that all have ended.
            drop(first);
            assert_eq!(C::recv(cx, &mut last), None, "nobody sends a second token");
            Done::new(token, meter)
        })
    }

    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Channel>(&self, runtime: &Runtime, times: u64) -> Done {
        let Token { members, .. } = *self;
        tasks::root(runtime, async move {
            let (mut first, mut last) = C::new();
            for _ in 1..members {
                let (mut next, after) = C::new();
                let mut before = std::mem::replace(&mut last, after);
                spawn(async move {
                    while let Some(value) = C::recv(&mut before).await {
                        C::send(&mut next, value + 1).await;
                    }
                });
            }
            C::send(&mut first, 0).await;
            tasks::must_recv::<C>(&mut last).await;
            let watch = Stopwatch::start();
            let mut token = 0;
            for _ in 0..times {
                C::send(&mut first, token).await;
                token = tasks::must_recv::<C>(&mut last).await + 1;
            }
            let meter = watch.stop();
            drop(first);
            assert_eq!(C::recv(&mut last).await, None, "nobody sends a second token");
            Done::new(token, meter)
        })
    }
}

impl Workload for Token {
    fn title(&self) -> String {
        match *self {
            Token { is_of_threads: true, .. } => "ping-pong between two threads of the system".into(),
            Token { members: 2, .. } => "ping-pong between two".into(),
            Token { members, .. } => format!("one message goes around a ring of {members}"),
        }
    }

    fn unit(&self) -> &'static str {
        if self.members == 2 { "ns/round trip" } else { "ns/hop" }
    }

    fn suits(&self, kind: Kind) -> bool {
        kind.is_link() && kind.is_of_threads() == self.is_of_threads
    }

    fn bar(&self) -> Option<f64> {
        match *self {
            Token { is_of_threads: true, .. } => None,
            Token { members: 2, .. } => Some(0.35),
            Token { .. } => Some(0.2),
        }
    }

    fn sample(&self, kind: Kind, frame: Frame) -> Sample {
        kind.links(self, frame)
    }
}
