use futures::{executor, try_join};
use rumpsteak::{
    Branch, End, Label, Receive, Result, Select, Send,
    choice::Choice,
    role::{Role, Roles, ToFrom},
    try_session,
};

#[derive(Roles)]
struct Roles(C, S);

#[derive(Role)]
#[message(Message)]
struct C(#[route(S)] ToFrom<S>);

#[derive(Role)]
#[message(Message)]
struct S(#[route(C)] ToFrom<C>);

#[derive(Label)]
enum Message {
    Login(Login),
    Ok(Accepted),
    Invalid(Invalid),
    Deposit(Deposit),
    Withdrawal(Withdrawal),
    Quit(Quit),
    Money(Money),
    InsufficientFunds(InsufficientFunds),
}

struct Login(String, String);
struct Accepted;
struct Invalid;
struct Deposit(u64);
struct Withdrawal(u64);
struct Quit;
struct Money(u64);
struct InsufficientFunds;

type Client<'c> = Send<'c, C, S, Login, Branch<'c, C, S, ClientAnswer<'c>>>;

#[derive(Choice)]
#[role('c, C)]
enum ClientAnswer<'c> {
    Ok(Accepted, Select<'c, C, S, ClientRequest<'c>>),
    Invalid(Invalid, Send<'c, C, S, Login, Branch<'c, C, S, ClientAnswer<'c>>>),
}

#[derive(Choice)]
#[role('c, C)]
enum ClientRequest<'c> {
    Deposit(Deposit, Select<'c, C, S, ClientRequest<'c>>),
    Withdrawal(Withdrawal, Branch<'c, C, S, ClientMoney<'c>>),
    Quit(Quit, End<'c>),
}

#[derive(Choice)]
#[role('c, C)]
enum ClientMoney<'c> {
    Money(Money, Select<'c, C, S, ClientRequest<'c>>),
    InsufficientFunds(InsufficientFunds, Select<'c, C, S, ClientRequest<'c>>),
}

type Server<'s> = Receive<'s, S, C, Login, Select<'s, S, C, ServerAnswer<'s>>>;

#[derive(Choice)]
#[role('s, S)]
enum ServerAnswer<'s> {
    Ok(Accepted, Branch<'s, S, C, ServerRequest<'s>>),
    Invalid(Invalid, Receive<'s, S, C, Login, Select<'s, S, C, ServerAnswer<'s>>>),
}

#[derive(Choice)]
#[role('s, S)]
enum ServerRequest<'s> {
    Deposit(Deposit, Branch<'s, S, C, ServerRequest<'s>>),
    Withdrawal(Withdrawal, Select<'s, S, C, ServerMoney<'s>>),
    Quit(Quit, End<'s>),
}

#[derive(Choice)]
#[role('s, S)]
enum ServerMoney<'s> {
    Money(Money, Branch<'s, S, C, ServerRequest<'s>>),
    InsufficientFunds(InsufficientFunds, Branch<'s, S, C, ServerRequest<'s>>),
}

async fn teller(mut door: Server<'_>) -> Result<((), End<'_>)> {
    let mut desk = loop {
        let (Login(_, password), answer) = door.receive().await?;
        if password == "1234" {
            break answer.select(Accepted)?;
        }
        door = answer.select(Invalid)?;
    };
    let mut balance = 0;
    loop {
        desk = match desk.branch().await? {
            ServerRequest::Deposit(Deposit(amount), desk) => {
                balance += amount;
                desk
            }
            ServerRequest::Withdrawal(Withdrawal(amount), till) if amount <= balance => {
                balance -= amount;
                till.select(Money(amount))?
            }
            ServerRequest::Withdrawal(_, till) => till.select(InsufficientFunds)?,
            ServerRequest::Quit(Quit, end) => return Ok(((), end)),
        };
    }
}

async fn customer(bank: Client<'_>) -> Result<((), End<'_>)> {
    // leave: let _gone = bank.send(Login("ada".into(), "0".into()))?;
    // leave: return Err(rumpsteak::ReceiveError::UnexpectedType.into());
    // out of turn: let bank = bank.send(Login("ada".into(), "0".into()))?.select(Deposit(30))?;
    let answer = bank.send(Login("ada".into(), "0".into()))?.branch().await?;
    let ClientAnswer::Invalid(_, bank) = answer else { panic!("let in") };
    let answer = bank.send(Login("ada".into(), "1234".into()))?.branch().await?;
    let ClientAnswer::Ok(_, bank) = answer else { panic!("not let in") };
    let bank = bank.select(Deposit(30))?.select(Deposit(12))?;
    let answer = bank.select(Withdrawal(40))?.branch().await?;
    let ClientMoney::Money(Money(got), bank) = answer else { panic!("no money") };
    assert_eq!(got, 40);
    let answer = bank.select(Withdrawal(40))?.branch().await?;
    let ClientMoney::InsufficientFunds(_, bank) = answer else { panic!("too much") };
    Ok(((), bank.select(Quit)?))
}

fn main() {
    let Roles(mut c, mut s) = Roles::default();
    executor::block_on(async {
        // leave: let _ = futures::join!(try_session(&mut c, customer), try_session(&mut s, teller));
        try_join!(try_session(&mut c, customer), try_session(&mut s, teller)).unwrap();
    });
}
