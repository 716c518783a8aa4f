//! Products with a scan: bits as ring elements times the factors that a scan of them gives.
//!
//! Functionality: z = sum over t of x_t y_t + base + row number, where x_t are shared bits as ring elements and a
//! linear scan gives y and the base from x. Discloses nothing.
//!
//! 1. The bits become ring elements x_t ([`super::inject`]).
//! 2. The scan runs on each node's component of x, which gives that of y and of the base.
//! 3. Each bit selects y_t ([`super::select`]), or the digit whose value the bits stand for chooses one
//!    ([`crate::backends::two::lookups::choose`]).
//! 4. Node i adds up its shares and its component of the base, node 0 also the row number.
//!
//! OTs, rounds and bytes: those of the first and the third step.

use tacit_math::{Plane, Ring};

use crate::backends::two::{Share, Two, strategy};
use crate::{LinearScan, Result};

impl Two {
    pub(in crate::backends::two) fn bits_times_scan<R: Ring, S: LinearScan<R, N>, const N: usize>(
        &mut self,
        digit: &[&Share<Plane>],
        bits: [&Share<Plane>; N],
    ) -> Result<Share<Vec<R>>> {
        let rows = bits[0].0.rows();
        // Step 1.
        let x: Vec<Share<Vec<R>>> = self.inject_bits(&bits)?;
        // Step 2.
        let columns: [&[R]; N] = std::array::from_fn(|t| x[t].0.as_slice());
        let mut factors: [Vec<R>; N] = std::array::from_fn(|_| vec![R::ZERO; rows]);
        let mut sum = vec![R::ZERO; rows];
        S::start(columns).piece(columns, factors.each_mut().map(Vec::as_mut_slice), &mut sum);
        let factors = factors.each_ref().map(Vec::as_slice);
        // Step 3.
        let selected = if strategy::chooses(rows, N) {
            vec![self.chosen(digit, &factors)?]
        } else {
            self.selections(&bits, &factors)?
        };
        // Step 4.
        for selected in selected {
            sum.iter_mut().zip(selected).for_each(|(sum, x)| *sum = sum.add(x));
        }
        if self.me() == 0 {
            sum.iter_mut().enumerate().for_each(|(i, sum)| *sum = sum.add(R::from_u128(i as u128)));
        }
        Ok(Share(sum))
    }
}
