//! The inputs of the sorts.

use std::fmt;

/// The order of the input of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In random order, and all different.
    Random,
    /// Sorted already.
    Sorted,
    /// In descending order.
    Reversed,
    /// In random order, with a hundred different values.
    FewValued,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 4] = [Shape::Random, Shape::Sorted, Shape::Reversed, Shape::FewValued];

    /// Returns `count` numbers of this shape.
    pub fn numbers(self, count: usize) -> Vec<u64> {
        let mut random = fastrand::Rng::with_seed(0x5047);
        let mut numbers: Vec<u64> = match self {
            Shape::FewValued => (0..count).map(|_| random.u64(..100)).collect(),
            _ => (0..count).map(|_| random.u64(..)).collect(),
        };
        match self {
            Shape::Sorted => numbers.sort_unstable(),
            Shape::Reversed => numbers.sort_unstable_by(|a, b| b.cmp(a)),
            Shape::Random | Shape::FewValued => {}
        }
        numbers
    }

    /// Returns `count` strings of this shape. Their order is that of the numbers.
    pub fn strings(self, count: usize) -> Vec<String> {
        self.numbers(count).into_iter().map(|number| format!("item {number:020}")).collect()
    }
}

/// Returns about `bytes` bytes of text: words of one to nine letters in lines of one to 200 words.
pub fn text(bytes: usize) -> String {
    let mut random = fastrand::Rng::with_seed(0x7e87);
    let mut text = String::with_capacity(bytes + 2_000);
    while text.len() < bytes {
        for _ in 0..random.usize(1..=200) {
            text.extend((0..random.usize(1..10)).map(|_| random.lowercase()));
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Shape::Random => "random",
            Shape::Sorted => "sorted",
            Shape::Reversed => "reversed",
            Shape::FewValued => "few-valued",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_what_they_are_called() {
        assert!(Shape::Sorted.numbers(100).is_sorted());
        assert!(Shape::Reversed.numbers(100).iter().rev().is_sorted());
        assert!(!Shape::Random.numbers(100).is_sorted());
        let mut few = Shape::FewValued.numbers(10_000);
        few.sort_unstable();
        few.dedup();
        assert_eq!(few.len(), 100);
        assert!(Shape::Sorted.strings(100).is_sorted());
    }
}
