//! Transfers between the host and a device, and waits for them.
//!
//! An upload is copied to memory of the driver and returns. A download is a copy to memory that the host can read,
//! whose end is reported via a one-shot channel. So waiting works as for any channel: a fiber suspends, and the wait
//! can be cancelled.
//!
//! Waking two threads takes longer than a short kernel. So a wait first polls the device, and other fibers run between
//! two polls. Only a longer wait wakes a thread of the device.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use anabranch::Cx;
use anabranch::channel::{Closed, TryRecvError, oneshot};

use super::driver::{Command, LOOKS, Use};
use super::launch::Commands;
use super::memory::Block;
use super::opened::Opened;
use super::queue::{Buffer, GpuQueue, Written};
use super::slots::TrapSet;
use crate::Error;

/// The most parts of a download for which a fiber waits at once.
const MOST_PARTS: usize = 4;

/// Words that a device copies to the host.
pub(crate) struct Reply {
    wait: Wait,
    arrival: Option<Arrival>,
}

enum Wait {
    Receiver(oneshot::Receiver<()>),
    /// The receiver belongs to a future once it was polled.
    Future(Pin<Box<dyn Future<Output = Result<(), Closed>> + Send>>),
}

/// The data that has arrived once the wait has ended: the words, and then a word for each slot.
struct Arrival {
    staging: Block,
    words: usize,
    traps: TrapSet,
    queue: GpuQueue,
}

impl GpuQueue {
    /// Begins to copy words to the device.
    pub(crate) fn upload(&self, words: &[u32]) -> Result<Buffer, Error> {
        let block = Block::take(&self.opened, Use::Upload, 4 * words.len() as u64)?;
        let mut written = Written::default();
        if !words.is_empty() {
            written.submission = Some(self.opened.driver.upload(&block.memory(), bytemuck::cast_slice(words))?);
        }
        Ok(self.buffer(block, words.len(), written))
    }

    /// Submits commands, and the copies of `words` words of `block`, from word number `first` on, and of all slots to
    /// the host.
    pub(super) fn reply(&self, commands: Commands, block: &Block, first: usize, words: usize) -> Result<Reply, Error> {
        self.reply_part(commands, block, first, words, false)
    }

    /// Like [`reply`](Self::reply). Without commands and traps, it may continue the last one.
    pub(super) fn reply_part(
        &self,
        commands: Commands,
        block: &Block,
        first: usize,
        words: usize,
        continues: bool,
    ) -> Result<Reply, Error> {
        let Commands { mut list, traps, held } = commands;
        let bytes = 4 * words as u64;
        let mut staging = Block::take(&self.opened, Use::Download, bytes + 4 * traps.slots().len() as u64)?;
        // A large copy may run beside later commands, which may set the slots again.
        list.extend((0..).zip(traps.slots()).map(|(number, slot)| slot.copy_to(&staging, bytes + 4 * number)));
        if words > 0 {
            list.push(Command::Copy { from: (block.memory(), 4 * first as u64), to: (staging.memory(), 0), bytes });
        }
        staging.set_reusable(!self.opened.driver.maps_downloads());
        let receiver = self.opened.driver.submit_download(list, &staging.memory(), continues)?;
        drop(held);
        let arrival = Some(Arrival { staging, words, traps, queue: self.clone() });
        Ok(Reply { wait: Wait::Receiver(receiver), arrival })
    }
}

impl Opened {
    /// Waits for what a driver sends.
    fn wait(&self, cx: &Cx<'_>, receiver: &mut oneshot::Receiver<()>) -> Result<(), Error> {
        let start = Instant::now();
        while start.elapsed() < LOOKS {
            cx.check()?;
            self.driver.look();
            match receiver.try_recv() {
                Err(TryRecvError::Empty) => cx.yield_now(),
                arrived => return arrived.map_err(|_| self.no_reply()),
            }
        }
        self.driver.wake();
        receiver.recv(cx).map_err(|error| self.wait_error(error))
    }
}

