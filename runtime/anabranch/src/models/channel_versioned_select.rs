//! Selecting among watch and broadcast channels: no receiver sleeps while there is a value to see, and a receiver that
//! sees another value loses nothing.

use super::{
    explore,
    parcel::Parcel,
    thread::{Thread, root, spawn, spawn_below},
};
use crate::{
    channel::{RecvError, Select, broadcast, watch},
    cx::Cx,
    select,
    sys::sync::Arc,
    wait::Cancelled,
};

type Seen<E> = Result<Arc<Parcel>, E>;

/// Returns the value in a parcel.
fn look<E>(seen: Seen<E>) -> Result<u32, E> {
    seen.map(|parcel| parcel.look())
}

/// Each channel gets a value while a receiver registers at both. The receiver sees each value once.
#[test]
fn models_channel_watch_selected_sees_both_values() {
    explore("watch, a value for each of two that are selected", Some(3), || {
        let [(one, mut first), (two, mut second)] = [0, 0].map(|_| watch::channel(Parcel::new(0)));
        // The senders stay alive: closing would wake a receiver that the value has not woken.
        let keep = (one.clone(), two.clone());
        let sending = [(one, 1), (two, 2)].map(|(sender, n)| spawn(move |_| sender.send(Parcel::new(n)).is_ok()));
        Thread::new().shielded(|cx| {
            let mut either = || {
                select!(biased cx, {
                    got = first.receiving() => look(got),
                    got = second.receiving() => look(got),
                })
            };
            let seen = [either(), either()];
            assert!(seen == [Ok(Ok(1)), Ok(Ok(2))] || seen == [Ok(Ok(2)), Ok(Ok(1))]);
        });
        sending.into_iter().for_each(|sending| assert!(sending.join().unwrap()));
        drop(keep);
    });
}

/// One channel has a value and the other is closed. A receiver that one of them wakes can still see the other.
#[test]
fn models_channel_watch_selected_sees_value_beside_closed_channel() {
    explore("watch, a value and an end", Some(3), || {
        let [(one, mut first), (two, mut second)] = [0, 0].map(|_| watch::channel(Parcel::new(0)));
        let (keep_one, keep_two) = (one.clone(), two.clone());
        let sending = spawn(move |_| one.send(Parcel::new(1)).is_ok());
        let closing = spawn(move |_| two.close());
        Thread::new().shielded(|cx| {
            let is_first = select!(biased cx, {
                got = second.receiving() => {
                    assert!(look(got).is_err());
                    false
                }
                got = first.receiving() => {
                    assert_eq!(look(got), Ok(1));
                    true
                }
            })
            .unwrap();
            if is_first {
                assert!(matches!(second.recv(cx), Err(RecvError::Closed)));
            } else {
                assert_eq!(first.recv(cx).map(|parcel| parcel.look()), Ok(1));
            }
        });
        assert!(sending.join().unwrap());
        closing.join().unwrap();
        drop((keep_one, keep_two));
    });
}

/// A selection waits for the same operations again, and sees later values.
#[test]
fn models_channel_watch_selected_repeatedly() {
    explore("watch, a list that is waited for again", Some(2), || {
        let [(one, mut first), (two, mut second)] = [0, 0].map(|_| watch::channel(Parcel::new(0)));
        let keep = (one.clone(), two.clone());
        let sending = spawn(move |_| {
            assert!(one.send(Parcel::new(1)).is_ok() && two.send(Parcel::new(2)).is_ok());
            assert!(one.send(Parcel::new(3)).is_ok());
        });
        let mut select = Select::from_iter([first.receiving(), second.receiving()]).biased();
        Thread::new().shielded(|cx| {
            let (mut latest, mut last) = (0, 0);
            while (latest, last) != (3, 2) {
                let (index, got) = select.wait(cx).unwrap();
                let n = look(got).unwrap();
                let seen = if index == 0 { &mut latest } else { &mut last };
                assert!(n > *seen, "seen twice");
                *seen = n;
            }
        });
        sending.join().unwrap();
        drop((select, keep));
    });
}

