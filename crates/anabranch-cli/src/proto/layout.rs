//! The layout of a graph: positions of the boxes, the labels and the edges.
//!
//! The idea is from Sugiyama, Tagawa and Toda (1981). Nodes are in ranks, one below the other, and edges lead down.
//! Edges that close a cycle, found by a depth-first search, are reversed during the layout. A node's rank is the length
//! of the longest path to it. An edge that crosses ranks has an item in each of them, which keeps a path free there.
//! Its label is such an item, with its full size, so labels overlap nothing. Nodes have even ranks. Labels have odd
//! ones, next to the start of the edge.
//!
//! Within a rank, items are ordered by the mean position of their neighbours in the rank above, or below, in turn. The
//! order with the fewest crossings is kept. Then each item moves to the mean position of its neighbours, as far as the
//! items beside it allow. Pooling the items that would overlap finds the least-squares positions under the order.

/// The size of an item, around its position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// The extent to the left of the position.
    pub left: f64,
    /// The extent to the right of it.
    pub right: f64,
    /// The height, with the position in the middle.
    pub height: f64,
    /// The distance from the middle, to either side, within which edges may begin and end.
    pub ports: f64,
}

/// An edge from one node to another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub label: Extent,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// A line in pieces. Each piece goes straight up or down from its first point to its second one, and then curves to the
/// next piece.
pub type Path = Vec<(Point, Point)>;

/// The positions of all items.
#[derive(Debug, Default)]
pub struct Layout {
    pub width: f64,
    pub height: f64,
    pub nodes: Vec<Point>,
    pub labels: Vec<Point>,
    /// The path of each edge, in its direction: to its label, and from there on.
    pub paths: Vec<[Path; 2]>,
}

/// The gap between adjacent items in a rank, and between ranks.
const GAP: f64 = 26.0;
const SWEEPS: usize = 24;

/// An item of a rank: a node, a label, or the crossing of an edge.
struct Item {
    rank: usize,
    extent: Extent,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// The items, nodes first, and for each edge the items between its ends, from top to bottom.
struct Ranks {
    items: Vec<Item>,
    chains: Vec<Vec<usize>>,
    is_upward: Vec<bool>,
    /// The items of each rank, from left to right.
    rows: Vec<Vec<usize>>,
}

/// Lays out a graph in which every node is reachable from the first one. No edge leads from a node to itself.
pub fn lay_out(nodes: &[Extent], edges: &[Edge]) -> Layout {
    let mut ranks = Ranks::new(nodes, edges);
    ranks.order();
    let xs = ranks.across();
    ranks.draw(&xs, nodes, edges)
}

impl Ranks {
    fn new(nodes: &[Extent], edges: &[Edge]) -> Self {
        let (is_upward, order) = directions(nodes.len(), edges);
        let ends = |edge: usize| {
            let Edge { from, to, .. } = edges[edge];
            if is_upward[edge] { (to, from) } else { (from, to) }
        };
        let mut rank_of = vec![0; nodes.len()];
        for node in order {
            for (upper, lower) in (0..edges.len()).map(ends).filter(|(upper, _)| *upper == node) {
                rank_of[lower] = rank_of[lower].max(rank_of[upper] + 2);
            }
        }
        let item = |rank, extent| Item { rank, extent, above: Vec::new(), below: Vec::new() };
        let mut items: Vec<Item> = nodes.iter().zip(rank_of).map(|(&extent, rank)| item(rank, extent)).collect();
        let mut chains = Vec::new();
        for (number, edge) in edges.iter().enumerate() {
            let (upper, lower) = ends(number);
            let label = if is_upward[number] { items[lower].rank - 1 } else { items[upper].rank + 1 };
            let mut chain = Vec::new();
            let mut last = upper;
            for rank in items[upper].rank + 1..items[lower].rank {
                let passing = Extent { left: 2.0, right: 2.0, height: 0.0, ports: 0.0 };
                let next = items.len();
                items.push(item(rank, if rank == label { edge.label } else { passing }));
                items[last].below.push(next);
                items[next].above.push(last);
                chain.push(next);
                last = next;
            }
            items[last].below.push(lower);
            items[lower].above.push(last);
            chains.push(chain);
        }
        let mut rows = vec![Vec::new(); items.iter().map(|item| item.rank + 1).max().unwrap_or(0)];
        for (number, item) in items.iter().enumerate() {
            rows[item.rank].push(number);
        }
        Self { items, chains, is_upward, rows }
    }

