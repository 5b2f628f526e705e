use ferrite_session::prelude::*;

type Credentials = (String, String);
type Bank = Rec<ReceiveValue<Credentials, InternalChoice<LoginResponse>>>;
type Connected = RecX<(Bank, ()), ExternalChoice<Request>>;

define_choice! { LoginResponse;
    Accepted: Rec<ExternalChoice<Request>>,
    Invalid: Z,
}
define_choice! { Request;
    Deposit: ReceiveValue<u64, Z>,
    Withdrawal: ReceiveValue<u64, InternalChoice<Till>>,
    Quit: End,
}
define_choice! { Till;
    Money: SendValue<u64, Z>,
    InsufficientFunds: Z,
}

fn teller() -> Session<Bank> {
    fix_session(receive_value! { (credentials: Credentials) => {
        if credentials.1 == "1234" {
            offer_case!(Accepted, desk(0))
        } else {
            offer_case!(Invalid, teller())
        }
    }})
}

fn desk(balance: u64) -> Session<Connected> {
    fix_session(offer_choice! {
        Deposit => receive_value! { amount => desk(balance + amount) },
        Withdrawal => receive_value! { (amount: u64) => {
            if amount <= balance {
                offer_case!(Money, send_value!(amount, desk(balance - amount)))
            } else {
                offer_case!(InsufficientFunds, desk(balance))
            }
        }},
        Quit => terminate!(),
    })
}

fn customer() -> Session<ReceiveChannel<Bank, End>> {
    receive_channel! { bank => unfix_session(bank,
        send_value_to!(bank, ("ada".into(), "0".into()), case! { bank;
            Accepted => panic!("let in"),
            Invalid => unfix_session(bank,
                send_value_to!(bank, ("ada".into(), "1234".into()), case! { bank;
                    Invalid => panic!("not let in"),
                    Accepted => include_session!(deposits(), next => send_channel_to(next, bank, forward(next))),
                })),
        }))
    }
}

// out of turn: fn early() -> Session<ReceiveChannel<Bank, End>> {
// out of turn:     receive_channel! { bank => unfix_session(bank, choose!(bank, Deposit, wait!(bank, terminate!()))) }
// out of turn: }
// leave: fn leave() -> Session<ReceiveChannel<Bank, End>> { receive_channel! { bank => terminate!() } }

fn deposits() -> Session<ReceiveChannel<Connected, End>> {
    receive_channel! { bank => unfix_session(bank, choose!(bank, Deposit, send_value_to!(bank, 30,
        unfix_session(bank, choose!(bank, Deposit, send_value_to!(bank, 12,
            include_session!(withdrawals(), next => send_channel_to(next, bank, forward(next)))))))))
    }
}

fn withdrawals() -> Session<ReceiveChannel<Connected, End>> {
    receive_channel! { bank => unfix_session(bank, choose!(bank, Withdrawal, send_value_to!(bank, 40, case! { bank;
        InsufficientFunds => panic!("no money"),
        Money => receive_value_from! { bank, (got: u64) => {
            assert_eq!(got, 40);
            unfix_session(bank, choose!(bank, Withdrawal, send_value_to!(bank, 40, case! { bank;
                Money => panic!("too much"),
                InsufficientFunds =>
                    unfix_session(bank, choose!(bank, Quit, wait!(bank, terminate!()))),
            })))
        }}
    })))}
}

#[tokio::main]
async fn main() {
    run_session(apply_channel(customer(), teller())).await;
}
