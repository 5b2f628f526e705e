//! Races: several closures run at once, the first to return wins, and the others are cancelled and waited for.
//!
//! `race` and `race_iter` are won by the first closure to return, whatever it returns. `race_ok` and `race_ok_iter` are
//! won by the first closure to succeed.

use crate::{
    cx::{Cx, scope::Spawner},
    sys::sync::{Mutex, into_inner, lock},
};
use std::panic::Location;

/// Holds the winner's result. No other module can construct it, so only this module calls the hidden methods of
/// [`Racers`].
pub struct Finish<R> {
    first: Mutex<Option<R>>,
    /// The place of the call.
    origin: &'static Location<'static>,
}

impl<R> Finish<R> {
    #[track_caller]
    fn new() -> Self {
        Self { first: Mutex::new(None), origin: Location::caller() }
    }

    fn into_result(self) -> Option<R> {
        into_inner(self.first)
    }
}

fn enter<'scope, R, F>(spawner: Spawner<'scope, '_>, finish: &'scope Finish<R>, racer: F)
where
    F: FnOnce(&Cx<'_>) -> R + Send + 'scope,
    R: Send + 'scope,
{
    spawner.spawn_child(finish.origin, (), move |cx| {
        finish_with(spawner, finish, racer(cx));
        Some(())
    });
}

/// Stores a result, if it is the first, and ends the race. A later result is dropped once nothing is locked and the
/// others have been cancelled: its `Drop` may take long, or may look at the winner.
fn finish_with<R>(spawner: Spawner<'_, '_>, finish: &Finish<R>, result: R) {
    let late = {
        let mut first = lock(&finish.first);
        if first.is_none() { first.replace(result) } else { Some(result) }
    };
    spawner.cancel();
    drop(late);
}

/// Closures that [`Cx::race`] accepts: tuples of up to eight with the same result.
///
/// Sealed: it cannot be implemented elsewhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of closures that can race",
    note = "write `cx.race((|cx: &Cx<'_>| .., |cx: &Cx<'_>| ..))`, where all closures return `{R}` and are `Send`",
    note = "for closures that an iterator gives there is `cx.race_iter`"
)]
pub trait Racers<R>: sealed::Sealed<R> {}

mod sealed {
    use super::{Errors, Finish, Spawner};

    pub trait Sealed<R>: Sized {
        #[doc(hidden)]
        fn start<'scope>(self, spawner: Spawner<'scope, '_>, finish: &'scope Finish<R>)
        where
            Self: 'scope,
            R: 'scope;
    }

    pub trait Fallible<R, E>: Sized {
        #[doc(hidden)]
        fn start<'scope>(self, spawner: Spawner<'scope, '_>, finish: &'scope Finish<R>, errors: &'scope Errors<E>)
        where
            Self: 'scope,
            R: 'scope,
            E: 'scope;
    }
}

/// The errors of the racers, each with the index of its racer.
type Errors<E> = Mutex<Vec<(usize, E)>>;

fn enter_ok<'scope, R, E, F>(
    spawner: Spawner<'scope, '_>,
    finish: &'scope Finish<R>,
    errors: &'scope Errors<E>,
    index: usize,
    racer: F,
) where
    F: FnOnce(&Cx<'_>) -> Result<R, E> + Send + 'scope,
    R: Send + 'scope,
    E: Send + 'scope,
{
    spawner.spawn_child(finish.origin, (), move |cx| {
        match racer(cx) {
            Ok(result) => finish_with(spawner, finish, result),
            Err(error) => lock(errors).push((index, error)),
        }
        Some(())
    });
}

/// Returns the winner, or the errors in the order of the racers.
fn first_success<R, E>(finish: Finish<R>, errors: Errors<E>) -> Result<R, Vec<E>> {
    finish.into_result().ok_or_else(|| {
        let mut errors = into_inner(errors);
        errors.sort_by_key(|&(index, _)| index);
        errors.into_iter().map(|(_, error)| error).collect()
    })
}

/// Closures that [`Cx::race_ok`] accepts: tuples of up to eight with the same result.
///
/// Sealed: it cannot be implemented elsewhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of closures that can race",
    note = "write `cx.race_ok((|cx: &Cx<'_>| .., |cx: &Cx<'_>| ..))`, where all closures return `Result<{R}, {E}>` and are `Send`",
    note = "for closures that an iterator gives there is `cx.race_ok_iter`"
)]
pub trait FallibleRacers<R, E>: sealed::Fallible<R, E> {}

