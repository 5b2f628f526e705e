use par::Dual;
use par::exchange::{Recv, Send};
use par::runtimes::tokio::fork;

type Login = Send<(String, String), Recv<LoginResponse>>;
enum LoginResponse {
    Ok(Connected),
    Invalid(Login),
}
type Connected = Send<Request>;
enum Request {
    Deposit(Recv<u64, Dual<Connected>>),
    Withdrawal(Recv<u64, Send<Withdrawal>>),
    Quit,
}
enum Withdrawal {
    Money(Recv<u64, Connected>),
    InsufficientFunds(Connected),
}

async fn teller(mut door: Dual<Login>) {
    let mut desk = loop {
        let ((_, password), answer) = door.recv().await;
        if password == "1234" {
            break answer.choose(LoginResponse::Ok);
        }
        door = answer.choose(LoginResponse::Invalid);
    };
    let mut balance = 0;
    loop {
        desk = match desk.recv1().await {
            Request::Deposit(desk) => {
                let (amount, desk) = desk.recv().await;
                balance += amount;
                desk
            }
            Request::Withdrawal(desk) => {
                let (amount, till) = desk.recv().await;
                if amount <= balance {
                    balance -= amount;
                    till.choose(Withdrawal::Money).send(amount)
                } else {
                    till.choose(Withdrawal::InsufficientFunds)
                }
            }
            Request::Quit => return,
        };
    }
}

async fn customer(bank: Login) {
    // leave: return drop(bank.send(("ada".into(), "0".into())));
    // out of turn: let bank = bank.send(("ada".into(), "0".into())).choose(Request::Deposit).send(30);
    let answer = bank.send(("ada".into(), "0".into())).recv1().await;
    let LoginResponse::Invalid(bank) = answer else { panic!("let in") };
    let answer = bank.send(("ada".into(), "1234".into())).recv1().await;
    let LoginResponse::Ok(bank) = answer else { panic!("not let in") };
    let bank = bank.choose(Request::Deposit).send(30);
    let bank = bank.choose(Request::Deposit).send(12);
    let answer = bank.choose(Request::Withdrawal).send(40).recv1().await;
    let Withdrawal::Money(till) = answer else { panic!("no money") };
    let (got, bank) = till.recv().await;
    assert_eq!(got, 40);
    let answer = bank.choose(Request::Withdrawal).send(40).recv1().await;
    let Withdrawal::InsufficientFunds(bank) = answer else { panic!("too much") };
    let () = bank.choose(|()| Request::Quit);
}

#[tokio::main]
async fn main() {
    let bank: Login = fork(teller);
    customer(bank).await;
    // leave: tokio::time::sleep(std::time::Duration::from_millis(100)).await;
}
