//! The bank: one fiber accepts, and each customer has its own fiber.

use crate::{Failure, bank, bank::server};
use anabranch::{
    Cx,
    channel::RecvError,
    net::{TcpListener, TcpStream, is_cancelled},
    proto::wire::Wire,
    sync::{Mutex, Semaphore},
};
use std::{
    collections::HashMap,
    fmt, io,
    net::{self, SocketAddr},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// How long the handshake of a customer may take.
const HELLO: Duration = Duration::from_secs(5);

/// How long a customer may stay.
const VISIT: Duration = Duration::from_secs(60);

/// The maximum number of customers at a time.
const MOST: usize = 1000;

/// How long the bank waits after an error of `accept`.
const PAUSE: Duration = Duration::from_millis(20);

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

pub fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = net::TcpListener::bind(address).and_then(TcpListener::from_std);
    listener.map_err(|error| format!("cannot listen on {address}: {error}").into())
}

/// Serves until the scope is cancelled. All customers have left when this returns.
pub fn serve(cx: &Cx<'_>, listener: &TcpListener, bank: &Bank) -> io::Result<()> {
    let room = Semaphore::new(MOST);
    cx.scope(|s| {
        loop {
            let Ok(permit) = room.acquire(cx) else { return Ok(()) };
            match listener.accept(cx) {
                Ok((stream, _)) => {
                    s.spawn(move |cx| {
                        let _permit = permit;
                        match cx.timeout(VISIT, |cx| customer(cx, stream, bank)) {
                            Ok(()) => bank.customers.fetch_add(1, Ordering::Relaxed),
                            // A customer that sends invalid messages does not affect the others.
                            Err(error) => {
                                eprintln!("bank: a customer left: {error}");
                                0
                            }
                        }
                    });
                }
                Err(error) if is_cancelled(&error) => return Ok(()),
                // No descriptor is left, perhaps. The customer waits in the queue of the system.
                Err(_) => _ = cx.sleep(PAUSE),
            }
        }
    })
}

/// Serves one customer, and runs the connection meanwhile.
fn customer(cx: &Cx<'_>, stream: TcpStream, bank: &Bank) -> Result<(), Failure> {
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
