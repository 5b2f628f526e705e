//! What an edge may weigh.

/// The weight of an edge: a number, or `()` if the edges have none.
///
/// This trait is sealed.
pub trait Weight: Copy + PartialOrd + Send + Sync + 'static + sealed::Sealed {}

impl Weight for () {}
impl Weight for u32 {}
impl Weight for f32 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for u32 {}
    impl Sealed for f32 {}
}
