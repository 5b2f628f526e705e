//! Protocols: conversations whose order the compiler checks.
//!
//! [`proto!`](crate::proto!) describes a conversation between a client and a server: its states, which side sends in
//! each, and which state a message leads to. It makes a type for each state and side. A step consumes an endpoint and
//! returns the next one, so a message out of turn does not compile.
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
//! // The result type holds the server to the end of the conversation.
//! fn clerk(cx: &anabranch::Cx<'_>, customer: server::Login) -> Result<bank::Done, RecvError> {
//!     let server::LoginMessage::Login(_name, customer) = customer.recv(cx)?;
//!     let (mut customer, mut balance) = (customer.ok()?, 0);
//!     loop {
//!         customer = match customer.recv(cx)? {
//!             server::ConnectedMessage::Deposit(amount, customer) => {
//!                 balance += amount;
//!                 customer
//!             }
//!             server::ConnectedMessage::Withdrawal(amount, customer) if amount <= balance => {
//!                 balance -= amount;
//!                 customer.money(amount)?
//!             }
//!             server::ConnectedMessage::Withdrawal(_, customer) => customer.insufficient_funds()?,
//!             server::ConnectedMessage::Quit(done) => return Ok(done),
//!         };
//!     }
//! }
//!
//! fn customer(cx: &anabranch::Cx<'_>, bank: client::Login) -> Result<u64, RecvError> {
//!     let client::LoginResponseMessage::Ok(bank) = bank.login("ada".into())?.recv(cx)? else { return Ok(0) };
//!     let waiting = bank.deposit(cx, 100)?.withdrawal(cx, 30)?;
//!     let client::WithdrawalMessage::Money(cash, bank) = waiting.recv(cx)? else { return Ok(0) };
//!     bank.quit(cx)?;
//!     Ok(cash)
//! }
//!
//! let (bank, service) = proto::spawn_service(bank::pipe, clerk);
//! anabranch::run(|cx| {
//!     assert_eq!(customer(cx, bank), Ok(30));
//!     assert!(service.join(cx).unwrap().is_ok());
//! });
//! ```
//!
//! # When to use one
//! | the conversation | use |
//! |---|---|
//! | has one request and one answer | [`spawn_service`](crate::spawn_service) |
//! | has several kinds of messages, all allowed at any time | an `enum` over a [`channel`](crate::channel) |
//! | allows different messages at different times | [`proto!`](crate::proto!) |
//! | is between two programs | [`proto!`](crate::proto!) with `#[wire(version = n)]`, and the feature `serde` |
//!
//! # What to know
//! - **Sending.** In `Login` above the client sends one message and then receives, so `login` never waits. In
//!   `Connected` it may send again and again, so `deposit` takes a `cx`, and waits while 16 messages are under way.
//!   `#[buffer(n)]` before the state changes the number, `#[unbounded]` removes the limit.
//! - **Receiving.** A receive returns an `enum` with one variant for each message; the last field is the next endpoint.
//!   `recv_timeout`, `try_recv`, `recv_async` and `receiving` for [`select!`](crate::select) exist as for channels.
//! - **Errors give back.** A receive that was cancelled or timed out returns the endpoint in its error. With `?` the
//!   endpoint is dropped.
//! - **The end.** A dropped endpoint ends the conversation: the other side receives `Closed` after what was sent
//!   before. Only the last message (`-> !`) yields a `Done`. A service that has to return `Done` cannot forget an
//!   answer.
//! - **Delegation.** An endpoint is a value and can be sent: the receiver continues the conversation.
//! - **Debugging.** [`fibers()`](crate::fibers) shows the state that a fiber waits in, such as
//!   `bank::client::LoginResponse::recv`. `anabranch proto FILE.rs` prints the diagram.
//!
//! What the types do not promise: that the other side answers, or that two fibers with two conversations do not wait
//! for each other. Use time limits.
//!
//! The full guide, with wires, parameters and what changes may break, is
//! [`docs/PROTOCOLS.md`](https://github.com/anabranch/anabranch/blob/main/docs/PROTOCOLS.md). The module
//! [`proto`](mod@crate::proto) says what a conversation costs.
