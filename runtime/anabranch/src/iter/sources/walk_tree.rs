//! Trees whose nodes are found with a closure.
//!
//! The children of a node are one list, which is forked in halves. So a thread that takes work takes half of a list
//! with all nodes below it. The depth of the stack is the depth of the tree, times the logarithm of the number of
//! children; nodes with one child do not count.

use crate::iter::{
    plumbing::{Consumer, Drive, Driven, Position, Producer, Progress, pair::drive_pair},
    sources::owned::Owned,
};
use std::{fmt, iter, marker::PhantomData};

/// Defines a parallel iterator over the nodes of a tree.
macro_rules! walk {
    ($(#[$doc:meta])* $function:ident, $name:ident, $order:ty, [$($double_ended:tt)*]) => {
        $(#[$doc])*
        pub fn $function<S, B, I>(root: S, children_of: B) -> $name<S, B>
        where
            S: Send,
            B: Fn(&S) -> I + Send + Sync,
            I: IntoIterator<Item = S $($double_ended)*>,
        {
            $name { root, children_of }
        }

        #[doc = concat!("A parallel iterator over the nodes of a tree. [`", stringify!($function), "`] returns it.")]
        #[derive(Clone)]
        #[must_use = "parallel iterators are lazy and do nothing unless consumed"]
        pub struct $name<S, B> {
            root: S,
            children_of: B,
        }

        impl<S: fmt::Debug, B> fmt::Debug for $name<S, B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("root", &self.root).finish_non_exhaustive()
            }
        }

        impl<S, B, I> Drive for $name<S, B>
        where
            S: Send,
            B: Fn(&S) -> I + Send + Sync,
            I: IntoIterator<Item = S $($double_ended)*>,
        {
            type Item = S;

            fn drive<C: Consumer<S>>(
                self,
                consumer: &C,
                folder: C::Folder,
                at: C::Position,
            ) -> Driven<C, S> {
                let children_of = |node: &S| (self.children_of)(node).into_iter().collect::<Vec<S>>();
                <$order>::walk(self.root, &children_of, consumer, folder, at)
            }
        }
    };
}

walk! {
    /// Returns a parallel iterator over the nodes of a tree, a node in front of those below it.
    ///
    /// `children_of` returns the children of a node. It is called once for each node that is reached. The children are
    /// collected into a vector.
    ///
    /// The stack that is needed grows with the depth of the tree, except for nodes with one child.
    ///
    /// ```
    /// use anabranch::iter::walk_tree_prefix;
    /// use anabranch::prelude::*;
    ///
    /// let children = |node: &u32| if *node < 8 { vec![2 * node, 2 * node + 1] } else { vec![] };
    /// let nodes: Vec<u32> = walk_tree_prefix(2, children).map(|node| node).collect();
    /// assert_eq!(nodes, [2, 4, 8, 9, 5, 10, 11]);
    /// ```
    walk_tree_prefix, WalkTreePrefix, Prefix, [, IntoIter: DoubleEndedIterator]
}

walk! {
    /// Returns a parallel iterator over the nodes of a tree, a node after those below it.
    ///
    /// `children_of` returns the children of a node. It is called once for each node that is reached. The children are
    /// collected into a vector.
    ///
    /// The stack that is needed grows with the depth of the tree, except for nodes with one child.
    ///
    /// ```
    /// use anabranch::iter::walk_tree_postfix;
    /// use anabranch::prelude::*;
    ///
    /// let children = |node: &u32| if *node < 8 { vec![2 * node, 2 * node + 1] } else { vec![] };
    /// let nodes: Vec<u32> = walk_tree_postfix(2, children).map(|node| node).collect();
    /// assert_eq!(nodes, [8, 9, 4, 10, 11, 5, 2]);
    /// ```
    walk_tree_postfix, WalkTreePostfix, Postfix, []
}

