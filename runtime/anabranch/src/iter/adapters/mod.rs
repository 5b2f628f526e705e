//! Parallel iterators that change the items of another parallel iterator.

/// Implements `Debug` for an adapter with closures, which have none: it shows the iterator below.
macro_rules! debug_by_base {
    ($name:ident<I $(, $other:ident)*>) => {
        impl<I: std::fmt::Debug $(, $other)*> std::fmt::Debug for $name<I $(, $other)*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("base", &self.base).finish_non_exhaustive()
            }
        }
    };
}

mod any;
mod blocks;
mod cancelled_by;
mod chain;
mod chunks;
mod dedup;
mod deterministic;
mod each;
mod either;
mod enumerate;
mod filter;
mod flat_map;
mod flat_map_iter;
mod fold;
pub(super) mod init;
mod interleave;
mod intersperse;
mod map;
mod map_init;
mod multi_zip;
mod panic_fuse;
mod piece_len;
mod positions;
mod prefix;
mod progress;
mod rev;
mod skip;
mod step_by;
mod try_fold;
mod while_some;
mod zip;

pub use self::{
    any::{SkipAny, SkipAnyWhile, TakeAny, TakeAnyWhile},
    blocks::{ExponentialBlocks, UniformBlocks},
    cancelled_by::CancelledBy,
    chain::Chain,
    chunks::{Chunks, FoldChunks, FoldChunksWith},
    dedup::{Dedup, DedupByKey},
    deterministic::Deterministic,
    each::{Cloned, Copied, Inspect, Update},
    enumerate::Enumerate,
    filter::{Filter, FilterMap},
    flat_map::{FlatMap, Flatten},
    flat_map_iter::{FlatMapIter, FlattenIter},
    fold::{Fold, FoldWith},
    interleave::{Interleave, InterleaveShortest},
    intersperse::Intersperse,
    map::Map,
    map_init::{MapInit, MapWith},
    multi_zip::MultiZip,
    panic_fuse::PanicFuse,
    piece_len::{MaxLen, MinLen},
    positions::Positions,
    prefix::{SkipWhile, TakeWhile},
    progress::Reported,
    rev::Rev,
    skip::{Skip, Take},
    step_by::StepBy,
    try_fold::{TryFold, TryFoldWith},
    while_some::WhileSome,
    zip::{Zip, ZipEq},
};
