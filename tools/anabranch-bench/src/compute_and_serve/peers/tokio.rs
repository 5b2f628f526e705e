//! tokio's pool for tasks, and rayon's global pool for loops.

use super::{ANY, Beside, Peer, TICK, Tick, Timer, Way, announce, take};
use crate::compute_and_serve::work::{Task, collatz, leaf, of_sorted};
use crate::net::http::{RESPONSE, Requests};
use rayon::prelude::*;
use std::{
    io::{self, PipeWriter},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
    sync::oneshot,
    task::spawn_blocking,
    time::sleep,
};

/// How a task hands a computation over.
#[derive(Clone, Copy, Debug)]
pub(super) enum HandOver {
    SpawnBlocking,
    RayonSpawn,
}

pub(super) struct TokioRayon {
    runtime: Runtime,
    hand_over: HandOver,
}

impl TokioRayon {
    pub(super) fn start(threads: usize, hand_over: HandOver) -> TokioRayon {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("the first pool of the process");
        let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build().expect("threads");
        TokioRayon { runtime, hand_over }
    }
}

fn compute(task: Task) -> u64 {
    match task {
        Task::Loop(range) => range.into_par_iter().map(collatz).max().unwrap_or(0).into(),
        Task::Tree(depth) => tree(depth, 1),
        Task::Sort(mut numbers) => {
            numbers.par_sort_unstable();
            of_sorted(&numbers)
        }
    }
}

fn tree(depth: u32, seed: u64) -> u64 {
    if depth == 0 {
        return leaf(seed);
    }
    let (left, right) = rayon::join(|| tree(depth - 1, 2 * seed), || tree(depth - 1, 2 * seed + 1));
    left.wrapping_add(right)
}

impl HandOver {
    async fn compute(self, task: Task) -> u64 {
        match self {
            HandOver::SpawnBlocking => spawn_blocking(move || compute(task)).await.expect("no panic"),
            HandOver::RayonSpawn => {
                let (sender, receiver) = oneshot::channel();
                rayon::spawn(move || _ = sender.send(compute(task)));
                receiver.await.expect("no panic")
            }
        }
    }

    async fn compute_by(self, way: Way, task: Task) -> u64 {
        match way {
            Way::Nothing(time) => {
                sleep(time).await;
                0
            }
            Way::Outside => {
                let (sender, receiver) = oneshot::channel();
                thread::spawn(move || sender.send(compute(task)));
                receiver.await.expect("the thread does not panic")
            }
            Way::HandedOver => self.compute(task).await,
            Way::Inline => compute(task),
        }
    }
}

async fn tick(done: Arc<AtomicBool>) -> Vec<Tick> {
    let mut ticks = Vec::with_capacity(1 << 12);
    while !done.load(Relaxed) {
        let start = Instant::now();
        sleep(TICK).await;
        ticks.push((start, Instant::now()));
    }
    ticks
}

impl Peer for TokioRayon {
    fn compute(&self) -> fn(Task) -> u64 {
        compute
    }

    fn beside(&self, way: Way, task: Task, tickers: usize) -> Beside {
        let (done, hand_over) = (Arc::new(AtomicBool::new(false)), self.hand_over);
        self.runtime.block_on(async {
            let tickers: Vec<_> = (0..tickers).map(|_| tokio::spawn(tick(Arc::clone(&done)))).collect();
            let computing = tokio::spawn(async move {
                sleep(20 * TICK).await;
                let timer = Timer::start();
                let result = hand_over.compute_by(way, task).await;
                let beside = timer.stop(result);
                done.store(true, Relaxed);
                beside
            });
            let mut beside = computing.await.expect("the computation does not panic");
            for ticker in tickers {
                beside.ticks.extend(ticker.await.expect("no panic"));
            }
            beside
        })
    }

    fn call(&self, callers: usize, task: &Task, budget: Duration) -> Vec<f64> {
        let (start, hand_over) = (Instant::now(), self.hand_over);
        let call = |task: Task| async move {
            let mut times = Vec::new();
            while start.elapsed() < budget {
                let called = Instant::now();
                std::hint::black_box(hand_over.compute(task.clone()).await);
                times.push(called.elapsed().as_secs_f64());
            }
            times
        };
        self.runtime.block_on(async {
            let callers: Vec<_> = (0..callers).map(|_| tokio::spawn(call(task.clone()))).collect();
            let mut times = Vec::new();
            for caller in callers {
                times.extend(caller.await.expect("no panic"));
            }
            times
        })
    }

    fn serve(&self, task: Task, port: PipeWriter) -> io::Result<()> {
        let (expected, hand_over) = (compute(task.clone()), self.hand_over);
        let server = async move {
            let listener = TcpListener::bind(ANY).await?;
            announce(listener.local_addr()?, port)?;
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                tokio::spawn(http(stream, hand_over, task.clone(), expected));
            }
        };
        // On a worker, where the tasks run too.
        self.runtime.block_on(async { tokio::spawn(server).await.map_err(io::Error::other)? })
    }
}

async fn http(mut stream: TcpStream, hand_over: HandOver, task: Task, expected: u64) -> io::Result<()> {
    let (mut requests, mut heavy) = (Requests::new(), Vec::new());
    loop {
        let read = stream.read(&mut requests.buffer[requests.len..]).await?;
        if read == 0 {
            return Ok(());
        }
        requests.len += read;
        take(&mut requests, &mut heavy)?;
        for is_heavy in heavy.drain(..) {
            if is_heavy {
                assert_eq!(hand_over.compute(task.clone()).await, expected);
            }
            stream.write_all(RESPONSE).await?;
        }
    }
}
