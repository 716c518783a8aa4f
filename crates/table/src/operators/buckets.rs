//! NTILE: which bucket a row is in.
//!
//! Functionality: of c rows in k buckets the first c mod k buckets have one row more than the others. c is secret, k
//! public. Discloses nothing.
//!
//! Method: q = c div k is the top of c times a public number, exact for as many bits as c has. (Source: Granlund,
//! Montgomery, "Division by invariant integers using multiplication", PLDI 1994, theorem 4.2.) Bucket j, from 0, begins
//! at the row j q + min(j, c mod k). The number of a row's bucket is how many buckets begin with the row or before it.
//! Such a row is not before both j q + j and j q + c mod k: two signs for each bucket.
//!
//! Cost: a conversion to planes and back, and 2 (k - 1) signs of numbers as wide as those of rows.

use tacit_math::ring;
use tacit_mpc::circuits::{sign, to_planes, to_ring};
use tacit_mpc::{Backend, Linear, linear, ops};

use super::input::at_most;
use super::totals::Totals;
use crate::error::{Result, TableError};

/// The numbers of the rows' buckets, from 1. row: the row's number, from 1. all: how many there are.
pub(crate) fn buckets<B: Backend>(
    b: &mut B,
    rows: usize,
    row: &Totals<B>,
    all: &Totals<B>,
    count: usize,
) -> Result<Totals<B>> {
    let (Totals::M64(row), Totals::M64(all)) = (row, all) else {
        return Err(TableError::Internal("row numbers in another ring".into()));
    };
    let ones = b.public_vector(rows, || vec![1u64; rows]);
    if count == 1 || rows == 0 {
        return Ok(Totals::M64(ones));
    }
    let [quotient, rest] = divided(b, at_most(rows, "a window")?, all, count as u64)?;
    let row = linear::sub(row, &ones);
    let mut before = Vec::new();
    for j in 1..count.min(rows) as u64 {
        let start = linear::scale(&quotient, j);
        let number = b.public_vector(rows, || vec![j; rows]);
        before.extend([&number, &rest].map(|more| linear::sub(&linear::sub(&row, &start), more)));
    }
    if before.is_empty() {
        return Ok(Totals::M64(ones));
    }
    let long: B::Vector<u64> = linear::concat_vectors(&before.iter().collect::<Vec<_>>());
    // Differences are between -(c + 2 k) and c.
    let before = sign(b, &long, ops::label_width(rows + 2 * count + 1) + 1)?;
    let half = |which: usize| {
        let parts: Vec<B::Bits> = (0..before.rows() / rows)
            .filter(|part| part % 2 == which)
            .map(|part| before.map(rows, |plane| plane.slice(part * rows, rows)))
            .collect();
        linear::concat_bits(&parts.iter().collect::<Vec<_>>())
    };
    let both = b.and(&[&half(0)], &[&half(1)])?.swap_remove(0);
    let begun: B::Vector<u64> = b.inject(&[&b.not(&both)])?.swap_remove(0);
    let sums = begun.map(rows, |x| x.chunks(rows).fold(vec![0; rows], |sum, part| ring::add(&sum, part)));
    Ok(Totals::M64(linear::add(&sums, &ones)))
}

/// A number of rows divided by a public number: quotient and rest.
fn divided<B: Backend>(b: &mut B, rows: usize, x: &B::Vector<u64>, by: u64) -> Result<[B::Vector<u64>; 2]> {
    let width = ops::label_width(rows + 1);
    let shift = width + ops::label_width(by as usize);
    // The product is below 2^64: of at most 2^31 rows with a factor of at most 2^33.
    let factor = (1u128 << shift) / u128::from(by) + 1;
    let factor = u64::try_from(factor).map_err(|_| TableError::Internal("a factor of more than 64 bits".into()))?;
    let product = linear::scale(x, factor);
    let quotient = to_planes(b, &product, (shift + width).min(64))?.split_off(shift);
    let quotient: B::Vector<u64> = to_ring(b, &quotient, false)?;
    let rest = linear::sub(x, &linear::scale(&quotient, by));
    Ok([quotient, rest])
}
