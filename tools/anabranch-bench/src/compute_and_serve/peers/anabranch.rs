//! anabranch: fibers and loops on one pool.

use super::{ANY, Beside, Peer, TICK, Tick, Timer, Way, announce, take};
use crate::compute_and_serve::work::{Task, collatz, leaf, of_sorted};
use crate::net::http::{RESPONSE, Requests};
use anabranch::{
    Cancelled, Cx, Pool,
    channel::oneshot,
    net::{TcpListener, TcpStream},
    prelude::*,
};
use std::{
    io::{self, PipeWriter},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

pub(super) struct Anabranch;

impl Anabranch {
    pub(super) fn start(threads: usize) -> Anabranch {
        Pool::builder().threads(threads).build_default().expect("the first pool of the process");
        Anabranch
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
    let (left, right) = anabranch::join(|| tree(depth - 1, 2 * seed), || tree(depth - 1, 2 * seed + 1));
    left.wrapping_add(right)
}

fn tick(cx: &Cx<'_>, done: &AtomicBool) -> Result<Vec<Tick>, Cancelled> {
    let mut ticks = Vec::with_capacity(1 << 12);
    while !done.load(Relaxed) {
        let start = Instant::now();
        cx.sleep(TICK)?;
        ticks.push((start, Instant::now()));
    }
    Ok(ticks)
}

fn compute_by(cx: &Cx<'_>, way: Way, task: Task) -> u64 {
    match way {
        Way::Nothing(time) => {
            cx.sleep(time).expect("no scope is cancelled");
            0
        }
        Way::Outside => {
            let (sender, mut receiver) = oneshot::channel();
            thread::spawn(move || sender.send(compute(task)));
            receiver.recv(cx).expect("the thread does not panic")
        }
        Way::HandedOver => cx.blocking(|| compute(task)).expect("no scope is cancelled"),
        Way::Inline => compute(task),
    }
}

impl Peer for Anabranch {
    fn compute(&self) -> fn(Task) -> u64 {
        compute
    }

    fn beside(&self, way: Way, task: Task, tickers: usize) -> Beside {
        let done = AtomicBool::new(false);
        anabranch::run(|cx| {
            cx.scope(|s| {
                let tickers: Vec<_> = (0..tickers).map(|_| s.spawn(|cx| tick(cx, &done))).collect();
                let computing = s.spawn(|cx| {
                    cx.sleep(20 * TICK).expect("no scope is cancelled");
                    let timer = Timer::start();
                    let result = compute_by(cx, way, task);
                    let beside = timer.stop(result);
                    done.store(true, Relaxed);
                    beside
                });
                let mut beside = computing.join(cx).expect("the computation does not panic");
                let ticks =
                    tickers.into_iter().map(|ticker| ticker.join(cx).expect("no panic").expect("not cancelled"));
                beside.ticks = ticks.flatten().collect();
                beside
            })
        })
    }

    fn call(&self, callers: usize, task: &Task, budget: Duration) -> Vec<f64> {
        let start = Instant::now();
        let call = |cx: &Cx<'_>, _| {
            let mut times = Vec::new();
            while start.elapsed() < budget {
                let called = Instant::now();
                std::hint::black_box(cx.blocking(|| compute(task.clone()))?);
                times.push(called.elapsed().as_secs_f64());
            }
            Ok::<_, Cancelled>(times)
        };
        let times = anabranch::run(|cx| cx.map_concurrent(callers, 0..callers, call));
        times.expect("no scope is cancelled").concat()
    }

    fn serve(&self, task: Task, port: PipeWriter) -> io::Result<()> {
        let expected = compute(task.clone());
        let server = anabranch::spawn(move |cx| -> io::Result<()> {
            let listener = TcpListener::bind(cx, ANY)?;
            announce(listener.local_addr()?, port)?;
            let task = &task;
            cx.scope(|s| {
                loop {
                    let (stream, _) = listener.accept(cx)?;
                    stream.set_nodelay(true)?;
                    s.spawn(move |cx| http(cx, &stream, task, expected));
                }
            })
        });
        anabranch::run(|cx| server.join(cx)).expect("the server does not panic")
    }
}

fn http(cx: &Cx<'_>, stream: &TcpStream, task: &Task, expected: u64) -> io::Result<()> {
    let (mut requests, mut heavy) = (Requests::new(), Vec::new());
    loop {
        let read = stream.read(cx, &mut requests.buffer[requests.len..])?;
        if read == 0 {
            return Ok(());
        }
        requests.len += read;
        take(&mut requests, &mut heavy)?;
        for is_heavy in heavy.drain(..) {
            if is_heavy {
                assert_eq!(cx.blocking(|| compute(task.clone()))?, expected);
            }
            stream.write_all(cx, RESPONSE)?;
        }
    }
}
