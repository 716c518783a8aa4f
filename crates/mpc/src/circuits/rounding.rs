//! Truncation that rounds down.

use tacit_math::Ring;

use super::arithmetic::carry_of_summands;
use crate::{Backend, Result, linear};

/// x / 2^by rounded down, for -2^(k-2) <= x < 2^(k-2) in a ring of k bits. Exact: for integers, for what is released
/// and for keys of comparisons. [`Backend::truncate_apart`], the carry of `by` bits and an injection.
///
/// # Errors
/// As the engine's.
///
/// # Panics
/// Unless 1 <= by <= k - 2.
pub fn floor<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, by: usize) -> Result<B::Vector<R>> {
    b.step("floor", |b| {
        let apart = b.truncate_apart(&[x], by)?.swap_remove(0);
        let [first, second] = apart.low;
        if first.is_empty() {
            return Ok(apart.less_carry);
        }
        let carry = carry_of_summands(b, &first, &second)?;
        let carry = b.inject::<R>(&[&carry])?.swap_remove(0);
        Ok(linear::add(&apart.less_carry, &carry))
    })
}