impl Buffer {
    /// Waits for all work on the buffer.
    pub(crate) fn wait(&self, cx: &Cx<'_>) -> Result<(), Error> {
        let traps = self.traps();
        if !traps.slots().is_empty() {
            let commands = Commands { list: Vec::new(), traps, held: Vec::new() };
            return self.queue.reply(commands, &self.block, 0, 0)?.wait(cx).map(drop);
        }
        let Some(submission) = &self.written.submission else { return Ok(()) };
        let opened = &self.queue.opened;
        opened.wait(cx, &mut opened.driver.end_of(submission))
    }

    /// Waits for all work on the buffer, and copies its words. `words` has their number.
    ///
    /// Copies parts if the driver does that best. While one is copied from the memory of the driver, the device copies
    /// the next ones.
    pub(crate) fn download(&self, cx: &Cx<'_>, words: &mut [u32]) -> Result<(), Error> {
        let mut traps = self.traps();
        if words.is_empty() {
            return self.wait(cx);
        }
        let part_words = self.queue.opened.driver.download_part() / 4;
        let mut parts = words.chunks_mut(part_words).enumerate();
        let mut begun = VecDeque::with_capacity(MOST_PARTS);
        loop {
            while begun.len() < MOST_PARTS
                && let Some((number, part)) = parts.next()
            {
                let commands = Commands { list: Vec::new(), traps: mem::take(&mut traps), held: Vec::new() };
                let first = number * part_words;
                let reply = self.queue.reply_part(commands, &self.block, first, part.len(), number > 0)?;
                begun.push_back((reply, part));
            }
            let Some((reply, part)) = begun.pop_front() else { return Ok(()) };
            reply.wait_into(cx, part)?;
        }
    }

    /// Returns the slots that the words depend on.
    fn traps(&self) -> TrapSet {
        let mut traps = TrapSet::default();
        traps.extend(&self.written.traps);
        traps
    }
}

impl Reply {
    /// Waits for the words.
    pub(crate) fn wait(self, cx: &Cx<'_>) -> Result<Vec<u32>, Error> {
        let mut words = vec![0; self.arrival.as_ref().map_or(0, |arrival| arrival.words)];
        self.wait_into(cx, &mut words)?;
        Ok(words)
    }

    fn wait_into(self, cx: &Cx<'_>, words: &mut [u32]) -> Result<(), Error> {
        let Some(arrival) = self.arrival else { return Ok(()) };
        match self.wait {
            Wait::Receiver(mut receiver) => arrival.queue.opened.wait(cx, &mut receiver)?,
            Wait::Future(future) => cx.block_on(future)?.map_err(|Closed| arrival.queue.opened.no_reply())?,
        }
        arrival.read(words)
    }

    /// Returns the words if they are there. Otherwise wakes the waker once they are.
    ///
    /// # Panics
    /// Panics if it has returned the words before.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Vec<u32>, Error>> {
        if let Wait::Receiver(receiver) = &mut self.wait {
            let mut receiver = mem::replace(receiver, oneshot::channel().1);
            if let Some(arrival) = &self.arrival {
                arrival.queue.opened.driver.wake();
            }
            self.wait = Wait::Future(Box::pin(async move { receiver.receiving().await }));
        }
        let Wait::Future(future) = &mut self.wait else { unreachable!("the wait has just become a future") };
        let arrived = ready!(future.as_mut().poll(context));
        let arrival = self.arrival.take().expect("a future is not polled after its end");
        let arrived = arrived.map_err(|Closed| arrival.queue.opened.no_reply());
        let mut words = vec![0; arrival.words];
        Poll::Ready(arrived.and_then(|()| arrival.read(&mut words)).map(|()| words))
    }
}

impl Arrival {
    /// Copies the words, unless a kernel has trapped.
    fn read(mut self, words: &mut [u32]) -> Result<(), Error> {
        let opened = &self.queue.opened;
        let slots = self.traps.slots();
        let mut codes = vec![0u32; slots.len()];
        if !opened.driver.read(&self.staging.memory(), [words, &mut codes]) {
            return Err(opened.no_reply());
        }
        for (slot, code) in slots.iter().zip(&codes) {
            if *code == 0 {
                slot.set_clean();
            }
        }
        let trap = codes.into_iter().find(|code| *code != 0).map(|code| opened.traps().explain(code));
        self.staging.set_reusable(true);
        trap.map_or(Ok(()), |trap| Err(Error::Trap(trap)))
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").finish_non_exhaustive()
    }
}
