//! Text, and [`Cow`].

use crate::iter::{
    collect::{FromParallelIterator, ParallelExtend, from_extend, pieces},
    convert::IntoParallelIterator,
};
use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
};

/// Implements the traits for a text and the types of its parts: each thread concatenates the parts of its pieces.
macro_rules! text {
    ($text:ty, $push:ident: $([$($lifetime:lifetime)?] $part:ty),*) => {$(
        impl<$($lifetime)?> ParallelExtend<$part> for $text {
            #[track_caller]
            fn par_extend<I: IntoParallelIterator<Item = $part>>(&mut self, items: I) {
                let pieces = pieces::collect::<Self, _>(items.into_par_iter());
                self.reserve(pieces.iter().map(|piece| piece.len()).sum());
                pieces.iter().for_each(|piece| self.$push(piece));
            }
        }

        impl<$($lifetime)?> FromParallelIterator<$part> for $text {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = $part>>(items: I) -> Self {
                from_extend(items)
            }
        }
    )*};
}

text! { String, push_str: [] char, ['a] &'a char, ['a] &'a str, [] String, [] Box<str>, ['a] Cow<'a, str> }
text! { OsString, push: ['a] &'a OsStr, [] OsString, ['a] Cow<'a, OsStr> }

impl<T: Send> FromParallelIterator<T> for Box<str>
where
    String: FromParallelIterator<T>,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        String::from_par_iter(items).into_boxed_str()
    }
}

/// The result is [`Cow::Owned`].
impl<C, T> FromParallelIterator<T> for Cow<'_, C>
where
    C: ToOwned<Owned: FromParallelIterator<T>> + ?Sized,
    T: Send,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        Self::Owned(C::Owned::from_par_iter(items))
    }
}
