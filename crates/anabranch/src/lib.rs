//! One worker pool for parallel and concurrent programs: fork-join, fibers, channels, and protocols that the compiler
//! checks. An *anabranch* is an arm of a river that leaves the main channel and joins it again downstream.
//!
//! Parallel code takes no token. [`join`] runs two closures, in parallel if a thread is idle; a fork that no thread
//! takes costs one to two nanoseconds, so recursion needs no cut-off and loops need no grain size. Concurrent code
//! takes a [`Cx`], the permission to wait. With it fibers on the same threads wait for time, locks, messages, futures
//! and each other, also inside parallel code. Scopes, races and time limits end all that they began before they return.
//!
//! ```
//! use anabranch::{Cx, WaitError};
//! use std::time::Duration;
//!
//! struct Node {
//!     value: u64,
//!     children: Option<Box<[Node; 2]>>,
//! }
//!
//! fn sum(node: &Node) -> u64 {                                    // computes
//!     let Some(children) = &node.children else { return node.value };
//!     let (left, right) = anabranch::join(|| sum(&children[0]), || sum(&children[1]));
//!     node.value + left + right
//! }
//!
//! fn fetch(cx: &Cx<'_>, server: u64) -> Result<Node, WaitError> { // may wait
//!     cx.sleep(Duration::from_millis(server))?;
//!     Ok(Node { value: server, children: None })
//! }
//!
//! let total = anabranch::run(|cx| {
//!     cx.timeout(Duration::from_secs(60), |cx| {
//!         let (left, right) = cx.try_join(|cx| fetch(cx, 2), |cx| fetch(cx, 3))?;
//!         Ok::<_, WaitError>(sum(&Node { value: 1, children: Some(Box::new([left, right])) }))
//!     })
//! });
//! assert_eq!(total, Ok(6));
//! ```
//!
//! # I want to ...
//! | | |
//! |---|---|
//! | run two pieces of work in parallel | [`join`] |
//! | run a loop in parallel | [`par_for_each`], [`par_map`], [`par_reduce`], over slices, ranges, [`chunks`] |
//! | spawn tasks that borrow | [`scope`] |
//! | wait, on this thread | [`run`] |
//! | run two functions that may wait | [`Cx::join`], [`Cx::try_join`] |
//! | run one function for many items, a few at a time | [`Cx::map_concurrent`] |
//! | spawn fibers that borrow | [`Cx::scope`] |
//! | spawn a fiber that goes on alone | [`spawn`] |
//! | take the first of several results | [`Cx::race`], [`Cx::race_ok`] |
//! | limit the time | [`Cx::timeout`], [`Cx::with_deadline`] |
//! | cancel | [`JoinHandle::cancel`], [`Cx::cancellable`] |
//! | send values | [`channel`] |
//! | wait for the first of several operations | [`select!`], [`channel::Select`], [`channel::ReceiverSet`] |
//! | share a value | [`sync::Mutex`], [`sync::RwLock`], [`sync::Monitor`] |
//! | have a conversation in a fixed order | [`proto!`] |
//! | answer requests | [`spawn_service`] |
//! | wait for a future; run a future | [`Cx::block_on`]; [`spawn_async`] |
//! | choose the number of threads | `ANABRANCH_NUM_THREADS`, [`Pool::builder`] |
//! | test what depends on time | [`time::ManualClock`] |
//! | find out why a program hangs | [`fibers`], [`guide::tuning`] |
//!
//! # Modules
//! | | |
//! |---|---|
//! | the root | fork-join, loops, fibers, pools |
//! | [`channel`] | channels and selection |
//! | [`sync`] | locks, events, semaphores, triggers and the like |
//! | [`proto`](mod@proto) | conversations; over a wire with the feature `serde` |
//! | [`time`] | clocks |
//! | [`guide`] | chapters on use, and for users of rayon, crossbeam, tokio and Go |
//!
//! # Guarantees
//! - All that is forked or spawned in a call has ended when the call returns, also when something panics. A panic
//!   reaches the caller once. No work, value or payload is leaked. ([`spawn`] is the exception: its fiber ends with its
//!   pool.)
//! - A thread that waits in a [`join`] or a [`scope`] runs only pieces of what it waits for, and answers
//!   [broadcasts](Pool::broadcast). So a lock held across them is not met again by unrelated work on the same stack.
//! - A fiber that has begun stays on its thread. What is spawned in a [`Cx::scope`] has ended when the scope returns,
//!   and a panic in one fiber cancels the others first.
//! - A pool of T threads lets T threads work at a time. An idle pool sleeps: no thread wakes up periodically.
//!
//! # Limits
//! - **Soundness.** Do not wait while a scoped thread-local of another crate is set, nor inside of the initialiser of a
//!   `thread_local!`: [`guide::hazards`] explains why. Apart from that, safe code is sound.
//! - **Blocked threads.** A foreign call that blocks also blocks the fibers that have begun on its thread. On Linux the
//!   pool replaces a blocked thread for its remaining work; on other systems it does not.
//! - **Fibers are not preempted**, and begun fibers do not move to other threads.
//! - **No reactor.** Sockets are waited for by futures of other crates, with [`Cx::block_on`].
//! - **Platforms.** Linux is tested; other Unix systems and Windows less so. On WebAssembly all code runs on the
//!   calling thread, and there are no fibers: [`spawn`], [`Cx::scope`] and the like do not exist there. The page
//!   [PLATFORMS](https://github.com/anabranch/anabranch/blob/main/docs/PLATFORMS.md) has a table.
//!
//! # Features
//! - `macros`, on by default: [`proto!`].
//! - `serde`: conversations over a wire, `proto::wire`.

