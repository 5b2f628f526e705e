//! One worker pool for parallel and concurrent programs.
//!
//! An *anabranch* is an arm of a river that leaves the main channel and joins it again downstream. So does the work here.
//!
//! - [`join`] runs two closures, in parallel if a thread is idle. A fork that nobody takes costs about a nanosecond, so
//!   recursion needs no cut-off.
//! - [`par_for_each`], [`par_map`] and [`par_reduce`] run over slices, ranges, [`chunks`] and pairs of them. They are cut
//!   only when another thread asks for work, so there is no grain size to choose.
//! - [`scope`] spawns any number of tasks that borrow from their parent, which waits for all of them.
//! - [`run`] and [`spawn`] give out a [`Cx`], the permission to wait. With it [fibers](spawn) wait for each other, for time,
//!   for locks ([`sync`]) and for futures ([`Cx::block_on`]), a million of them if need be, inside parallel code too:
//!   [`Cx::join`], [`Cx::try_join`], [`Cx::scope`], [`Cx::race`], [`Cx::map`], [`Cx::timeout`].
//! - [`channel`] has what fibers, threads and async code send values over; [`select!`] waits for the first of several.
//! - [`proto!`] describes a conversation, and makes a type for each of its states: who speaks out of turn does not compile.
//! - [`Pool`] is for those who want threads of their own; everybody else uses the default pool without a word about it.
//!
//! ```
//! struct Node {
//!     value: u64,
//!     children: Option<Box<(Node, Node)>>,
//! }
//!
//! fn sum(node: &Node) -> u64 {
//!     let Some(children) = &node.children else { return node.value };
//!     let (left, right) = anabranch::join(|| sum(&children.0), || sum(&children.1));
//!     node.value + left + right
//! }
//!
//! let leaf = |value| Node { value, children: None };
//! let root = Node { value: 1, children: Some(Box::new((leaf(2), leaf(3)))) };
//! assert_eq!(sum(&root), 6);
//! ```
//!
//! ```
//! use anabranch::WaitError;
//! use std::time::Duration;
//!
//! let replies = anabranch::run(|cx| {
//!     cx.timeout(Duration::from_secs(60), |cx| {
//!         cx.map(100, 1..=3u64, |cx, server| {
//!             cx.sleep(Duration::from_millis(server))?; // ask the server
//!             Ok(server * 10)
//!         })
//!     })
//! });
//! assert_eq!(replies, Ok::<_, WaitError>(vec![10, 20, 30]));
//! ```
//!
//! # Compute or wait
//! Two kinds of code, told apart by one argument. *Compute* takes no token: [`join`], [`scope`], the loops. It never leaves
//! its stack for something unrelated. *Waiting* takes a `&Cx`: on a fiber it suspends the fiber and lets others run, on a
//! plain thread it parks the thread, and when its scope is cancelled it returns [`Cancelled`]. [`Cx`] says what remains the
//! user's duty.
//!
//! # What may be relied on
//! - All that is forked or spawned has ended when the call that made it returns, also when something panics. A panic
//!   reaches the caller once; no work, no value and no payload is leaked.
//! - A thread that waits in a [`join`] or a [`scope`] runs only pieces of what it waits for. A lock held across them is
//!   never met again by unrelated work on the same stack.
//! - A fiber that has begun stays on its thread. What is spawned in a [`Cx::scope`] has ended when the scope returns, and a
//!   panic or an error in one cancels the others first.
//! - A pool of T threads lets T threads work at a time. An idle pool sleeps: nothing ticks.
//!
//! # Platforms
//! Linux is what this is made for and tested on. On other Unix systems and on Windows a thread that blocks in a foreign call is not
//! found, and keeps its place in the pool. On WebAssembly everything runs on the calling thread, and there are no fibers: [`spawn`],
//! [`Cx::scope`] and the like are not there. The table in the README says what is tested, and `docs/ARCHITECTURE.md` what to know
//! of `fork()`, affinity, quotas and shadow stacks.
//!
//! # Features
//! - `macros`, on by default: [`proto!`].
//! - `serde`: conversations over a wire, `proto::wire`.

#![cfg_attr(not(any(unix, windows)), allow(dead_code, reason = "there are no fibers to use it"))]

#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod channel;
#[cfg(not(loom))]
mod cx;
#[cfg(not(loom))]
mod fiber;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(not(loom))]
mod iter;
#[cfg(not(loom))]
mod join;
#[cfg(doctest)]
mod misuse;
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
#[cfg(not(loom))]
mod scope;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod sync;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
mod sys;
#[cfg_attr(loom, allow(dead_code, unused_imports, reason = "the models run a part of it"))]
pub mod time;
#[cfg_attr(loom, allow(dead_code, reason = "the models run a part of it"))]
pub mod wait;

#[cfg(all(any(unix, windows), not(loom)))]
pub use crate::cx::{
    FallibleRacers, FiberInfo, FiberScope, FiberState, JoinError, JoinHandle, Racers, ScopedHandle, Service,
    SleepAsync, Spawner, fibers, sleep_async, spawn, spawn_async, spawn_service,
};
#[cfg(not(loom))]
pub use crate::{
    cx::{Canceller, Interval, run},
    iter::{Chunks, ChunksMut, Splittable, chunks, chunks_mut, par_for_each, par_map, par_reduce},
    join::join,
    pool::{BuildError, Builder, Hazard, HazardKind, Pool, Stats, WorkerStats, current_num_threads},
    scope::{Scope, scope},
    wait::{Cancelled, Cx, FiberLocal, TimedOut, WaitError},
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
/// - `client::Login` and `server::Login`, the endpoints. One has a method for each message, which uses it up and returns the
///   next endpoint; the other has `recv`, `recv_until`, `recv_timeout`, `try_recv`, `recv_async`, and `receiving` for
///   [`select!`]. It can be a member of a [`ReceiverSet`](channel::ReceiverSet);
/// - `client::LoginMessage` or `server::LoginMessage`, of which a receive returns one: the messages in camel case, each with
///   what it carries and the next endpoint;
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
/// - `#[buffer(n)]` before a state that can follow itself without an answer from the other side, such as `Connected`: there is
///   room for n messages, and sending waits, takes a `cx`, while they are under way. Without it there is room for 16.
/// - `#[unbounded]` instead: sending never waits, and takes memory.
/// - `#[allow(endless)]` before a state, or the protocol, that has no way to the end (`!`), which is warned of else.
/// - `#[wire(version = n)]` before the protocol: two programs can speak it, with `client::over` and `server::over`. Needs the feature
///   `serde`; see [`proto`](mod@proto) and its module `wire`.
/// - All others are handed on: those of states to their endpoints, those of messages to methods and variants.
///
/// # Parameters
/// States may have parameters, `Stream: send<T: Send> { send(T) -> Stream<T> }`. All states have those of the first one, where
/// their bounds stand, and hand them on as they are.
///
/// # Names
/// Types are those of the place of the macro. A type of one's own that has the name of a state, or `client`, `server`, `Done` and
/// the like, is written with its path, `self::Login`. An endpoint of another protocol is a type like any other: what is sent
/// so is the rest of that conversation (delegation).
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
