//! Sending and receiving whole columns in pieces, so that computing, sending and receiving overlap.

use bytemuck::Pod;
use tacit_math::plane::words_for;
use tacit_math::{Plane, Prg};
use tacit_net::{PartyId, Session};

use super::cell::{Cell, lanes};
use crate::{Block, Result, Shape};

/// How many bytes are gathered into one message.
const MESSAGE: usize = 1 << 20;

/// A stream of bytes to one peer within one round, cut into messages.
pub(in crate::backends) struct Outgoing {
    to: PartyId,
    buffer: Vec<u8>,
}

impl Outgoing {
    pub(in crate::backends) fn new(session: &mut Session, to: PartyId) -> Self {
        Self { to, buffer: session.buffer(MESSAGE) }
    }

    /// Appends cells; sends when a message is full.
    pub(in crate::backends) fn push<T: Pod>(&mut self, session: &mut Session, cells: &[T]) -> Result<()> {
        let mut bytes: &[u8] = bytemuck::cast_slice(cells);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(MESSAGE - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == MESSAGE {
                let full = std::mem::replace(&mut self.buffer, session.buffer(MESSAGE));
                session.send(self.to, full)?;
            }
        }
        Ok(())
    }

    /// Sends what is there, before waiting for a peer that waits for it.
    pub(in crate::backends) fn flush(&mut self, session: &mut Session) -> Result<()> {
        let buffer = std::mem::replace(&mut self.buffer, session.buffer(MESSAGE));
        Ok(session.send(self.to, buffer)?)
    }

    /// Sends what is left.
    pub(in crate::backends) fn finish(self, session: &mut Session) -> Result<()> {
        if !self.buffer.is_empty() {
            session.send(self.to, self.buffer)?;
        }
        Ok(())
    }
}

/// Sends a block less pseudorandom content, which the block itself does not keep: the block that [`Block::random`] would draw.
pub(in crate::backends) fn send_masked(session: &mut Session, to: PartyId, block: &Block, prg: &mut Prg) -> Result<()> {
    let mut out = Outgoing::new(session, to);
    block.bits.iter().try_for_each(|c| push_masked(&mut out, session, lanes(c), prg))?;
    block.r32.iter().try_for_each(|c| push_masked(&mut out, session, c, prg))?;
    block.r64.iter().try_for_each(|c| push_masked(&mut out, session, c, prg))?;
    block.r128.iter().try_for_each(|c| push_masked(&mut out, session, c, prg))?;
    out.finish(session)
}

/// Bytes that are masked at a time: within the first-level cache, and whole blocks of the generator.
const PIECE: usize = 8 << 10;

fn push_masked<C: Cell>(out: &mut Outgoing, session: &mut Session, cells: &[C], prg: &mut Prg) -> Result<()> {
    let mut buffer = [0u128; PIECE / 16];
    let buffer: &mut [C] = bytemuck::cast_slice_mut(&mut buffer);
    for piece in cells.chunks(buffer.len()) {
        let masked = &mut buffer[..piece.len()];
        prg.fill(masked);
        masked.iter_mut().zip(piece).for_each(|(mask, &cell)| *mask = cell.minus(*mask));
        out.push(session, masked)?;
    }
    Ok(())
}

/// Receives a vector of so many cells.
pub(in crate::backends) fn recv_cells<T: Pod>(session: &mut Session, from: PartyId, count: usize) -> Result<Vec<T>> {
    let size = size_of::<T>();
    let mut cells = Vec::with_capacity(count);
    let mut cut = Vec::with_capacity(size);
    session.recv_pieces(from, count * size, |mut piece| {
        if !cut.is_empty() {
            let (head, rest) = piece.split_at(piece.len().min(size - cut.len()));
            cut.extend_from_slice(head);
            piece = rest;
            if cut.len() == size {
                cells.push(bytemuck::pod_read_unaligned(&cut));
                cut.clear();
            }
        }
        let whole = piece.chunks_exact(size);
        cut.extend_from_slice(whole.remainder());
        cells.extend(whole.map(bytemuck::pod_read_unaligned::<T>));
    })?;
    Ok(cells)
}

/// Receives a plane.
pub(in crate::backends) fn recv_plane(session: &mut Session, from: PartyId, rows: usize) -> Result<Plane> {
    Ok(Plane::from_words(rows, recv_cells(session, from, words_for(rows))?))
}

/// Sends all columns of a block: planes, then vectors of 32, 64 and 128 bits.
pub(in crate::backends) fn send_block(session: &mut Session, to: PartyId, block: &Block) -> Result<()> {
    let mut out = Outgoing::new(session, to);
    block.bits.iter().try_for_each(|c| out.push(session, c.words()))?;
    block.r32.iter().try_for_each(|c| out.push(session, c))?;
    block.r64.iter().try_for_each(|c| out.push(session, c))?;
    block.r128.iter().try_for_each(|c| out.push(session, c))?;
    out.finish(session)
}

/// Receives a block of a known shape.
pub(in crate::backends) fn recv_block(session: &mut Session, from: PartyId, shape: Shape) -> Result<Block> {
    let rows = shape.rows;
    Ok(Block {
        rows,
        bits: (0..shape.bits).map(|_| recv_plane(session, from, rows)).collect::<Result<_>>()?,
        r32: (0..shape.r32).map(|_| recv_cells(session, from, rows)).collect::<Result<_>>()?,
        r64: (0..shape.r64).map(|_| recv_cells(session, from, rows)).collect::<Result<_>>()?,
        r128: (0..shape.r128).map(|_| recv_cells(session, from, rows)).collect::<Result<_>>()?,
    })
}