macro_rules! tuples {
    ($($F:ident $f:ident $index:literal),+) => {
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

        impl<R, X, $($F),+> sealed::Fallible<R, X> for ($($F,)+)
        where
            R: Send,
            X: Send,
            $($F: FnOnce(&Cx<'_>) -> Result<R, X> + Send,)+
        {
            fn start<'scope>(self, spawner: Spawner<'scope, '_>, finish: &'scope Finish<R>, errors: &'scope Errors<X>)
            where
                Self: 'scope,
                R: 'scope,
                X: 'scope,
            {
                let ($($f,)+) = self;
                $(enter_ok(spawner, finish, errors, $index, $f);)+
            }
        }

        impl<R, X, $($F),+> FallibleRacers<R, X> for ($($F,)+)
        where
            R: Send,
            X: Send,
            $($F: FnOnce(&Cx<'_>) -> Result<R, X> + Send,)+
        {
        }
    };
}

tuples!(A a 0);
tuples!(A a 0, B b 1);
tuples!(A a 0, B b 1, C c 2);
tuples!(A a 0, B b 1, C c 2, D d 3);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7);

impl Cx<'_> {
    /// Runs all closures of a tuple at once and returns what the first of them returns, **even if it is an error**. The
    /// others are cancelled and waited for; what they return is dropped. [`race_ok`](Self::race_ok) continues after an
    /// error.
    ///
    /// When the enclosing scope is cancelled, so are all closures. The first to return still wins.
    ///
    /// Write the type of the parameter, `|cx: &Cx<'_>| ..` or `|_: &Cx<'_>| ..`. Otherwise the compiler says that an
    /// implementation of `FnOnce` is not general enough, because it does not infer such a signature for closures in a
    /// tuple.
    ///
    /// # Panics
    /// Panics when one of the closures panics before the others have ended.
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
        let finish = Finish::new();
        self.scope(|s| racers.start(s.spawner(), &finish));
        finish.into_result().expect("a tuple has at least one closure, and those that panic do so here")
    }

    /// Calls `racer` with each item, each call on a fiber of its own, and returns what the first call returns. The
    /// first to return wins, **even with an error**; the others are cancelled and waited for. Returns `None` if there
    /// are no items.
    ///
    /// # Panics
    /// Panics when `racer` panics for an item before the others have ended.
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
        let (finish, racer) = (Finish::new(), &racer);
        self.scope(|s| items.into_iter().for_each(|item| enter(s.spawner(), &finish, move |cx| racer(cx, item))));
        finish.into_result()
    }

    /// Runs all closures of a tuple at once and returns the first success. If a closure fails, the others continue.
    /// When one succeeds, the others are cancelled and waited for.
    ///
    /// # Errors
    /// Returns all errors, in the order of the closures, when none succeeds.
    ///
    /// # Panics
    /// Panics when one of the closures panics before the others have ended.
    ///
    /// ```
    /// use anabranch::Cx;
    /// use std::{io, time::Duration};
    ///
    /// let answer = anabranch::run(|cx| {
    ///     cx.race_ok((
    ///         |_: &Cx<'_>| Err::<&str, io::Error>(io::ErrorKind::ConnectionRefused.into()),
    ///         |cx: &Cx<'_>| Ok(cx.sleep(Duration::from_millis(1)).map(|()| "mirror")?),
    ///     ))
    /// });
    /// assert_eq!(answer.unwrap(), "mirror");
    /// ```
    #[track_caller]
    pub fn race_ok<R: Send, E: Send>(&self, racers: impl FallibleRacers<R, E>) -> Result<R, Vec<E>> {
        let (finish, errors) = (Finish::new(), Errors::new(Vec::new()));
        self.scope(|s| racers.start(s.spawner(), &finish, &errors));
        first_success(finish, errors)
    }

    /// Calls `racer` with each item, each call on a fiber of its own, and returns the first success. When one succeeds,
    /// the others are cancelled and waited for.
    ///
    /// # Errors
    /// Returns all errors, in the order of the items, when none succeeds. The list is empty if there are no items.
    ///
    /// # Panics
    /// Panics when `racer` panics for an item before the others have ended.
    ///
    /// ```
    /// let first = |texts: &[&str]| anabranch::run(|cx| cx.race_ok_iter(texts, |_, text| text.parse::<u32>()));
    /// assert_eq!(first(&["refused", "42", "unreachable"]), Ok(42));
    /// assert_eq!(first(&["refused"]).unwrap_err().len(), 1);
    /// ```
    #[track_caller]
    pub fn race_ok_iter<I, R, E, F>(&self, items: I, racer: F) -> Result<R, Vec<E>>
    where
        I: IntoIterator,
        I::Item: Send,
        F: Fn(&Cx<'_>, I::Item) -> Result<R, E> + Sync,
        R: Send,
        E: Send,
    {
        let (finish, errors, racer) = (Finish::new(), Errors::new(Vec::new()), &racer);
        self.scope(|s| {
            for (index, item) in items.into_iter().enumerate() {
                enter_ok(s.spawner(), &finish, &errors, index, move |cx| racer(cx, item));
            }
        });
        first_success(finish, errors)
    }
}
