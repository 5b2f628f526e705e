//! The reason for a plan, in words.

use std::fmt;

use crate::plan::{Count, Plan, Rule};

/// The reason for a [`Plan`]. [`Plan::reason`] returns it, and its `Display` writes sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    plan: Plan,
}

impl Plan {
    /// Returns the reason for the plan, as text for people.
    ///
    /// ```
    /// use anabranch_kernel::Device;
    ///
    /// let plan = "h100".parse::<Device>()?.plan(10_000);
    /// assert_eq!(
    ///     plan.reason().to_string(),
    ///     "10000 elements are 313 vectors of 32 lanes. A core gets 313 / 132 = 2 of them, rounded down, so that no \
    ///      core is idle: 157 blocks of 2 vectors. A core has 1 or 2 blocks. 314 of the 8448 places for resident \
    ///      vectors are used, an occupancy of 3.7%."
    /// );
    /// # Ok::<_, anabranch_kernel::UnknownDevice>(())
    /// ```
    #[must_use]
    pub fn reason(&self) -> Reason {
        Reason { plan: *self }
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
