//! Correlated OTs of bits that the receiver chose, in one message of the present round, and for a sender that has a
//! part of each bit itself.
//!
//! **Computes** for bits c of the receiver and s of the sender: blocks of the receiver are those of the sender plus
//! (c + s) delta. Nothing is random but the blocks, so that no second message turns random bits into chosen ones.
//! **Adversary** semi-honest. **Cost** [`chosen_cost`]: the receiver sends the corrections of all blocks, each by how
//! much its sum of leaves differs from c. The first one is corrected as the others are; its correction takes the place
//! of the bits that would turn random choices into c. The sender adds s to every correction, whose multiples by the
//! bits of delta it adds anyway. **Departures** from [`super`]: choices are made in the message that makes the OTs.

use tacit_math::words;
use tacit_net::{Session, Traffic};

use super::{COLUMNS, Columns, Receiver, SCRATCH, Secret, Sender, TILE, TILES, depths, fold_anew, store};
use crate::{Adversary, OtError};

/// The cost of both sides' `extend_chosen` for `n` OTs; it begins no round.
///
/// # Panics
/// Unless k is from 1 to 8.
pub fn chosen_cost(k: usize, n: usize) -> Traffic {
    Traffic { rounds: 0, sender: 0, receiver: (8 * depths(k).len() * n.div_ceil(64)) as u64 }
}

impl Sender {
    /// The next OTs, as many as `own` has bits: writes the blocks to which the receiver's add (c + own) delta.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Ended`] after an earlier error.
    ///
    /// # Panics
    /// If there are not 64 blocks for each word, or if the peer may be malicious.
    pub fn extend_chosen(&mut self, session: &mut Session, own: &[u64], blocks: &mut [u128]) -> Result<(), OtError> {
        check(self.adversary, own, blocks);
        self.used += blocks.len() as u64;
        self.once(session, |secret, session| secret.extend_chosen(session, own, blocks))
    }
}

impl Secret {
    fn extend_chosen(&mut self, session: &mut Session, own: &[u64], blocks: &mut [u128]) -> Result<(), OtError> {
        let mut columns: Columns = vec![0; 2 * TILE];
        let mut corrections = vec![0; self.blocks.len() * (TILE / 64)];
        for (tile, own) in blocks.chunks_mut(TILE).zip(own.chunks(TILE / 64)) {
            let columns = &mut columns[..COLUMNS * own.len()];
            let corrections = &mut corrections[..self.blocks.len() * own.len()];
            // Step 2 of the parent module; then step 3 with d_j + s of every block.
            self.columns(columns);
            session.recv(self.peer, bytemuck::cast_slice_mut(corrections))?;
            corrections.chunks_exact_mut(own.len()).for_each(|correction| words::add(correction, own));
            self.correct(0, columns, corrections);
            store(columns, bytemuck::cast_slice_mut(tile), self.adversary);
        }
        Ok(())
    }
}

impl Receiver {
    /// The next OTs, as many as there are bits in `choices`: writes the blocks.
    ///
    /// # Errors
    /// The connection's failure.
    ///
    /// # Panics
    /// If there are not 64 blocks for each word, or if the peer may be malicious.
    pub fn extend_chosen(
        &mut self,
        session: &mut Session,
        choices: &[u64],
        blocks: &mut [u128],
    ) -> Result<(), OtError> {
        check(self.adversary, choices, blocks);
        self.used += blocks.len() as u64;
        let mut columns: Columns = vec![0; 2 * TILE];
        for (piece, choices) in blocks.chunks_mut(TILES * TILE).zip(choices.chunks(TILES * TILE / 64)) {
            let mut message = session.buffer(8 * self.blocks.len() * choices.len());
            for (tile, choices) in piece.chunks_mut(TILE).zip(choices.chunks(TILE / 64)) {
                let columns = &mut columns[..COLUMNS * choices.len()];
                self.corrected(columns, choices, &mut message);
                store(columns, bytemuck::cast_slice_mut(tile), self.adversary);
            }
            session.send(self.peer, message)?;
        }
        Ok(())
    }

    /// Steps 2 and 3 of [`super`]: every tree's columns of a tile, and d_j = u_j + c of every block.
    pub(super) fn corrected(&mut self, columns: &mut [u64], choices: &[u64], corrections: &mut Vec<u8>) {
        let (mut sum, mut scratch) = ([0; TILE / 64], [0; SCRATCH]);
        let u_j = &mut sum[..choices.len()];
        let mut later = columns;
        for block in &mut self.blocks {
            let (own, rest) = later.split_at_mut(block.depth * choices.len());
            fold_anew(&mut block.leaves, own, u_j, &mut scratch);
            words::add(u_j, choices);
            corrections.extend_from_slice(bytemuck::cast_slice(u_j));
            later = rest;
        }
    }
}

fn check(adversary: Adversary, bits: &[u64], blocks: &[u128]) {
    assert_eq!(adversary, Adversary::SemiHonest, "a proof takes rounds of its own");
    assert_eq!(64 * bits.len(), blocks.len(), "a block for each bit");
}
