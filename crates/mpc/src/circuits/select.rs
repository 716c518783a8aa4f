//! Choice by a secret bit.

use super::{Gates, Planes};
use crate::{Backend, Result};

/// Per row: x where choice is one, else y. One AND a plane, one round.
///
/// # Errors
/// That of the gates.
pub fn mux<G: Gates>(g: &mut G, choice: &G::Wire, x: &[G::Wire], y: &[G::Wire]) -> Result<Vec<G::Wire>, G::Error> {
    assert_eq!(x.len(), y.len(), "alternatives of one width");
    let [of_x, of_y] = [x, y].map(|wires| wires.iter().collect::<Vec<_>>());
    let differences = g.xor_all(&of_x, &of_y);
    let base: Vec<_> = y.iter().map(Some).collect();
    g.and_xor(&vec![choice; differences.len()], &differences.iter().collect::<Vec<_>>(), &base)
}

/// Every plane ANDed with one bit. One round.
pub fn mask_all<B: Backend>(b: &mut B, bit: &B::Bits, planes: &[B::Bits]) -> Result<Planes<B>> {
    b.and(&vec![bit; planes.len()], &planes.iter().collect::<Vec<_>>())
}
