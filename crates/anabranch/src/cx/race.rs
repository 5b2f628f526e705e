//! Races: several closures at once, the first result wins, the others are cancelled and waited for.

use crate::{
    cx::scope::Spawner,
    sys::sync::{Mutex, into_inner, lock},
    wait::Cx,
};

/// Where the winner's result goes.
type Finish<R> = Mutex<Option<R>>;

fn enter<'scope, R, F>(spawner: Spawner<'scope, '_>, finish: &'scope Finish<R>, racer: F)
where
    F: FnOnce(&Cx<'_>) -> R + Send + 'scope,
    R: Send + 'scope,
{
    spawner.spawn(move |cx| finish_with(spawner, finish, racer(cx)));
}

/// Puts down a result, if it is the first, and ends the race. One that comes late is dropped once nothing is locked, and when the
/// others have heard: who drops it may take long, or want to know who won.
fn finish_with<R>(spawner: Spawner<'_, '_>, finish: &Finish<R>, result: R) {
    let late = {
        let mut first = lock(finish);
        if first.is_none() { first.replace(result) } else { Some(result) }
    };
    spawner.cancel();
    drop(late);
}

/// Closures that [`Cx::race`] takes: tuples of up to eight with the same result.
///
/// Sealed: it cannot be implemented elsewhere.
pub trait Racers<R>: sealed::Sealed<R> {}

mod sealed {
    use super::{Finish, Spawner};

    pub trait Sealed<R>: Sized {
        #[doc(hidden)]
        fn start<'scope>(self, spawner: Spawner<'scope, '_>, finish: &'scope Finish<R>)
        where
            Self: 'scope,
            R: 'scope;
    }
}

macro_rules! tuples {
    ($($F:ident $f:ident),+) => {
        impl<R, $($F),+> sealed::Sealed<R> for ($($F,)+)
        where
            R: Send,
            $($F: FnOnce(&Cx<'_>) -> R + Send,)+
        {
            fn start<'scope>(self, spawner: Spawner<'scope, '_>, finish: &'scope Finish<R>)
            where
                Self: 'scope,
                R: 'scope,
            {
                let ($($f,)+) = self;
                $(enter(spawner, finish, $f);)+
            }
        }

        impl<R, $($F),+> Racers<R> for ($($F,)+)
        where
            R: Send,
            $($F: FnOnce(&Cx<'_>) -> R + Send,)+
        {
        }
    };
}

tuples!(A a);
tuples!(A a, B b);
tuples!(A a, B b, C c);
tuples!(A a, B b, C c, D d);
tuples!(A a, B b, C c, D d, E e);
tuples!(A a, B b, C c, D d, E e, F f);
tuples!(A a, B b, C c, D d, E e, F f, G g);
tuples!(A a, B b, C c, D d, E e, F f, G g, H h);

impl Cx<'_> {
    /// Runs all closures of a tuple at once and returns the first result. The others are cancelled and waited for; what they
    /// return is dropped.
    ///
    /// When the scope around it is cancelled all are, and the first to return wins all the same.
    ///
    /// # Panics
    /// When one of them panics before the others have ended.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let winner = anabranch::run(|cx| {
    ///     cx.race((
    ///         |cx: &anabranch::Cx<'_>| cx.sleep(Duration::from_secs(3600)).map(|()| "tortoise"),
    ///         |cx: &anabranch::Cx<'_>| cx.sleep(Duration::from_millis(1)).map(|()| "hare"),
    ///     ))
    /// });
    /// assert_eq!(winner, Ok("hare"));
    /// ```
    #[track_caller]
    pub fn race<R: Send>(&self, racers: impl Racers<R>) -> R {
        let finish = Finish::new(None);
        self.scope(|s| racers.start(s.spawner(), &finish));
        into_inner(finish).expect("a tuple has at least one closure, and those that panic do so here")
    }

    /// As [`race`](Self::race), for any number of items: calls `racer` with each, each on a fiber. `None`: there were
    /// none.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let winner = anabranch::run(|cx| {
    ///     cx.race_iter([3_600_000, 1, 7_200_000], |cx, n| {
    ///         cx.sleep(Duration::from_millis(n))?;
    ///         Ok::<_, anabranch::Cancelled>(n)
    ///     })
    /// });
    /// assert_eq!(winner, Some(Ok(1)));
    /// ```
    #[track_caller]
    pub fn race_iter<I, R, F>(&self, items: I, racer: F) -> Option<R>
    where
        I: IntoIterator,
        I::Item: Send,
        F: Fn(&Cx<'_>, I::Item) -> R + Sync,
        R: Send,
    {
        let (finish, racer) = (Finish::new(None), &racer);
        self.scope(|s| items.into_iter().for_each(|item| enter(s.spawner(), &finish, move |cx| racer(cx, item))));
        into_inner(finish)
    }

    /// As [`race_iter`](Self::race_iter), but only a success wins.
    ///
    /// # Errors
    /// When none succeeds: all errors, in the order of the items.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// let first = |texts: &[&str]| anabranch::run(|cx| cx.race_ok(texts, |_, text| text.parse::<u32>()));
    /// assert_eq!(first(&["refused", "42", "unreachable"]), Ok(42));
    /// assert_eq!(first(&["refused"]).unwrap_err().len(), 1);
    /// ```
    #[track_caller]
    pub fn race_ok<I, R, E, F>(&self, items: I, racer: F) -> Result<R, Vec<E>>
    where
        I: IntoIterator,
        I::Item: Send,
        F: Fn(&Cx<'_>, I::Item) -> Result<R, E> + Sync,
        R: Send,
        E: Send,
    {
        let finish = Finish::new(None);
        let errors = Mutex::new(Vec::new());
        self.scope(|s| {
            let (finish, errors, racer, spawner) = (&finish, &errors, &racer, s.spawner());
            for (index, item) in items.into_iter().enumerate() {
                spawner.spawn(move |cx| match racer(cx, item) {
                    Ok(result) => finish_with(spawner, finish, result),
                    Err(error) => lock(errors).push((index, error)),
                });
            }
        });
        into_inner(finish).ok_or_else(|| {
            let mut errors = into_inner(errors);
            errors.sort_by_key(|&(index, _)| index);
            errors.into_iter().map(|(_, error)| error).collect()
        })
    }
}
