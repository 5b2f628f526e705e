//! Values that panic when they are dropped: the other values are dropped all the same, and waiters are woken.

use crate::common::{
    Counted, LONG, Tally, panic_text, pool,
    waits::{Polled, until_waiting},
    watchdog,
};
use anabranch::{
    channel::{Receiver, ReceiverSet, Sender, bounded, broadcast, oneshot, rendezvous, spsc, unbounded, watch},
    select,
};
use std::time::Duration;

/// A value that may panic when it is dropped.
struct Bomb {
    explodes: bool,
    _counted: Counted,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.explodes, "bomb");
    }
}

fn harmless(tally: &Tally) -> Bomb {
    Bomb { explodes: false, _counted: tally.make() }
}

fn bomb(tally: &Tally) -> Bomb {
    Bomb { explodes: true, _counted: tally.make() }
}

/// Thirty, with one bomb among them.
fn thirty(tally: &Tally) -> impl Iterator<Item = Bomb> {
    (0..30).map(|n| if n == 3 { bomb(tally) } else { harmless(tally) })
}

fn shared() -> [(Sender<Bomb>, Receiver<Bomb>); 2] {
    [bounded(30), unbounded()]
}

#[test]
fn dropping_receiver_drops_rest_despite_panic() {
    let tally = Tally::default();
    for (sender, receiver) in shared() {
        thirty(&tally).for_each(|value| assert!(sender.try_send(value).is_ok()));
        assert_eq!(panic_text(move || drop(receiver)), "bomb");
        assert_eq!(tally.made(), tally.dropped());
        assert!(sender.is_closed() && sender.try_send(harmless(&tally)).is_err());
    }
    for (mut sender, receiver) in [spsc::bounded(30), spsc::unbounded()] {
        thirty(&tally).for_each(|value| assert!(sender.try_send(value).is_ok()));
        assert_eq!(panic_text(move || drop(receiver)), "bomb");
        assert_eq!(tally.made(), tally.dropped());
        assert!(sender.is_closed() && sender.try_send(harmless(&tally)).is_err());
    }
    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(bomb(&tally)).is_ok());
    assert_eq!(panic_text(move || drop(receiver)), "bomb");
    let (sender, receiver) = broadcast::channel(30);
    thirty(&tally).for_each(|value| assert!(sender.send(value).is_ok()));
    assert_eq!(panic_text(move || drop(receiver)), "bomb");
    assert!(sender.send(harmless(&tally)).is_err(), "there is nobody");
    tally.assert_all_dropped();
}

/// The last end of the channel is a sender, or the receivers are members of a set.
#[test]
fn last_end_drops_all_values_despite_panic() {
    let tally = Tally::default();
    for (sender, receiver) in shared() {
        thirty(&tally).for_each(|value| assert!(sender.try_send(value).is_ok()));
        drop(sender);
        assert_eq!(panic_text(move || drop(receiver)), "bomb");
    }
    let (sender, receiver) = watch::channel(bomb(&tally));
    drop(receiver);
    assert_eq!(panic_text(move || drop(sender)), "bomb");
    let (senders, set): (Vec<_>, ReceiverSet<_>) = (0..20).map(|_| unbounded()).unzip();
    for (n, sender) in senders.iter().enumerate() {
        let value = if n == 7 { bomb(&tally) } else { harmless(&tally) };
        assert!(sender.try_send(value).is_ok() && sender.try_send(harmless(&tally)).is_ok());
    }
    assert_eq!(panic_text(move || drop(set)), "bomb");
    assert!(senders.iter().all(|sender| sender.is_closed()));
    tally.assert_all_dropped();
}

/// The sender of the next value drops one that is replaced, or that no receiver will see. The next value is sent all
/// the same.
#[test]
fn replaced_value_may_panic_when_dropped() {
    let tally = Tally::default();
    let (sender, mut receiver) = watch::channel(bomb(&tally));
    let mut waiting = Polled::waiting(receiver.receiving().into_future());
    assert_eq!(panic_text(|| drop(sender.send(harmless(&tally)))), "bomb");
    assert!(waiting.is_woken() && waiting.poll().is_some_and(|got| got.is_ok()));
    drop(waiting);
    let (cry, mut cries) = broadcast::channel(1);
    assert!(cry.send(bomb(&tally)).is_ok());
    let mut late = cry.subscribe();
    let mut waiting = Polled::waiting(late.receiving().into_future());
    assert_eq!(panic_text(|| drop(cry.send(harmless(&tally)))), "bomb");
    assert!(waiting.poll().is_some_and(|got| got.is_ok()));
    drop(waiting);
    assert_eq!(cries.try_recv().err(), Some(broadcast::TryRecvError::Lagged(1)));
    assert!(cries.try_recv().is_ok() && cries.lagged() == 1);
    drop((sender, receiver, cry, cries, late));
    tally.assert_all_dropped();
}

