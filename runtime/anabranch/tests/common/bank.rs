//! The two sides of the bank protocol. The including module declares the protocol as `bank`, with a wire or without.

use super::bank::{self, client, server};
use anabranch::{Cx, channel::RecvError};

/// Serves one customer.
pub fn teller(cx: &Cx<'_>, mut door: server::Login) -> Result<bank::Done, RecvError> {
    let mut desk = loop {
        let server::LoginMessage::Login(name, password, answer) = door.recv(cx)?;
        if name == "ada" && password == "1234" {
            break answer.ok()?;
        }
        door = answer.invalid()?;
    };
    let mut balance = 0;
    loop {
        desk = match desk.recv(cx)? {
            server::ConnectedMessage::Deposit(amount, desk) => {
                balance += amount;
                desk
            }
            server::ConnectedMessage::Withdrawal(amount, till) if amount <= balance => {
                balance -= amount;
                till.money(amount)?
            }
            server::ConnectedMessage::Withdrawal(_, till) => till.insufficient_funds()?,
            server::ConnectedMessage::Quit(done) => return Ok(done),
        };
    }
}

/// Tries a wrong password, deposits so many coins, one by one, withdraws 50, and is refused one more than there are
/// left.
pub fn customer(cx: &Cx<'_>, bank: client::Login, coins: u64) -> Result<(u64, bank::Done), RecvError> {
    let client::LoginResponseMessage::Invalid(bank) = bank.login("me".into(), "0".into())?.recv(cx)? else {
        panic!("a stranger was let in");
    };
    let client::LoginResponseMessage::Ok(mut bank) = bank.login("ada".into(), "1234".into())?.recv(cx)? else {
        panic!("not let in");
    };
    for _ in 0..coins {
        bank = bank.deposit(cx, 1)?;
    }
    let client::WithdrawalMessage::Money(got, bank) = bank.withdrawal(cx, 50)?.recv(cx)? else {
        panic!("someone stole my money");
    };
    let client::WithdrawalMessage::InsufficientFunds(bank) = bank.withdrawal(cx, coins - 50 + 1)?.recv(cx)? else {
        panic!("more than there was");
    };
    Ok((got, bank.quit(cx)?))
}
