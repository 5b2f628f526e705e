//! One worker pool for parallel and concurrent programs: fork-join, fibers, channels, and protocols that the compiler
//! checks. An *anabranch* is an arm of a river that leaves the main channel and joins it again downstream.
//!
//! Parallel code takes no token. [`join`] runs two closures, in parallel if a thread is idle. A fork that no other
//! thread takes costs one to two nanoseconds, so recursion needs no cut-off, and [parallel iterators](mod@iter) need no
//! grain size.
//!
//! Concurrent code takes a [`Cx`], the permission to wait. With it fibers wait for time, locks, messages, futures and
//! each other, on the same threads and also inside parallel code. A scope, a race or a time limit returns only after
//! everything that it started has ended.
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
//! | run a loop in parallel, collect, reduce, search, sort | [`prelude`], [`iter`](mod@iter) |
//! | spawn tasks that borrow | [`scope`] |
//! | run a computation that no caller waits for | [`execute`] |
//! | run work on a pool's own threads | [`Pool::call`], [`Pool::broadcast`] |
//! | wait, on this thread | [`run`] |
//! | run two functions that may wait | [`Cx::join`], [`Cx::try_join`] |
//! | run one function for many items, a few at a time | [`Cx::map_concurrent`] |
//! | take results as they arrive | [`Cx::map_unordered`], [`fiber::JoinSet`] |
//! | spawn fibers that borrow | [`Cx::scope`] |
//! | spawn fibers that may fail | [`Cx::try_scope`] |
//! | start fibers again that panic | [`Cx::supervise`] |
//! | spawn a fiber that outlives the call | [`spawn`] |
//! | take the first of several results | [`Cx::race`], [`Cx::race_ok`] |
//! | limit the time | [`Cx::timeout`], [`Cx::with_deadline`]; for one wait [`Operation::timeout`] |
//! | cancel | [`JoinHandle::cancel`], [`Cx::cancellable`] |
//! | use `?` with all errors of waits | [`Error`] |
//! | send values | [`channel`] |
//! | wait for the first of several operations | [`select!`], [`channel::Select`], [`channel::ReceiverSet`] |
//! | share a value | [`sync::Mutex`], [`sync::RwLock`], [`sync::Monitor`] |
//! | have a conversation in a fixed order | [`proto!`] |
//! | answer requests | [`fiber::spawn_service`] |
//! | wait for a future; run a future | [`Cx::block_on`]; [`spawn_async`] |
//! | read a file, call a library that blocks | [`Cx::blocking`] |
//! | wait for sockets | `net`, with the feature `net` |
//! | wait for Ctrl-C | `signal`, with the feature `signal` |
//! | choose the number of threads | `ANABRANCH_NUM_THREADS`, [`Pool::builder`] |
//! | test what depends on time | [`time::ManualClock`] |
//! | find out where the time went | `ANABRANCH_TRACE`, [`trace`](mod@trace) |
//! | find out why a program hangs or is slow | [`fiber::report_all`], [`fiber::fibers`], [`pool::stats`], [`guide::tuning`] |
//!
//! # Modules
//! | | |
//! |---|---|
//! | the root | fork-join, waiting, spawning, pools, the errors of waits |
//! | [`fiber`] | scopes, sets, races, supervision and services of fibers, lists of fibers |
//! | [`pool`] | the caller's place in a pool, statistics, hooks, hazards, reports |
//! | [`iter`](mod@iter) | parallel iterators; their traits are in the [`prelude`] |
//! | [`channel`] | channels and selection |
//! | [`sync`] | locks, events, semaphores, triggers and the like |
//! | [`proto`](mod@proto) | conversations; over a wire with the feature `serde` |
//! | [`time`] | clocks |
//! | [`trace`](mod@trace) | what the threads did, for `anabranch explain` |
//! | `net` | sockets, with the feature `net` |
//! | `signal` | Ctrl-C and other signals, with the feature `signal` |
//! | [`guide`] | chapters on use, and for users of rayon, crossbeam, tokio and Go |
//!
//! # Guarantees
//! - Everything that a call forks or spawns has ended when the call returns, also after a panic. A panic reaches the
//!   caller once. No work, value or panic payload is leaked. The compiler makes one exception: the result of a function
//!   is leaked if the destructor of one of its variables panics while the function returns. ([`spawn`], [`execute`] and
//!   [`pool::spawn_broadcast`] are exceptions to the first sentence: what they start may run until its pool is
//!   dropped.)
//! - A thread that waits in a [`join`] or a [`scope`] runs only parts of the work that it waits for, and answers
//!   [broadcasts](Pool::broadcast). So a thread that holds a lock across them runs no unrelated work that needs the
//!   lock.
//! - A fiber that has begun stays on its thread. A [`Cx::scope`] returns when all its fibers have ended, and a panic in
//!   one fiber cancels the others first.
//! - A pool of T threads lets T threads work at a time. An idle pool sleeps: no thread wakes up periodically.
//!
//! # Limits
//! - **Soundness.** Do not wait while a scoped thread-local of another crate is set, or inside the initialiser of a
//!   `thread_local!`: [`guide::hazards`] explains why. Apart from that, safe code is sound.
//! - **Blocked threads.** A foreign call that blocks also blocks the fibers that have begun on its thread, unless it is
//!   made by [`Cx::blocking`]. On Linux another thread takes over the remaining work of a thread that a fiber blocks,
//!   and one more thread computes when all that compute are blocked. On other systems neither happens.
//! - **Fibers are not preempted**, and begun fibers do not move to other threads.
//! - **Platforms.** Linux is tested, other Unix systems and Windows less so. On WebAssembly all code runs on the
//!   calling thread, and there are no fibers: [`spawn`], [`Cx::scope`] and the like do not exist there.
//!   [PLATFORMS](https://github.com/anabranch/anabranch/blob/main/docs/PLATFORMS.md) has a table.
//!
//! # Features
//! - `macros`, on by default: [`proto!`].
//! - `net`: sockets, `net`.
//! - `signal`: Ctrl-C and other signals, `signal`; enables `net`.
//! - `serde`: conversations over a wire, `proto::wire`.
//! - `tracing`: the spans of the crate `tracing` follow their fibers, `pool::TracingSpans`.
//! - `metrics`: the counters of a pool for the crate `metrics`, `pool::Stats::report_metrics`.

