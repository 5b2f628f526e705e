//! A customer: a plain socket, and a thread that runs the connection over it.

use crate::{Failure, bank, bank::client};
use anabranch::{Cx, channel::RecvError, proto::wire::Wire};
use std::{
    net::{SocketAddr, TcpStream},
    thread,
    time::Duration,
};

/// Visits the bank and prints what happened. No answer takes longer than `limit`.
pub fn visit(address: SocketAddr, limit: Duration) -> Result<(), Failure> {
    if !address.ip().is_loopback() {
        return Err(format!("{address} is not on this machine; this customer goes to loopback addresses only").into());
    }
    let stream = TcpStream::connect(address).map_err(|error| format!("cannot reach the bank at {address}: {error}"))?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    let (door, connection) = client::over(Wire::new(stream))?;
    let carrying = thread::spawn(|| connection.run());
    let visited = anabranch::run(|cx| business(cx, door));
    // The endpoint only sees that the conversation is closed; the connection knows the reason.
    carrying.join().expect("it does not panic")?;
    let _done = visited?;
    Ok(())
}

/// Deposits 100 and withdraws in two steps, of which the second is too large.
fn business(cx: &Cx<'_>, door: client::Login) -> Result<bank::Done, RecvError> {
    let door = match door.login("ada".into(), "0000".into())?.recv(cx)? {
        client::LoginResponseMessage::Ok(..) => unreachable!("with a wrong password"),
        client::LoginResponseMessage::Invalid(door) => door,
        client::LoginResponseMessage::Closed(done) => return Ok(done),
    };
    println!("the first password was wrong");
    let mut counter = match door.login("ada".into(), "1234".into())?.recv(cx)? {
        client::LoginResponseMessage::Ok(balance, counter) => {
            println!("there are {balance} in the account");
            counter
        }
        client::LoginResponseMessage::Invalid(_) => unreachable!("with the right password"),
        client::LoginResponseMessage::Closed(done) => return Ok(done),
    };
    // These messages have no answer, so they are sent as fast as the wire accepts them.
    for _ in 0..10 {
        counter = counter.deposit(cx, 10)?;
    }
    for amount in [70, 60] {
        counter = match counter.withdrawal(cx, amount)?.recv(cx)? {
            client::WithdrawalMessage::Money(amount, counter) => {
                println!("got {amount}");
                counter
            }
            client::WithdrawalMessage::InsufficientFunds(balance, counter) => {
                println!("wanted {amount}, and there are {balance}");
                counter
            }
        };
    }
    let client::QuitMessage::Goodbye(done) = counter.quit(cx)?.recv(cx)?;
    Ok(done)
}
