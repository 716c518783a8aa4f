//! One line of the table: a bound, in bits, and what is asked of it.

use std::fmt;

use crate::numbers::log2_sum;

/// What bits count, and so how many are asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Work of the best attack known on an assumed hard problem, divided by its chance of success.
    Hardness,
    /// Calls of AES, or operations of a group, by which a search succeeds that treats it as a black box. Blocks of 128
    /// bits that are hashed 2^q times under one offset leave at most 128 - q, and a group of 2^252 elements 126. So
    /// less is asked than of an assumption.
    Generic,
    /// Minus the logarithm of the probability, over a whole run and whatever is computed, that one guarantee does not
    /// hold.
    Statistical,
    /// The same of all guarantees of a run of one protocol: the sum of what its events have.
    Run,
    /// The same of a bin that overflows, which ends a run.
    Overflow,
    /// Minus the logarithm of the number of words of a random code that would help an attack: fewer than one is asked.
    Words,
}

impl Kind {
    /// The least number of bits.
    pub fn asked(self) -> f64 {
        match self {
            Self::Hardness => 128.0,
            Self::Generic => 90.0,
            Self::Statistical | Self::Run => 40.0,
            Self::Overflow => 80.0,
            Self::Words => 0.0,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Hardness => "hardness",
            Self::Generic => "generic",
            Self::Statistical => "statistical",
            Self::Run => "run",
            Self::Overflow => "overflow",
            Self::Words => "words",
        }
    }
}

/// A bound that holds for one whole run.
#[derive(Clone, Debug)]
pub struct Bound {
    /// What it is about.
    pub what: String,
    /// The numbers it follows from, read from the code.
    pub with: String,
    /// The bits.
    pub bits: f64,
    /// What they count.
    pub kind: Kind,
    /// Where the formula comes from.
    pub source: &'static str,
}

impl Bound {
    /// Whether the bits are those that are asked.
    pub fn holds(&self) -> bool {
        // The closed formulas that sizes are derived from may meet the demand to the last digit. A sum may not exceed
        // it.
        let rounded = if self.kind == Kind::Run { 0.0 } else { 1e-6 };
        self.bits >= self.kind.asked() - rounded
    }

    /// That any of the events of a run happens: the sum of all that is left to chance among these bounds.
    pub fn together<'a>(run: &str, events: impl Iterator<Item = &'a Self>) -> Self {
        let chances: Vec<f64> = events
            .filter(|event| matches!(event.kind, Kind::Statistical | Kind::Overflow))
            .map(|event| -event.bits)
            .collect();
        Self {
            what: format!("{run}: together"),
            with: format!("{} events", chances.len()),
            bits: -log2_sum(&chances),
            kind: Kind::Run,
            source: "the sum of these lines; shares of events: crates/psi/src/parts/chance.rs",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, with, bits, kind, source } = self;
        let verdict = if self.holds() { "" } else { "  TOO FEW" };
        write!(f, "{bits:7.1} {:5.0}  {:<11}  {what:<62}  {with:<52}  {source}{verdict}", kind.asked(), kind.name())
    }
}

/// The heads of the columns of a [`Bound`].
pub fn heads() -> String {
    format!("{:>7} {:>5}  {:<11}  {:<62}  {:<52}  source", "bits", "asked", "kind", "bound", "from")
}
