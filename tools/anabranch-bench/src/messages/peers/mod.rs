//! The compared libraries, one per file, and the kinds of code between which each is used.

/// Implements a channel between threads by the methods that most libraries have.
macro_rules! between_threads {
    ($name:ident$(<$bounded:ident>)?: $sender:ty, $receiver:ty, $new:expr $(; $prepare:expr)?) => {
        impl$(<const $bounded: bool>)? $crate::messages::blocking::Channel<$crate::messages::blocking::Threads>
            for $name$(<$bounded>)?
        {
            type Sender = $sender;
            type Receiver = $receiver;

            $(fn prepare() {
                $prepare;
            })?

            fn new() -> ($sender, $receiver) {
                $new
            }

            #[inline(always)]
            fn send(_: &(), sender: &mut $sender, value: u64) {
                sender.send(value).expect("the receiver is there");
            }

            #[inline(always)]
            fn recv(_: &(), receiver: &mut $receiver) -> Option<u64> {
                receiver.recv().ok()
            }
        }
    };
}

/// Implements a channel between tasks. `await` follows if a send can wait.
#[cfg(feature = "peers")]
macro_rules! between_tasks {
    ($name:ident$(<$bounded:ident>)?: $sender:ty, $receiver:ty, $new:expr $(, $await:tt)? $(; $prepare:expr)?) => {
        impl$(<const $bounded: bool>)? $crate::messages::tasks::Channel for $name$(<$bounded>)? {
            type Sender = $sender;
            type Receiver = $receiver;

            $(fn prepare() {
                $prepare;
            })?

            fn new() -> ($sender, $receiver) {
                $new
            }

            async fn send(sender: &mut $sender, value: u64) {
                sender.send(value)$(.$await)?.expect("the receiver is there");
            }

            async fn recv(receiver: &mut $receiver) -> Option<u64> {
                receiver.recv().await.ok()
            }
        }
    };
}

pub mod anabranch;
#[cfg(feature = "peers")]
pub mod async_channel;
#[cfg(feature = "peers")]
pub mod crossbeam;
#[cfg(feature = "peers")]
pub mod crossfire;
#[cfg(feature = "peers")]
pub mod flume;
#[cfg(feature = "peers")]
pub mod kanal;
#[cfg(feature = "peers")]
pub mod may;
pub mod std;
#[cfg(feature = "peers")]
pub mod tokio;

use ::std::fmt;

use serde::{Serialize, Serializer};

use crate::bench::Peers;

/// The capacity of bounded channels.
pub const ROOM: usize = 128;

/// A kind of channel of a library, or a way to select among channels. `U` is unbounded, `B` has the capacity [`ROOM`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `spsc::unbounded`, or `unbounded` for many senders.
    AnabranchU,
    /// `spsc::bounded`, or `bounded` for many senders.
    AnabranchB,
    /// `unbounded` between two ends.
    AnabranchMpmcU,
    /// `bounded` between two ends.
    AnabranchMpmcB,
    /// The sender of `spsc::unbounded` behind a mutex.
    AnabranchLocked,
    /// `ReceiverSet`.
    AnabranchSet,
    /// `Select`.
    AnabranchSelect,
    /// `spsc`.
    May,
    /// `mpsc`.
    MayMpsc,
    /// `mpmc`.
    MayMpmc,
    /// `cqueue`.
    MayCqueue,
    /// kanal.
    KanalU,
    /// kanal.
    KanalB,
    /// crossfire's `spsc` or `mpsc`.
    CrossfireU,
    /// crossfire's `spsc` or `mpsc`.
    CrossfireB,
    /// crossfire's `Multiplex`.
    CrossfireMultiplex,
    /// crossfire's streams and `SelectAll`.
    CrossfireAll,
    /// tokio's `mpsc`.
    TokioU,
    /// tokio's `mpsc`.
    TokioB,
    /// `StreamMap`.
    TokioMap,
    /// tokio-stream's streams and `SelectAll`.
    TokioAll,
    /// flume.
    FlumeU,
    /// flume.
    FlumeB,
    /// async-channel.
    AsyncChannelU,
    /// async-channel.
    AsyncChannelB,
    /// async-channel's receivers and `SelectAll`.
    AsyncChannelAll,
    /// std's `mpsc`.
    StdU,
    /// std's `mpsc`.
    StdB,
    /// crossbeam-channel.
    CrossbeamU,
    /// crossbeam-channel.
    CrossbeamB,
    /// crossbeam-channel's `Select`.
    CrossbeamSelect,
}

use Library::{
    AnabranchB, AnabranchLocked, AnabranchMpmcB, AnabranchMpmcU, AnabranchSelect, AnabranchSet, AnabranchU,
    AsyncChannelAll, AsyncChannelB, AsyncChannelU, CrossbeamB, CrossbeamSelect, CrossbeamU, CrossfireAll, CrossfireB,
    CrossfireMultiplex, CrossfireU, FlumeB, FlumeU, KanalB, KanalU, May, MayCqueue, MayMpmc, MayMpsc, StdB, StdU,
    TokioAll, TokioB, TokioMap, TokioU,
};

