//! Why a plan is as it is, in words.

use std::fmt;

use crate::Plan;

/// The part of the rule that decides the size of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// There are no elements.
    Empty,
    /// There are fewer vectors than cores, so each block is one vector.
    OneVector,
    /// A block is a core's share of the vectors, rounded down.
    FillCores,
    /// A core's share is larger than the largest block, so a core gets several blocks.
    LargestBlock,
    /// There are at least as many vectors as the cores keep resident, so each lane takes several elements.
    Stride,
}

impl Rule {
    /// Returns the name in lower case with hyphens, for scripts.
    ///
    /// ```
    /// use anabranch_kernel::Rule;
    /// assert_eq!(Rule::FillCores.name(), "fill-cores");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::OneVector => "one-vector",
            Self::FillCores => "fill-cores",
            Self::LargestBlock => "largest-block",
            Self::Stride => "stride",
        }
    }
}

/// Why a [`Plan`] is as it is. [`Plan::reason`] returns it, and its `Display` writes sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    plan: Plan,
}

impl Reason {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan } = self;
        let (shape, vectors, blocks, size) = (plan.shape(), plan.vectors(), plan.blocks(), plan.vectors_per_block());
        let (cores, resident) = (shape.cores, shape.resident_vectors);
        if plan.is_empty() {
            return f.write_str("There are no elements, so nothing is launched.");
        }
        let verb = if plan.elements() == 1 { "is" } else { "are" };
        let (elements, lanes) = (Count(plan.elements(), "element"), Count(shape.lanes.into(), "lane"));
        write!(f, "{elements} {verb} {} of {lanes}. ", Count(vectors, "vector"))?;
        let launch = format!("{} of {}", Count(blocks, "block"), Count(size.into(), "vector"));
        match plan.rule() {
            Rule::Empty => {}
            Rule::OneVector => {
                write!(f, "There are {cores} cores, more than vectors, so each block is one vector: {launch}.")?
            }
            Rule::FillCores => write!(
                f,
                "A core gets {vectors} / {cores} = {size} of them, rounded down, so that no core is idle: {launch}."
            )?,
            Rule::LargestBlock => write!(
                f,
                "A core's share, {vectors} / {cores} = {} rounded down, is at least the largest block, {size} of the \
                 {resident} vectors that a core keeps resident: {launch}.",
                vectors / u64::from(cores)
            )?,
            Rule::Stride => write!(
                f,
                "The {cores} cores keep {} resident, {resident} each: {launch}. A lane takes at most {}, at distances \
                 of {}.",
                Count(plan.places(), "vector"),
                Count(plan.elements_per_lane(), "element"),
                plan.lanes()
            )?,
        }
        match plan.blocks_per_core() {
            (least, most) if least == most => write!(f, " Each core has {}.", Count(least, "block"))?,
            (least, most) => write!(f, " A core has {least} or {}.", Count(most, "block"))?,
        }
        let (launched, places, share) = (plan.launched(), plan.places(), plan.occupancy() * 100.0);
        let percent = if share < 0.1 { "less than 0.1%".to_owned() } else { format!("{share:.1}%") };
        write!(f, " {launched} of the {places} places for resident vectors are used, an occupancy of {percent}.")?;
        match plan.waves() {
            1 => Ok(()),
            waves => write!(
                f,
                " A map launches {waves} times as many blocks, so that a core that has ended one begins the next."
            ),
        }
    }
}

/// A number and what it counts.
pub(crate) struct Count(pub(crate) u64, pub(crate) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}
