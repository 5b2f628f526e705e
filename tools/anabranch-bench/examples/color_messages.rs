//! The parallel search of 2012 with messages: its `par::map` spawned a task for each part of the vertices, and each
//! task sent its new colours back. The ways to send them are one-shot channels, a shared channel, and pipes of
//! `proto!`, either one for each task or one for each of a few tasks that serve all rounds.
//!
//! ```text
//! cargo run --release -p anabranch-bench --example color_messages -- [SCALE [THREADS [PARTS [SEARCHES]]]]
//! ```
//!
//! Prints a table of medians. The time of a message is the difference to the same search as a parallel loop without
//! messages, divided by the number of messages.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use anabranch::channel::{oneshot, unbounded};
use anabranch::prelude::*;
use anabranch::{Cx, proto};
use graph500::{Graph, Spec, generate, search_keys};

const WHITE: u8 = 0;
const GRAY: u8 = 1;
const BLACK: u8 = 2;

/// The new colours of a part of the vertices.
type Part = Vec<u8>;

proto! { future {
    Wait: recv { value(Part) -> ! }
}}

proto! { worker {
    Idle: send { round(Arc<Vec<u8>>) -> Busy, quit -> ! }
    Busy: recv { part(Part) -> Idle }
}}

/// Searches from a key, and returns how many vertices were reached, the messages, and their bytes.
type Way = fn(&Cx<'_>, &Program, u64) -> Result<Counts, Box<dyn Error>>;

#[derive(Default, Clone, Copy)]
struct Counts {
    reached: u64,
    messages: u64,
    bytes: u64,
}

struct Program {
    graph: Graph,
    parts: Vec<Range<u32>>,
}

impl Program {
    /// Returns the colours before the first round.
    fn first(&self, key: u64) -> Vec<u8> {
        let mut colors = vec![WHITE; self.graph.num_vertices() as usize];
        colors[key as usize] = GRAY;
        colors
    }

    /// Computes the next colours of a part.
    fn turn(&self, colors: &[u8], part: &Range<u32>) -> Part {
        let turn = |vertex: u32| match colors[vertex as usize] {
            WHITE if self.graph.neighbours(vertex).any(|other| colors[other as usize] == GRAY) => GRAY,
            WHITE => WHITE,
            _ => BLACK,
        };
        part.clone().map(turn).collect()
    }

    /// Runs rounds until no vertex is gray. `round` returns the parts in order.
    fn search(
        &self,
        key: u64,
        messages_of_part: u64,
        mut round: impl FnMut(&Arc<Vec<u8>>) -> Result<Vec<Part>, Box<dyn Error>>,
    ) -> Result<Counts, Box<dyn Error>> {
        let (mut colors, mut counts) = (Arc::new(self.first(key)), Counts::default());
        while colors.contains(&GRAY) {
            let parts = round(&colors)?;
            counts.messages += messages_of_part * parts.len() as u64;
            counts.bytes += if messages_of_part > 0 { colors.len() as u64 } else { 0 };
            colors = Arc::new(parts.concat());
        }
        counts.reached = colors.iter().filter(|color| **color == BLACK).count() as u64;
        Ok(counts)
    }
}

fn by_loop(_: &Cx<'_>, program: &Program, key: u64) -> Result<Counts, Box<dyn Error>> {
    program.search(key, 0, |colors| Ok(program.parts.par_iter().map(|part| program.turn(colors, part)).collect()))
}

fn by_oneshots(cx: &Cx<'_>, program: &Program, key: u64) -> Result<Counts, Box<dyn Error>> {
    program.search(key, 1, |colors| {
        cx.scope(|s| {
            let ends = program.parts.iter().map(|part| {
                let (sender, receiver) = oneshot::channel();
                s.spawn(move |_| sender.send(program.turn(colors, part)));
                receiver
            });
            let ends: Vec<_> = ends.collect();
            ends.into_iter().map(|mut end| Ok(end.recv(cx)?)).collect()
        })
    })
}

fn by_shared_channel(cx: &Cx<'_>, program: &Program, key: u64) -> Result<Counts, Box<dyn Error>> {
    program.search(key, 1, |colors| {
        cx.scope(|s| {
            let (sender, receiver) = unbounded();
            for (index, part) in program.parts.iter().enumerate() {
                let sender = sender.clone();
                s.spawn(move |_| sender.try_send((index, program.turn(colors, part))));
            }
            let mut parts = vec![Part::new(); program.parts.len()];
            for _ in 0..parts.len() {
                let (index, part) = receiver.recv(cx)?;
                parts[index] = part;
            }
            Ok(parts)
        })
    })
}

fn by_pipes(cx: &Cx<'_>, program: &Program, key: u64) -> Result<Counts, Box<dyn Error>> {
    program.search(key, 1, |colors| {
        cx.scope(|s| {
            let ends = program.parts.iter().map(|part| {
                let (client, server) = future::pipe();
                s.spawn(move |_| server.value(program.turn(colors, part)).is_ok());
                client
            });
            let ends: Vec<_> = ends.collect();
            let part = |end: future::client::Wait| {
                let future::client::WaitMessage::Value(part, _) = end.recv(cx)?;
                Ok(part)
            };
            ends.into_iter().map(part).collect()
        })
    })
}

fn by_workers(cx: &Cx<'_>, program: &Program, key: u64) -> Result<Counts, Box<dyn Error>> {
    cx.scope(|s| {
        let workers = program.parts.iter().map(|part| {
            let (client, mut server) = worker::pipe();
            s.spawn(move |cx| {
                while let Ok(worker::server::IdleMessage::Round(colors, busy)) = server.recv(cx) {
                    let Ok(idle) = busy.part(program.turn(&colors, part)) else { return };
                    server = idle;
                }
            });
            client
        });
        let mut workers: Vec<_> = workers.collect();
        let counts = program.search(key, 2, |colors| {
            let busy = workers.drain(..).map(|idle| idle.round(Arc::clone(colors)));
            let busy = busy.collect::<Result<Vec<_>, _>>()?;
            let mut parts = Vec::new();
            for end in busy {
                let worker::client::BusyMessage::Part(part, idle) = end.recv(cx)?;
                parts.push(part);
                workers.push(idle);
            }
            Ok(parts)
        })?;
        workers.into_iter().for_each(|idle| drop(idle.quit()));
        Ok(counts)
    })
}

const WAYS: [(&str, Way); 5] = [
    ("loop, no messages", by_loop),
    ("one-shot channels", by_oneshots),
    ("a shared channel", by_shared_channel),
    ("pipes of `proto!`", by_pipes),
    ("pipes, kept tasks", by_workers),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<usize>());
    let mut next = |default| args.next().unwrap_or(Ok(default));
    let (scale, threads, parts, searches) = (next(14)?, next(2)?, next(64)?.max(1), next(16)?);
    let pool = anabranch::Pool::builder().threads(threads).build()?;
    // In a fiber, since a thread that waits outside of the pool would be woken for each message.
    let measured = pool.run(|cx| {
        let measure = |cx: &Cx<'_>| measure(cx, scale, parts, searches).map_err(|error| error.to_string());
        cx.scope(|s| s.spawn(measure).join(cx))
    });
    Ok(measured??)
}

