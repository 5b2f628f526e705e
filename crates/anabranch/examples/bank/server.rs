//! The bank: one fiber accepts, and each customer has its own fiber.

use crate::{Failure, bank, bank::server};
use anabranch::{Cancelled, Cx, channel::RecvError, proto::wire::Wire, sync::Mutex};
use async_io::Async;
use std::{
    collections::HashMap,
    fmt, io,
    net::{SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// How long the handshake of a customer may take.
const HELLO: Duration = Duration::from_secs(5);

/// The maximum length of a customer's message. The longest contains a name and a password.
const MAX_MESSAGE: usize = 1000;

/// The maximum number of wrong passwords.
const TRIES: usize = 3;

#[derive(Default)]
pub struct Bank {
    accounts: Mutex<HashMap<String, u64>>,
    customers: AtomicU64,
}

impl fmt::Display for Bank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} customers were served", self.customers.load(Ordering::Relaxed))
    }
}

pub fn listen(address: SocketAddr) -> Result<Async<TcpListener>, Failure> {
    Async::<TcpListener>::bind(address).map_err(|error| format!("cannot listen on {address}: {error}").into())
}

/// Serves until the scope is cancelled. All customers have left when this returns.
pub fn serve(cx: &Cx<'_>, listener: &Async<TcpListener>, bank: &Bank) -> io::Result<()> {
    cx.scope(|s| {
        loop {
            match s.block_on(listener.accept()) {
                Ok(Ok((stream, _))) => {
                    s.spawn(move |cx| match customer(cx, stream, bank) {
                        Ok(()) => bank.customers.fetch_add(1, Ordering::Relaxed),
                        // A customer that sends invalid messages does not affect the others.
                        Err(error) => {
                            eprintln!("bank: a customer left: {error}");
                            0
                        }
                    });
                }
                Err(Cancelled) => return Ok(()),
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Ok(Err(error)) => {
                    s.cancel();
                    return Err(error);
                }
            }
        }
    })
}

/// Serves one customer, and runs the connection meanwhile.
fn customer(cx: &Cx<'_>, stream: Async<TcpStream>, bank: &Bank) -> Result<(), Failure> {
    stream.get_ref().set_nodelay(true)?;
    let wire = Wire::new(stream).max_message(MAX_MESSAGE);
    let (door, connection) = cx.timeout(HELLO, |cx| Ok::<_, Failure>(cx.block_on(server::over_async(wire))??))?;
    let (carried, served) = cx.join(|cx| cx.block_on(connection.run_async()), |cx| teller(cx, door, bank));
    // The endpoint only sees that the conversation is closed; the connection knows the reason.
    carried??;
    let _done = served?;
    Ok(())
}

fn teller(cx: &Cx<'_>, mut door: server::Login, bank: &Bank) -> Result<bank::Done, RecvError> {
    let mut tries = 0;
    let (name, mut counter) = loop {
        let server::LoginMessage::Login(name, password, answer) = door.recv(cx)?;
        if password == "1234" {
            let balance = *bank.accounts.lock(cx)?.entry(name.clone()).or_default();
            break (name, answer.ok(balance)?);
        }
        tries += 1;
        if tries == TRIES {
            return Ok(answer.closed()?);
        }
        door = answer.invalid()?;
    };
    loop {
        let heard = counter.recv(cx)?;
        let mut accounts = bank.accounts.lock(cx)?;
        let balance = accounts.entry(name.clone()).or_default();
        counter = match heard {
            server::ConnectedMessage::Deposit(amount, next) => {
                *balance = balance.saturating_add(amount);
                next
            }
            server::ConnectedMessage::Withdrawal(amount, till) if amount <= *balance => {
                *balance -= amount;
                till.money(amount)?
            }
            server::ConnectedMessage::Withdrawal(_, till) => till.insufficient_funds(*balance)?,
            server::ConnectedMessage::Quit(goodbye) => return Ok(goodbye.goodbye()?),
        };
    }
}
