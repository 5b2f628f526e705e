//! Races and concurrent maps: one winner, the others ended, nothing leaked.

use crate::common::{
    LONG, Tally,
    fibers::{FOREVER, with_every_cx},
    panic_text, pool, watchdog,
};
use anabranch::{Cancelled, Cx};
use std::{
    sync::{
        Barrier,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

#[test]
fn races_and_maps_leave_nothing_behind() {
    with_every_cx(|cx| {
        let tally = Tally::default();
        let items = (0..10u64).map(|i| (i, tally.make(), tally.make()));
        let winner = cx.race_iter(items, |cx, (i, _value, result)| {
            if i != 4 {
                let _ = cx.sleep(FOREVER);
            }
            (i, result)
        });
        assert_eq!(winner.map(|(i, _)| i), Some(4));
        let text = panic_text(|| {
            cx.race((
                |cx: &Cx<'_>| {
                    let _ = cx.sleep(FOREVER);
                    tally.make()
                },
                |_: &Cx<'_>| panic!("racer"),
            ));
        });
        assert_eq!(text, "racer");
        assert!(cx.race_iter(0..0, |_, i| i).is_none());

        let failed = cx.map_concurrent(3, (0..100u32).map(|i| (i, tally.make())), |cx, (i, value)| {
            cx.sleep(Duration::from_micros(50))?;
            if i == 20 { Err(MapError(Some(i))) } else { Ok(value) }
        });
        assert!(matches!(failed, Err(MapError(Some(20)))));
        let text = panic_text(|| {
            let _ = cx.map_concurrent(4, 0..50u32, |cx, i| {
                cx.sleep(Duration::from_micros(50))?;
                assert_ne!(i, 30, "item");
                Ok::<_, Cancelled>(tally.make())
            });
        });
        assert!(text.contains("item"));
        tally.assert_all_dropped();
    });
}

#[derive(Debug)]
struct MapError(Option<u32>);

impl From<Cancelled> for MapError {
    fn from(_: Cancelled) -> Self {
        Self(None)
    }
}

#[test]
fn map_concurrent_keeps_its_limit() {
    with_every_cx(|cx| {
        for limit in [1, 2, 7] {
            let (now, most) = (AtomicU32::new(0), AtomicU32::new(0));
            let squares = cx.map_concurrent(limit, 0..60u64, |cx, i| {
                most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                cx.yield_now();
                cx.sleep(Duration::from_micros(60 - i))?;
                now.fetch_sub(1, Ordering::Relaxed);
                Ok::<_, Cancelled>(i * i)
            });
            assert_eq!(squares.unwrap(), (0..60).map(|i| i * i).collect::<Vec<_>>());
            assert!(most.into_inner() <= limit as u32);
        }
        assert!(panic_text(|| drop(cx.map_concurrent(0, [1], |_, _| Ok::<_, Cancelled>(())))).contains("limit"));
    });
}

/// Results that come late meet in their drops: so none is dropped while something is locked that the other needs.
#[test]
fn results_of_losers_are_dropped_concurrently() {
    struct Meets<'a>(Option<&'a Barrier>);
    impl Drop for Meets<'_> {
        fn drop(&mut self) {
            if let Some(barrier) = self.0 {
                barrier.wait();
            }
        }
    }
    watchdog(LONG, || {
        // All begin, on a thread each, which they block: then none is cancelled before it has a result.
        let (begin, end) = (Barrier::new(3), Barrier::new(2));
        pool(4).run(|cx| {
            let winner = cx.race_ok_iter(0..3, |_, _| {
                begin.wait();
                Ok::<_, ()>(Meets(Some(&end)))
            });
            winner.unwrap().0 = None;
            let winner = cx.race_iter(0..3, |_, _| {
                begin.wait();
                Meets(Some(&end))
            });
            winner.unwrap().0 = None;
        });
    });
}
