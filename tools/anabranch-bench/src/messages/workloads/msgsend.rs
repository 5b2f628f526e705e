//! Clients that all send to one server. The server adds up the messages, and replies when the last client has ended:
//! the msgsend of 2012, after a comparison of Erlang and Scala.
//!
//! Either all clients have a sender of the same channel, or each has its own channel and the server selects among them.
//! The latter was the purpose of the *port sets* of 2012. The clock runs from before the first spawn until the reply
//! has arrived.

#[cfg(feature = "peers")]
use tokio::runtime::Runtime;
#[cfg(feature = "peers")]
use tokio::task::spawn;

use super::{Amount, Frame, SelectJob, SharedJob, Workload};
use crate::fibers::peers::Done;
use crate::messages::blocking::{Blocking, Channel, Selection};
use crate::messages::peers::Kind;
#[cfg(feature = "peers")]
use crate::messages::tasks;
use crate::sample::Sample;
use crate::stopwatch::Stopwatch;

/// The workload with this number of clients.
#[derive(Clone, Copy)]
pub struct Msgsend {
    clients: u64,
}

impl Msgsend {
    /// Creates a workload with `clients` clients.
    pub fn new(clients: u64) -> Msgsend {
        Msgsend { clients }
    }
}

impl Amount for Msgsend {
    fn units(&self, times: u64) -> u64 {
        self.clients * times
    }

    fn expected(&self, times: u64) -> u64 {
        self.clients * (0..times).sum::<u64>()
    }
}

impl SharedJob for Msgsend {
    fn blocking<S: Blocking, C: Channel<S, Sender: Clone>>(&self, pool: &S::Pool, times: u64) -> Done {
        let Msgsend { clients } = *self;
        S::root(pool, move |cx| {
            let watch = Stopwatch::start();
            let (requests, mut request) = C::new();
            let (mut replies, mut reply) = C::new();
            S::spawn(move |cx| {
                let mut sum = 0;
                while let Some(value) = C::recv(cx, &mut request) {
                    sum += value;
                }
                C::send(cx, &mut replies, sum);
            });
            for _ in 0..clients {
                let mut requests = requests.clone();
                S::spawn(move |cx| (0..times).for_each(|value| C::send(cx, &mut requests, value)));
            }
            drop(requests);
            let sum = C::recv(cx, &mut reply).expect("the server replies");
            Done::new(sum, watch.stop())
        })
    }

    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Channel<Sender: Clone>>(&self, runtime: &Runtime, times: u64) -> Done {
        let Msgsend { clients } = *self;
        tasks::root(runtime, async move {
            let watch = Stopwatch::start();
            let (requests, mut request) = C::new();
            let (mut replies, mut reply) = C::new();
            spawn(async move {
                let mut sum = 0;
                while let Some(value) = C::recv(&mut request).await {
                    sum += value;
                }
                C::send(&mut replies, sum).await;
            });
            for _ in 0..clients {
                let mut requests = requests.clone();
                spawn(async move {
                    for value in 0..times {
                        C::send(&mut requests, value).await;
                    }
                });
            }
            drop(requests);
            let sum = C::recv(&mut reply).await.expect("the server replies");
            Done::new(sum, watch.stop())
        })
    }
}

impl SelectJob for Msgsend {
    fn blocking<S: Blocking, C: Selection<S>>(&self, pool: &S::Pool, times: u64) -> Done {
        let Msgsend { clients } = *self;
        S::root(pool, move |cx| {
            let watch = Stopwatch::start();
            let (requests, mut request) = C::new(clients as usize);
            let server = S::spawn(move |cx| C::sum(cx, &mut request, clients * times, || ()));
            for mut requests in requests {
                S::spawn(move |cx| (0..times).for_each(|value| C::send(cx, &mut requests, value)));
            }
            let sum = S::join(cx, server);
            Done::new(sum, watch.stop())
        })
    }

    #[cfg(feature = "peers")]
    fn tasks<C: tasks::Selection>(&self, runtime: &Runtime, times: u64) -> Done {
        let Msgsend { clients } = *self;
        tasks::root(runtime, async move {
            let watch = Stopwatch::start();
            let (requests, mut request) = C::new(clients as usize);
            let server = spawn(async move { C::sum(&mut request, clients * times, || ()).await });
            for mut requests in requests {
                spawn(async move {
                    for value in 0..times {
                        C::send(&mut requests, value).await;
                    }
                });
            }
            let sum = server.await.expect("no task panics");
            Done::new(sum, watch.stop())
        })
    }
}

impl Workload for Msgsend {
    fn title(&self) -> String {
        format!("{} clients send to one server, which replies at the end", self.clients)
    }

    fn unit(&self) -> &'static str {
        "ns/message"
    }

    fn suits(&self, kind: Kind) -> bool {
        kind.is_shared() || kind.is_selection()
    }

    fn bar(&self) -> Option<f64> {
        (self.clients == 4).then_some(0.6)
    }

    fn sample(&self, kind: Kind, frame: Frame) -> Sample {
        if kind.is_selection() { kind.selects(self, frame) } else { kind.shared(self, frame) }
    }
}
