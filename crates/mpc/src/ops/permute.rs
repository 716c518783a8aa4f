//! Applying and inverting secret permutations.
//!
//! A secret permutation is a shared vector of destinations: row i goes to position p[i]. Both operations shuffle the rows
//! together with the permutation and reveal the shuffled permutation, which is uniformly random whatever p is (Asharov,
//! Hamada, Ikarashi, Kikuchi, Nof, Pinkas, Takahashi, Tomida: Efficient Secure Three-Party Sorting, CCS 2022, section 4).

use crate::{Backend, Block, Linear, Result, Rows};

/// Row i of the bundle moves to the secret position destinations[i], in all columns at once. 3 rounds under rep3.
pub fn apply<B: Backend>(b: &mut B, rows: Rows<B>, destinations: B::Vector<u32>) -> Result<Rows<B>> {
    b.step("apply", |b| {
        let reveal = Rows { r32: vec![destinations], ..Rows::empty(rows.rows) };
        let (shuffled, revealed) = b.shuffle_reveal(rows, reveal)?;
        Ok(shuffled.permute_public(&revealed.r32[0]))
    })
}

/// The inverse permutation. 3 rounds under rep3.
pub fn invert<B: Backend>(b: &mut B, destinations: B::Vector<u32>) -> Result<B::Vector<u32>> {
    b.step("invert", |b| {
        let rows = destinations.rows();
        let positions = b.public_vector(rows, || (0..rows as u32).collect());
        let moved = apply(b, Rows { r32: vec![positions], ..Rows::empty(rows) }, destinations)?;
        Ok(moved.r32.into_iter().next().expect("one column"))
    })
}

/// Row numbers revealed as planes.
pub(super) fn numbers_of(revealed: &Block) -> Vec<u64> {
    let planes: Vec<_> = revealed.bits.iter().collect();
    tacit_math::transpose::rows_of_planes(&planes, revealed.rows)
}
