//! A complete conversation, the bank, on fibers and on threads.

// What the macro makes goes into crates that have no `unsafe` of their own.
#![forbid(unsafe_code)]

#[allow(clippy::duplicate_mod, reason = "it refers to the protocol of the module that includes it")]
#[path = "../../common/bank.rs"]
mod people;

use crate::common::{LONG, in_pools, watchdog};
use anabranch::{proto, proto::Done};
use people::{customer, teller};

proto! { pub bank {
    Login: send { login(String, String) -> LoginResponse }
    LoginResponse: recv { ok -> Connected, invalid -> Login }
    Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
    Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
}}

#[test]
fn conversation_runs_from_login_to_end() {
    in_pools(|pool| {
        let (bank, service) = proto::spawn_service_in(pool, bank::pipe, teller);
        let (money, done): (u64, Done<bank::Protocol>) = pool.run(|cx| customer(cx, bank, 100)).unwrap();
        assert_eq!(money, 50);
        assert_eq!(pool.run(|cx| service.join(cx)).unwrap(), Ok(done));
    });
}

#[test]
fn conversation_runs_between_two_threads() {
    watchdog(LONG, || {
        let (client, server) = bank::pipe();
        let teller = std::thread::spawn(move || anabranch::run(|cx| teller(cx, server)).map(drop));
        assert!(anabranch::run(|cx| customer(cx, client, 100)).is_ok());
        assert_eq!(teller.join().unwrap(), Ok(()));
    });
}
