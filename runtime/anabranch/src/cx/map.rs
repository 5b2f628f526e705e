//! A concurrent map: a limited number of items at a time, with the results in order.

use crate::{
    cx::{Cx, scope::Spawner},
    sys::sync::{Mutex, into_inner, lock},
    wait::{Cancelled, current_stack::apart},
};
use std::{iter::Enumerate, panic::Location};

/// The data that the fibers of a map share.
struct Work<I: Iterator, R, E> {
    state: Mutex<State<I, R, E>>,
    limit: usize,
    /// The place of the call.
    origin: &'static Location<'static>,
}

struct State<I: Iterator, R, E> {
    items: Enumerate<I>,
    results: Vec<Option<R>>,
    error: Option<E>,
    /// The number of fibers.
    fibers: usize,
}

impl<I, R, E> Work<I, R, E>
where
    I: Iterator + Send,
    I::Item: Send,
    R: Send,
    E: Send + From<Cancelled>,
{
    /// Runs items on the calling fiber, and spawns another fiber while there are too few.
    fn run<'scope, F>(&'scope self, cx: &Cx<'_>, spawner: Spawner<'scope, '_>, function: &'scope F)
    where
        F: Fn(&Cx<'_>, I::Item) -> Result<R, E> + Sync,
    {
        loop {
            let (index, item) = {
                let mut state = lock(&self.state);
                if state.error.is_some() {
                    return;
                }
                // The other fibers block their threads until they can take the next item. So an iterator that has
                // captured a `Cx` must not leave the stack here.
                let Some(next) = apart(|| state.items.next()) else { return };
                if state.fibers < self.limit {
                    state.fibers += 1;
                    spawner.spawn_child(self.origin, (), move |cx| {
                        self.run(cx, spawner, function);
                        Some(())
                    });
                }
                next
            };
            let result = cx.check().map_err(E::from).and_then(|()| function(cx, item));
            match result {
                Ok(result) => {
                    let mut state = lock(&self.state);
                    if state.results.len() <= index {
                        state.results.resize_with(index + 1, || None);
                    }
                    state.results[index] = Some(result);
                }
                Err(error) => {
                    let surplus = {
                        let mut state = lock(&self.state);
                        if state.error.is_none() { state.error.replace(error) } else { Some(error) }
                    };
                    spawner.cancel();
                    drop(surplus);
                    return;
                }
            }
        }
    }
}

impl Cx<'_> {
    /// Applies `function` to each item, at most `limit` at a time, each on a fiber, and returns the results in the
    /// order of the items.
    ///
    /// Each free fiber takes the next item from the iterator, so the iterator may be long or endless. With a limit of
    /// `usize::MAX` each item that waits has a fiber of its own: all run concurrently.
    ///
    /// # Errors
    /// Returns the error that occurred first. The other fibers are cancelled and waited for. An item that is cancelled
    /// before it begins fails with [`Cancelled`], so the error type has `From<Cancelled>`: an enum of your own,
    /// [`WaitError`](crate::WaitError), [`std::io::Error`] or `Box<dyn Error + Send + Sync>`, for example. A `String`
    /// has not.
    ///
    /// # Panics
    /// Panics when `limit` is zero, or when `function` or the iterator panics. An iterator that has captured a `Cx`
    /// cannot wait with it.
    ///
    /// ```
    /// use anabranch::Cancelled;
    /// use std::time::Duration;
    ///
    /// let squares = anabranch::run(|cx| {
    ///     cx.map_concurrent(10, 0..100u64, |cx, n| {
    ///         cx.sleep(Duration::from_micros(100 - n))?;
    ///         Ok::<_, Cancelled>(n * n)
    ///     })
    /// });
    /// assert_eq!(squares.unwrap()[9], 81);
    /// ```
    #[track_caller]
    pub fn map_concurrent<I, R, E, F>(&self, limit: usize, items: I, function: F) -> Result<Vec<R>, E>
    where
        I: IntoIterator,
        I::IntoIter: Send,
        I::Item: Send,
        F: Fn(&Cx<'_>, I::Item) -> Result<R, E> + Sync,
        R: Send,
        E: Send + From<Cancelled>,
    {
        assert!(limit > 0, "a map with a limit of zero would never begin");
        let items = items.into_iter().enumerate();
        let state = State { items, results: Vec::new(), error: None, fibers: 1 };
        let work = Work { state: Mutex::new(state), limit, origin: Location::caller() };
        self.scope(|s| work.run(s, s.spawner(), &function));
        let state = into_inner(work.state);
        match state.error {
            Some(error) => Err(error),
            None => Ok(state.results.into_iter().map(|result| result.expect("each item has its result")).collect()),
        }
    }
}
