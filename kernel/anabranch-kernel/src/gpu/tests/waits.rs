//! Waits of fibers and futures.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use anabranch::Pool;

use super::*;

/// A number of elements that most devices take a while for.
const LEN: u32 = 20_000_000;

/// Begins an operation on so many elements.
fn long(queue: &GpuQueue, len: u32) -> Reply {
    let inputs = Inputs { graph: Graph::default(), roots: [Node::Index], words: [1], len };
    queue.reduce(inputs, kernels().add, &[0]).unwrap()
}

#[test]
fn other_fibers_run_on_the_only_worker_while_a_fiber_waits() {
    let Some(queue) = queue() else { return };
    let pool = Pool::builder().threads(1).build().unwrap();
    let mut len = LEN;
    while !pool.run(|cx| {
        let (waited, ran_before) = (AtomicBool::new(false), AtomicBool::new(false));
        let reply = long(&queue, len);
        cx.scope(|s| {
            s.spawn(|_| ran_before.store(!waited.load(Ordering::Relaxed), Ordering::Relaxed));
            reply.wait(s).unwrap();
            waited.store(true, Ordering::Relaxed);
        });
        ran_before.load(Ordering::Relaxed)
    }) {
        // The device was faster than the start of a fiber.
        len = len.saturating_mul(2);
    }
}

#[test]
fn a_wait_is_cancelled_before_and_while_it_waits() {
    let Some(queue) = queue() else { return };
    run(|cx| {
        let error = cx.cancellable(|cx, cancel| {
            cancel.cancel();
            long(&queue, LEN).wait(cx).unwrap_err()
        });
        assert_eq!(error, Error::Cancelled);
        let mut len = LEN;
        while cx.cancellable(|cx, cancel| {
            cx.scope(|s| {
                let reply = long(&queue, len);
                s.spawn(move |_| cancel.cancel());
                reply.wait(s)
            })
        }) != Err(Error::Cancelled)
        {
            // The device was faster than the other fiber.
            len = len.saturating_mul(2);
        }
        let vec = queue.upload(&[1, 2]).unwrap();
        let error = cx.cancellable(|cx, cancel| {
            cancel.cancel();
            vec.download(cx, &mut [0; 2]).unwrap_err()
        });
        assert_eq!(error, Error::Cancelled);
        let mut words = [0; 2];
        vec.download(cx, &mut words).unwrap();
        assert_eq!(words, [1, 2]);
    });
}

#[test]
fn a_reply_is_a_future_and_can_be_dropped_after_a_poll() {
    let Some(queue) = queue() else { return };
    let vec = queue.upload(&[1, 2, 3]).unwrap();
    run(|cx| {
        let mut reply = queue.reduce(of(&vec), kernels().add, &[0]).unwrap();
        let words = cx.block_on(poll_fn(|context| reply.poll(context))).unwrap();
        assert_eq!(words.unwrap(), [6]);
        let poll_once =
            |reply: &mut Reply| cx.block_on(poll_fn(|context| Poll::Ready(reply.poll(context).is_ready()))).unwrap();
        let mut reply = long(&queue, LEN);
        poll_once(&mut reply);
        drop(reply);
        let mut reply = long(&queue, LEN);
        // A reply that is ready is taken by the poll.
        if !poll_once(&mut reply) {
            assert_eq!(reply.wait(cx).unwrap(), [(u64::from(LEN) * u64::from(LEN - 1) / 2) as u32]);
        }
    });
}

#[test]
fn downloads_of_empty_vectors_and_pieces_of_words_work() {
    let Some(queue) = queue() else { return };
    assert!(download(&queue.upload(&[]).unwrap()).unwrap().is_empty());
    assert!(download(&queue.zeroed(0).unwrap()).unwrap().is_empty());
    assert_eq!(download(&queue.zeroed(3).unwrap()).unwrap(), [0; 3]);
}

#[test]
fn a_large_vector_survives_a_round_trip() {
    let Some(queue) = queue() else { return };
    // More than an upload has under way at once, and no whole number of its parts.
    let words = numbers((20 << 18) + 5);
    assert!(download(&queue.upload(&words).unwrap()).unwrap() == words);
}
