//! The edge tuple, the benchmark's input format.

/// An undirected edge as the generator hands it over: two vertex numbers of 48 bits each, in twelve
/// bytes.
///
/// The specification asks for at least 48 bits a vertex number in the tuples. Twelve bytes are
/// exactly that: a quarter less memory, and a quarter less to stream through in kernel 1 and in
/// every validation, than two `u64`. The low halves lie in words of their own, so that for graphs
/// of up to 2^32 vertices an end is one plain load and the high halves are only looked at to see
/// that they are zero.
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
    /// The largest vertex number that a tuple holds.
    pub const MAX_VERTEX: u64 = (1 << 48) - 1;

    /// The edge between `a` and `b`; equal ends make a self-loop.
    ///
    /// # Panics
    /// If an end is larger than [`Edge::MAX_VERTEX`].
    #[inline]
    pub const fn new(a: u64, b: u64) -> Edge {
        assert!(a <= Self::MAX_VERTEX && b <= Self::MAX_VERTEX, "a vertex number has 48 bits");
        Edge { low: [a as u32, b as u32], high: [(a >> 32) as u16, (b >> 32) as u16] }
    }

    /// Both ends, in the order in which they were given.
    #[inline]
    pub const fn ends(self) -> (u64, u64) {
        ((self.high[0] as u64) << 32 | self.low[0] as u64, (self.high[1] as u64) << 32 | self.low[1] as u64)
    }

    /// Both ends without their high halves: right where the graph is known to have at most 2^32
    /// vertices.
    #[inline]
    pub(crate) const fn low_ends(self) -> (u32, u32) {
        (self.low[0], self.low[1])
    }
}

impl std::fmt::Debug for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (a, b) = self.ends();
        write!(f, "{a}-{b}")
    }
}
