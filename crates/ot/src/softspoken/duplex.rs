//! Extension in both directions at once, of which nothing but what the caller makes of it is kept. A tile is used while
//! it is in the cache, and both parties work all the time.

use tacit_math::{transpose, wipe};
use tacit_net::Session;

use super::{COLUMNS, Receiver, Secret, Sender, TILE, TILES};
use crate::{Adversary, OtError};

/// `send` OTs of which this party is the sender and `receive` of which it is the receiver, in the present round: the
/// bytes that [`super::extension_cost`] says for each. `sent` gets the zero blocks, `received` the choices and blocks,
/// tile by tile.
///
/// # Errors
/// The connection's failure; [`OtError::Ended`] after an earlier error.
///
/// # Panics
/// Unless the numbers are multiples of 64 and the peer is semi-honest: a proof is about stored columns.
pub fn extend_both(
    session: &mut Session,
    (sender, send): (&mut Sender, usize),
    (receiver, receive): (&mut Receiver, usize),
    sent: impl FnMut(&[u128]),
    received: impl FnMut(&[u64], &[u128]),
) -> Result<(), OtError> {
    let receiving = (receiver, receive, None);
    extend_tiles(session, (sender, send), receiving, sent, received)
}

/// As [`extend_both`], with bits that this party chose as the receiver of as many OTs; [`super::chosen_cost`].
///
/// # Errors
/// The connection's failure; [`OtError::Ended`] after an earlier error.
///
/// # Panics
/// As [`extend_both`].
pub fn extend_both_chosen(
    session: &mut Session,
    sending: (&mut Sender, usize),
    (receiver, choices): (&mut Receiver, &[u64]),
    sent: impl FnMut(&[u128]),
    received: impl FnMut(&[u64], &[u128]),
) -> Result<(), OtError> {
    let receiving = (receiver, 64 * choices.len(), Some(choices));
    extend_tiles(session, sending, receiving, sent, received)
}

fn extend_tiles(
    session: &mut Session,
    (sender, send): (&mut Sender, usize),
    (receiver, receive, chosen): (&mut Receiver, usize, Option<&[u64]>),
    mut sent: impl FnMut(&[u128]),
    mut received: impl FnMut(&[u64], &[u128]),
) -> Result<(), OtError> {
    assert!(send.is_multiple_of(64) && receive.is_multiple_of(64), "whole words of choices");
    let both = [sender.adversary, receiver.adversary];
    assert_eq!(both, [Adversary::SemiHonest; 2], "a proof is about stored columns");
    sender.used += send as u64;
    receiver.used += receive as u64;
    // Of bits that nobody chose, the first block's are the choices.
    let corrected_from = usize::from(chosen.is_none());
    sender.once(session, |secret, session| {
        let mut tile = Tile::new(secret.blocks.len());
        for piece in (0..send.max(receive)).step_by(TILES * TILE) {
            let of_piece = |count: usize| count.saturating_sub(piece).min(TILES * TILE);
            let chosen = chosen.map(|bits| bits.get(piece / 64..).unwrap_or_default());
            receiver.piece(session, of_piece(receive), chosen, &mut tile, &mut received)?;
            secret.piece(session, of_piece(send), corrected_from, &mut tile, &mut sent)?;
        }
        Ok(())
    })
}

/// The memory of a tile.
struct Tile {
    columns: Vec<u64>,
    rows: Vec<u128>,
    bits: Vec<u64>,
    corrections: Vec<u64>,
}

impl Drop for Tile {
    fn drop(&mut self) {
        wipe(&mut self.rows);
    }
}

impl Tile {
    fn new(blocks: usize) -> Self {
        let words = TILE / 64;
        Self {
            columns: vec![0; COLUMNS * words],
            rows: vec![0; TILE],
            bits: vec![0; words],
            corrections: vec![0; blocks * words],
        }
    }

    /// The columns of `rows` rows, transposed to rows.
    fn turn(&mut self, rows: usize) -> &[u128] {
        let out = &mut self.rows[..rows];
        transpose::rows_of_columns(&self.columns[..2 * rows], bytemuck::cast_slice_mut::<_, [u64; 2]>(out));
        out
    }
}

/// The rows of each tile of a piece.
fn tiles(rows: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(TILE).map(move |start| TILE.min(rows - start))
}

impl Receiver {
    /// Steps 2 and 3 of [`super`] as the receiver: u and V of every tile, and one message with all d_j.
    fn piece(
        &mut self,
        session: &mut Session,
        rows: usize,
        chosen: Option<&[u64]>,
        tile: &mut Tile,
        received: &mut impl FnMut(&[u64], &[u128]),
    ) -> Result<(), OtError> {
        if rows == 0 {
            return Ok(());
        }
        let corrected = self.blocks.len() - usize::from(chosen.is_none());
        let mut message = session.buffer(corrected * rows / 8);
        for (number, rows) in tiles(rows).enumerate() {
            let (columns, bits) = (&mut tile.columns[..2 * rows], &mut tile.bits[..rows / 64]);
            match chosen {
                Some(chosen) => {
                    bits.copy_from_slice(&chosen[number * (TILE / 64)..][..rows / 64]);
                    self.corrected(columns, bits, &mut message);
                }
                None => self.columns(columns, bits, &mut message),
            }
            tile.turn(rows);
            received(&tile.bits[..rows / 64], &tile.rows[..rows]);
        }
        Ok(session.send(self.peer, message)?)
    }
}

impl Secret {
    /// Steps 2 and 3 of [`super`] as the sender: Q of every tile.
    fn piece(
        &mut self,
        session: &mut Session,
        rows: usize,
        corrected_from: usize,
        tile: &mut Tile,
        sent: &mut impl FnMut(&[u128]),
    ) -> Result<(), OtError> {
        for rows in tiles(rows) {
            let corrections = &mut tile.corrections[..(self.blocks.len() - corrected_from) * rows / 64];
            self.corrected_columns(session, corrected_from, &mut tile.columns[..2 * rows], corrections)?;
            sent(tile.turn(rows));
        }
        Ok(())
    }
}
