//! What a parallel loop does not run over, and what to write instead.

use std::collections::HashMap;

fn main() {
    let items = vec![1, 2, 3];
    anabranch::par_for_each(&items, |_| ());
    anabranch::par_for_each(0..=9, |_| ());
    anabranch::par_for_each(&HashMap::from([(1, 2)]), |_| ());
}
