//! The bank: a customer who has not logged in cannot withdraw, and none can forget to wait for the money.

use anabranch::{Cx, channel::RecvError, proto};

proto! { pub bank {
    Login: send { login(String, String) -> LoginResponse }
    LoginResponse: recv { ok -> Connected, invalid -> Login }
    Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
    Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
}}

use bank::{client, server};

/// Serves one customer.
fn teller(cx: &Cx<'_>, mut door: server::Login) -> Result<bank::Done, RecvError> {
    let mut counter = loop {
        let server::LoginMessage::Login(name, password, answer) = door.recv(cx)?;
        if name == "ada" && password == "1234" {
            break answer.ok()?;
        }
        door = answer.invalid()?;
    };
    let mut balance = 0;
    loop {
        counter = match counter.recv(cx)? {
            server::ConnectedMessage::Deposit(amount, next) => {
                balance += amount;
                next
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

pub fn day(cx: &Cx<'_>) -> Result<(), RecvError> {
    let (bank, service) = proto::spawn_service(bank::pipe, teller);

    let bank = match bank.login("ada".into(), "0000".into())?.recv(cx)? {
        client::LoginResponseMessage::Ok(_) => unreachable!("with a wrong password"),
        client::LoginResponseMessage::Invalid(bank) => bank,
    };
    println!("  the first password was wrong");
    let bank = match bank.login("ada".into(), "1234".into())?.recv(cx)? {
        client::LoginResponseMessage::Ok(bank) => bank,
        client::LoginResponseMessage::Invalid(_) => unreachable!("with the right password"),
    };
    let mut bank = bank.deposit(cx, 100)?;
    for amount in [50, 60] {
        bank = match bank.withdrawal(cx, amount)?.recv(cx)? {
            client::WithdrawalMessage::Money(money, bank) => {
                println!("  yay, I got {money}");
                bank
            }
            client::WithdrawalMessage::InsufficientFunds(bank) => {
                println!("  there are no {amount} left");
                bank
            }
        };
    }
    let done = bank.quit(cx)?;
    let served = service.join(cx).map_err(|_| RecvError::Closed)??;
    assert_eq!(served, done);
    Ok(())
}