/// The code that sends and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Fibers, or the coroutines of may.
    Fibers,
    /// Tasks on tokio's thread pool.
    Tokio,
    /// Tasks on tokio's current-thread runtime.
    Current,
    /// Threads of the system.
    Threads,
    /// Threads of the system that join no pool, where a library distinguishes them.
    Plain,
}

/// A line of the comparison: a kind of channel, and the code that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    library: Library,
    on: On,
}

const fn kind(library: Library, on: On) -> Kind {
    Kind { library, on }
}

impl Kind {
    /// Returns the channel, or the way to select.
    pub fn library(self) -> Library {
        self.library
    }

    /// Returns the code that uses it.
    pub fn on(self) -> On {
        self.on
    }

    /// Returns whether it connects one sender and one receiver.
    pub fn is_link(self) -> bool {
        !self.is_selection() && !matches!(self.library, AnabranchLocked | MayMpmc)
    }

    /// Returns whether it has a capacity.
    pub fn is_bounded(self) -> bool {
        matches!(
            self.library,
            AnabranchB | AnabranchMpmcB | KanalB | CrossfireB | TokioB | FlumeB | AsyncChannelB | StdB | CrossbeamB
        )
    }

    /// Returns whether threads of the system use it.
    pub fn is_of_threads(self) -> bool {
        matches!(self.on, On::Threads | On::Plain)
    }

    /// Returns whether it has many senders.
    pub fn is_shared(self) -> bool {
        !self.is_selection() && !matches!(self.library, May | AnabranchMpmcU | AnabranchMpmcB)
    }

    /// Returns whether it selects among channels.
    pub fn is_selection(self) -> bool {
        matches!(
            self.library,
            AnabranchSet
                | AnabranchSelect
                | MayCqueue
                | CrossfireMultiplex
                | CrossfireAll
                | TokioMap
                | TokioAll
                | AsyncChannelAll
                | CrossbeamSelect
        )
    }

    fn name(self) -> &'static str {
        match self.library {
            AnabranchU => "anabranch-u",
            AnabranchB => "anabranch-b",
            AnabranchMpmcU => "anabranch-mpmc-u",
            AnabranchMpmcB => "anabranch-mpmc-b",
            AnabranchLocked => "anabranch-locked",
            AnabranchSet => "anabranch-set",
            AnabranchSelect => "anabranch-select",
            May => "may-spsc",
            MayMpsc => "may-mpsc",
            MayMpmc => "may-mpmc",
            MayCqueue => "may-cqueue",
            KanalU => "kanal-u",
            KanalB => "kanal-b",
            CrossfireU => "crossfire-u",
            CrossfireB => "crossfire-b",
            CrossfireMultiplex => "crossfire-multiplex",
            CrossfireAll => "crossfire-all",
            TokioU => "tokio-u",
            TokioB => "tokio-b",
            TokioMap => "tokio-map",
            TokioAll => "tokio-all",
            FlumeU => "flume-u",
            FlumeB => "flume-b",
            AsyncChannelU => "async-channel-u",
            AsyncChannelB => "async-channel-b",
            AsyncChannelAll => "async-channel-all",
            StdU => "std-u",
            StdB => "std-b",
            CrossbeamU => "crossbeam-u",
            CrossbeamB => "crossbeam-b",
            CrossbeamSelect => "crossbeam-select",
        }
    }
}