#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(loom, shuttle))))]
#![cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of the crate"))]
#![cfg_attr(
    not(any(unix, windows)),
    allow(dead_code, unreachable_code, unused_variables, reason = "there are no stacks for fibers")
)]

/// Compiles items under one condition. It has the name and the form of the macro of the crate `cfg-if`, because
/// rustfmt finds modules in such calls.
macro_rules! cfg_if {
    (if #[cfg($condition:meta)] { $($item:item)* }) => { $(#[cfg($condition)] $item)* };
}

mod bias;
pub mod channel;
mod cx;
pub mod fiber;
mod fork;
pub mod pool;
pub mod proto;
#[cfg_attr(
    any(shuttle, not(feature = "net"), not(any(unix, windows))),
    allow(dead_code, reason = "there are no sockets to use it")
)]
mod reactor;
pub mod sync;
mod sys;
pub mod time;
mod wait;

#[cfg(doctest)]
mod compile_fail;
#[cfg(not(loom))]
mod error;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(not(loom))]
pub mod iter;
#[cfg(all(test, loom))]
mod models;
#[cfg(all(feature = "net", any(unix, windows), not(any(loom, shuttle))))]
pub mod net;
#[cfg(not(loom))]
pub mod prelude;
#[cfg(all(feature = "signal", any(unix, windows), not(any(loom, shuttle))))]
pub mod signal;
#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
pub mod trace;
#[cfg(not(all(any(unix, windows), not(any(loom, shuttle, sim)))))]
#[allow(dead_code, unused_imports, reason = "nothing is recorded")]
mod trace;

#[cfg(all(any(unix, windows), not(loom)))]
pub use crate::cx::{JoinError, JoinHandle, spawn, spawn_async, spawn_named};
#[cfg(not(loom))]
pub use crate::{
    cx::{Cx, Operation, run},
    error::{Error, ErrorKind},
    fork::{
        execute::execute,
        join::{FnContext, join, join_context},
        scope::{Scope, scope},
    },
    pool::{builder::Builder, handle::Pool},
    wait::{Cancelled, TimedOut, WaitError},
};

