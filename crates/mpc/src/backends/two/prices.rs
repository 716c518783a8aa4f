//! CPU time of each primitive at a node. Predicted times and the choice of garbling follow from it.
//!
//! Both nodes compute at the same time, and much the same; where they do not, a price is half of what both take
//! together. What bytes and rounds take is the network's. Beside each price is what measures it: the time of one node
//! in that program's table, less the prices above it that are part of the same operation. `benches/predictions.py`
//! compares whole queries with what follows from the prices.

use std::time::Duration;

/// Something that takes processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Base OTs of both directions.
    BaseOts,
    /// The setup of silent OT in one direction.
    SilentSetup,
    /// An OT that is made for the stock: by SoftSpokenOT with k = 4, by silent OT, or on a fast link by SoftSpokenOT
    /// with k = 2.
    ExtendedOt,
    SilentOt,
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
    /// A switch of a permutation, beyond the OT, and every lane of 64 bits in it.
    Switch,
    SwitchedLane,
    /// Keys for oblivious linear evaluation, and a product of 64 bits by it, beyond the products of bits that it takes.
    ProductKeys,
    Product,
    /// A bit of one direction of a product by OTs of the stock, beyond the OT.
    ProductBit,
    /// An AND of a garbled circuit, and an input by OT.
    GarbledAnd,
    GarbledInput,
}

impl Work {
    /// Picoseconds of each node's processor.
    const fn price(self) -> u64 {
        match self {
            // tacit-bench ot --rows 20
            Self::BaseOts => 25_000_000_000,
            Self::ExtendedOt => 9_000,
            Self::SilentOt => 17_000,
            Self::FastOt => 7_000,
            // tacit-bench gates --only ands --rows 12,14: what silent OT takes more than it does from 2^20 on
            Self::SilentSetup => 15_000_000_000,
            // tacit-bench gates --only ands,common-factor,bits,choices --rows 20, and the first with --bandwidth 1e9
            Self::StreamedOt => 7_500,
            Self::CommonFactor => 16_000,
            Self::And => 600,
            Self::BitProduct => 16_000,
            // tacit-bench kernels --engine two --only equal --rows 18, and with --bandwidth 1e9
            Self::Lookup => 36_000,
            Self::StreamedLookup => 5_000,
            // tacit-bench kernels --engine two --only shuffle,sort --rows 16
            Self::Choice => 40_000,
            Self::Switch => 12_000,
            Self::SwitchedLane => 5_000,
            // tacit-bench gates --only products --rows 12,13,14,20
            Self::ProductKeys => 17_000_000_000,
            Self::Product => 240_000,
            Self::ProductBit => 8_000,
            // tacit-bench garbling
            Self::GarbledAnd => 12_000,
            Self::GarbledInput => 4_000,
        }
    }

    /// Seconds of each node's processor for one.
    pub(super) const fn seconds(self) -> f64 {
        self.price() as f64 * 1e-12
    }
}

/// Processor time that adds up, in picoseconds: whole ones, so that all parties predict the same.
#[derive(Default)]
pub(super) struct Processor(u64);

impl Processor {
    /// Adds that of so much work.
    pub(super) fn add(&mut self, work: Work, count: usize) {
        self.0 += work.price() * count as u64;
    }

    /// What has added up; it starts again at zero.
    pub(super) fn take(&mut self) -> Duration {
        Duration::from_nanos(std::mem::take(&mut self.0) / 1_000)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Processor, Work};

    #[test]
    fn work_adds_up_until_it_is_asked_for() {
        let mut processor = Processor::default();
        processor.add(Work::SilentOt, 2_000);
        processor.add(Work::CommonFactor, 1_000);
        let both = 2_000.0 * Work::SilentOt.seconds() + 1_000.0 * Work::CommonFactor.seconds();
        assert_eq!(processor.take(), Duration::from_secs_f64(both));
        assert_eq!(processor.take(), Duration::ZERO);
    }
}