impl Peers for Kind {
    const ALL: &'static [Kind] = &[
        kind(AnabranchU, On::Fibers),
        kind(AnabranchB, On::Fibers),
        kind(AnabranchMpmcU, On::Fibers),
        kind(AnabranchMpmcB, On::Fibers),
        kind(AnabranchLocked, On::Fibers),
        kind(AnabranchSet, On::Fibers),
        kind(AnabranchSelect, On::Fibers),
        #[cfg(feature = "peers")]
        kind(May, On::Fibers),
        #[cfg(feature = "peers")]
        kind(MayMpsc, On::Fibers),
        #[cfg(feature = "peers")]
        kind(MayMpmc, On::Fibers),
        #[cfg(feature = "peers")]
        kind(MayCqueue, On::Fibers),
        #[cfg(feature = "peers")]
        kind(KanalU, On::Tokio),
        #[cfg(feature = "peers")]
        kind(KanalB, On::Tokio),
        #[cfg(feature = "peers")]
        kind(CrossfireU, On::Tokio),
        #[cfg(feature = "peers")]
        kind(CrossfireB, On::Tokio),
        #[cfg(feature = "peers")]
        kind(CrossfireAll, On::Tokio),
        #[cfg(feature = "peers")]
        kind(TokioU, On::Tokio),
        #[cfg(feature = "peers")]
        kind(TokioB, On::Tokio),
        #[cfg(feature = "peers")]
        kind(TokioMap, On::Tokio),
        #[cfg(feature = "peers")]
        kind(TokioAll, On::Tokio),
        #[cfg(feature = "peers")]
        kind(FlumeU, On::Tokio),
        #[cfg(feature = "peers")]
        kind(FlumeB, On::Tokio),
        #[cfg(feature = "peers")]
        kind(AsyncChannelU, On::Tokio),
        #[cfg(feature = "peers")]
        kind(AsyncChannelB, On::Tokio),
        #[cfg(feature = "peers")]
        kind(AsyncChannelAll, On::Tokio),
        #[cfg(feature = "peers")]
        kind(KanalU, On::Current),
        #[cfg(feature = "peers")]
        kind(KanalB, On::Current),
        #[cfg(feature = "peers")]
        kind(CrossfireU, On::Current),
        #[cfg(feature = "peers")]
        kind(CrossfireB, On::Current),
        #[cfg(feature = "peers")]
        kind(CrossfireAll, On::Current),
        #[cfg(feature = "peers")]
        kind(TokioU, On::Current),
        #[cfg(feature = "peers")]
        kind(TokioB, On::Current),
        #[cfg(feature = "peers")]
        kind(TokioMap, On::Current),
        #[cfg(feature = "peers")]
        kind(TokioAll, On::Current),
        #[cfg(feature = "peers")]
        kind(FlumeU, On::Current),
        #[cfg(feature = "peers")]
        kind(FlumeB, On::Current),
        #[cfg(feature = "peers")]
        kind(AsyncChannelU, On::Current),
        #[cfg(feature = "peers")]
        kind(AsyncChannelB, On::Current),
        #[cfg(feature = "peers")]
        kind(AsyncChannelAll, On::Current),
        kind(AnabranchU, On::Threads),
        kind(AnabranchB, On::Threads),
        kind(AnabranchMpmcU, On::Threads),
        kind(AnabranchMpmcB, On::Threads),
        kind(AnabranchU, On::Plain),
        kind(AnabranchB, On::Plain),
        kind(AnabranchMpmcU, On::Plain),
        kind(AnabranchMpmcB, On::Plain),
        kind(StdU, On::Threads),
        kind(StdB, On::Threads),
        #[cfg(feature = "peers")]
        kind(CrossbeamU, On::Threads),
        #[cfg(feature = "peers")]
        kind(CrossbeamB, On::Threads),
        #[cfg(feature = "peers")]
        kind(CrossbeamSelect, On::Threads),
        #[cfg(feature = "peers")]
        kind(KanalU, On::Threads),
        #[cfg(feature = "peers")]
        kind(KanalB, On::Threads),
        #[cfg(feature = "peers")]
        kind(CrossfireU, On::Threads),
        #[cfg(feature = "peers")]
        kind(CrossfireB, On::Threads),
        #[cfg(feature = "peers")]
        kind(CrossfireMultiplex, On::Threads),
        #[cfg(feature = "peers")]
        kind(FlumeU, On::Threads),
        #[cfg(feature = "peers")]
        kind(FlumeB, On::Threads),
    ];

    const BASELINE: Kind = kind(AnabranchU, On::Fibers);

    fn threads(self, asked: &[usize]) -> Vec<Option<usize>> {
        match self.on {
            // Always one thread.
            On::Current => vec![None],
            // As many threads as the workload uses; the system spreads them over all cores.
            On::Threads | On::Plain => vec![None],
            On::Fibers | On::Tokio => asked.iter().copied().map(Some).collect(),
        }
    }

    fn threads_shown(self, threads: Option<usize>) -> String {
        threads.map_or_else(|| "-".into(), |threads| threads.to_string())
    }

    fn is_ours(self) -> bool {
        self.name().starts_with("anabranch")
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = match self.on {
            On::Fibers => "",
            On::Tokio => "-tokio",
            On::Current => "-current",
            On::Threads => "-threads",
            On::Plain => "-plain",
        };
        f.pad(&format!("{}{on}", self.name()))
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::chosen;

    #[test]
    fn names_are_unique_and_chosen_by_their_beginning() {
        for kind in Kind::ALL {
            assert_eq!(chosen::<Kind>(&[kind.to_string()]), Ok(vec![*kind]));
        }
        assert_eq!(chosen::<Kind>(&["may*".into()]).unwrap().len(), 4);
        assert!(chosen::<Kind>(&["tokyo".into()]).unwrap_err().contains("tokio-u-current"));
    }

    #[test]
    fn every_peer_is_of_some_use() {
        for kind in Kind::ALL {
            assert!(kind.is_link() || kind.is_shared() || kind.is_selection(), "{kind}");
            assert!(!(kind.is_selection() && (kind.is_link() || kind.is_shared())), "{kind}");
        }
    }
}
