use session_types::*;
use std::thread::spawn;

type Credentials = (String, String);
type Bank = Rec<Recv<Credentials, Choose<Rec<Connected>, Var<Z>>>>;
type Connected = Offer<Deposit, Offer<Withdrawal, Eps>>;
type Deposit = Recv<u64, Var<Z>>;
type Withdrawal = Recv<u64, Choose<Send<u64, Var<Z>>, Var<Z>>>;
type Client = <Bank as HasDual>::Dual;

fn teller(c: Chan<(), Bank>) {
    let mut door = c.enter();
    let mut desk = loop {
        let (answer, (_, password)) = door.recv();
        if password == "1234" {
            break answer.sel1().enter();
        }
        door = answer.sel2().zero();
    };
    let mut balance = 0;
    loop {
        desk = offer! {
            desk,
            Deposit => {
                let (desk, amount) = desk.recv();
                balance += amount;
                desk.zero()
            },
            Withdrawal => {
                let (till, amount) = desk.recv();
                if amount <= balance {
                    balance -= amount;
                    till.sel1().send(amount).zero()
                } else {
                    till.sel2().zero()
                }
            },
            Quit => {
                desk.close();
                break;
            }
        };
    }
}

fn customer(c: Chan<(), Client>) {
    let answer = c.enter().send(("ada".into(), "0".into()));
    // leave: return drop(answer);
    // out of turn: let answer = answer.sel1().send(30);
    let bank = match answer.offer() {
        Left(_) => panic!("let in"),
        Right(bank) => bank.zero(),
    };
    let answer = bank.send(("ada".into(), "1234".into()));
    let bank = match answer.offer() {
        Left(bank) => bank.enter(),
        Right(_) => panic!("not let in"),
    };
    let bank = bank.sel1().send(30).zero().sel1().send(12).zero();
    let bank = match bank.sel2().sel1().send(40).offer() {
        Left(bank) => {
            let (bank, got) = bank.recv();
            assert_eq!(got, 40);
            bank.zero()
        }
        Right(_) => panic!("no money"),
    };
    let bank = match bank.sel2().sel1().send(40).offer() {
        Left(_) => panic!("too much"),
        Right(bank) => bank.zero(),
    };
    bank.sel2().sel2().close();
}

fn main() {
    let (teller_end, customer_end) = session_channel();
    let service = spawn(|| teller(teller_end));
    customer(customer_end);
    service.join().unwrap();
}
