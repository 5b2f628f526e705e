//! Lists of edges of many shapes, the same on every run.

/// Edges with weights.
pub type Edges = Vec<(u32, u32, u32)>;

/// A generator of pseudo-random numbers: SplitMix64 by Steele, Lea, Flood, 2014.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }
}

/// Returns the shapes by name.
pub fn corpus() -> Vec<(&'static str, Edges)> {
    vec![
        ("no vertex", vec![]),
        ("one vertex", vec![(0, 0, 1)]),
        ("one edge", vec![(0, 1, 3)]),
        ("only self-loops", (0..70).map(|v| (v, v, 1)).collect()),
        ("duplicates", vec![(0, 1, 5), (1, 0, 2), (0, 1, 2), (0, 1, 9), (1, 2, 0), (1, 2, 0)]),
        ("isolated vertices", vec![(0, 1, 1), (500, 501, 2), (999, 999, 1)]),
        ("two components", vec![(0, 1, 1), (1, 2, 1), (2, 0, 1), (5, 6, 1), (6, 7, 1), (7, 8, 1)]),
        (
            "skewed with a path",
            skewed(10, 30_000, 5).into_iter().chain((0..300).map(|v| (1023 + v, 1024 + v, 2))).collect(),
        ),
        ("edges of weight 0", (0..100).map(|v| (v, (v + 1) % 100, 0)).chain([(0, 50, 0)]).collect()),
        ("star", (1..5000).map(|leaf| (0, leaf, leaf % 7)).collect()),
        ("star towards its centre", (1..5000).map(|leaf| (leaf, 3000, leaf % 7)).collect()),
        ("path", (0..1000).map(|v| (v, v + 1, 1 + v % 5)).collect()),
        ("far path", (0..1000).map(|v| (v, v + 1, u32::MAX - v)).collect()),
        ("grid", grid(40)),
        ("tree", (1..2000).map(|v| ((v - 1) / 3, v, 1 + v % 3)).collect()),
        ("directed cycle", (0..700).map(|v| (v, (v + 1) % 700, 1 + v % 9)).collect()),
        ("clique", (0..80).flat_map(|a| (0..a).map(move |b| (a, b, (a * b) % 11))).collect()),
        ("sparse random", random(2000, 3000, 1)),
        ("dense random", random(1000, 20_000, 2)),
        ("skewed", skewed(10, 20_000, 3)),
        ("large skewed", skewed(14, 60_000, 4)),
        ("cliques in a chain", chain_of_cliques()),
    ]
}

/// A square of `side * side` vertices, each with an edge to the next one in its row and in its column.
pub fn grid(side: u32) -> Edges {
    let at = |x, y| y * side + x;
    let across = (0..side - 1).flat_map(|x| (0..side).map(move |y| (at(x, y), at(x + 1, y), 1 + (x * y) % 9)));
    let down = (0..side).flat_map(|x| (0..side - 1).map(move |y| (at(x, y), at(x, y + 1), 1 + (x + y) % 4)));
    across.chain(down).collect()
}

fn random(vertices: u32, edges: usize, seed: u64) -> Edges {
    let mut random = Random(seed);
    (0..edges).map(|_| (random.below(vertices), random.below(vertices), random.below(256))).collect()
}

/// A Kronecker graph: vertices of low numbers have many edges, and many have none.
fn skewed(scale: u32, edges: usize, seed: u64) -> Edges {
    let mut random = Random(seed);
    let mut edge = || {
        let (mut from, mut to) = (0, 0);
        for _ in 0..scale {
            let (a, b) = match random.below(100) {
                0..57 => (0, 0),
                57..76 => (0, 1),
                76..95 => (1, 0),
                _ => (1, 1),
            };
            (from, to) = (from * 2 + a, to * 2 + b);
        }
        (from, to, 1 + random.below(255))
    };
    (0..edges).map(|_| edge()).collect()
}

fn chain_of_cliques() -> Edges {
    let clique = |c: u32| (0..12).flat_map(move |a| (0..a).map(move |b| (c * 12 + a, c * 12 + b, 1 + a)));
    (0..40).flat_map(|c| clique(c).chain([(c * 12, c * 12 + 12, 100)])).collect()
}
