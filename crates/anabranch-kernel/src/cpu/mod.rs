//! The operations on the processor.
//!
//! They are loops of the parallel iterators of `anabranch`. A piece of such a loop takes its part of the views, and
//! calls the kernel for each index. So the compiler sees one loop over slices, and vectorises it like a plain one.

mod items;
mod parts;
mod reduce;
mod scatter;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch::iter;
use anabranch::prelude::*;

use self::items::Items;
pub(crate) use self::{
    reduce::reduce,
    scatter::{histogram, scatter},
};
use crate::source::Source;
use crate::{Element, Error, Item, Kernel, Key, Trap, vector};

/// Computes all elements.
pub(crate) fn collect<T: Item, S: Source<T>>(source: &S) -> Result<Vec<T>, Error> {
    let items = items(source)?;
    catch(S::NAME, || items.collect())
}

/// Combines each element with those before it.
pub(crate) fn scan<K, T, S>(source: &S) -> Result<Vec<T>, Error>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    let items = items(source)?;
    catch(K::NAME, || items.prefix_scan(|left, right| K::call((*left, *right))))
}

/// Combines those before each element.
pub(crate) fn exclusive_scan<K, T, S>(source: &S, identity: T) -> Result<Vec<T>, Error>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    let Some(last) = vector::len(source)?.checked_sub(1) else { return Ok(Vec::new()) };
    let before = Items::new(source.view()?, 0..last);
    catch(K::NAME, || iter::once(identity).chain(before).prefix_scan(|left, right| K::call((*left, *right))))
}

/// Returns the elements for which the predicate holds.
pub(crate) fn compact<P, T, S>(source: &S) -> Result<Vec<T>, Error>
where
    T: Item,
    P: Kernel<Params = (T,), Output = bool>,
    S: Source<T>,
{
    let items = items(source)?;
    catch(P::NAME, || items.filter(|item| P::call((*item,))).collect())
}

/// Sorts values by keys, stable.
pub(crate) fn sort_by_key<K: Key, T: Element>(
    keys: &impl Source<K>,
    values: &impl Source<T>,
) -> Result<(Vec<K>, Vec<T>), Error> {
    let (keys, values) = (items(keys)?, items(values)?);
    catch("sort_by_key", || {
        let mut pairs: Vec<(K, T)> = keys.zip(values).collect();
        pairs.par_sort_by_key(|(key, _)| key.to_ordered());
        pairs.into_par_iter().unzip()
    })
}

/// Returns the elements as a parallel iterator.
fn items<T: Item, S: Source<T>>(source: &S) -> Result<Items<'_, T, S::View<'_>>, Error> {
    Ok(Items::new(source.view()?, 0..vector::len(source)?))
}

/// Runs a loop. A panic in it becomes an error.
fn catch<R>(kernel: &'static str, run: impl FnOnce() -> R) -> Result<R, Error> {
    // A kernel has no access to what the loop writes. After a panic the loop drops its results, except those of
    // `scatter`, which documents it.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Error::Trap(trap_of(kernel, payload)))
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
