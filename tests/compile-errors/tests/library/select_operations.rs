//! What `select!` cannot wait for, and what to write instead.

use anabranch::{channel, select};

fn main() {
    let (_sender, receiver) = channel::bounded::<u8>(1);
    anabranch::run(|cx| {
        _ = select!(cx, { got = receiver => drop(got), () = cx.sleeping(std::time::Duration::MAX) => () });
    });
    let (_sender, another) = channel::bounded::<u8>(1);
    _ = async || select!(async, { got = another => drop(got) });
}