fn measure(cx: &Cx<'_>, scale: usize, parts: usize, searches: usize) -> Result<(), Box<dyn Error>> {
    let spec = Spec::new(scale as u32, 16, 1)?;
    let graph = cx.blocking(|| Graph::build(&generate(&spec, &())?, &()))??;
    let keys = search_keys(&graph, searches, spec.seed());
    let vertices = graph.num_vertices() as u32;
    let bound = |part: usize| (u64::from(vertices) * part as u64 / parts as u64) as u32;
    let parts = (0..parts).map(|part| bound(part)..bound(part + 1)).collect();
    let program = Program { graph, parts };
    // Each key is searched in all ways before the next one, so that other programs disturb all of them.
    let mut times = vec![Vec::new(); WAYS.len()];
    let mut sums = [Counts::default(); WAYS.len()];
    for &key in &keys {
        for (way, (name, search)) in WAYS.iter().enumerate() {
            let start = Instant::now();
            let counts = search(cx, &program, key)?;
            times[way].push(start.elapsed().as_secs_f64());
            sums[way].messages += counts.messages;
            sums[way].bytes += counts.bytes;
            sums[way].reached += counts.reached;
            assert_eq!(sums[way].reached, sums[0].reached, "{name} reaches other vertices");
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let medians: Vec<f64> = times.iter_mut().map(median).collect();
    println!("| way | ms a search | messages a search | bytes a message | ns a message |\n|---|---|---|---|---|");
    for (((name, _), time), sum) in WAYS.iter().zip(&medians).zip(&sums) {
        let messages = sum.messages as f64 / keys.len().max(1) as f64;
        let bytes = sum.bytes.checked_div(sum.messages).unwrap_or(0);
        let each = if messages > 0.0 { (time - medians[0]) / messages * 1e9 } else { 0.0 };
        println!("| {name} | {:.2} | {messages:.0} | {bytes} | {each:.0} |", time * 1e3);
    }
    Ok(())
}
