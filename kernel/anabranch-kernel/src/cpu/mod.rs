//! The operations on the processor.
//!
//! They are loops of the parallel iterators of `anabranch`. A piece of such a loop takes its part of the views, and
//! calls the kernel for each index. So the compiler sees one loop over slices, and vectorises it like a plain one.
//! Before each block a piece checks whether to stop, see [`stop`].

mod items;
mod parts;
mod reduce;
mod scan;
mod scatter;
mod sort;
mod stop;
mod watched;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch::prelude::*;
use anabranch::{Cancelled, Cx};

use self::items::Items;
use self::stop::Stop;
use self::watched::Watched;
pub(crate) use self::{
    reduce::reduce,
    scan::{exclusive_scan, scan},
    scatter::{histogram, scatter},
    sort::sort_by_key,
};
use crate::source::{Source, len};
use crate::{Error, Item, Kernel, Trap};

/// Computes all elements.
pub(crate) fn collect<T: Item, S: Source<T>>(source: &S, cx: Option<&Cx<'_>>) -> Result<Vec<T>, Error> {
    let items = items(source)?;
    catch(S::NAME, cx, |stop| Watched::new(items, stop).collect())
}

/// Returns the elements for which the predicate holds.
pub(crate) fn compact<P, T, S>(source: &S, cx: &Cx<'_>) -> Result<Vec<T>, Error>
where
    T: Item,
    P: Kernel<Params = (T,), Output = bool>,
    S: Source<T>,
{
    let items = items(source)?;
    catch(P::NAME, Some(cx), |stop| Watched::new(items, stop).filter(|item| P::call((*item,))).collect())
}

/// Returns the elements as a parallel iterator.
fn items<T: Item, S: Source<T>>(source: &S) -> Result<Items<'_, T, S::View<'_>>, Error> {
    Ok(Items::new(source.view()?, 0..len(source)?))
}

/// Runs a loop, until a piece panics or the scope of `cx` is cancelled. Either becomes an error.
fn catch<R>(kernel: &'static str, cx: Option<&Cx<'_>>, run: impl FnOnce(&Stop<'_>) -> R) -> Result<R, Error> {
    let stop = Stop::new(cx);
    // A kernel has no access to what the loop writes. After a panic the loop drops its results, except those of
    // `scatter`, which documents it.
    let result = catch_unwind(AssertUnwindSafe(|| run(&stop)));
    assert!(result.is_err() || !stop.unwinds(), "a loop with empty blocks unwinds");
    result.map_err(|payload| match payload.downcast::<Cancelled>() {
        Ok(_) => Error::Cancelled,
        Err(payload) => Error::Trap(trap_of(kernel, payload)),
    })
}

/// Returns what a panic says.
fn trap_of(kernel: &'static str, payload: Box<dyn Any + Send>) -> Trap {
    let payload = match payload.downcast::<Trap>() {
        Ok(trap) => return *trap,
        Err(payload) => payload,
    };
    let text = match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().map_or("a panic without a message", |text| text).to_owned(),
    };
    Trap::new(kernel, text)
}
