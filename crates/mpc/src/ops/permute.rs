//! Applying and inverting secret permutations.
//!
//! A secret permutation is a shared vector of destinations: row i goes to position p[i]. Both operations shuffle the
//! rows together with the permutation and reveal the shuffled permutation, which is uniformly random whatever p is.
//! Source: Asharov, Hamada, Ikarashi, Kikuchi, Nof, Pinkas, Takahashi, Tomida, "Efficient Secure Three-Party Sorting"
//! (CCS 2022), section 4. What is revealed is checked to be a permutation, because a peer may send anything.

use crate::{Backend, Block, Linear, MpcError, Result, Rows};

/// Row i of the bundle moves to the secret position destinations[i], in all columns at once. 3 rounds under rep3.
pub fn apply<B: Backend>(b: &mut B, rows: Rows<B>, destinations: B::Vector<u32>) -> Result<Rows<B>> {
    b.step("apply", |b| {
        let reveal = Rows { r32: vec![destinations], ..Rows::empty(rows.rows) };
        let (shuffled, revealed) = b.shuffle_reveal(rows, reveal)?;
        shuffled.permute_public(&revealed.r32[0]).ok_or_else(no_permutation)
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

/// The error when peers made something else public than the rows' places, each once.
pub(super) fn no_permutation() -> MpcError {
    MpcError::Misbehaved("what was revealed of shuffled rows is no permutation of them".into())
}

/// Row numbers revealed as planes.
pub(crate) fn numbers_of(revealed: &Block) -> Vec<u64> {
    let planes: Vec<_> = revealed.bits.iter().collect();
    tacit_math::transpose::rows_of_planes(&planes, revealed.rows)
}
