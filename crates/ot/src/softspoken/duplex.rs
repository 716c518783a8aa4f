//! Extension in both directions at once, of which nothing but what the caller makes of it is kept: a tile is used while it is in the
//! cache, and both parties work all the time.

use tacit_math::transpose;
use tacit_net::Session;

use super::{COLUMNS, Receiver, Sender, TILE, TILES};
use crate::{Adversary, OtError};

/// `send` OTs of which this party is the sender and `receive` of which it is the receiver, in the present round: the bytes that
/// [`super::extension_cost`] says for each. `sent` gets the zero blocks, `received` the choices and blocks, tile by tile.
///
/// # Errors
/// The connection's failure.
///
/// # Panics
/// Unless the numbers are multiples of 64 and the peer is semi-honest: a proof is about stored columns.
pub fn extend_both(
    session: &mut Session,
    (sender, send): (&mut Sender, usize),
    (receiver, receive): (&mut Receiver, usize),
    mut sent: impl FnMut(&[u128]),
    mut received: impl FnMut(&[u64], &[u128]),
) -> Result<(), OtError> {
    assert!(send.is_multiple_of(64) && receive.is_multiple_of(64), "whole words of choices");
    let both = [sender.adversary, receiver.adversary];
    assert_eq!(both, [Adversary::SemiHonest; 2], "a proof is about stored columns");
    sender.used += send as u64;
    receiver.used += receive as u64;
    let mut tile = Tile::new(sender.blocks.len());
    for piece in (0..send.max(receive)).step_by(TILES * TILE) {
        let of_piece = |count: usize| count.saturating_sub(piece).min(TILES * TILE);
        receiver.piece(session, of_piece(receive), &mut tile, &mut received)?;
        sender.piece(session, of_piece(send), &mut tile, &mut sent)?;
    }
    Ok(())
}

/// The memory of a tile.
struct Tile {
    columns: Vec<u64>,
    rows: Vec<u128>,
    bits: Vec<u64>,
    corrections: Vec<u64>,
}

impl Tile {
    fn new(blocks: usize) -> Self {
        let words = TILE / 64;
        Self {
            columns: vec![0; COLUMNS * words],
            rows: vec![0; TILE],
            bits: vec![0; words],
            corrections: vec![0; (blocks - 1) * words],
        }
    }

    /// The columns of so many rows as rows.
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
    fn piece(
        &mut self,
        session: &mut Session,
        rows: usize,
        tile: &mut Tile,
        received: &mut impl FnMut(&[u64], &[u128]),
    ) -> Result<(), OtError> {
        if rows == 0 {
            return Ok(());
        }
        let mut message = session.buffer((self.blocks.len() - 1) * rows / 8);
        for rows in tiles(rows) {
            self.columns(&mut tile.columns[..2 * rows], &mut tile.bits[..rows / 64], &mut message);
            tile.turn(rows);
            received(&tile.bits[..rows / 64], &tile.rows[..rows]);
        }
        Ok(session.send(self.peer, message)?)
    }
}

impl Sender {
    fn piece(
        &mut self,
        session: &mut Session,
        rows: usize,
        tile: &mut Tile,
        sent: &mut impl FnMut(&[u128]),
    ) -> Result<(), OtError> {
        for rows in tiles(rows) {
            let corrections = &mut tile.corrections[..(self.blocks.len() - 1) * rows / 64];
            self.corrected_columns(session, &mut tile.columns[..2 * rows], corrections)?;
            sent(tile.turn(rows));
        }
        Ok(())
    }
}
