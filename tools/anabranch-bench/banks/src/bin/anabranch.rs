use anabranch::{Cx, channel::RecvError, proto};
use bank::{client, server};

proto! { pub bank {
    Login: send { login(String, String) -> LoginResponse }
    LoginResponse: recv { ok -> Connected, invalid -> Login }
    Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
    Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
}}

fn teller(cx: &Cx<'_>, mut door: server::Login) -> Result<bank::Done, RecvError> {
    let mut desk = loop {
        let server::LoginMessage::Login(_, password, answer) = door.recv(cx)?;
        if password == "1234" {
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

fn customer(cx: &Cx<'_>, bank: client::Login) -> Result<bank::Done, RecvError> {
    let answer = bank.login("ada".into(), "0".into())?;
    // leave: return Err(RecvError::Cancelled);
    // out of turn: let answer = answer.deposit(cx, 30)?;
    let client::LoginResponseMessage::Invalid(bank) = answer.recv(cx)? else { panic!("let in") };
    let answer = bank.login("ada".into(), "1234".into())?;
    let client::LoginResponseMessage::Ok(bank) = answer.recv(cx)? else { panic!("not let in") };
    let till = bank.deposit(cx, 30)?.deposit(cx, 12)?.withdrawal(cx, 40)?;
    let client::WithdrawalMessage::Money(got, bank) = till.recv(cx)? else { panic!("no money") };
    assert_eq!(got, 40);
    let answer = bank.withdrawal(cx, 40)?.recv(cx)?;
    let client::WithdrawalMessage::InsufficientFunds(bank) = answer else { panic!("too much") };
    Ok(bank.quit(cx)?)
}

fn main() {
    let (bank, service) = proto::spawn_service(bank::pipe, teller);
    let (one, other) = anabranch::run(|cx| (customer(cx, bank), service.join(cx)));
    // leave: dbg!(&one, &other);
    assert_eq!(one.unwrap(), other.unwrap().unwrap());
}
