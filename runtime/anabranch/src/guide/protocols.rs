//! Protocols: conversations whose order the compiler checks.
//!
//! [`proto!`](crate::proto!) describes a conversation between a client and a server: its states, which side sends in
//! each, and which state a message leads to. It generates a type for each state and side, an *endpoint*. A step
//! consumes an endpoint and returns the next one, so a message out of turn does not compile.
//! ```
//! use anabranch::{channel::RecvError, proto};
//!
//! proto! { pub bank {
//!     Login: send { login(String) -> LoginResponse }              // the client sends
//!     LoginResponse: recv { ok -> Connected, invalid -> Login }   // the client receives
//!     Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
//!     Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
//! }}
//! use bank::{client, server};
//!
//! // A server must return `Done` or an error, so it cannot forget an answer.
//! fn serve(cx: &anabranch::Cx<'_>, login: server::Login) -> Result<bank::Done, RecvError> {
//!     let server::LoginMessage::Login(_name, response) = login.recv(cx)?;
//!     let (mut connected, mut balance) = (response.ok()?, 0);
//!     loop {
//!         connected = match connected.recv(cx)? {
//!             server::ConnectedMessage::Deposit(amount, connected) => {
//!                 balance += amount;
//!                 connected
//!             }
//!             server::ConnectedMessage::Withdrawal(amount, withdrawal) if amount <= balance => {
//!                 balance -= amount;
//!                 withdrawal.money(amount)?
//!             }
//!             server::ConnectedMessage::Withdrawal(_, withdrawal) => withdrawal.insufficient_funds()?,
//!             server::ConnectedMessage::Quit(done) => return Ok(done),
//!         };
//!     }
//! }
//!
//! fn withdraw(cx: &anabranch::Cx<'_>, login: client::Login) -> Result<u64, RecvError> {
//!     let response = login.login("ada".into())?;
//!     let client::LoginResponseMessage::Ok(connected) = response.recv(cx)? else { return Ok(0) };
//!     let withdrawal = connected.deposit(cx, 100)?.withdrawal(cx, 30)?;
//!     let client::WithdrawalMessage::Money(money, connected) = withdrawal.recv(cx)? else { return Ok(0) };
//!     connected.quit(cx)?;
//!     Ok(money)
//! }
//!
//! let (login, service) = proto::spawn_service(bank::pipe, serve);
//! anabranch::run(|cx| {
//!     assert_eq!(withdraw(cx, login), Ok(30));
//!     assert!(service.join(cx).unwrap().is_ok());
//! });
//! ```
//!
//! # When to use one
//! | the conversation | use |
//! |---|---|
//! | has one request and one answer | [`spawn_service`](crate::fiber::spawn_service) |
//! | has several kinds of messages, all allowed at any time | an `enum` over a [`channel`](crate::channel) |
//! | allows different messages at different times | [`proto!`](crate::proto!) |
//! | is between two programs | [`proto!`](crate::proto!) with `#[wire(version = n)]`, and the feature `serde` |
//!
//! # Details
//! - **Sending.** In `Login` above the client sends one message and then receives, so `login` never waits. In
//!   `Connected` it may send again and again, so `deposit` takes a `cx`, and waits while 16 messages are in flight.
//!   `#[buffer(n)]` before the state changes the number, and `#[unbounded]` removes the limit.
//! - **Receiving.** A receive returns an `enum` with one variant for each message; the last field is the next endpoint.
//!   `try_recv` and `receiving` exist as for channels. `receiving()` borrows the endpoint, for time limits, async code
//!   and [`select!`](crate::select).
//! - **Errors contain the endpoint.** A receive that was cancelled returns the endpoint in its error. A conversion to
//!   [`channel::RecvError`](crate::channel::RecvError) by `?` drops the endpoint.
//! - **The end.** A dropped endpoint ends the conversation. The other side receives the messages that were sent before,
//!   and then `Closed`. Only the last message (`-> !`) gives each side a `Done`.
//! - **Delegation.** An endpoint is a value and can be sent: the receiver continues the conversation.
//! - **Debugging.** [`fibers()`](crate::fiber::fibers) shows the state that a fiber waits in, such as
//!   `bank::client::LoginResponse::recv`. `anabranch proto FILE.rs` prints the diagram.
//!
//! The types do not guarantee that the other side answers. Nor do they prevent two fibers with two conversations from
//! waiting for each other. Use time limits.
//!
//! [`docs/PROTOCOLS.md`](https://github.com/anabranch/anabranch/blob/main/docs/PROTOCOLS.md) is the full guide, with
//! wires, parameters and changes of a protocol. The module [`proto`](mod@crate::proto) says what a conversation costs.
