//! Parallel iterators whose types do not tell how they are made.
//!
//! A chain of generic adapters has a type of its own, so random chains of them cannot be compiled. Here each adapter
//! works on an [`Unindexed`] or an [`Indexed`], and its result is one of these again. So the number of types to compile
//! is that of the adapters and ends, and not that of their combinations.
//!
//! An erased iterator passes everything on to the one inside: `drive`, `accept`, and the producer with its cuts.
//! Folders are behind a `Box`. Results and positions, which move between threads, stay in a [`Store`], and the erased
//! ones are their numbers in it.

use super::value::Value;
use anabranch::iter::plumbing::{Consumer, Drive, DriveIndexed, Position, Producer, Progress, Visitor, accept_indexed};
use std::{
    cell::Cell,
    mem,
    sync::{Mutex, PoisonError},
};

/// A parallel iterator of values.
pub enum Chain<'a> {
    Unindexed(Unindexed<'a>),
    Indexed(Indexed<'a>),
}

/// A parallel iterator of which it is not known whether it is indexed. `accept` finds out.
pub struct Unindexed<'a>(Box<dyn ErasedDrive + 'a>);

/// A parallel iterator of known length.
pub struct Indexed<'a>(Box<dyn ErasedIndexed + 'a>);

impl<'a> Chain<'a> {
    pub fn unindexed(iter: impl Drive<Item = Value> + 'a) -> Self {
        Self::Unindexed(Unindexed(Box::new(iter)))
    }
    pub fn indexed(iter: impl DriveIndexed<Item = Value> + 'a) -> Self {
        Self::Indexed(Indexed(Box::new(iter)))
    }
    /// Forgets that the length is known.
    pub fn into_unindexed(self) -> Unindexed<'a> {
        match self {
            Self::Unindexed(iter) => iter,
            Self::Indexed(iter) => Unindexed(iter.0),
        }
    }
}

impl Drive for Unindexed<'_> {
    type Item = Value;

    fn drive<C: Consumer<Value>>(
        self,
        consumer: &C,
        folder: C::Folder,
        at: C::Position,
    ) -> Progress<C::Folder, C::Result> {
        drive(self.0, consumer, folder, at)
    }
    fn opt_len(&self) -> Option<usize> {
        self.0.erased_opt_len()
    }
    fn accept<V: Visitor<Value>>(self, visitor: V) -> V::Output {
        let (mut visitor, mut output) = (Some(visitor), None);
        self.0.erased_accept(&mut |chain| {
            let visitor = visitor.take().expect("accepted once");
            output = Some(match chain {
                Chain::Unindexed(iter) => visitor.visit(iter),
                Chain::Indexed(iter) => visitor.visit_indexed(iter),
            });
        });
        output.expect("accepted")
    }
}

impl Drive for Indexed<'_> {
    type Item = Value;

    fn drive<C: Consumer<Value>>(
        self,
        consumer: &C,
        folder: C::Folder,
        at: C::Position,
    ) -> Progress<C::Folder, C::Result> {
        drive(self.0, consumer, folder, at)
    }
    accept_indexed!(Value);
}

impl DriveIndexed for Indexed<'_> {
    type Producer<'a>
        = Piece<'a>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.0.erased_len()
    }
    fn producer(&mut self) -> Piece<'_> {
        Piece(self.0.erased_producer())
    }
}

/// [`Drive`] as an object.
trait ErasedDrive: Send {
    fn erased_drive<'c>(
        self: Box<Self>,
        consumer: &'c dyn ErasedConsumer,
        folder: BoxedFolder<'c>,
        at: usize,
    ) -> Progress<BoxedFolder<'c>, usize>;
    fn erased_opt_len(&self) -> Option<usize>;
    fn erased_accept(self: Box<Self>, visit: &mut dyn FnMut(Chain<'_>));
}

impl<I: Drive<Item = Value>> ErasedDrive for I {
    fn erased_drive<'c>(
        self: Box<Self>,
        consumer: &'c dyn ErasedConsumer,
        folder: BoxedFolder<'c>,
        at: usize,
    ) -> Progress<BoxedFolder<'c>, usize> {
        (*self).drive(&ConsumerOf(consumer), folder, At { of: consumer, number: at })
    }
    fn erased_opt_len(&self) -> Option<usize> {
        self.opt_len()
    }
    fn erased_accept(self: Box<Self>, visit: &mut dyn FnMut(Chain<'_>)) {
        (*self).accept(Accept(visit));
    }
}

