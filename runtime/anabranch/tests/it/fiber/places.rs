//! Lists of fibers and reports name places in the program, and none in the library.

use crate::common::{self, LONG, watchdog};
use anabranch::{Cancelled, Cx, Pool, channel, fiber::Supervision};
use std::{thread, time::Duration};

const FOREVER: Duration = Duration::from_secs(3600);

type Way = fn(&Cx<'_>);

/// Waits with each form that runs closures as fibers, or that waits in an iterator. All are cancelled together.
fn ways() -> Vec<(&'static str, Way)> {
    fn sleep(cx: &Cx<'_>) {
        _ = cx.sleep(FOREVER);
    }
    vec![
        ("race", |cx| cx.race((|cx: &Cx<'_>| sleep(cx), |cx: &Cx<'_>| sleep(cx)))),
        ("race_iter", |cx| _ = cx.race_iter(0..2, |cx, _| sleep(cx))),
        ("race_ok", |cx| _ = cx.race_ok((|cx: &Cx<'_>| cx.sleep(FOREVER), |cx: &Cx<'_>| cx.sleep(FOREVER)))),
        ("race_ok_iter", |cx| _ = cx.race_ok_iter(0..2, |cx, _| cx.sleep(FOREVER))),
        ("map_concurrent", |cx| _ = cx.map_concurrent(2, 0..4, |cx, _| cx.sleep(FOREVER))),
        ("map_unordered", |cx| {
            cx.map_unordered(2, 0..4, |cx, _| sleep(cx), |arrivals| _ = arrivals.next(cx));
        }),
        ("join_set", |cx| {
            cx.scope(|s| {
                let mut set = s.join_set();
                set.spawn(sleep);
                _ = set.join_next(cx);
            });
        }),
        ("try_scope", |cx| {
            _ = cx.try_scope(|s| {
                s.spawn(|cx| cx.sleep(FOREVER));
                Ok::<_, Cancelled>(())
            });
        }),
        ("supervise", |cx| cx.supervise(&Supervision::default(), |s| s.keep("kept", sleep))),
        ("mpmc", |cx| {
            let (_sender, receiver) = channel::unbounded::<u8>();
            receiver.iter(cx).map(drop).for_each(drop);
        }),
        ("spsc", |cx| {
            let (_sender, mut receiver) = channel::spsc::unbounded::<u8>();
            receiver.iter(cx).map(drop).for_each(drop);
        }),
        ("watch", |cx| {
            let (_sender, mut receiver) = channel::watch::channel(1);
            receiver.iter(cx).map(drop).for_each(drop);
        }),
        ("broadcast", |cx| {
            let (_sender, mut receiver) = channel::broadcast::channel::<u8>(1);
            receiver.iter(cx).map(drop).for_each(drop);
        }),
        ("set", |cx| {
            let (_sender, receiver) = channel::unbounded::<u8>();
            let mut set = channel::ReceiverSet::new();
            set.insert(receiver);
            set.iter(cx).map(drop).for_each(drop);
        }),
    ]
}

/// Returns how many places of fibers of the pool are in this file. All are.
fn places(pool: &Pool, way: &str) -> usize {
    let mut count = 0;
    for fiber in pool.fibers() {
        for place in [fiber.location(), fiber.spawned_at()].into_iter().flatten() {
            assert!(place.file().ends_with("places.rs"), "{way}: {place} ({:?})", fiber.waits_for());
            count += 1;
        }
    }
    count
}

#[test]
fn places_are_in_the_program() {
    watchdog(LONG, || {
        for (name, way) in ways() {
            let pool = common::pool(1);
            let handle = pool.spawn(way);
            // Until all fibers wait: the list does not change any more.
            let (mut last, mut same) = (0, 0);
            while last < 2 || same < 20 {
                let count = places(&pool, name);
                same = if count == last { same + 1 } else { 0 };
                last = count;
                thread::sleep(Duration::from_millis(1));
            }
            handle.cancel();
            pool.run(|cx| handle.join(cx)).unwrap();
        }
    });
}
