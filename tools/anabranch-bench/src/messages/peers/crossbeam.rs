//! crossbeam-channel, between threads.

use crossbeam_channel::{Receiver, Select, Sender, bounded, unbounded};

use super::ROOM;
use crate::messages::blocking::{Selection, Threads};

/// A channel, bounded or unbounded.
pub struct Crossbeam<const BOUNDED: bool>;

between_threads!(Crossbeam<BOUNDED>: Sender<u64>, Receiver<u64>, if BOUNDED { bounded(ROOM) } else { unbounded() });

/// `Select`, created once and reused.
pub struct Selecting;

impl Selection<Threads> for Selecting {
    type Sender = Sender<u64>;
    type Receivers = Vec<Receiver<u64>>;
    type Answers = Crossbeam<false>;

    fn new(count: usize) -> (Vec<Sender<u64>>, Vec<Receiver<u64>>) {
        (0..count).map(|_| unbounded()).unzip()
    }

    #[inline(always)]
    fn send(_: &(), sender: &mut Sender<u64>, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    fn sum(_: &(), receivers: &mut Vec<Receiver<u64>>, messages: u64, mut took: impl FnMut()) -> u64 {
        let mut select = Select::new();
        for receiver in &*receivers {
            select.recv(receiver);
        }
        let (mut sum, mut left) = (0, messages);
        while left > 0 {
            let operation = select.select();
            let index = operation.index();
            match operation.recv(&receivers[index]) {
                Ok(value) => {
                    sum += value;
                    left -= 1;
                    took();
                }
                Err(_) => select.remove(index),
            }
        }
        sum
    }
}