struct Accept<'v>(&'v mut dyn FnMut(Chain<'_>));

impl Visitor<Value> for Accept<'_> {
    type Output = ();

    fn visit<I: Drive<Item = Value>>(self, iter: I) {
        (self.0)(Chain::unindexed(iter));
    }
    fn visit_indexed<I: DriveIndexed<Item = Value>>(self, iter: I) {
        (self.0)(Chain::indexed(iter));
    }
}

/// [`DriveIndexed`] as an object.
trait ErasedIndexed: ErasedDrive {
    fn erased_len(&self) -> usize;
    fn erased_producer(&mut self) -> Box<dyn ErasedProducer<'_> + '_>;
}

impl<I: DriveIndexed<Item = Value>> ErasedIndexed for I {
    fn erased_len(&self) -> usize {
        self.len()
    }
    fn erased_producer(&mut self) -> Box<dyn ErasedProducer<'_> + '_> {
        Box::new(self.producer())
    }
}

/// Runs an erased iterator into a consumer.
fn drive<'a, I: ErasedDrive + ?Sized + 'a, C: Consumer<Value>>(
    iter: Box<I>,
    consumer: &C,
    folder: C::Folder,
    at: C::Position,
) -> Progress<C::Folder, C::Result> {
    let of = StoreOf { consumer, results: Store::default(), positions: Store::default() };
    let home = Cell::new(None);
    let first = Box::new(FolderOf { of: &of, folder: Some(folder), home: Some(&home) });
    let at = of.positions.put(at);
    match iter.erased_drive(&of, first, at) {
        Progress::Folding(folder) => {
            folder.return_home();
            Progress::Folding(home.take().expect("a folder"))
        }
        Progress::Complete(number) => Progress::Complete(of.results.take(number)),
    }
}

/// Values by their numbers.
struct Store<T>(Mutex<Vec<Option<T>>>);

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Store<T> {
    fn with<R>(&self, access: impl FnOnce(&mut Vec<Option<T>>) -> R) -> R {
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
    fn put(&self, value: T) -> usize {
        self.with(|values| {
            values.push(Some(value));
            values.len() - 1
        })
    }
    fn take(&self, number: usize) -> T {
        self.with(|values| values[number].take()).expect("a result is used once")
    }
}

/// A consumer, and what of it moves between threads.
struct StoreOf<'s, C: Consumer<Value>> {
    consumer: &'s C,
    results: Store<C::Result>,
    positions: Store<C::Position>,
}

/// [`Consumer`] as an object. Results and positions are numbers.
trait ErasedConsumer: Sync {
    fn folder(&self, at: usize) -> BoxedFolder<'_>;
    fn combine(&self, left: usize, right: usize) -> usize;
    fn split_at(&self, at: usize, mid: usize, len: usize) -> (usize, usize);
}

impl<C: Consumer<Value>> ErasedConsumer for StoreOf<'_, C> {
    fn folder(&self, at: usize) -> BoxedFolder<'_> {
        let folder = self.consumer.folder(self.position(at));
        Box::new(FolderOf { of: self, folder: Some(folder), home: None })
    }
    fn combine(&self, left: usize, right: usize) -> usize {
        let (left, right) = (self.results.take(left), self.results.take(right));
        self.results.put(self.consumer.combine(left, right))
    }
    fn split_at(&self, at: usize, mid: usize, len: usize) -> (usize, usize) {
        let (left, right) = self.position(at).split_at(mid, len);
        (self.positions.put(left), self.positions.put(right))
    }
}

impl<C: Consumer<Value>> StoreOf<'_, C> {
    fn position(&self, number: usize) -> C::Position {
        self.positions.with(|positions| positions[number]).expect("a position stays")
    }
}

type BoxedFolder<'c> = Box<dyn ErasedFolder + 'c>;

