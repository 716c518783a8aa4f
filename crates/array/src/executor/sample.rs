//! Numbers that the nodes draw together and nobody knows.

use tacit_mpc::circuits::to_ring;
use tacit_mpc::{Backend, Result};

use super::call::Call;
use crate::array::Shares;
use crate::program::Ring;

/// Uniform numbers of `bits` bits: planes that nobody knows become numbers.
pub(super) fn drawn<B: Backend>(b: &mut B, call: &Call<'_, B>, bits: usize) -> Result<Shares<B>> {
    let rows = call.instruction.elements();
    let mut planes = b.random_bits(&vec![rows; bits]);
    Ok(match call.instruction.ring {
        Ring::Bits => Shares::Bits(planes.swap_remove(0)),
        Ring::Ring64 => Shares::Ring64(to_ring(b, &planes, false)?),
        Ring::Ring128 => Shares::Ring128(to_ring(b, &planes, false)?),
    })
}
