//! The interface of a launch to its module: the immediates and the bindings.

/// The bytes of a dispatch's own values: lengths and scalars. All systems offer as many.
pub(super) const IMMEDIATES: u32 = 128;

/// A dispatch's own values.
pub(super) type Immediates = [u32; IMMEDIATES as usize / 4];

/// The words of the immediates that belong to the skeleton.
pub(super) const SKELETON_WORDS: usize = 8;

/// The binding of the slot.
pub(super) const TRAPS_BINDING: u32 = 0;
/// The binding of values that have no room in the immediates.
pub(super) const VALUES_BINDING: u32 = 1;
/// The binding of the first vector that a skeleton writes. Inputs follow.
pub(super) const FIRST_OUTPUT: u32 = 2;
