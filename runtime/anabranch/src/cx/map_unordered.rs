//! A concurrent map whose results are taken as they arrive.

use crate::{
    cx::{Cx, join_error::JoinError},
    sys::unwind::resume_unwind,
    wait::{Cancelled, suspend::WaitReason},
};
use std::fmt;

/// The results of a [`Cx::map_unordered`], in the order in which they arrive.
pub struct Arrivals<'a, T>(&'a mut dyn FnMut(&Cx<'_>) -> Result<Option<T>, JoinError>);

impl<T> Arrivals<'_, T> {
    /// Takes items from the iterator up to the limit, waits for the next result, and returns it. Returns `None` when
    /// the iterator has ended and all results were returned. The result of an item that has ended is returned without
    /// waiting, even in a cancelled scope.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the wait was cancelled. No result is lost.
    ///
    /// # Panics
    /// Panics when the function has panicked for an item, or when the iterator panics.
    #[track_caller]
    pub fn next(&mut self, cx: &Cx<'_>) -> Result<Option<T>, Cancelled> {
        match (self.0)(cx) {
            Ok(result) => Ok(result),
            Err(JoinError::Panicked(panic)) => resume_unwind(panic),
            Err(_) => Err(Cancelled),
        }
    }
}

impl<T> fmt::Debug for Arrivals<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrivals").finish_non_exhaustive()
    }
}

impl Cx<'_> {
    /// Applies `function` to each item, at most `limit` at a time, each on a fiber, while `body` takes the results as
    /// they arrive. Returns what `body` returns.
    ///
    /// The items are taken from the iterator on the calling fiber, in [`Arrivals::next`]. A result that was not taken
    /// counts towards the limit. So a slow `body` slows the map down, and the iterator may be endless. An iterator that
    /// has returned `None` is asked again in the next call, so `body` can add items. When `body` returns, the fibers
    /// that have not ended are cancelled and waited for. For results in the order of the items, and a stop at the first
    /// error, use [`map_concurrent`](Self::map_concurrent).
    ///
    /// # Panics
    /// Panics when `limit` is zero, or when `body` panics. A panic of `function` reaches `body` in [`Arrivals::next`].
    ///
    /// ```
    /// use anabranch::Cancelled;
    /// use std::time::Duration;
    ///
    /// let first_two = anabranch::run(|cx| {
    ///     let wait = |cx: &anabranch::Cx<'_>, n| cx.sleep(Duration::from_millis(n)).map(|()| n);
    ///     cx.map_unordered(3, [3_600_000, 20, 1, 3_600_000], wait, |arrivals| {
    ///         let mut first_two = Vec::new();
    ///         while first_two.len() < 2 && let Some(n) = arrivals.next(cx)? {
    ///             first_two.push(n?);
    ///         }
    ///         Ok::<_, Cancelled>(first_two)
    ///     })
    /// });
    /// assert_eq!(first_two, Ok(vec![1, 20]));
    /// ```
    /// A crawl, which finds its items on the way:
    /// ```
    /// use anabranch::Cancelled;
    /// use std::{cell::RefCell, iter};
    ///
    /// let found = anabranch::run(|cx| {
    ///     let (open, mut found) = (RefCell::new(vec![1]), vec![]);
    ///     let pages = iter::from_fn(|| open.borrow_mut().pop());
    ///     cx.map_unordered(2, pages, |_, page| [2 * page, 2 * page + 1], |arrivals| {
    ///         while let Some(links) = arrivals.next(cx)? {
    ///             let new = links.into_iter().filter(|&link| link < 8);
    ///             new.for_each(|link| { open.borrow_mut().push(link); found.push(link); });
    ///         }
    ///         Ok::<_, Cancelled>(())
    ///     })?;
    ///     found.sort();
    ///     Ok::<_, Cancelled>(found)
    /// });
    /// assert_eq!(found, Ok(vec![2, 3, 4, 5, 6, 7]));
    /// ```
    #[doc(alias = "buffer_unordered")]
    #[track_caller]
    pub fn map_unordered<I, T, F, R>(
        &self,
        limit: usize,
        items: I,
        function: F,
        body: impl FnOnce(&mut Arrivals<'_, T>) -> R,
    ) -> R
    where
        I: IntoIterator,
        I::Item: Send,
        F: Fn(&Cx<'_>, I::Item) -> T + Sync,
        T: Send,
    {
        assert!(limit > 0, "a map with a limit of zero would never begin");
        let reason = WaitReason::new(&"map_unordered");
        let (mut items, function) = (items.into_iter(), &function);
        self.scope(|s| {
            let mut set = s.join_set();
            let mut next = |cx: &Cx<'_>| {
                while set.len() < limit
                    && let Some(item) = items.next()
                {
                    set.spawn_member(reason.at, (), move |cx| function(cx, item));
                }
                set.join_next_for(cx, reason)
            };
            body(&mut Arrivals(&mut next))
        })
    }
}
