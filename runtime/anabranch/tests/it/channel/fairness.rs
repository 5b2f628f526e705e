//! Selections choose uniformly among the ready operations, and sets serve their members in turn.
#![forbid(unsafe_code)]

use anabranch::{
    channel::{ReceiverSet, Select, unbounded},
    select,
};

/// The number of choices. Each of `n` equal choices is made within a tenth of `ROUNDS / n`, or within seven standard
/// deviations.
const ROUNDS: usize = 12_000;

#[track_caller]
fn assert_uniform(counts: &[usize]) {
    let (all, share) = (counts.iter().sum::<usize>(), ROUNDS / counts.len());
    assert!(all == ROUNDS && counts.iter().all(|count| count.abs_diff(share) < share / 10), "{counts:?}");
}

/// At every position of the ready arms.
#[test]
fn ready_arms_are_chosen_uniformly() {
    let ((_open, idle), (full, ready)) = (unbounded::<u32>(), unbounded::<u32>());
    (0..10 * ROUNDS).for_each(|_| full.try_send(0).unwrap());
    anabranch::run(|cx| {
        let mut counts = [0; 2];
        for _ in 0..ROUNDS {
            counts[select!(cx, {
                _ = idle.receiving() => unreachable!(),
                _ = idle.receiving() => unreachable!(),
                _ = ready.receiving() => 0,
                _ = ready.receiving() => 1,
            })
            .unwrap()] += 1;
        }
        assert_uniform(&counts);
        let mut counts = [0; 3];
        for _ in 0..ROUNDS {
            counts[select!(cx, {
                _ = ready.receiving() => 0,
                _ = ready.receiving() => 1,
                _ = idle.receiving() => unreachable!(),
                _ = idle.receiving() => unreachable!(),
                _ = ready.receiving() => 2,
                default => unreachable!(),
            })
            .unwrap()] += 1;
        }
        assert_uniform(&counts);
        let mut counts = [0; 3];
        for _ in 0..ROUNDS {
            let choice = async {
                select!(async, {
                    _ = ready.receiving() => 0,
                    _ = idle.receiving() => unreachable!(),
                    _ = idle.receiving() => unreachable!(),
                    _ = ready.receiving() => 1,
                    _ = ready.receiving() => 2,
                })
            };
            counts[cx.block_on(choice).unwrap()] += 1;
        }
        assert_uniform(&counts);
    });
}

/// New and reused selections, with a `cx`, without waiting, and in async code.
#[test]
fn ready_operations_of_list_are_chosen_uniformly() {
    let ((_open, idle), (full, ready)) = (unbounded::<u32>(), unbounded::<u32>());
    (0..10 * ROUNDS).for_each(|_| full.try_send(0).unwrap());
    let list = || Select::from_iter([&idle, &idle, &ready, &ready, &idle, &ready].map(|receiver| receiver.receiving()));
    anabranch::run(|cx| {
        let mut again = list();
        for way in 0..4 {
            let mut counts = [0; 6];
            for _ in 0..ROUNDS {
                let index = match way {
                    0 => list().wait(cx).unwrap().0,
                    1 => again.wait(cx).unwrap().0,
                    2 => list().try_now().unwrap().0,
                    _ => cx.block_on(again.wait_async()).unwrap().0,
                };
                counts[index] += 1;
            }
            let [0, 0, a, b, 0, c] = counts else { panic!("an idle one was chosen: {counts:?}") };
            assert_uniform(&[a, b, c]);
        }
    });
}

/// The ready operations change from one choice to the next, and none starves.
#[test]
fn no_operation_starves_while_readiness_changes() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| unbounded::<()>()).unzip();
    let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
    let mut counts = [0; 4];
    for n in 0..ROUNDS {
        let ready = if n % 2 == 0 { [0, 1] } else { [2, 3] };
        ready.iter().for_each(|&index: &usize| senders[index].try_send(()).unwrap());
        counts[select.try_now().unwrap().0] += 1;
        receivers.iter().for_each(|receiver| receiver.drain().for_each(drop));
    }
    assert_uniform(&counts);
}

/// Each ready member is served once before another is served twice.
#[test]
fn members_of_set_take_turns() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..7).map(|_| unbounded::<usize>()).unzip();
    let mut set = ReceiverSet::from_iter(receivers);
    let ready = [2, 3, 6];
    ready.iter().for_each(|&index| (0..ROUNDS).for_each(|_| senders[index].try_send(index).unwrap()));
    for _ in 0..ROUNDS / 3 {
        let mut turn: Vec<_> = (0..3).map(|_| set.try_recv().unwrap().1.unwrap()).collect();
        turn.sort_unstable();
        assert_eq!(turn, ready);
    }
}
