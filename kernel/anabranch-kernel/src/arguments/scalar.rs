//! A value that is the same for all elements.

use std::ops::Range;

use crate::graph::Graph;
use crate::source::{Source, View};
use crate::tree::Node;
use crate::{Error, Item};

impl<T: Item> Source<T> for T {
    type View<'a> = Same<T>;
    const NAME: &'static str = "a value";

    #[inline]
    fn count(&self) -> Result<Option<usize>, Error> {
        Ok(None)
    }
    #[inline]
    fn view(&self) -> Result<Same<T>, Error> {
        Ok(Same(*self))
    }
    fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Node, Error> {
        let first = graph.uniform(self);
        Ok(Node::Uniform { first, words: graph.uniforms().len() - first })
    }
}

/// The view of a value.
#[derive(Clone, Copy)]
pub struct Same<T>(T);

impl<'a, T: Item> View<'a, T> for Same<T> {
    #[inline(always)]
    fn part(&self, _: Range<usize>) -> Self {
        *self
    }
    #[inline(always)]
    fn get(&self, _: usize) -> T {
        self.0
    }
}