/// A selection waits for the same operations again, and sees all later values.
#[test]
fn models_channel_broadcast_selected_repeatedly() {
    explore("broadcast, a list that is waited for again", Some(2), || {
        let [(one, mut first), (two, mut second)] = [2, 2].map(broadcast::channel::<Parcel>);
        let keep = (one.clone(), two.clone());
        let sending = spawn(move |_| {
            assert!(one.send(Parcel::new(1)).is_ok() && two.send(Parcel::new(10)).is_ok());
            assert!(one.send(Parcel::new(2)).is_ok());
        });
        let mut select = Select::from_iter([first.receiving(), second.receiving()]);
        Thread::new().shielded(|cx| {
            let mut received = [0, 9];
            for _ in 0..3 {
                let (index, got) = select.wait(cx).unwrap();
                received[index] += 1;
                assert_eq!(look(got), Ok(received[index]));
            }
        });
        sending.join().unwrap();
        drop((select, keep));
    });
}

fn hear_either(
    cx: &Cx<'_>,
    one: &mut broadcast::Receiver<Parcel>,
    other: &mut broadcast::Receiver<Parcel>,
) -> Result<Result<u32, broadcast::ClosedOrLagged>, Cancelled> {
    select!(biased cx, {
        got = one.receiving() => look(got),
        got = other.receiving() => look(got),
    })
}

/// A receiver that one channel has woken is still in the queue of the other channel, before another receiver. The other
/// receiver is woken nevertheless.
#[test]
fn models_channel_broadcast_selected_passes_wakeup_on() {
    explore("broadcast, one waits behind one who selects", Some(2), || {
        let [(one, mut first), (two, mut second)] = [2, 2].map(broadcast::channel::<Parcel>);
        let mut other = first.clone();
        let keep = (one.clone(), two.clone());
        let behind = spawn(move |cx| other.recv(cx).map(|parcel| parcel.look()));
        let sending = [(one, 1), (two, 2)].map(|(sender, n)| spawn(move |_| sender.send(Parcel::new(n)).is_ok()));
        Thread::new().shielded(|cx| {
            let got = hear_either(cx, &mut first, &mut second).unwrap().unwrap();
            let rest = if got == 1 { &mut second } else { &mut first };
            assert_eq!(rest.recv(cx).map(|parcel| parcel.look()), Ok(3 - got));
        });
        assert_eq!(behind.join().unwrap(), Ok(1));
        sending.into_iter().for_each(|sending| assert!(sending.join().unwrap()));
        drop(keep);
    });
}

/// A selecting thread is cancelled while both channels get a value. Values that it did not receive can be received
/// afterwards, and no entry stays in a queue.
#[test]
fn models_channel_broadcast_selected_is_cancelled() {
    explore("broadcast, who selects is cancelled", Some(2), || {
        let root = root();
        let [(one, mut first), (two, mut second)] = [2, 2].map(broadcast::channel::<Parcel>);
        let selecting = spawn_below(&root, move |cx| {
            let got = hear_either(cx, &mut first, &mut second);
            (got, first, second)
        });
        let canceller = spawn(move |_| root.cancel());
        assert!(one.send(Parcel::new(1)).is_ok() && two.send(Parcel::new(2)).is_ok());
        let (got, mut first, mut second) = selecting.join().unwrap();
        canceller.join().unwrap();
        // In both channels, because a waiter that was left in a queue would be woken now.
        assert!(one.send(Parcel::new(3)).is_ok() && two.send(Parcel::new(4)).is_ok());
        let mut rest: Vec<_> = first.drain().chain(second.drain()).map(|parcel| parcel.unwrap().look()).collect();
        rest.extend(got.map_or(None, Result::ok));
        rest.sort_unstable();
        assert_eq!(rest, [1, 2, 3, 4]);
    });
}
