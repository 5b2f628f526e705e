//! Protocols with one message that repeats, in place of a channel: the ring of 2012, and a stream.

use anabranch::channel::spsc;
use anabranch::{Cx, Pool, proto};

use super::allocations;
use super::kind::Kind;
use crate::bench::{AnyWorkload, Threads};
use crate::fibers::peers::Done;
use crate::messages::blocking::{Blocking, Channel};
use crate::messages::peers::anabranch::{Fibers, Spsc};
use crate::messages::workloads::{Amount, Extent, Job, Workload, measured, ring::Ring, stream::Stream};
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

proto! {
    /// With room for any number.
    #[allow(endless)]
    pub unbounded {
        #[unbounded]
        Say: send { number(u64) -> Say }
    }
}

proto! {
    /// With as much room as bounded channels have here.
    #[allow(endless)]
    pub bounded {
        #[buffer(128)]
        Say: send { number(u64) -> Say }
    }
}

/// A protocol with one message that repeats, whose endpoints are passed from step to step.
pub trait Steps: 'static {
    /// The sending endpoint.
    type Client: Send + 'static;
    /// The receiving endpoint.
    type Server: Send + 'static;

    /// Begins a conversation.
    fn pipe() -> (Self::Client, Self::Server);

    /// Sends a value; the receiver exists.
    fn say(cx: &Cx<'_>, client: Self::Client, value: u64) -> Self::Client;

    /// Receives a value. Returns `None` after the last one.
    fn hear(cx: &Cx<'_>, server: Self::Server) -> Option<(u64, Self::Server)>;
}

/// Unbounded, or with a capacity of 128.
pub struct Pipe<const BOUNDED: bool>;

impl Steps for Pipe<false> {
    type Client = unbounded::client::Say;
    type Server = unbounded::server::Say;

    fn pipe() -> (Self::Client, Self::Server) {
        unbounded::pipe()
    }

    fn say(_: &Cx<'_>, client: Self::Client, value: u64) -> Self::Client {
        client.number(value).expect("the receiver is there")
    }

    fn hear(cx: &Cx<'_>, server: Self::Server) -> Option<(u64, Self::Server)> {
        let unbounded::server::SayMessage::Number(value, next) = server.recv(cx).ok()?;
        Some((value, next))
    }
}

impl Steps for Pipe<true> {
    type Client = bounded::client::Say;
    type Server = bounded::server::Say;

    fn pipe() -> (Self::Client, Self::Server) {
        bounded::pipe()
    }

    fn say(cx: &Cx<'_>, client: Self::Client, value: u64) -> Self::Client {
        client.number(cx, value).expect("the receiver is there")
    }

    fn hear(cx: &Cx<'_>, server: Self::Server) -> Option<(u64, Self::Server)> {
        let bounded::server::SayMessage::Number(value, next) = server.recv(cx).ok()?;
        Some((value, next))
    }
}

/// The unbounded `spsc` used like the protocol: a send has no `Cx`, and so never yields.
pub struct TrySpsc;

impl Channel<Fibers> for TrySpsc {
    type Sender = spsc::Sender<u64>;
    type Receiver = spsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        spsc::unbounded()
    }

    fn send(_: &Cx<'_>, sender: &mut Self::Sender, value: u64) {
        sender.try_send(value).expect("the receiver is there");
    }

    fn recv(cx: &Cx<'_>, receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv(cx).ok()
    }
}

/// A workload of messages that exists for protocols too.
pub trait Piped: Job {
    /// Returns a short description.
    fn title(&self) -> String;

    /// Runs it with a protocol, as [`Job::blocking`] does with a channel.
    fn pipes<P: Steps>(&self, pool: &Pool, times: u64) -> Done;
}

