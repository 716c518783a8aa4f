//! A receiver that chooses all its bits where the protocol leaves them to chance, and pays with a guess.

use tacit_math::words;
use tacit_net::Session;

use super::{COLUMNS, Columns, Receiver, SCRATCH, TILE, fold_anew, store};
use crate::OtError;
use crate::correlated::CotReceiver;

impl Receiver {
    /// n OTs with these choices. The first block's bits, which nothing corrects, stay what they are. With the right
    /// guess of the first block's bits of delta the receiver makes of its columns what they would be for its choices.
    pub(crate) fn extend_with_guess(
        &mut self,
        session: &mut Session,
        choices: &[u64],
        n: usize,
        guess: u64,
    ) -> Result<CotReceiver, OtError> {
        let mut bits = choices.to_vec();
        // The word that masks the proof.
        bits.push(0x0123_4567_89ab_cdef);
        let mut blocks = vec![0_u128; 64 * bits.len()];
        let rows: &mut [[u64; 2]] = bytemuck::cast_slice_mut(&mut blocks);
        session.next_round();
        let mut columns: Columns = vec![0; 2 * TILE];
        for (tile, bits) in rows.chunks_mut(TILE).zip(bits.chunks(TILE / 64)) {
            let words = bits.len();
            let (columns, mut message) = (&mut columns[..COLUMNS * words], vec![]);
            let (mut sum, mut scratch) = ([0; TILE / 64], [0; SCRATCH]);
            let (sum, mut later) = (&mut sum[..words], &mut *columns);
            for (number, block) in self.blocks.iter_mut().enumerate() {
                let (own, rest) = later.split_at_mut(block.depth * words);
                fold_anew(&mut block.leaves, own, sum, &mut scratch);
                words::add(sum, bits);
                match number {
                    0 => {
                        for (bit, column) in own.chunks_exact_mut(words).enumerate() {
                            if guess >> bit & 1 == 1 {
                                words::add(column, sum);
                            }
                        }
                    }
                    _ => message.extend_from_slice(bytemuck::cast_slice(sum)),
                }
                later = rest;
            }
            store(columns, tile, self.adversary);
            session.send(self.peer, message)?;
        }
        self.prove(session, rows, &bits)?;
        blocks.truncate(n);
        let first = self.used;
        self.used += n as u64;
        Ok(CotReceiver { first, choices: choices.to_vec(), blocks })
    }
}
