//! A fiber of a scope spawns there by a spawner. It does not use the scope itself.

use anabranch::Cx;

fn spawn(cx: &Cx<'_>) {
    cx.scope(|s| s.spawn(|_| s.spawn(|_| ())));
}

fn main() {}
