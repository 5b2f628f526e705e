//! Fibers.

use crate::explore::{any, explore};
use anabranch::Pool;

#[test]
fn trial() {
    explore(1000, |seen| {
        let pool = Pool::builder().threads(any(1, 3)).build().unwrap();
        let handles: Vec<_> = (0..3)
            .map(|n| {
                pool.spawn(move |cx| {
                    cx.yield_now();
                    n
                })
            })
            .collect();
        let sum: i32 = pool.run(|cx| handles.into_iter().map(|handle| handle.join(cx).unwrap()).sum());
        assert_eq!(sum, 3);
        seen.note(&pool);
    });
}
