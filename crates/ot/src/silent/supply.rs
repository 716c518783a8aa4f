//! Correlated OTs, used up from the front.

use tacit_math::gf::Field;

use crate::correlated::{CotReceiver, CotSender};

/// The sender's OTs.
pub(super) struct Offered<'a> {
    pub delta: u128,
    /// Number of the first OT among all of this delta.
    pub first: u64,
    zero: &'a [u128],
}

/// The receiver's OTs.
pub(super) struct Chosen<'a> {
    ots: &'a CotReceiver,
    used: usize,
}

impl<'a> Offered<'a> {
    pub fn new(ots: &'a CotSender) -> Self {
        Self { delta: ots.delta, first: ots.first, zero: &ots.zero }
    }

    /// The zero blocks of the next OTs.
    pub fn take(&mut self, count: usize) -> &'a [u128] {
        let (now, later) = self.zero.split_at(count);
        self.zero = later;
        now
    }

    /// The sender's part of a VOLE: b for c = a delta + b with a made of the receiver's bits. The bits of `F::BITS` OTs
    /// are the coefficients of a, and their correlations are summed with the same weights (Gilboa, CRYPTO 1999, without
    /// a message as a is random).
    pub fn take_product<F: Field>(&mut self) -> u128 {
        weigh::<F>(self.take(F::BITS))
    }
}

impl<'a> Chosen<'a> {
    pub fn new(ots: &'a CotReceiver) -> Self {
        Self { ots, used: 0 }
    }

    /// Number of the first OT among all of the sender's delta.
    pub fn first(&self) -> u64 {
        self.ots.first
    }

    /// The bits, the first OT's highest, and blocks of the next OTs, at most 32.
    pub fn take(&mut self, count: u32) -> (u32, &'a [u128]) {
        let range = self.used..self.used + count as usize;
        self.used = range.end;
        let bits = range.clone().fold(0, |bits, i| bits << 1 | u32::from(self.ots.choice(i)));
        (bits, &self.ots.blocks[range])
    }

    /// The receiver's part of a VOLE: a and c.
    pub fn take_product<F: Field>(&mut self) -> (F, u128) {
        let range = self.used..self.used + F::BITS;
        self.used = range.end;
        let bits = range.clone().rev().fold(0, |bits, i| bits << 1 | u128::from(self.ots.choice(i)));
        (F::from_bits(bits), weigh::<F>(&self.ots.blocks[range]))
    }
}

/// The sum of x^i times block i.
fn weigh<F: Field>(blocks: &[u128]) -> u128 {
    let weights: Vec<F> = (0..F::BITS).map(|i| F::from_bits(1 << i)).collect();
    F::inner_product(&weights, blocks)
}
