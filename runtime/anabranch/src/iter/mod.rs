//! Parallel iterators.
//!
//! `use anabranch::prelude::*;` brings them in. A collection has [`par_iter`](IntoParallelRefIterator::par_iter) for
//! references to its items, [`par_iter_mut`](IntoParallelRefMutIterator::par_iter_mut) for mutable references, and
//! [`into_par_iter`](IntoParallelIterator::into_par_iter) for the items themselves. [`ParallelIterator`] has the
//! methods of all parallel iterators, and [`IndexedParallelIterator`] has further methods for iterators whose number of
//! items is known.
//!
//! ```
//! use anabranch::prelude::*;
//!
//! let squares: Vec<u64> = (0..1000u64).into_par_iter().map(|i| i * i).collect();
//! let odd = squares.par_iter().filter(|square| *square % 2 == 1).count();
//! assert_eq!(odd, 500);
//! ```
//!
//! A loop is cut only when another thread takes work, never by a preset count. So there is no grain size to choose, and
//! a small loop costs about as much as a plain loop.

mod adapters;
mod collect;
mod convert;
mod fallible;
mod indexed_parallel_iterator;
mod parallel_iterator;
pub mod plumbing;
mod sort;
mod sources;
mod terminal;

#[cfg(feature = "imbl")]
pub use self::sources::imbl;
pub use self::{
    adapters::{
        CancelledBy, Chain, Chunks, Cloned, Copied, Dedup, DedupByKey, Deterministic, Enumerate, ExponentialBlocks,
        Filter, FilterMap, FlatMap, FlatMapIter, Flatten, FlattenIter, Fold, FoldChunks, FoldChunksWith, FoldWith,
        Inspect, Interleave, InterleaveShortest, Intersperse, Map, MapInit, MapWith, MaxLen, MinLen, MultiZip,
        PanicFuse, Positions, Reported, Rev, Skip, SkipAny, SkipAnyWhile, SkipWhile, StepBy, Take, TakeAny,
        TakeAnyWhile, TakeWhile, TryFold, TryFoldWith, UniformBlocks, Update, WhileSome, Zip, ZipEq,
    },
    collect::{FromParallelIterator, ParallelExtend},
    convert::{IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator},
    fallible::Try,
    indexed_parallel_iterator::IndexedParallelIterator,
    parallel_iterator::ParallelIterator,
    sources::{
        array,
        bridged::{IterBridge, OrderedIterBridge, ParallelBridge},
        collections,
        drain::{ParallelDrainFull, ParallelDrainRange},
        generate::{Empty, Once, Repeat, RepeatN, empty, once, repeat, repeat_n},
        option, range, result, slice,
        slice::{ParallelSlice, ParallelSliceMut},
        split::{Split, split},
        string,
        string::ParallelString,
        vec,
        walk_tree::{WalkTree, WalkTreePostfix, WalkTreePrefix, walk_tree, walk_tree_postfix, walk_tree_prefix},
    },
};
pub use either::Either;

#[allow(deprecated, reason = "it is deprecated for users")]
pub use self::sources::generate::repeatn;
