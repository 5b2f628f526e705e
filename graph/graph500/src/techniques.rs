//! The techniques of the fast search, each of which can be left out.

use std::fmt;
use std::str::FromStr;

/// A technique of kernel 1 or of the search [`Direction`](crate::BfsKind::Direction).
///
/// A run without one shows what it gains.
///
/// ```
/// use graph500::Technique;
/// assert_eq!("bottom-up".parse(), Ok(Technique::BottomUp));
/// assert_eq!(Technique::KeptTree.to_string(), "kept-tree");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Technique {
    /// Kernel 1 numbers the vertices by descending degree; else in the order of their labels.
    DegreeOrder,
    /// The search runs a level bottom-up if the frontier is large; else all levels top-down.
    BottomUp,
    /// The search runs the last levels top-down again; else bottom-up to its end.
    ReturnTopDown,
    /// Bottom-up, all vertices first try their first neighbours, which are in an array of their own; else each reads
    /// its row.
    FirstNeighbours,
    /// The search keeps the tree of the search before and clears what it does not reach; else it clears all first.
    KeptTree,
}

impl Technique {
    /// All techniques.
    pub const ALL: [Technique; 5] = [
        Technique::DegreeOrder,
        Technique::BottomUp,
        Technique::ReturnTopDown,
        Technique::FirstNeighbours,
        Technique::KeptTree,
    ];

    /// Returns the name that [`FromStr`] parses.
    pub fn name(self) -> &'static str {
        match self {
            Technique::DegreeOrder => "degree-order",
            Technique::BottomUp => "bottom-up",
            Technique::ReturnTopDown => "return-top-down",
            Technique::FirstNeighbours => "first-neighbours",
            Technique::KeptTree => "kept-tree",
        }
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name of a technique is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTechnique(String);

impl fmt::Display for UnknownTechnique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Technique::ALL.map(Technique::name).join(", ");
        write!(f, "there is no technique `{}`: choose one of {names}", self.0)
    }
}

impl std::error::Error for UnknownTechnique {}

impl FromStr for Technique {
    type Err = UnknownTechnique;

    fn from_str(name: &str) -> Result<Technique, UnknownTechnique> {
        let found = Technique::ALL.into_iter().find(|technique| technique.name() == name);
        found.ok_or_else(|| UnknownTechnique(name.to_owned()))
    }
}

/// A set of techniques. The default has all.
///
/// ```
/// use graph500::{Technique, Techniques};
/// let techniques = Techniques::default().without(Technique::BottomUp);
/// assert!(techniques.has(Technique::DegreeOrder) && !techniques.has(Technique::BottomUp));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Techniques {
    left_out: u8,
}

impl Techniques {
    /// Returns the set without `technique`.
    pub fn without(self, technique: Technique) -> Techniques {
        Techniques { left_out: self.left_out | 1 << technique as u8 }
    }

    /// Returns whether `technique` is in the set.
    #[inline]
    pub fn has(self, technique: Technique) -> bool {
        self.left_out & 1 << technique as u8 == 0
    }

    /// Returns the techniques that are not in the set.
    pub fn left_out(self) -> impl Iterator<Item = Technique> {
        Technique::ALL.into_iter().filter(move |&technique| !self.has(technique))
    }
}
