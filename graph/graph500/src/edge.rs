//! The edge tuple, the benchmark's input format.

/// An undirected edge of the generator: two vertex numbers of 48 bits each, in twelve bytes.
///
/// The specification requires at least 48 bits per vertex number in the tuples, which makes exactly twelve bytes.
/// Compared with two `u64` this saves a quarter of the memory, and a quarter of the traffic in kernel 1 and in every
/// validation. The low halves are separate words. So in graphs of up to 2^32 vertices, reading an end takes one load.
///
/// ```
/// use graph500::Edge;
/// let edge = Edge::new(7, (1 << 48) - 1);
/// assert_eq!(edge.ends(), (7, (1 << 48) - 1));
/// assert_eq!(size_of::<Edge>(), 12);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Edge {
    low: [u32; 2],
    high: [u16; 2],
}

impl Edge {
    /// The largest vertex number of a tuple.
    pub const MAX_VERTEX: u64 = (1 << 48) - 1;

    /// Creates the edge between `a` and `b`. Equal ends make a self-loop.
    ///
    /// # Panics
    /// Panics if an end is larger than [`Edge::MAX_VERTEX`].
    #[inline]
    pub const fn new(a: u64, b: u64) -> Edge {
        assert!(a <= Self::MAX_VERTEX && b <= Self::MAX_VERTEX, "a vertex number has 48 bits");
        Edge { low: [a as u32, b as u32], high: [(a >> 32) as u16, (b >> 32) as u16] }
    }

    /// Returns both ends, in the order in which [`new`](Self::new) takes them.
    #[inline]
    pub const fn ends(self) -> (u64, u64) {
        ((self.high[0] as u64) << 32 | self.low[0] as u64, (self.high[1] as u64) << 32 | self.low[1] as u64)
    }
}

impl std::fmt::Debug for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (a, b) = self.ends();
        write!(f, "{a}-{b}")
    }
}

/// A tuple of a graph with at most 2^32 vertices.
pub(crate) trait Tuple: Copy + Send + Sync {
    /// Returns both ends.
    fn low_ends(self) -> (u32, u32);
}

impl Tuple for Edge {
    #[inline]
    fn low_ends(self) -> (u32, u32) {
        (self.low[0], self.low[1])
    }
}

/// A tuple without the high halves of its ends.
pub(crate) type NarrowEdge = [u32; 2];

impl Tuple for NarrowEdge {
    #[inline]
    fn low_ends(self) -> (u32, u32) {
        self.into()
    }
}

/// A tuple of kernel 3: an edge and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct WeightedEdge {
    /// The edge.
    pub edge: Edge,
    /// Its weight, which must be 0 or more.
    pub weight: f32,
}