    fn neighbours(&self, item: usize, above: bool) -> &[usize] {
        if above { &self.items[item].above } else { &self.items[item].below }
    }

    /// Orders each rank by the positions of neighbours, from above and from below in turn.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            let from_above = sweep % 2 == 0;
            let count = self.rows.len();
            for step in 1..count {
                let (row, fixed) = if from_above { (step, step - 1) } else { (count - 1 - step, count - step) };
                let mut places = vec![0.0; self.items.len()];
                for (place, &item) in self.rows[fixed].iter().enumerate() {
                    places[item] = place as f64;
                }
                let mut keyed: Vec<(f64, usize)> = Vec::new();
                for (place, &item) in self.rows[row].iter().enumerate() {
                    let neighbours = self.neighbours(item, from_above);
                    let sum: f64 = neighbours.iter().map(|&other| places[other]).sum();
                    let none = neighbours.is_empty();
                    keyed.push((if none { place as f64 } else { sum / neighbours.len() as f64 }, item));
                }
                keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
                self.rows[row] = keyed.into_iter().map(|(_, item)| item).collect();
            }
            if self.crossings() < best.0 {
                best = (self.crossings(), self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    fn crossings(&self) -> usize {
        let mut places = vec![0; self.items.len()];
        for (place, &item) in self.rows.iter().flat_map(|row| row.iter().enumerate()) {
            places[item] = place;
        }
        let crossings_below = |row: &Vec<usize>| {
            let lines = row.iter().flat_map(|&item| self.items[item].below.iter().map(move |&other| (item, other)));
            let lines: Vec<_> = lines.map(|(item, other)| (places[item], places[other])).collect();
            let crossed = |one: &(usize, usize)| lines.iter().filter(|two| one.0 < two.0 && one.1 > two.1).count();
            lines.iter().map(crossed).sum::<usize>()
        };
        self.rows.iter().map(crossings_below).sum()
    }

    /// Returns the horizontal position of each item.
    fn across(&self) -> Vec<f64> {
        let mut xs = vec![0.0; self.items.len()];
        for sweep in 0..SWEEPS {
            // The last sweep uses both sides.
            let sides: &[bool] = match sweep {
                _ if sweep + 6 > SWEEPS => &[true, false],
                _ if sweep % 2 == 0 => &[true],
                _ => &[false],
            };
            let count = self.rows.len();
            for step in 0..count {
                let row = &self.rows[if sweep % 2 == 0 { step } else { count - 1 - step }];
                let wanted: Vec<f64> = row
                    .iter()
                    .map(|&item| {
                        let neighbours = sides.iter().flat_map(|&above| self.neighbours(item, above));
                        let (sum, count) = neighbours.fold((0.0, 0.0), |(sum, n), &other| (sum + xs[other], n + 1.0));
                        if count == 0.0 { xs[item] } else { sum / count }
                    })
                    .collect();
                for (&item, x) in row.iter().zip(self.apart(row, &wanted)) {
                    xs[item] = x;
                }
            }
        }
        let left = (0..xs.len()).map(|item| xs[item] - self.items[item].extent.left).fold(f64::INFINITY, f64::min);
        xs.iter_mut().for_each(|x| *x -= left);
        xs
    }

    /// Returns the positions nearest to those `wanted` at which no items of a row overlap.
    fn apart(&self, row: &[usize], wanted: &[f64]) -> Vec<f64> {
        let extent = |place: usize| self.items[row[place]].extent;
        let mut offsets = vec![0.0; row.len()];
        for place in 1..row.len() {
            offsets[place] = offsets[place - 1] + extent(place - 1).right + GAP + extent(place).left;
        }
        // Pools of touching items: their sum and their number.
        let mut pools: Vec<(f64, usize)> = Vec::new();
        for (want, offset) in wanted.iter().zip(&offsets) {
            pools.push((want - offset, 1));
            while let [.., (before, many), (sum, few)] = pools[..] {
                if before / many as f64 <= sum / few as f64 {
                    break;
                }
                pools.pop();
                *pools.last_mut().expect("there were two") = (before + sum, many + few);
            }
        }
        let means = pools.into_iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / count as f64, count));
        means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
    }

