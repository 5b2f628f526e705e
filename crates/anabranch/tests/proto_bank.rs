//! The bank of the first pipes: a conversation from the login to the end, and all the ways to leave it before.

// What the macro makes goes into crates that have no `unsafe` of their own.
#![forbid(unsafe_code)]

mod common;

use anabranch::{channel::RecvError, proto, proto::Done};
use bank::{client, server};
use common::{LONG, in_pools, watchdog};

proto! { pub bank {
    Login: send { login(String, String) -> LoginResponse }
    LoginResponse: recv { ok -> Connected, invalid -> Login }
    Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
    Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
}}

fn teller(cx: &anabranch::Cx<'_>, mut door: server::Login) -> Result<Done<bank::Protocol>, RecvError> {
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

fn customer(cx: &anabranch::Cx<'_>, bank: client::Login) -> Result<(u64, bank::Done), RecvError> {
    let client::LoginResponseMessage::Invalid(bank) = bank.login("me".into(), "0".into())?.recv(cx)? else {
        panic!("a stranger was let in");
    };
    let client::LoginResponseMessage::Ok(mut bank) = bank.login("ada".into(), "1234".into())?.recv(cx)? else {
        panic!("not let in");
    };
    for _ in 0..100 {
        bank = bank.deposit(cx, 1)?;
    }
    let client::WithdrawalMessage::Money(got, bank) = bank.withdrawal(cx, 50)?.recv(cx)? else {
        panic!("someone stole my money");
    };
    let client::WithdrawalMessage::InsufficientFunds(bank) = bank.withdrawal(cx, 51)?.recv(cx)? else {
        panic!("more than there was");
    };
    Ok((got, bank.quit(cx)?))
}

#[test]
fn a_day_at_the_bank() {
    in_pools(|pool| {
        let (bank, service) = proto::spawn_service_in(pool, bank::pipe, teller);
        let (money, done) = pool.run(|cx| customer(cx, bank)).unwrap();
        assert_eq!(money, 50);
        assert_eq!(pool.run(|cx| service.join(cx)).unwrap(), Ok(done));
    });
}

#[test]
fn both_sides_on_one_thread_each() {
    watchdog(LONG, || {
        let (client, server) = bank::pipe();
        let teller = std::thread::spawn(move || anabranch::run(|cx| teller(cx, server)).map(drop));
        assert!(anabranch::run(|cx| customer(cx, client)).is_ok());
        assert_eq!(teller.join().unwrap(), Ok(()));
    });
}
