//! Choice by a secret bit.

use super::Planes;
use crate::{Backend, Result, linear};

/// Per row: x where choice is one, else y. One AND a plane, one round.
pub fn mux<B: Backend>(b: &mut B, choice: &B::Bits, x: &[B::Bits], y: &[B::Bits]) -> Result<Planes<B>> {
    assert_eq!(x.len(), y.len(), "alternatives of one width");
    let differences: Planes<B> = x.iter().zip(y).map(|(x, y)| linear::xor(x, y)).collect();
    let base: Vec<_> = y.iter().map(Some).collect();
    b.and_xor(&vec![choice; differences.len()], &differences.iter().collect::<Vec<_>>(), &base)
}

/// Every plane ANDed with one bit. One round.
pub fn mask_all<B: Backend>(b: &mut B, bit: &B::Bits, planes: &[B::Bits]) -> Result<Planes<B>> {
    b.and(&vec![bit; planes.len()], &planes.iter().collect::<Vec<_>>())
}