    fn draw(&self, xs: &[f64], nodes: &[Extent], edges: &[Edge]) -> Layout {
        let mut bands = Vec::new();
        let mut y = 0.0;
        for row in &self.rows {
            let height = row.iter().map(|&item| self.items[item].extent.height).fold(0.0, f64::max);
            bands.push((y, y + height));
            // More space for lines that go far to the side.
            let sides = |&item: &usize| self.items[item].below.iter().map(move |&other| (xs[item] - xs[other]).abs());
            y += height + (row.iter().flat_map(sides).fold(0.0, f64::max) / 12.0).clamp(GAP, 2.0 * GAP);
        }
        let band = |item: usize| bands[self.items[item].rank];
        let at = |item: usize| Point { x: xs[item], y: f64::midpoint(band(item).0, band(item).1) };
        let right = (0..xs.len()).map(|item| xs[item] + self.items[item].extent.right).fold(0.0, f64::max);
        let mut layout = Layout { width: right, height: y - GAP, ..Layout::default() };
        layout.nodes = (0..nodes.len()).map(at).collect();
        for (number, edge) in edges.iter().enumerate() {
            let chain = &self.chains[number];
            let is_upward = self.is_upward[number];
            let (upper, lower) = if is_upward { (edge.to, edge.from) } else { (edge.from, edge.to) };
            let label = *if is_upward { chain.last() } else { chain.first() }.expect("nodes have even ranks");
            layout.labels.push(at(label));
            let port = |node: usize, below: bool| xs[node] + self.port(node, below, number, xs, edges);
            let half = |item: usize| self.items[item].extent.height / 2.0;
            let piece = |x: f64, from: f64, to: f64| (Point { x, y: from }, Point { x, y: to });
            // From top to bottom.
            let mut before = vec![piece(port(upper, true), at(upper).y + half(upper), band(upper).1)];
            let mut after = Vec::new();
            for &item in chain {
                let (top, bottom) = band(item);
                if item == label {
                    before.push(piece(xs[item], top, at(item).y - half(item)));
                    after.push(piece(xs[item], at(item).y + half(item), bottom));
                } else {
                    let part = if after.is_empty() { &mut before } else { &mut after };
                    part.push(piece(xs[item], top, bottom));
                }
            }
            after.push(piece(port(lower, false), band(lower).0, at(lower).y - half(lower)));
            let mut parts = [before, after];
            if is_upward {
                parts.reverse();
                for part in &mut parts {
                    part.reverse();
                    part.iter_mut().for_each(|piece| *piece = (piece.1, piece.0));
                }
            }
            layout.paths.push(parts);
        }
        layout
    }