/// Generates the types of a protocol: a conversation between two sides whose order the compiler checks.
///
/// A protocol is a list of *states*. In each state one side sends one of the listed messages, and each message leads to
/// the next state. The sides are the *client* and the *server*, and the text is written from the client's view. The
/// client sends in a `send` state, and the server sends in a `recv` state. A conversation begins in the first state,
/// and ends with a message that leads to `!`.
///
/// ```text
/// proto! { attributes visibility name {
///     State: send { message(Type, name: Type) -> NextState, last -> ! }     // the client sends
///     NextState: recv { answer -> State }                                   // the server sends, the client receives
/// }}
/// ```
/// Each side has a type for each state, its *endpoint*. A step of the conversation consumes the endpoint and returns
/// the next one. So a program that sends out of turn, or leaves out a message in a `match`, does not compile.
///
/// # Example
/// ```
/// use anabranch::{channel::RecvError, proto};
///
/// proto! { pub bank {
///     Login: send { login(String, String) -> LoginResponse }
///     LoginResponse: recv { ok -> Connected, invalid -> Login }
///     Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
///     Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
/// }}
/// use bank::{client, server};
///
/// // The server runs on a fiber of its own. `login` is first the server's endpoint, and then the client's.
/// let (login, service) = proto::spawn_service(bank::pipe, |cx, login| {
///     let server::LoginMessage::Login(_name, _password, response) = login.recv(cx)?;
///     let mut connected = response.ok()?;
///     let mut balance = 0;
///     loop {
///         connected = match connected.recv(cx)? {
///             server::ConnectedMessage::Deposit(amount, connected) => {
///                 balance += amount;
///                 connected
///             }
///             server::ConnectedMessage::Withdrawal(amount, withdrawal) if amount <= balance => {
///                 balance -= amount;
///                 withdrawal.money(amount)?
///             }
///             server::ConnectedMessage::Withdrawal(_, withdrawal) => withdrawal.insufficient_funds()?,
///             server::ConnectedMessage::Quit(done) => return Ok::<_, RecvError>(done),
///         }
///     }
/// });
///
/// // The client runs on this thread.
/// let money = anabranch::run(|cx| {
///     let response = login.login("ada".into(), "1234".into())?;
///     let client::LoginResponseMessage::Ok(connected) = response.recv(cx)? else { return Ok(0) };
///     let connected = connected.deposit(cx, 100)?;
///     let withdrawal = connected.withdrawal(cx, 60)?;
///     let client::WithdrawalMessage::Money(money, connected) = withdrawal.recv(cx)? else { return Ok(0) };
///     connected.quit(cx)?;
///     Ok::<_, RecvError>(money)
/// });
/// assert_eq!(money, Ok(60));
/// # anabranch::run(|cx| service.join(cx)).unwrap().unwrap();
/// ```
///
/// # Generated items
/// For the protocol `bank` above the macro generates a module `bank` with these items:
/// - `pipe` begins a conversation. It returns both endpoints in the first state, a `client::Login` and a
///   `server::Login`.
/// - `client::Login` is the endpoint of the side that sends. It has a method for each message. `login` sends the
///   message and returns the next endpoint, a `client::LoginResponse`.
/// - `server::Login` is the endpoint of the side that receives. It has the methods `recv`, `try_recv`, and
///   `receiving` for time limits, async code and [`select!`]. It can be a member of a
///   [`ReceiverSet`](channel::ReceiverSet).
/// - `server::LoginMessage` is the `enum` that a receive returns. It has a variant for each message, in camel case,
///   with the values of the message and, last, the next endpoint.
/// - `Done` is the proof that a conversation has ended. Each side gets it with the last message (`-> !`), in place of a
///   next endpoint.
/// - `Protocol` [describes](proto::Protocol) the protocol: its name, its diagram and its hash.
///
/// # Attributes
/// - `#[buffer(n)]` before a state in which a side can send again and again without an answer, such as `Connected`. A
///   send in such a state takes a `cx`, and waits while n messages are in flight. Without the attribute n is 16.
/// - `#[unbounded]` before such a state. A send then never waits, and memory is the only limit.
/// - `#[allow(endless)]` before a state or the protocol. It silences the warning about a state from which no sequence
///   of messages leads to `!`.
/// - `#[wire(version = n)]` before the protocol. Two programs can then hold a conversation, by `client::over` and
///   `server::over`. This needs the feature `serde`; see [`proto`](mod@proto) and its module `wire`.
/// - The macro passes all other attributes on. The module gets those of the protocol, endpoints get those of their
///   state, and methods and variants get those of their message.
///
/// A loop of states without an exit, in which the other side never sends, must have `#[buffer(n)]` or `#[unbounded]`.
///
/// # Parameters
/// A protocol can have type parameters: `Stream: send<T: Send> { send(T) -> Stream<T> }`. Declare them with their
/// bounds at the first state. Every other state has the same parameters, and every message passes them on unchanged.
///
/// # Names
/// The macro resolves types at the place of its call. The module also has items of its own: `client`, `server`, `Done`,
/// `Protocol`, the endpoints, their messages. If a type of yours has such a name, write it with a path, as in
/// `self::Login`.
///
/// # Delegation
/// A message can carry an endpoint of another protocol. Its receiver then continues that other conversation.
#[cfg(all(not(loom), feature = "macros"))]
#[macro_export]
macro_rules! proto {
    // `$crate` is this crate, under whatever name the caller depends on it.
    ($($text:tt)*) => { $crate::__proto! { $crate $($text)* } };
}

#[cfg(all(not(loom), feature = "macros"))]
#[doc(hidden)]
pub use anabranch_macros::proto as __proto;

#[cfg(shuttle)]
#[doc(hidden)]
pub use crate::sys::{
    chance::{Odds, set_odds},
    unwind::{catch_unwind, panicking, resume_unwind},
};

/// The examples of the README have to compile and run. One of them uses `net`.
#[cfg(all(doctest, feature = "net"))]
#[doc = include_str!("../README.md")]
struct Readme;
