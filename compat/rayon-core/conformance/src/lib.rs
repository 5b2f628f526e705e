//! The documentation of rayon-core: programs that must not compile, and the examples, which `.ci/rayon` takes from the
//! sources.

#[path = "../../sources/rayon-core-1.13.0/src/compile_fail/quicksort_race1.rs"]
pub mod quicksort_race1;
#[path = "../../sources/rayon-core-1.13.0/src/compile_fail/quicksort_race2.rs"]
pub mod quicksort_race2;
#[path = "../../sources/rayon-core-1.13.0/src/compile_fail/quicksort_race3.rs"]
pub mod quicksort_race3;
#[path = "../../sources/rayon-core-1.13.0/src/compile_fail/rc_return.rs"]
pub mod rc_return;
#[path = "../../sources/rayon-core-1.13.0/src/compile_fail/rc_upvar.rs"]
pub mod rc_upvar;
#[path = "../../sources/rayon-core-1.13.0/src/compile_fail/scope_join_bad.rs"]
pub mod scope_join_bad;

#[path = "../../examples.rs"]
pub mod examples;