/// An abandoned send drops its value: in a future, in an arm, on a cancelled fiber.
#[test]
fn dropped_send_may_panic_in_value() {
    watchdog(LONG, || {
        let tally = Tally::default();
        for (sender, receiver) in [rendezvous(), bounded(1)] {
            (0..sender.capacity().unwrap()).for_each(|_| assert!(sender.try_send(harmless(&tally)).is_ok()));
            let waiting = Polled::waiting(sender.sending(bomb(&tally)).into_future());
            let behind = Polled::waiting(sender.sending(harmless(&tally)).into_future());
            assert_eq!(panic_text(move || drop(waiting)), "bomb");
            let pool = pool(1);
            let arm = pool.spawn({
                let (sender, value) = (sender.clone(), bomb(&tally));
                move |cx| {
                    select!(cx, {
                        sent = sender.sending(value) => sent.is_ok(),
                        () = cx.sleeping(Duration::from_millis(1)) => false,
                    })
                }
            });
            assert!(pool.run(|cx| arm.join(cx)).is_err_and(|error| error.to_string().contains("bomb")));
            let sending = pool.spawn({
                let (sender, value) = (sender.clone(), bomb(&tally));
                move |cx| drop(sender.send(cx, value))
            });
            until_waiting(&pool, 1, "Sender::send");
            sending.cancel();
            assert!(pool.run(|cx| sending.join(cx)).is_err_and(|error| error.to_string().contains("bomb")));
            // The waiter behind them is the next.
            receiver.drain().for_each(drop);
            assert!(behind.is_woken());
        }
        tally.assert_all_dropped();
    });
}

/// A value whose drop panics.
struct AlwaysBomb(Counted);

impl Drop for AlwaysBomb {
    fn drop(&mut self) {
        let _ = &self.0;
        panic!("bomb");
    }
}

/// All of them panic, and all are dropped once. The first panic goes on, unless another is under way.
#[test]
fn all_values_are_dropped_if_each_drop_panics() {
    fn check(tally: &Tally, channel: impl Fn() -> Box<dyn FnOnce()>) {
        let before = tally.dropped();
        assert_eq!(panic_text(channel()), "bomb");
        assert_eq!((tally.made(), tally.dropped()), (before + 5, before + 5));
        let drop_all = channel();
        let unwinding = || {
            struct Late<F: FnOnce()>(Option<F>);
            impl<F: FnOnce()> Drop for Late<F> {
                fn drop(&mut self) {
                    self.0.take().unwrap()();
                }
            }
            let _late = Late(Some(drop_all));
            panic!("another");
        };
        assert_eq!(panic_text(unwinding), "another");
        assert_eq!(tally.made(), tally.dropped());
    }
    let tally = Tally::default();
    let five = || (0..5).map(|_| AlwaysBomb(tally.make()));
    for capacity in [Some(5), None] {
        check(&tally, || {
            let (sender, receiver) = capacity.map_or_else(unbounded, bounded);
            five().for_each(|bomb| std::mem::forget(sender.try_send(bomb)));
            Box::new(move || drop((receiver, sender)))
        });
        check(&tally, || {
            let (mut sender, receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
            five().for_each(|bomb| std::mem::forget(sender.try_send(bomb)));
            Box::new(move || drop((receiver, sender)))
        });
    }
    check(&tally, || {
        let (sender, receiver) = broadcast::channel(5);
        five().for_each(|bomb| std::mem::forget(sender.send(bomb)));
        Box::new(move || drop((receiver, sender)))
    });
    check(&tally, || {
        let set: ReceiverSet<_> = five()
            .map(|bomb| {
                let (sender, receiver) = unbounded();
                std::mem::forget(sender.try_send(bomb));
                receiver
            })
            .collect();
        Box::new(move || drop(set))
    });
}