#![cfg_attr(not(any(unix, windows)), allow(dead_code, reason = "there are no fibers to use it"))]

#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
mod bias;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod channel;
#[cfg(doctest)]
mod compile_fail;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
mod cx;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
#[cfg_attr(
    not(any(unix, windows)),
    allow(unreachable_code, unused_variables, reason = "there are no stacks for fibers")
)]
mod fiber;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
mod fork;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(not(loom))]
mod iter;
#[cfg(all(test, loom))]
mod models;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
#[cfg_attr(
    not(any(unix, windows)),
    allow(unreachable_code, unused_variables, reason = "there are no stacks for fibers")
)]
mod pool;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod proto;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod sync;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
mod sys;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
pub mod time;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
mod wait;

#[cfg(all(any(unix, windows), not(loom)))]
pub use crate::{
    channel::service::{Service, spawn_service},
    cx::{
        FallibleRacers, FiberInfo, FiberScope, FiberState, JoinError, JoinHandle, Racers, ScopedHandle, SleepAsync,
        Spawner, fibers, sleep_async, spawn, spawn_async,
    },
};
#[cfg(not(loom))]
pub use crate::{
    cx::{CancelHandle, Cx, FiberLocal, Interval, run},
    fork::{
        join::join,
        scope::{Scope, scope},
    },
    iter::{Chunks, ChunksMut, Splittable, chunks, chunks_mut, par_for_each, par_map, par_reduce},
    pool::{BuildError, Builder, Hazard, HazardKind, Pool, Stats, WorkerStats, current_num_threads},
    wait::{Cancelled, TimedOut, WaitError},
};

