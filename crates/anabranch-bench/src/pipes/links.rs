//! Protocols of one message that follows itself, in the place of a channel.

use anabranch::channel::spsc;
use anabranch::{Cx, proto};

use super::{Kind, allocations};
use crate::bench::{AnyWorkload, Threads};
use crate::messages::peers::anabranch::{Fibers, Spsc};
use crate::messages::strands::{Channel, Strands};
use crate::messages::workloads::{Extent, Job, Workload, measured, ring::Ring, stream::Stream};
use crate::sample::Sample;

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

/// A conversation as a channel: an end is replaced by what comes of each step. `BOUNDED` as for [`Spsc`].
pub struct Pipe<const BOUNDED: bool>;

impl Channel<Fibers> for Pipe<false> {
    type Sender = Option<unbounded::client::Say>;
    type Receiver = Option<unbounded::server::Say>;

    fn new() -> (Self::Sender, Self::Receiver) {
        let (client, server) = unbounded::pipe();
        (Some(client), Some(server))
    }

    fn send(_: &Cx<'_>, sender: &mut Self::Sender, value: u64) {
        *sender = sender.take().and_then(|end| end.number(value).ok());
        assert!(sender.is_some(), "the receiver is there");
    }

    fn recv(cx: &Cx<'_>, receiver: &mut Self::Receiver) -> Option<u64> {
        let unbounded::server::SayMessage::Number(value, next) = receiver.take()?.recv(cx).ok()?;
        *receiver = Some(next);
        Some(value)
    }
}

impl Channel<Fibers> for Pipe<true> {
    type Sender = Option<bounded::client::Say>;
    type Receiver = Option<bounded::server::Say>;

    fn new() -> (Self::Sender, Self::Receiver) {
        let (client, server) = bounded::pipe();
        (Some(client), Some(server))
    }

    fn send(cx: &Cx<'_>, sender: &mut Self::Sender, value: u64) {
        *sender = sender.take().and_then(|end| end.number(cx, value).ok());
        assert!(sender.is_some(), "the receiver is there");
    }

    fn recv(cx: &Cx<'_>, receiver: &mut Self::Receiver) -> Option<u64> {
        let bounded::server::SayMessage::Number(value, next) = receiver.take()?.recv(cx).ok()?;
        *receiver = Some(next);
        Some(value)
    }
}

/// The unbounded `spsc` as the protocol is used: sending has no `Cx`, and so never gives way to others.
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

/// A job with a title, as a workload of messages has.
pub trait Titled: Job {
    /// What it does, in a few words.
    fn title(&self) -> String;
}

impl Titled for Ring {
    fn title(&self) -> String {
        Workload::title(self)
    }
}

impl Titled for Stream {
    fn title(&self) -> String {
        Workload::title(self)
    }
}

/// What is sent over links, which have room for so many messages, or for any number.
pub struct Link<J> {
    /// What is sent.
    pub job: J,
    /// The room.
    pub room: Option<usize>,
    /// How much is sent in a sample.
    pub extent: Extent,
}

impl<J: Titled> Link<J> {
    fn sample<C>(&self, workers: usize) -> Sample
    where
        C: Channel<Fibers>,
    {
        let pool = Fibers::pool(workers);
        let body = |times| self.job.strands::<Fibers, C>(&pool, times);
        let sample = measured(self.extent, |times| self.job.units(times), |times| self.job.expected(times), body);
        let units = self.job.units(1) as f64;
        sample.with("allocs", allocations::each(1000, |times| drop(body(times))) / units)
    }
}

impl<J: Titled> AnyWorkload<Kind> for Link<J> {
    fn title(&self) -> String {
        let room = self.room.map_or("room for any number".to_owned(), |room| format!("room for {room}"));
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
            (Kind::Protocol, false) => self.sample::<Pipe<false>>(threads),
            (Kind::Protocol, true) => self.sample::<Pipe<true>>(threads),
            (_, false) => self.sample::<TrySpsc>(threads),
            (_, true) => self.sample::<Spsc<true>>(threads),
        }
    }
}