/// A folder with its consumer.
trait ErasedFolder {
    fn consume(&mut self, items: Box<dyn ErasedItems + '_>);
    fn complete(self: Box<Self>) -> usize;
    fn is_full(&self, rest: usize) -> bool;
    /// Moves the folder to where [`drive`] expects it.
    fn return_home(self: Box<Self>);
}

struct FolderOf<'s, 'c, C: Consumer<Value>> {
    of: &'s StoreOf<'c, C>,
    /// `None` while it consumes.
    folder: Option<C::Folder>,
    /// Only the folder that came from outside has one.
    home: Option<&'s Cell<Option<C::Folder>>>,
}

impl<C: Consumer<Value>> ErasedFolder for FolderOf<'_, '_, C> {
    fn consume(&mut self, items: Box<dyn ErasedItems + '_>) {
        let folder = self.folder.take().expect("a folder");
        self.folder = Some(self.of.consumer.consume_iter(folder, Items(items)));
    }
    fn complete(self: Box<Self>) -> usize {
        self.of.results.put(self.of.consumer.complete(self.folder.expect("a folder")))
    }
    fn is_full(&self, rest: usize) -> bool {
        self.of.consumer.is_full(self.folder.as_ref().expect("a folder"), self.of.position(rest))
    }
    fn return_home(self: Box<Self>) {
        self.home.expect("the folder that came from outside").set(self.folder);
    }
}

/// The erased consumer, as adapters see it.
struct ConsumerOf<'c>(&'c dyn ErasedConsumer);

/// An erased position, as adapters see it.
#[derive(Clone, Copy)]
struct At<'c> {
    of: &'c dyn ErasedConsumer,
    number: usize,
}

impl Position for At<'_> {
    fn split_at(self, mid: usize, len: usize) -> (Self, Self) {
        let (left, right) = self.of.split_at(self.number, mid, len);
        (Self { number: left, ..self }, Self { number: right, ..self })
    }
}

impl<'c> Consumer<Value> for ConsumerOf<'c> {
    type Folder = BoxedFolder<'c>;
    type Result = usize;
    type Position = At<'c>;

    fn folder(&self, at: At<'c>) -> BoxedFolder<'c> {
        self.0.folder(at.number)
    }
    fn consume_iter(&self, mut folder: BoxedFolder<'c>, items: impl Iterator<Item = Value>) -> BoxedFolder<'c> {
        folder.consume(Box::new(Some(items)));
        folder
    }
    fn complete(&self, folder: BoxedFolder<'c>) -> usize {
        folder.complete()
    }
    fn combine(&self, left: usize, right: usize) -> usize {
        self.0.combine(left, right)
    }
    fn is_full(&self, folder: &BoxedFolder<'c>, rest: At<'c>) -> bool {
        folder.is_full(rest.number)
    }
}

/// [`Iterator`] as an object, with those methods that adapters implement. `None` once it was folded.
trait ErasedItems {
    fn erased_next(&mut self) -> Option<Value>;
    fn erased_nth(&mut self, n: usize) -> Option<Value>;
    fn erased_size_hint(&self) -> (usize, Option<usize>);
    fn erased_fold(&mut self, call: &mut dyn FnMut(Value));
}

impl<I: Iterator<Item = Value>> ErasedItems for Option<I> {
    fn erased_next(&mut self) -> Option<Value> {
        self.as_mut()?.next()
    }
    fn erased_nth(&mut self, n: usize) -> Option<Value> {
        self.as_mut()?.nth(n)
    }
    fn erased_size_hint(&self) -> (usize, Option<usize>) {
        self.as_ref().map_or((0, Some(0)), Iterator::size_hint)
    }
    fn erased_fold(&mut self, call: &mut dyn FnMut(Value)) {
        self.take().into_iter().for_each(|items| items.for_each(&mut *call));
    }
}

struct Items<'i>(Box<dyn ErasedItems + 'i>);

/// Implements those methods of `Iterator` that adapters implement too.
macro_rules! erased_iterator {
    () => {
        type Item = Value;

        fn next(&mut self) -> Option<Value> {
            self.0.erased_next()
        }
        fn nth(&mut self, n: usize) -> Option<Value> {
            self.0.erased_nth(n)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            self.0.erased_size_hint()
        }
        fn fold<B, F: FnMut(B, Value) -> B>(mut self, init: B, mut f: F) -> B {
            let mut state = Some(init);
            self.0.erased_fold(&mut |item| state = state.take().map(|state| f(state, item)));
            state.expect("a state")
        }
    };
}

impl Iterator for Items<'_> {
    erased_iterator!();
}