/// Describes a conversation between two sides, and makes a module with a type for each state and side.
///
/// ```text
/// proto! { attributes visibility name {
///     State: send { message(Type, name: Type) -> NextState, last -> ! }     // the client sends
///     Other: recv { message -> State }                                      // the client receives
/// }}
/// ```
/// A protocol is written from the client's view; the server's is derived. A conversation begins in the first state.
///
/// For a protocol `bank` with a state `Login` there are, in the module `bank`:
/// - `pipe()`: the two endpoints of a new conversation;
/// - `client::Login` and `server::Login`, the endpoints. One has a method for each message, which uses it up and
///   returns the next endpoint; the other has `recv`, `recv_deadline`, `recv_timeout`, `try_recv`, `recv_async`, and
///   `receiving` for [`select!`]. It can be a member of a [`ReceiverSet`](channel::ReceiverSet);
/// - `client::LoginMessage` or `server::LoginMessage`, of which a receive returns one: the messages in camel case, each
///   with what it carries and the next endpoint;
/// - `Done`, which the last message (`-> !`) yields; `Protocol`, its [description](proto::Protocol).
///
/// ```
/// use anabranch::{channel::RecvError, proto};
///
/// proto! { pub bank {
///     Login: send { login(String, String) -> LoginResponse }
///     LoginResponse: recv { ok -> Connected, invalid -> Login }
///     Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
///     Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
/// }}
///
/// use bank::{client, server};
///
/// let (bank, service) = proto::spawn_service(bank::pipe, |cx, door| {
///     let server::LoginMessage::Login(_name, _password, answer) = door.recv(cx)?;
///     let mut balance = 0;
///     let mut counter = answer.ok()?;
///     loop {
///         counter = match counter.recv(cx)? {
///             server::ConnectedMessage::Deposit(amount, next) => {
///                 balance += amount;
///                 next
///             }
///             server::ConnectedMessage::Withdrawal(amount, till) if amount <= balance => {
///                 balance -= amount;
///                 till.money(amount)?
///             }
///             server::ConnectedMessage::Withdrawal(_, till) => till.insufficient_funds()?,
///             server::ConnectedMessage::Quit(done) => return Ok::<_, RecvError>(done),
///         }
///     }
/// });
///
/// let got = anabranch::run(|cx| {
///     let client::LoginResponseMessage::Ok(bank) = bank.login("me".into(), "1234".into())?.recv(cx)? else {
///         return Ok(0);
///     };
///     let bank = bank.deposit(cx, 100)?;
///     let client::WithdrawalMessage::Money(got, bank) = bank.withdrawal(cx, 60)?.recv(cx)? else { return Ok(0) };
///     bank.quit(cx)?;
///     Ok::<_, RecvError>(got)
/// });
/// assert_eq!(got, Ok(60));
/// # anabranch::run(|cx| service.join(cx)).unwrap().unwrap();
/// ```
///
/// # Attributes
/// - `#[buffer(n)]` before a state that can follow itself without an answer from the other side, such as `Connected`:
///   there is room for n messages, and sending waits, takes a `cx`, while they are under way. Without it there is room
///   for 16.
/// - `#[unbounded]` instead: sending never waits, and takes memory.
/// - `#[allow(endless)]` before a state, or the protocol, that has no way to the end (`!`), which is warned of else.
/// - `#[wire(version = n)]` before the protocol: two programs can use it, with `client::over` and `server::over`.
///   Needs the feature `serde`; see [`proto`](mod@proto) and its module `wire`.
/// - All others are handed on: those of states to their endpoints, those of messages to methods and variants.
///
/// # Parameters
/// States may have parameters, `Stream: send<T: Send> { send(T) -> Stream<T> }`. All states have those of the first
/// one, where their bounds stand, and hand them on as they are.
///
/// # Names
/// Types are those of the place of the macro. A type of one's own that has the name of a state, or `client`, `server`,
/// `Done` and the like, is written with its path, `self::Login`. An endpoint of another protocol is a type like any
/// other: what is sent so is the rest of that conversation (delegation).
#[cfg(all(not(loom), feature = "macros"))]
pub use anabranch_macros::proto;

#[cfg(shuttle)]
#[doc(hidden)]
pub use crate::sys::{
    chance::{Odds, set_odds},
    unwind::{catch_unwind, panicking, resume_unwind},
};

/// The examples of the README have to compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