    /// Returns where an edge touches a node, relative to its middle. All edges at one side spread over it in the order
    /// of their arrival.
    fn port(&self, node: usize, below: bool, edge: usize, xs: &[f64], edges: &[Edge]) -> f64 {
        let touches = |number: &usize| {
            let Edge { from, to, .. } = edges[*number];
            node == if self.is_upward[*number] == below { to } else { from }
        };
        let first = |number: usize| if below { self.chains[number].first() } else { self.chains[number].last() };
        let mut all: Vec<(f64, usize)> = (0..edges.len())
            .filter(touches)
            .map(|number| (first(number).map_or(0.0, |&item| xs[item]), number))
            .collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let place = all.iter().position(|(_, number)| *number == edge).expect("it touches this side");
        let spread = self.items[node].extent.ports;
        if all.len() == 1 { 0.0 } else { spread * (2.0 * place as f64 / (all.len() - 1) as f64 - 1.0) }
    }
}

/// Returns which edges lead back, and the nodes in an order in which all other edges lead forward.
fn directions(count: usize, edges: &[Edge]) -> (Vec<bool>, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    #[rustfmt::skip]
    enum Mark { New, Open, Closed }
    fn visit(node: usize, edges: &[Edge], marks: &mut [Mark], back: &mut [bool], order: &mut Vec<usize>) {
        marks[node] = Mark::Open;
        for (number, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.from == node) {
            match marks[edge.to] {
                Mark::New => visit(edge.to, edges, marks, back, order),
                Mark::Open => back[number] = true,
                Mark::Closed => {}
            }
        }
        marks[node] = Mark::Closed;
        order.push(node);
    }
    let (mut marks, mut back, mut order) = (vec![Mark::New; count], vec![false; edges.len()], Vec::new());
    for node in 0..count {
        if marks[node] == Mark::New {
            visit(node, edges, &mut marks, &mut back, &mut order);
        }
    }
    order.reverse();
    (back, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(width: f64, height: f64) -> Extent {
        Extent { left: width / 2.0, right: width / 2.0, height, ports: width / 2.5 }
    }

    /// Returns a generator of pseudo-random numbers, the same ones each time.
    fn numbers() -> impl FnMut(usize) -> usize {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        }
    }

    type Rectangle = (f64, f64, f64, f64);

    fn rectangle(at: Point, extent: Extent) -> Rectangle {
        (at.x - extent.left, at.y - extent.height / 2.0, at.x + extent.right, at.y + extent.height / 2.0)
    }

    fn overlap(one: Rectangle, two: Rectangle) -> bool {
        one.0 < two.2 - 0.01 && two.0 < one.2 - 0.01 && one.1 < two.3 - 0.01 && two.1 < one.3 - 0.01
    }

    #[test]
    fn nothing_overlaps_in_graphs_of_all_kinds() {
        let mut below = numbers();
        for round in 0..200 {
            let count = 2 + below(9);
            let nodes: Vec<Extent> =
                (0..count).map(|_| extent((20 + below(150)) as f64, (10 + below(70)) as f64)).collect();
            let mut edge = |from, to| Edge { from, to, label: extent((10 + below(200)) as f64, 18.0) };
            let mut edges: Vec<Edge> = (1..count).map(|node| edge((node * 7 + round) % node, node)).collect();
            for extra in 0..count {
                let (from, to) = ((extra * 5 + round) % count, (extra * 3 + 1) % count);
                if from != to {
                    edges.push(edge(from, to));
                }
            }
            let layout = lay_out(&nodes, &edges);
            let mut all: Vec<Rectangle> = nodes.iter().zip(&layout.nodes).map(|(&e, &at)| rectangle(at, e)).collect();
            all.extend(edges.iter().zip(&layout.labels).map(|(edge, &at)| rectangle(at, edge.label)));
            for (number, &one) in all.iter().enumerate() {
                assert!(!all[..number].iter().any(|&two| overlap(one, two)), "round {round}");
                assert!(one.0 >= -0.01 && one.2 <= layout.width + 0.01 && one.3 <= layout.height + 0.01);
            }
            for (number, edge) in edges.iter().enumerate() {
                let [before, after] = &layout.paths[number];
                let touches = |point: Point, node: usize| {
                    let at = layout.nodes[node];
                    ((at.y - point.y).abs() - nodes[node].height / 2.0).abs() < 0.01
                        && (at.x - point.x).abs() <= nodes[node].ports + 0.01
                };
                assert!(touches(before[0].0, edge.from) && touches(after[after.len() - 1].1, edge.to), "round {round}");
                // Straight pieces cross no box.
                for piece in before.iter().chain(after) {
                    let (top, bottom) = (piece.0.y.min(piece.1.y), piece.0.y.max(piece.1.y));
                    let line = (piece.0.x - 0.1, top, piece.0.x + 0.1, bottom);
                    assert!(!all.iter().any(|&other| overlap(line, other)), "round {round}");
                }
            }
        }
    }

    #[test]
    fn chain_is_drawn_straight() {
        let nodes = [extent(40.0, 20.0), extent(90.0, 20.0), extent(20.0, 20.0)];
        let edges = [(0, 1), (1, 2), (2, 0)].map(|(from, to)| Edge { from, to, label: extent(30.0, 10.0) });
        let layout = lay_out(&nodes, &edges[..2]);
        assert!(layout.nodes.iter().all(|at| (at.x - layout.nodes[0].x).abs() < 0.01), "{layout:?}");
        // Edges that lead back go up.
        let layout = lay_out(&nodes, &edges);
        let [before, after] = &layout.paths[2];
        assert!(before[0].0.y > layout.labels[2].y && layout.labels[2].y > after[after.len() - 1].1.y);
    }
}