walk! {
    /// Returns a parallel iterator over the nodes of a tree, in an order that is not specified.
    ///
    /// `children_of` returns the children of a node. It is called once for each node that is reached. The children are
    /// collected into a vector.
    ///
    /// The stack that is needed grows with the depth of the tree, except for nodes with one child.
    ///
    /// ```
    /// use anabranch::iter::walk_tree;
    /// use anabranch::prelude::*;
    ///
    /// let children = |node: &u32| if *node < 8 { vec![2 * node, 2 * node + 1] } else { vec![] };
    /// assert_eq!(walk_tree(2, children).sum::<u32>(), 2 + 4 + 8 + 9 + 5 + 10 + 11);
    /// ```
    walk_tree, WalkTree, Prefix, [, IntoIter: DoubleEndedIterator]
}

/// The order of a node and those below it.
trait Order: Sized + Send {
    fn walk<S: Send, B: Fn(&S) -> Vec<S> + Sync, C: Consumer<S>>(
        root: S,
        children_of: &B,
        consumer: &C,
        folder: C::Folder,
        at: C::Position,
    ) -> Driven<C, S>;
}

/// A node in front of those below it.
struct Prefix;

/// A node after those below it.
struct Postfix;

impl Order for Prefix {
    fn walk<S: Send, B: Fn(&S) -> Vec<S> + Sync, C: Consumer<S>>(
        mut root: S,
        children_of: &B,
        consumer: &C,
        mut folder: C::Folder,
        mut at: C::Position,
    ) -> Driven<C, S> {
        loop {
            if consumer.is_full(&folder, at) {
                return Progress::Folding(folder);
            }
            let mut children = children_of(&root);
            folder = consumer.consume_iter(folder, iter::once(root));
            at = at.split_at(1, 1 + children.len()).1;
            if children.len() != 1 {
                return Siblings::<Self, _, _>::new(&mut children, children_of).drive(consumer, folder, at);
            }
            root = children.remove(0);
        }
    }
}

impl Order for Postfix {
    fn walk<S: Send, B: Fn(&S) -> Vec<S> + Sync, C: Consumer<S>>(
        root: S,
        children_of: &B,
        consumer: &C,
        folder: C::Folder,
        at: C::Position,
    ) -> Driven<C, S> {
        if consumer.is_full(&folder, at) {
            return Progress::Folding(folder);
        }
        // The ancestors of the first node that has not one child.
        let mut path = vec![root];
        let mut children = loop {
            let mut children = children_of(&path[path.len() - 1]);
            if children.len() != 1 {
                break children;
            }
            path.append(&mut children);
        };
        let (below, above) = at.split_at(children.len(), children.len() + path.len());
        let path = path.into_iter().rev();
        match Siblings::<Self, _, _>::new(&mut children, children_of).drive(consumer, folder, below) {
            Progress::Folding(folder) if consumer.is_full(&folder, above) => Progress::Folding(folder),
            Progress::Folding(folder) => Progress::Folding(consumer.consume_iter(folder, path)),
            Progress::Complete(left) => {
                let right = consumer.complete(consumer.consume_iter(consumer.folder(above), path));
                Progress::Complete(consumer.combine(left, right))
            }
        }
    }
}

/// Neighbouring children of a node, with all nodes below them.
struct Siblings<'a, O, S, B> {
    nodes: Owned<'a, S>,
    children_of: &'a B,
    _order: PhantomData<O>,
}

impl<'a, O, S, B> Siblings<'a, O, S, B> {
    fn new(nodes: &'a mut Vec<S>, children_of: &'a B) -> Self {
        Self { nodes: Owned::take_all(nodes), children_of, _order: PhantomData }
    }
}

impl<O, S, B> Drive for Siblings<'_, O, S, B>
where
    O: Order,
    S: Send,
    B: Fn(&S) -> Vec<S> + Sync,
{
    type Item = S;

    fn drive<C: Consumer<S>>(mut self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, S> {
        let len = Producer::len(&self.nodes);
        if len <= 1 {
            return match self.nodes.next() {
                Some(node) => O::walk(node, self.children_of, consumer, folder, at),
                None => Progress::Folding(folder),
            };
        }
        let (left, right) = self.nodes.split_at(len / 2);
        let (left, right) = (Self { nodes: left, ..self }, Self { nodes: right, ..self });
        drive_pair(left, right, consumer, folder, at.split_at(len / 2, len))
    }
}
