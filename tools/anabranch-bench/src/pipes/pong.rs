//! Ping-pong: a protocol in which the sides take turns, compared with one-shot channels and a pair of `spsc` channels.

use anabranch::channel::{oneshot, spsc};
use anabranch::{Cx, Pool, proto};

use super::allocations;
use super::kind::Kind;
use crate::bench::{AnyWorkload, Threads};
use crate::fibers::peers::Done;
use crate::messages::blocking::Blocking;
use crate::messages::peers::anabranch::Fibers;
use crate::messages::workloads::{Extent, measured};
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

proto! {
    /// What is measured.
    pub ping_pong {
        Ping: send { ping(u64) -> Pong, quit -> ! }
        Pong: recv { pong(u64) -> Ping }
    }
}

/// The number of one-shot channels that are made ahead at a time: as many as fit into a cache.
const AHEAD: u64 = 256;

/// One message goes to and fro.
pub struct PingPong {
    /// The amount of a sample.
    pub extent: Extent,
}

/// Ping-pong over a protocol. Each side adds one.
fn protocol(cx: &Cx<'_>, times: u64) -> Done {
    let (mut client, mut server) = ping_pong::pipe();
    let other = Fibers::spawn(move |cx| {
        while let Ok(ping_pong::server::PingMessage::Ping(value, next)) = server.recv(cx) {
            server = next.pong(value + 1).expect("the client is there");
        }
    });
    let turn = |client: ping_pong::client::Ping, value| {
        let waiting = client.ping(value).expect("the server is there");
        let ping_pong::client::PongMessage::Pong(value, next) = waiting.recv(cx).expect("the server answers");
        (next, value + 1)
    };
    (client, _) = turn(client, 0);
    let watch = Stopwatch::start();
    let mut value = 0;
    for _ in 0..times {
        (client, value) = turn(client, value);
    }
    let meter = watch.stop();
    let _done = client.quit();
    Fibers::join(cx, other);
    Done::new(value, meter)
}

fn over_spsc(cx: &Cx<'_>, times: u64) -> Done {
    let (mut ping, mut pinged) = spsc::unbounded::<u64>();
    let (mut pong, mut ponged) = spsc::unbounded::<u64>();
    let other = Fibers::spawn(move |cx| {
        while let Ok(value) = pinged.recv(cx) {
            pong.send(cx, value + 1).expect("the client is there");
        }
    });
    let mut turn = |ping: &mut spsc::Sender<u64>, value| {
        ping.send(cx, value).expect("the server is there");
        ponged.recv(cx).expect("the server answers") + 1
    };
    turn(&mut ping, 0);
    let watch = Stopwatch::start();
    let mut value = 0;
    for _ in 0..times {
        value = turn(&mut ping, value);
    }
    let meter = watch.stop();
    drop(ping);
    Fibers::join(cx, other);
    Done::new(value, meter)
}

/// A number, and the sender for the answer.
struct Ping(u64, oneshot::Sender<Pong>);

/// A number, and the sender for the next ping.
struct Pong(u64, oneshot::Sender<Ping>);

/// Ping-pong without protocols: each message contains the sender for its answer.
fn oneshots(cx: &Cx<'_>, times: u64) -> Done {
    let (mut to_server, mut from_client) = oneshot::channel::<Ping>();
    let other = Fibers::spawn(move |cx| {
        while let Ok(Ping(value, back)) = from_client.recv(cx) {
            let (next, receiver) = oneshot::channel();
            from_client = receiver;
            drop(back.send(Pong(value + 1, next)));
        }
    });
    let turn = |to_server: oneshot::Sender<Ping>, value| {
        let (back, mut answer) = oneshot::channel();
        drop(to_server.send(Ping(value, back)));
        let Pong(value, next) = answer.recv(cx).expect("the server answers");
        (next, value + 1)
    };
    (to_server, _) = turn(to_server, 0);
    let watch = Stopwatch::start();
    let mut value = 0;
    for _ in 0..times {
        (to_server, value) = turn(to_server, value);
    }
    let meter = watch.stop();
    drop(to_server);
    Fibers::join(cx, other);
    Done::new(value, meter)
}

/// Two one-shot channels for each round trip, which both sides already have: [`AHEAD`] of them are made, and then the
/// clock runs.
fn oneshots_ahead(cx: &Cx<'_>, times: u64) -> Done {
    let (mut value, mut wall, mut cpu) = (0, 0.0, 0.0);
    let mut left = times;
    while left > 0 {
        let count = left.min(AHEAD);
        left -= count;
        let pings: Vec<_> = (0..=count).map(|_| oneshot::channel::<u64>()).collect();
        let pongs: Vec<_> = (0..=count).map(|_| oneshot::channel::<u64>()).collect();
        let (ping, pinged): (Vec<_>, Vec<_>) = pings.into_iter().unzip();
        let (pong, ponged): (Vec<_>, Vec<_>) = pongs.into_iter().unzip();
        let other = Fibers::spawn(move |cx| {
            for (mut pinged, pong) in pinged.into_iter().zip(pong) {
                let value = pinged.recv(cx).expect("the client sends");
                pong.send(value + 1).expect("the client is there");
            }
        });
        let mut both = ping.into_iter().zip(ponged);
        let turn = |(ping, mut ponged): (oneshot::Sender<u64>, oneshot::Receiver<u64>), value| {
            ping.send(value).expect("the server is there");
            ponged.recv(cx).expect("the server answers") + 1
        };
        let first = both.next().expect("there is one more than is measured");
        turn(first, 0);
        let watch = Stopwatch::start();
        for pair in both {
            value = turn(pair, value);
        }
        let meter = watch.stop();
        (wall, cpu) = (wall + meter.wall, cpu + meter.cpu);
        Fibers::join(cx, other);
    }
    Done::new(value, crate::sample::Meter { wall, cpu })
}

impl AnyWorkload<Kind> for PingPong {
    fn title(&self) -> String {
        "ping-pong between two".into()
    }

    fn unit(&self) -> &'static str {
        "ns/round trip"
    }

    fn threads(&self) -> Threads {
        Threads::Asked
    }

    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    fn suits(&self, kind: Kind) -> bool {
        kind != Kind::Expansion
    }

    fn is_rival(&self, kind: Kind) -> bool {
        matches!(kind, Kind::OneshotsAhead | Kind::Oneshots)
    }

    fn bar(&self) -> Option<f64> {
        Some(1.1)
    }

    fn sample_with(&self, kind: Kind, threads: usize) -> Sample {
        let pool: Pool = Fibers::pool(threads);
        let play = match kind {
            Kind::Protocol => protocol,
            Kind::Spsc => over_spsc,
            Kind::OneshotsAhead => oneshots_ahead,
            Kind::Oneshots => oneshots,
            Kind::Expansion => panic!("{kind} is not played"),
        };
        let body = |times| Fibers::root(&pool, move |cx| play(cx, times));
        let sample = measured(self.extent, &(|times| times, |times| 2 * times), body);
        match allocations::each(10_240, |times| drop(body(times))) {
            Some(allocations) => sample.with("allocs", allocations / 2.0),
            None => sample,
        }
    }
}