/// Runs one member of the ring. Returns its last value.
fn member<P: Steps>(cx: &Cx<'_>, own: u64, times: u64, mut next: P::Client, mut before: P::Server) -> u64 {
    let mut value = own;
    for _ in 0..times {
        next = P::say(cx, next, value);
        (value, before) = P::hear(cx, before).expect("the sender has not gone");
        value += 1;
    }
    value
}

impl Piped for Ring {
    fn title(&self) -> String {
        Workload::title(self)
    }

    fn pipes<P: Steps>(&self, pool: &Pool, times: u64) -> Done {
        let members = self.units(1);
        Fibers::root(pool, move |cx| {
            let (first, mut before) = P::pipe();
            let mut others = Vec::new();
            for own in 1..members {
                let (next, after) = P::pipe();
                let before = std::mem::replace(&mut before, after);
                others.push(Fibers::spawn(move |cx| {
                    let (hello, before) = P::hear(cx, before).expect("the sender has not gone");
                    let next = P::say(cx, next, hello);
                    member::<P>(cx, own, times, next, before)
                }));
            }
            let first = P::say(cx, first, 0);
            let (_, before) = P::hear(cx, before).expect("the sender has not gone");
            let watch = Stopwatch::start();
            let own = member::<P>(cx, 0, times, first, before);
            let sum = others.into_iter().map(|other| Fibers::join(cx, other)).sum::<u64>();
            Done::new(own + sum, watch.stop())
        })
    }
}

impl Piped for Stream {
    fn title(&self) -> String {
        Workload::title(self)
    }

    fn pipes<P: Steps>(&self, pool: &Pool, times: u64) -> Done {
        Fibers::root(pool, move |cx| {
            let watch = Stopwatch::start();
            let (mut client, mut server) = P::pipe();
            let sending = Fibers::spawn(move |cx| {
                for value in 0..times {
                    client = P::say(cx, client, value);
                }
            });
            let mut sum = 0;
            while let Some((value, next)) = P::hear(cx, server) {
                sum += value;
                server = next;
            }
            Fibers::join(cx, sending);
            Done::new(sum, watch.stop())
        })
    }
}

/// A job over links, which are unbounded or have this capacity.
pub struct Link<J> {
    /// The job.
    pub job: J,
    /// The capacity.
    pub room: Option<usize>,
    /// The amount of a sample.
    pub extent: Extent,
}

impl<J: Piped> Link<J> {
    fn sample(&self, workers: usize, body: impl Fn(&J, &Pool, u64) -> Done) -> Sample {
        let pool = Fibers::pool(workers);
        let body = |times| body(&self.job, &pool, times);
        let sample = measured(self.extent, &self.job, body);
        let units = self.job.units(1) as f64;
        match allocations::each(1000, |times| drop(body(times))) {
            Some(allocations) => sample.with("allocs", allocations / units),
            None => sample,
        }
    }
}

impl<J: Piped> AnyWorkload<Kind> for Link<J> {
    fn title(&self) -> String {
        let room = self.room.map_or("unbounded".to_owned(), |room| format!("capacity {room}"));
        format!("{}, {room}", self.job.title())
    }

    fn unit(&self) -> &'static str {
        "ns/message"
    }

    fn threads(&self) -> Threads {
        Threads::Asked
    }

    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    fn suits(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Protocol | Kind::Spsc)
    }

    fn is_rival(&self, kind: Kind) -> bool {
        kind == Kind::Spsc
    }

    fn bar(&self) -> Option<f64> {
        Some(1.15)
    }

    fn sample_with(&self, kind: Kind, threads: usize) -> Sample {
        match (kind, self.room.is_some()) {
            (Kind::Protocol, false) => self.sample(threads, J::pipes::<Pipe<false>>),
            (Kind::Protocol, true) => self.sample(threads, J::pipes::<Pipe<true>>),
            (_, false) => self.sample(threads, J::blocking::<Fibers, TrySpsc>),
            (_, true) => self.sample(threads, J::blocking::<Fibers, Spsc<true>>),
        }
    }
}
