//! CPU time of each primitive at a node. Predicted times and the choice of garbling follow from it.
//!
//! Both nodes compute at the same time, and much the same; where they do not, a price is half of what both take
//! together. What bytes and rounds take is the network's. All nodes compute with one table, since they choose by it:
//! the default, or one that they have measured and agreed on. `benches/predictions.py` compares whole queries with what
//! follows from the prices.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Something that takes processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Base OTs of both directions.
    BaseOts,
    /// The setup of silent OT in one direction.
    SilentSetup,
    /// An OT that is made for the stock by SoftSpokenOT with k = 4.
    ExtendedOt,
    /// One that is made by silent OT.
    SilentOt,
    /// One that is made on a fast link, by SoftSpokenOT with k = 2.
    FastOt,
    /// An OT that is streamed, hashed to what it is for.
    StreamedOt,
    /// Two OTs of the stock, hashed for the ANDs of a row that have a common factor.
    CommonFactor,
    /// An AND of a row, beyond the OTs.
    And,
    /// A bit times a ring element of 64 bits, of one direction, beyond the OT.
    BitProduct,
    /// A digit of a row that is looked up by silent OTs.
    Lookup,
    /// A digit of a row that is looked up by streamed ones, beyond them.
    StreamedLookup,
    /// A ring element of 64 bits that a digit chooses, of one direction.
    Choice,
    /// A switch of a permutation, beyond the OT and the lanes.
    Switch,
    /// A lane of 64 bits in a switch.
    SwitchedLane,
    /// Keys for oblivious linear evaluation.
    ProductKeys,
    /// A product of 64 bits by it, beyond the products of bits that it takes.
    Product,
    /// A bit of one direction of a product by OTs of the stock, beyond the OT.
    ProductBit,
    /// A polynomial modulo one prime in a product of matrices: of a request, a block or an answer.
    MatrixPolynomial,
    /// The product of two of them.
    MatrixProduct,
    /// An AND of a garbled circuit.
    GarbledAnd,
    /// An input of a garbled circuit by OT.
    GarbledInput,
}

impl fmt::Display for Work {
    /// As tables of prices name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The default table: picoseconds of each node's processor.
///
/// Measured on 2026-11-22, on two cores of an AMD EPYC with AVX-512. Above the prices is the program that measures
/// them: the time of one node in its table, less the other prices that are part of the same operation.
const MEASURED: [(Work, u64); WORKS] = [
    // tacit-bench ot --rows 20
    (Work::BaseOts, 25_000_000_000),
    // tacit-bench gates --only ands --rows 12,14: what silent OT takes more than it does from 2^20 on
    (Work::SilentSetup, 15_000_000_000),
    // tacit-bench ot --rows 20
    (Work::ExtendedOt, 9_000),
    (Work::SilentOt, 17_000),
    (Work::FastOt, 7_000),
    // tacit-bench gates --only ands,common-factor,bits,choices --rows 20, and the first with --bandwidth 1e9
    (Work::StreamedOt, 7_500),
    (Work::CommonFactor, 16_000),
    (Work::And, 600),
    (Work::BitProduct, 16_000),
    // tacit-bench kernels --engine two --only equal --rows 18, and with --bandwidth 1e9
    (Work::Lookup, 36_000),
    (Work::StreamedLookup, 5_000),
    // tacit-bench kernels --engine two --only shuffle,sort --rows 16
    (Work::Choice, 40_000),
    (Work::Switch, 12_000),
    (Work::SwitchedLane, 5_000),
    // tacit-bench gates --only products --rows 12,13,14,20
    (Work::ProductKeys, 17_000_000_000),
    (Work::Product, 240_000),
    (Work::ProductBit, 8_000),
    // tacit-bench arrays --only matrix
    (Work::MatrixPolynomial, 42_000_000),
    (Work::MatrixProduct, 10_000_000),
    // tacit-bench garbling
    (Work::GarbledAnd, 12_000),
    (Work::GarbledInput, 4_000),
];

/// How many kinds of work there are.
const WORKS: usize = Work::GarbledInput as usize + 1;

/// The most that one of anything may be said to take: ten seconds.
const MOST: u64 = 10_000_000_000_000;

/// What everything takes of each node's processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Work, u64>", into = "BTreeMap<Work, u64>")]
pub struct Prices([u64; WORKS]);

impl Default for Prices {
    fn default() -> Self {
        Self(MEASURED.map(|(_, picoseconds)| picoseconds))
    }
}

impl TryFrom<BTreeMap<Work, u64>> for Prices {
    type Error = String;

    /// From picoseconds of every kind of work.
    fn try_from(told: BTreeMap<Work, u64>) -> Result<Self, String> {
        let mut prices = [0; WORKS];
        for (work, _) in MEASURED {
            let picoseconds = told.get(&work).ok_or_else(|| format!("there is no price of {work}"))?;
            if *picoseconds > MOST {
                return Err(format!("{work} is said to take {picoseconds} ps, more than ten seconds"));
            }
            prices[work as usize] = *picoseconds;
        }
        Ok(Self(prices))
    }
}

impl From<Prices> for BTreeMap<Work, u64> {
    fn from(prices: Prices) -> Self {
        prices.table()
    }
}

impl Prices {
    /// Picoseconds of each node's processor for one of everything.
    pub fn table(&self) -> BTreeMap<Work, u64> {
        MEASURED.iter().map(|&(work, _)| (work, self.0[work as usize])).collect()
    }

    /// Seconds of each node's processor for one.
    pub(super) fn seconds(&self, work: Work) -> f64 {
        self.0[work as usize] as f64 * 1e-12
    }
}

/// Processor time that adds up, in picoseconds: whole ones, so that all parties predict the same.
#[derive(Clone, Default)]
pub(super) struct Processor {
    prices: Prices,
    picoseconds: u64,
}

impl Processor {
    /// Before any work, at these prices.
    pub(super) fn new(prices: Prices) -> Self {
        Self { prices, picoseconds: 0 }
    }

    /// Adds that of so much work.
    pub(super) fn add(&mut self, work: Work, count: usize) {
        let added = self.prices.0[work as usize].saturating_mul(count as u64);
        self.picoseconds = self.picoseconds.saturating_add(added);
    }

    /// What has added up; it starts again at zero.
    pub(super) fn take(&mut self) -> Duration {
        Duration::from_nanos(std::mem::take(&mut self.picoseconds) / 1_000)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MEASURED, MOST, Prices, Processor, Work};

    #[test]
    fn work_adds_up_until_it_is_asked_for() {
        let mut processor = Processor::default();
        processor.add(Work::SilentOt, 2_000);
        processor.add(Work::CommonFactor, 1_000);
        let prices = Prices::default();
        let both = 2_000.0 * prices.seconds(Work::SilentOt) + 1_000.0 * prices.seconds(Work::CommonFactor);
        assert_eq!(processor.take(), Duration::from_secs_f64(both));
        assert_eq!(processor.take(), Duration::ZERO);
    }

    #[test]
    fn the_default_has_everything_once_and_in_order() {
        assert!(MEASURED.iter().enumerate().all(|(place, (work, _))| *work as usize == place));
    }

    #[test]
    fn a_table_has_every_price_and_none_that_is_absurd() {
        let mut told = Prices::default().table();
        assert_eq!(Prices::try_from(told.clone()), Ok(Prices::default()));
        told.insert(Work::Lookup, MOST + 1);
        assert!(Prices::try_from(told.clone()).is_err_and(|error| error.starts_with("lookup is said to take")));
        told.remove(&Work::Lookup);
        assert_eq!(Prices::try_from(told), Err("there is no price of lookup".into()));
    }
}