/// [`Producer`] as an object.
trait ErasedProducer<'p>: Send {
    fn erased_len(&self) -> usize;
    fn erased_split_at(self: Box<Self>, mid: usize) -> (Piece<'p>, Piece<'p>);
    fn erased_into_iter(self: Box<Self>) -> PieceItems<'p>;
    fn erased_min_len(&self) -> usize;
    fn erased_max_len(&self) -> usize;
}

impl<'p, P> ErasedProducer<'p> for P
where
    P: Producer<Item = Value, IntoIter: DoubleEndedIterator + ExactSizeIterator> + 'p,
{
    fn erased_len(&self) -> usize {
        self.len()
    }
    fn erased_split_at(self: Box<Self>, mid: usize) -> (Piece<'p>, Piece<'p>) {
        let (left, right) = (*self).split_at(mid);
        (Piece(Box::new(left)), Piece(Box::new(right)))
    }
    fn erased_into_iter(self: Box<Self>) -> PieceItems<'p> {
        assert!(P::IS_EXACT, "the length of an indexed iterator is the number of its items");
        PieceItems(Box::new(Some((*self).into_iter())))
    }
    fn erased_min_len(&self) -> usize {
        self.min_len()
    }
    fn erased_max_len(&self) -> usize {
        self.max_len()
    }
}

/// A piece of an [`Indexed`].
pub struct Piece<'p>(Box<dyn ErasedProducer<'p> + 'p>);

impl<'p> Producer for Piece<'p> {
    type Item = Value;
    type IntoIter = PieceItems<'p>;

    fn len(&self) -> usize {
        self.0.erased_len()
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        self.0.erased_split_at(mid)
    }
    fn into_iter(self) -> PieceItems<'p> {
        self.0.erased_into_iter()
    }
    fn min_len(&self) -> usize {
        self.0.erased_min_len()
    }
    fn max_len(&self) -> usize {
        self.0.erased_max_len()
    }
}

/// The iterator over a piece as an object.
trait ErasedPieceItems: ErasedItems {
    fn erased_next_back(&mut self) -> Option<Value>;
    fn erased_nth_back(&mut self, n: usize) -> Option<Value>;
    fn erased_rfold(&mut self, call: &mut dyn FnMut(Value));
    fn erased_len(&self) -> usize;
}

impl<I: DoubleEndedIterator<Item = Value> + ExactSizeIterator> ErasedPieceItems for Option<I> {
    fn erased_next_back(&mut self) -> Option<Value> {
        self.as_mut()?.next_back()
    }
    fn erased_nth_back(&mut self, n: usize) -> Option<Value> {
        self.as_mut()?.nth_back(n)
    }
    fn erased_rfold(&mut self, call: &mut dyn FnMut(Value)) {
        mem::take(self).into_iter().for_each(|items| items.rfold((), |(), item| call(item)));
    }
    fn erased_len(&self) -> usize {
        self.as_ref().map_or(0, ExactSizeIterator::len)
    }
}

pub struct PieceItems<'p>(Box<dyn ErasedPieceItems + 'p>);

impl Iterator for PieceItems<'_> {
    erased_iterator!();
}

impl DoubleEndedIterator for PieceItems<'_> {
    fn next_back(&mut self) -> Option<Value> {
        self.0.erased_next_back()
    }
    fn nth_back(&mut self, n: usize) -> Option<Value> {
        self.0.erased_nth_back(n)
    }
    fn rfold<B, F: FnMut(B, Value) -> B>(mut self, init: B, mut f: F) -> B {
        let mut state = Some(init);
        self.0.erased_rfold(&mut |item| state = state.take().map(|state| f(state, item)));
        state.expect("a state")
    }
}

impl ExactSizeIterator for PieceItems<'_> {
    fn len(&self) -> usize {
        self.0.erased_len()
    }
}
