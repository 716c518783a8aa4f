//! Products with a scan: inner products of ring elements whose second factors a scan gives from the first ones.
//!
//! Functionality: z = sum over t of x_t y_t + base + row number, where a linear scan gives y and the base from x.
//! Discloses nothing. As in [`super::multiply`], node i:
//!
//! 1. scans components i and i+1 of x, which gives these components of y and of the base;
//! 2. draws a_i, where a_0 + a_1 + a_2 = 0;
//! 3. computes z_i = a_i + base_i + sum over t of (x_i y_i + x_i y_(i+1) + x_(i+1) y_i), node 0 also plus the row
//!    number;
//! 4. sends z_i to the node before it and receives z_(i+1) from the next one.
//!
//! Source: Araki et al., CCS 2016, section 3.2 (there with another numbering).
//!
//! Rounds: 1. Bytes sent by each node: one ring element a row, however many products it sums.

use tacit_math::Ring;
use tacit_math::simd::dispatch;

use super::multiply::{AddProducts, Term};
use super::{Rep3, Share};
use crate::backends::wire::{Arriving, Outgoing};
use crate::{LinearScan, Result};

/// Rows of a scan that are computed at a time: with its factors, within the first-level cache.
const SCAN_ROWS: usize = 512;

impl Rep3 {
    /// The product of ring elements with a scan of them.
    pub(super) fn product_with_scan<R: Ring, S: LinearScan<R, N>, const N: usize>(
        &mut self,
        x: [&Share<Vec<R>>; N],
    ) -> Result<Share<Vec<R>>> {
        self.session.next_round();
        let (next, previous) = (self.next(), self.previous());
        let rows = x[0].mine.len();
        let columns = [x.map(|x| x.mine.as_slice()), x.map(|x| x.next.as_slice())];
        let mut scans = columns.map(S::start);
        let mut factors = [[[R::ZERO; SCAN_ROWS]; N]; 2];
        let mut bases = [[R::ZERO; SCAN_ROWS]; 2];
        // Row numbers are public: component 0 has them.
        let numbers = if self.me() == 0 { R::ONE } else { R::ZERO };
        let mut out = Outgoing::masked(&mut self.session, previous);
        let mut arriving = Arriving::new(next, vec![rows]);
        let mut mine = Vec::with_capacity(rows);
        let [mut buffer, mut subtracted] = [[R::ZERO; SCAN_ROWS]; 2];
        for at in (0..rows).step_by(SCAN_ROWS) {
            let len = SCAN_ROWS.min(rows - at);
            let pieces = columns.map(|side| side.map(|column| &column[at..at + len]));
            // Step 1: the scan is linear, so its outputs of a component of x are components of its outputs of x.
            for side in 0..2 {
                let outputs = factors[side].each_mut().map(|factor| &mut factor[..len]);
                scans[side].piece(pieces[side], outputs, &mut bases[side][..len]);
            }
            // Step 2: z_i = a_i.
            let z_i = &mut buffer[..len];
            self.zero_share(z_i, &mut subtracted[..len]);
            // Step 3: z_i += what is added to the products, then the products.
            for (row, (z_i, base_i)) in z_i.iter_mut().zip(&bases[0]).enumerate() {
                *z_i = z_i.add(*base_i).add(numbers.mul(R::from_u128((at + row) as u128)));
            }
            for t in 0..N {
                let term = Term { x: [pieces[0][t], pieces[1][t]], y: [&factors[0][t][..len], &factors[1][t][..len]] };
                dispatch(AddProducts { z_i: &mut *z_i, term: &term, at: 0 });
            }
            // Step 4: a_i masks z_i from the node before.
            out.push_masked(&mut self.session, z_i)?;
            mine.extend_from_slice(z_i);
            arriving.keep_up(&mut self.session, out.sent())?;
        }
        out.finish(&mut self.session)?;
        Ok(Share { mine, next: arriving.finish(&mut self.session)?.swap_remove(0) })
    }
}
