use dialectic::prelude::*;
use dialectic_tokio_mpsc as mpsc;

type Error = Box<dyn std::error::Error>;
type Credentials = (String, String);

type Client = Session! {
    loop {
        send Credentials;
        offer {
            0 => break,
            1 => continue,
        }
    }
    loop {
        choose {
            0 => send u64,
            1 => {
                send u64;
                offer {
                    0 => recv u64,
                    1 => {},
                }
            },
            2 => break,
        }
    }
};
type Server = <Client as Session>::Dual;

#[Transmitter(Tx for u64)]
#[Receiver(Rx for u64, Credentials)]
async fn teller<Tx, Rx>(mut door: Chan<Server, Tx, Rx>) -> Result<(), Error>
where
    Tx::Error: std::error::Error + std::marker::Send + 'static,
    Rx::Error: std::error::Error + std::marker::Send + 'static,
{
    let mut desk = loop {
        let ((_, password), answer) = door.recv().await?;
        if password == "1234" {
            break answer.choose::<0>().await?;
        }
        door = answer.choose::<1>().await?;
    };
    let mut balance = 0;
    loop {
        desk = offer!(in desk {
            0 => {
                let (amount, desk) = desk.recv().await?;
                balance += amount;
                desk
            },
            1 => {
                let (amount, till) = desk.recv().await?;
                if amount <= balance {
                    balance -= amount;
                    till.choose::<0>().await?.send(amount).await?
                } else {
                    till.choose::<1>().await?
                }
            },
            2 => {
                desk.close();
                return Ok(());
            },
        })?;
    }
}

#[Transmitter(Tx for u64, Credentials)]
#[Receiver(Rx for u64)]
async fn customer<Tx, Rx>(bank: Chan<Client, Tx, Rx>) -> Result<(), Error>
where
    Tx::Error: std::error::Error + std::marker::Send + 'static,
    Rx::Error: std::error::Error + std::marker::Send + 'static,
{
    let answer = bank.send(("ada".into(), "0".into())).await?;
    // leave: { drop(answer); return Ok(()); }
    // out of turn: let answer = answer.choose::<0>().await?.send(30).await?;
    let bank = offer!(in answer {
        0 => panic!("let in"),
        1 => answer,
    })?;
    let answer = bank.send(("ada".into(), "1234".into())).await?;
    let bank = offer!(in answer {
        0 => answer,
        1 => panic!("not let in"),
    })?;
    let bank = bank.choose::<0>().await?.send(30).await?;
    let bank = bank.choose::<0>().await?.send(12).await?;
    let answer = bank.choose::<1>().await?.send(40).await?;
    let (got, bank) = offer!(in answer {
        0 => answer.recv().await?,
        1 => panic!("no money"),
    })?;
    assert_eq!(got, 40);
    let answer = bank.choose::<1>().await?.send(40).await?;
    let bank = offer!(in answer {
        0 => panic!("too much"),
        1 => answer,
    })?;
    bank.choose::<2>().await?.close();
    Ok(())
}

#[tokio::main]
async fn main() {
    let (bank, desk) = Client::channel(|| mpsc::channel(1));
    let (one, other) = tokio::join!(customer(bank), teller(desk));
    // leave: dbg!(&one, &other);
    one.and(other).unwrap();
}
