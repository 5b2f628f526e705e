//! Small programs for Miri, which checks every access against the aliasing models. `.ci/run` runs them with both.
//!
//! They are programs of two threads and a few dozen items: Miri takes a thousand times as long as the processor.

mod common;

use anabranch::{Splittable, par_map};
use common::{Tally, pool};

/// What the panic of `body` carried. The text goes out without a backtrace: Miri takes minutes for one.
fn panic_text(body: impl FnOnce()) -> String {
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    common::panic_text(body)
}

/// A range whose iterator leaves out its last item.
struct Short(std::ops::Range<usize>);

impl Splittable for Short {
    type Item = usize;
    type IntoIter = std::ops::Range<usize>;

    fn len(&self) -> usize {
        Splittable::len(&self.0)
    }

    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = Splittable::split_at(self.0, mid);
        (Self(left), Self(right))
    }

    fn into_seq(self) -> Self::IntoIter {
        self.0.start..self.0.end - 1
    }
}

#[test]
fn results_of_a_map_are_dropped_when_an_item_panics() {
    pool(1).install(|| {
        for bad in [1, 5, 39] {
            let tally = Tally::default();
            let text = panic_text(|| {
                par_map(0..40, |item| {
                    assert_ne!(item, bad, "bad item");
                    (item, tally.make())
                });
            });
            assert!(text.contains("bad item"));
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn results_of_a_map_are_dropped_when_items_are_missing() {
    let tally = Tally::default();
    let text = panic_text(|| _ = par_map(Short(0..1), |item| (item, tally.make())));
    assert!(text.contains("fewer items"));
    let text = panic_text(|| _ = pool(1).install(|| par_map(Short(0..40), |item| (item, tally.make()))));
    assert!(text.contains("fewer items"));
    tally.assert_all_dropped();
}
