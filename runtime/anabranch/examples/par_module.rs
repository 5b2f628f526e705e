//! The module `par` of Rust's library of 2012, in today's words.
//!
//! ```text
//! cargo run --release --example par_module -- --tasks 2 --items 1000
//! ```
//!
//! That module cut a vector into parts and spawned a task for each. The caller gave the maximum of tasks and the
//! minimum of items in a part. It had `map`, `mapi`, `alli` and `any`. Under it were futures: a spawned computation
//! sends its result back, and the spawner waits for it. Beside it was a pool of tasks. Here each of these is a line or
//! a few. No one has to choose the two numbers any more. They are options of this program, for those who want them.

use anabranch::{JoinError, Pool, prelude::*};
use std::{process::ExitCode, sync::mpsc};

const USAGE: &str = "\
usage: par_module [--tasks N] [--items N]
  Runs what the module `par` of 2012 could do, with at most N tasks (4), each of at least N items (1000).";

fn main() -> ExitCode {
    let par = match options() {
        Ok(Some(par)) => par,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("par_module: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let numbers: Vec<u64> = (0..100_000).collect();

    let squares = par.map(&numbers, |number| number * number);
    println!("map: the last square is {}", squares[squares.len() - 1]);
    let differences = par.mapi(&squares, |index, square| square - numbers[index]);
    println!("mapi: the last difference is {}", differences[differences.len() - 1]);
    println!("alli: each number is its index: {}", par.alli(&numbers, |index, number| index as u64 == *number));
    println!("any: a square is 1369: {}", par.any(&squares, |square| *square == 1369));

    match futures() {
        Ok(sum) => println!("futures: 20 + 22 is {sum}"),
        Err(error) => {
            eprintln!("par_module: {error}");
            return ExitCode::FAILURE;
        }
    }
    println!("task pool: the answers in order are {:?}", task_pool(par.tasks));
    ExitCode::SUCCESS
}

/// The two numbers of 2012.
struct Par {
    /// The most parts of a vector.
    tasks: usize,
    /// The fewest items of a part.
    items: usize,
}

impl Par {
    /// Returns the results of `f` for all items, in order.
    ///
    /// `items.par_iter().map(f).collect()` alone is the usual form.
    fn map<A: Sync, B: Send>(&self, items: &[A], f: impl Fn(&A) -> B + Sync + Send) -> Vec<B> {
        items.par_iter().with_min_len(self.part(items)).map(f).collect()
    }

    /// Like [`map`](Self::map), with the index of each item.
    fn mapi<A: Sync, B: Send>(&self, items: &[A], f: impl Fn(usize, &A) -> B + Sync + Send) -> Vec<B> {
        items.par_iter().with_min_len(self.part(items)).enumerate().map(|(index, item)| f(index, item)).collect()
    }

    /// Returns whether `f` holds for all items. It stops at the first one for which it does not.
    fn alli<A: Sync>(&self, items: &[A], f: impl Fn(usize, &A) -> bool + Sync + Send) -> bool {
        items.par_iter().with_min_len(self.part(items)).enumerate().all(|(index, item)| f(index, item))
    }

    /// Returns whether `f` holds for an item. It stops at the first one that is found.
    fn any<A: Sync>(&self, items: &[A], f: impl Fn(&A) -> bool + Sync + Send) -> bool {
        items.par_iter().with_min_len(self.part(items)).any(f)
    }

    /// Returns the length of the parts.
    fn part<A>(&self, items: &[A]) -> usize {
        items.len().div_ceil(self.tasks).max(self.items)
    }
}

/// Spawns two computations, each of which is a future: a handle by which the result is fetched later.
///
/// A computation that panics does not end the program. The handle reports it.
fn futures() -> Result<u64, JoinError> {
    let (a, b) = (anabranch::spawn(|_| 20), anabranch::spawn(|_| 22));
    anabranch::run(|cx| Ok(a.join(cx)? + b.join(cx)?))
}

/// Makes a pool of some threads, and executes tasks in it, which send their answers.
///
/// All pools have the same functions as the default pool, which most programs use. When the pool is dropped, its tasks
/// have ended.
fn task_pool(threads: usize) -> Vec<u32> {
    let pool = Pool::builder().threads(threads).build().expect("the system has some threads left");
    let (sender, answers) = mpsc::channel();
    for task in 0..10 {
        let sender = sender.clone();
        pool.spawn(move |_| sender.send(task * task).expect("the answers are awaited"));
    }
    // The answers end when the last task has ended.
    drop(sender);
    let mut answers: Vec<u32> = answers.into_iter().collect();
    answers.sort_unstable();
    answers
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Par>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut par = Par { tasks: 4, items: 1000 };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("tasks") => par.tasks = parser.value()?.parse()?,
            Long("items") => par.items = parser.value()?.parse()?,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if par.tasks == 0 || par.items == 0 {
        return Err("--tasks and --items have to be at least 1".into());
    }
    Ok(Some(par))
}
