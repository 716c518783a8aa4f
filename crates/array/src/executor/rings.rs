//! The same numbers in another ring.

use tacit_mpc::circuits::{to_planes, to_ring};
use tacit_mpc::{Backend, Result};

use super::call::Call;
use super::comparisons::signed_bits;
use crate::array::{Shares, joined, parted};

/// From 64 bits to 128, by planes of as many bits as the numbers have.
pub(super) fn widen<B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let all: Vec<&B::Vector<u64>> = calls.iter().map(|call| call.args[0].vector::<u64>()).collect();
    let (one, rows) = joined::<u64, B>(&all);
    let planes = to_planes(b, &one, signed_bits(calls[0].bounds(0)))?;
    let wide = to_ring::<u128, B>(b, &planes, true)?;
    Ok(parted::<u128, B>(wide, &rows).into_iter().map(Shares::Ring128).collect())
}

/// From 128 bits to 64. Local.
pub(super) fn narrow<B: Backend>(b: &B, calls: &[Call<'_, B>]) -> Vec<Shares<B>> {
    calls.iter().map(|call| Shares::Ring64(b.narrow(call.args[0].vector::<u128>()))).collect()
}
