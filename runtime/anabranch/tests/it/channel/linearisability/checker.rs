//! Tests of the checker: it accepts overlapping operations in either order, and rejects wrong histories.

use super::{
    Event, Spec, is_linearisable,
    queue_spec::{Op, Queue},
    versioned_spec,
};

/// A history: each operation with its times.
fn history<O: Copy>(events: &[(u64, u64, O)]) -> Vec<Event<O>> {
    events.iter().map(|&(from, to, op)| Event { op, from, to }).collect()
}

#[track_caller]
fn assert_good<S: Spec<Op: Copy>>(spec: &S, events: &[(u64, u64, S::Op)]) {
    assert!(is_linearisable(spec, &history(events)));
}

#[track_caller]
fn assert_bad<S: Spec<Op: Copy>>(spec: &S, events: &[(u64, u64, S::Op)]) {
    assert!(!is_linearisable(spec, &history(events)));
}

#[test]
fn checker_finds_errors_of_queues() {
    use Op::*;
    let (one, two, any, none) = (Queue::new(Some(1)), Queue::new(Some(2)), Queue::new(None), Queue::new(Some(0)));
    // In the order in which they were sent.
    assert_good(&any, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Received(1)), (6, 7, Received(2))]);
    assert_bad(&any, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Received(2)), (6, 7, Received(1))]);
    assert_good(&any, &[(0, 3, Sent(1)), (1, 2, Sent(2)), (4, 5, Received(2)), (6, 7, Received(1))]);
    assert_good(&any, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 7, Received(2)), (5, 6, Received(1))]);
    // Lost, made up, doubled, received before it was sent.
    assert_bad(&any, &[(0, 1, Sent(1)), (2, 3, Empty)]);
    assert_bad(&any, &[(0, 1, Sent(1)), (2, 3, Closed), (4, 5, Ended)]);
    assert_bad(&any, &[(0, 1, Sent(1)), (2, 3, Received(2))]);
    assert_bad(&any, &[(0, 1, Sent(1)), (2, 3, Received(1)), (4, 5, Received(1))]);
    assert_bad(&any, &[(0, 1, Received(1)), (2, 3, Sent(1))]);
    // Capacity.
    assert_bad(&one, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Received(1))]);
    assert_good(&one, &[(0, 1, Sent(1)), (2, 5, Sent(2)), (3, 4, Received(1)), (6, 7, Received(2))]);
    assert_good(&two, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Full), (6, 7, Len(2))]);
    assert_bad(&two, &[(0, 1, Sent(1)), (2, 3, Full)]);
    assert_bad(&one, &[(0, 1, Reserved), (2, 3, Sent(1)), (4, 5, SentReserved(2))]);
    assert_bad(&two, &[(0, 1, Sent(1)), (2, 3, Len(0))]);
    // The end: a value moved into the buffer after a receiver had seen the channel closed.
    assert_bad(&one, &[(0, 1, Closed), (2, 3, Sent(1))]);
    assert_bad(&one, &[(0, 1, Refused)]);
    assert_bad(
        &one,
        &[(0, 1, Sent(1)), (2, 11, Sent(2)), (3, 12, Closed), (4, 5, SeenClosed(true)), (6, 7, Received(1))],
    );
    // A rendezvous.
    assert_bad(&none, &[(0, 1, Sent(1)), (2, 3, Received(1))]);
    assert_good(&none, &[(0, 2, Sent(1)), (1, 3, Received(1))]);
    assert_bad(&none, &[(0, 3, Sent(1)), (1, 2, Received(1)), (4, 5, Len(1))]);
    // Another receive was pending, and ended without the value.
    assert_bad(&none, &[(0, 2, Sent(1)), (1, 3, WaitedInVain), (4, 5, Received(1))]);
    assert_bad(&none, &[(0, 5, Sent(1)), (1, 6, Sent(2)), (2, 3, Len(1)), (2, 7, Received(1)), (2, 8, Received(2))]);
    assert_good(&none, &[(0, 5, Sent(1)), (1, 6, Sent(2)), (2, 3, Len(0)), (2, 7, Received(2)), (2, 8, Received(1))]);
    let oneshot = Queue { capacity: Some(1), is_oneshot: true };
    assert_bad(&oneshot, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Received(1))]);
    assert_good(&oneshot, &[(0, 1, Sent(1)), (2, 3, Received(1)), (4, 5, Ended)]);
}

#[test]
fn checker_finds_errors_of_versioned_channels() {
    use versioned_spec::{Board, Op::*};
    let watch = Board { capacity: 1, is_watch: true, senders: 1, receivers: 1 };
    assert_good(
        &watch,
        &[(0, 1, Latest(0)), (2, 3, Sent(1)), (4, 5, Sent(2)), (6, 7, Received(0, 2, 0)), (8, 9, Empty(0))],
    );
    assert_good(&watch, &[(0, 5, Sent(1)), (1, 2, Latest(1)), (3, 4, Received(0, 1, 0))]);
    // Back, twice, not at all.
    assert_bad(&watch, &[(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Latest(1))]);
    assert_bad(&watch, &[(0, 5, Sent(1)), (1, 2, Latest(1)), (3, 4, Latest(0))]);
    assert_bad(&watch, &[(0, 1, Sent(1)), (2, 3, Received(0, 1, 0)), (4, 5, Received(0, 1, 0))]);
    assert_bad(&watch, &[(0, 1, Sent(1)), (2, 3, Empty(0))]);
    assert_bad(&watch, &[(0, 1, Ended(0)), (2, 3, SenderGone)]);
    assert_bad(&watch, &[(0, 1, Closed), (2, 3, Sent(1))]);
    let two = Board { capacity: 2, is_watch: false, senders: 1, receivers: 1 };
    let sent = [(0, 1, Sent(1)), (2, 3, Sent(2)), (4, 5, Sent(3))];
    let then = |rest: &[(u64, u64, versioned_spec::Op)]| [&sent, rest].concat();
    let heard = [(6, 7, Lagged(0, 1, 1)), (8, 9, Received(0, 2, 1)), (10, 11, Received(0, 3, 1)), (12, 13, Empty(0))];
    assert_good(&two, &then(&heard));
    // Too much is missed, or it is reported twice, or not at all.
    assert_bad(&two, &then(&[(6, 7, Lagged(0, 2, 2))]));
    assert_bad(&two, &then(&[heard[0], (8, 9, Lagged(0, 1, 2))]));
    assert_bad(&two, &then(&[(6, 7, Received(0, 2, 1))]));
    assert_bad(&two, &then(&[(6, 7, Received(0, 1, 0))]));
    assert_bad(&two, &then(&[(6, 7, Received(0, 2, 0))]));
    assert_bad(&two, &then(&[(6, 7, Received(0, 3, 2))]));
    assert_bad(&two, &then(&[(6, 7, Subscribed(1)), (8, 9, Received(1, 3, 0))]));
    assert_bad(&two, &[(0, 1, ReceiverGone), (2, 3, Sent(1))]);
    assert_bad(&two, &[(0, 1, Refused)]);
}
