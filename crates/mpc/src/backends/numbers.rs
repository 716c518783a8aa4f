//! Numbers of rows on the wire: as many bytes of each as such numbers need.

use tacit_math::simd::{Kernel, dispatch};
use tacit_math::{Prg, lanes};
use tacit_net::{PartyId, Session};

use super::waves::{CHUNK, Wave, pieces, pieces_of, send_all_masked, send_all_open, waves_of_units};
use super::wire::{mask_and_send, recv_block, send_open};
use crate::ops::label_width;
use crate::{Block, Result, Shape};

/// How many bytes hold the number of a row. Such numbers are modulo a power of two; bits above it mean nothing.
#[derive(Clone, Copy)]
pub(in crate::backends) struct Numbers {
    bytes: usize,
}

impl Numbers {
    pub(in crate::backends) fn of(rows: usize) -> Self {
        Self { bytes: label_width(rows).div_ceil(8).min(size_of::<u32>()) }
    }

    /// Of numbers that take as many bytes, at most four.
    pub(in crate::backends) fn of_bytes(bytes: usize) -> Self {
        assert!((1..=size_of::<u32>()).contains(&bytes), "bytes of a number");
        Self { bytes }
    }

    /// Bytes of one number.
    pub(in crate::backends) fn bytes(self) -> usize {
        self.bytes
    }

    /// The bits that are sent.
    pub(in crate::backends) fn mask(self) -> u32 {
        u32::MAX >> (u32::BITS as usize - 8 * self.bytes)
    }

    /// Numbers as they are sent: all low halves, then what is above them.
    pub(in crate::backends) fn write(self, numbers: &[u32], out: &mut [u8]) {
        assert_eq!(out.len(), self.bytes * numbers.len(), "room for as many numbers");
        dispatch(Write { bytes: self.bytes, numbers, out });
    }

    /// The same, at the front of a buffer.
    fn written<'b>(self, numbers: &[u32], buffer: &'b mut [u8]) -> &'b [u8] {
        let out = &mut buffer[..self.bytes * numbers.len()];
        self.write(numbers, out);
        out
    }

    /// The inverse of [`Self::write`], with zeros above.
    pub(in crate::backends) fn read(self, sent: &[u8], numbers: &mut [u32]) {
        assert_eq!(sent.len(), self.bytes * numbers.len(), "as many numbers");
        dispatch(Read { bytes: self.bytes, sent, numbers });
    }
}

/// Numbers that are sent at a time: whole blocks of a generator.
const PIECE: usize = 2048;

/// The bundle of a shuffle that is revealed: its vectors over Z/2^32 hold numbers of rows.
///
/// Bytes of one unshared bundle of this shape on the wire.
pub(in crate::backends) fn revealed_bytes(shape: Shape) -> u64 {
    let numbers = shape.rows * shape.r32 * Numbers::of(shape.rows).bytes;
    Shape { r32: 0, ..shape }.bytes() + numbers as u64
}

/// Columns of numbers in waves.
fn waves_of_columns(rows: usize, columns: usize) -> Vec<Wave> {
    waves_of_units(&vec![rows; columns], Numbers::of(rows).bytes, PIECE)
}

/// Sends it less pseudorandom content: the block that [`Block::random`] would draw.
pub(in crate::backends) fn mask_and_send_revealed(
    session: &mut Session,
    to: PartyId,
    block: &Block,
    prg: &mut Prg,
) -> Result<()> {
    mask_and_send(session, to, &planes_of(block), prg)?;
    let numbers = Numbers::of(block.rows);
    for wave in waves_of_columns(block.rows, block.r32.len()) {
        let mut messages = wave.buffers(session);
        let mut in_messages = wave.in_messages(&mut messages);
        let drawn = prg.parts(wave.blocks_of(1, size_of::<u32>()));
        wave.compute(wave.message_rooms(&mut in_messages).into_iter().zip(drawn), |chunk, (mut message, mut drawn)| {
            let (mut masks, mut bytes) = ([0; PIECE], [0; size_of::<u32>() * PIECE]);
            for piece in pieces_of(chunk, PIECE) {
                let masked = &mut masks[..piece.len()];
                drawn.fill(masked);
                let numbers_of_piece = &block.r32[chunk.output][piece];
                masked.iter_mut().zip(numbers_of_piece).for_each(|(mask, x)| *mask = x.wrapping_sub(*mask));
                message.extend_from_slice(numbers.written(masked, &mut bytes));
            }
        });
        lanes::finish(in_messages);
        send_all_masked(session, to, messages)?;
    }
    mask_and_send(session, to, &wider_than_numbers(block), prg)
}

/// Sends a component of it.
pub(in crate::backends) fn send_revealed(session: &mut Session, to: PartyId, component: &Block) -> Result<()> {
    send_open(session, to, &planes_of(component))?;
    let numbers = Numbers::of(component.rows);
    for wave in waves_of_columns(component.rows, component.r32.len()) {
        let mut messages = wave.buffers(session);
        let mut in_messages = wave.in_messages(&mut messages);
        wave.compute(wave.message_rooms(&mut in_messages).into_iter(), |chunk, mut message| {
            let mut bytes = [0; size_of::<u32>() * PIECE];
            for piece in pieces_of(chunk, PIECE) {
                message.extend_from_slice(numbers.written(&component.r32[chunk.output][piece], &mut bytes));
            }
        });
        lanes::finish(in_messages);
        send_all_open(session, to, messages)?;
    }
    send_open(session, to, &wider_than_numbers(component))
}

/// Receives one of a known shape.
pub(in crate::backends) fn recv_revealed(session: &mut Session, from: PartyId, shape: Shape) -> Result<Block> {
    let mut block = recv_block(session, from, Shape { r32: 0, r64: 0, r128: 0, ..shape })?;
    block.r32 = (0..shape.r32).map(|_| Vec::with_capacity(shape.rows)).collect();
    let numbers = Numbers::of(shape.rows);
    for wave in waves_of_columns(shape.rows, shape.r32) {
        let arrived = session.recv_held(from, wave.bytes())?;
        let mut in_columns = wave.in_outputs(&mut block.r32);
        let rooms = wave.rooms(&mut in_columns).into_iter().zip(wave.starts());
        wave.compute(rooms, |chunk, (mut column, start)| {
            let (mut buffer, mut bytes) = ([0; PIECE], [0; size_of::<u32>() * PIECE]);
            for piece in pieces(chunk.range.len(), PIECE) {
                let (read, bytes) = (&mut buffer[..piece.len()], &mut bytes[..wave.bytes_of(piece.len())]);
                arrived.read(start + wave.bytes_of(piece.start), bytes);
                // A share that came from a peer is as secret as one that was drawn.
                tacit_marks::secret(bytes);
                numbers.read(bytes, read);
                column.extend_from_slice(read);
            }
        });
        lanes::finish(in_columns);
        session.give_back(arrived);
    }
    let wider = recv_block(session, from, Shape { bits: 0, r32: 0, ..shape })?;
    Ok(Block { r64: wider.r64, r128: wider.r128, ..block })
}

/// The sum of all components: of numbers only the bits that were sent count.
pub(in crate::backends) fn added_up(mut revealed: Block) -> Block {
    let mask = Numbers::of(revealed.rows).mask();
    let columns = revealed.r32.iter_mut().flat_map(|column| column.chunks_mut(CHUNK / size_of::<u32>())).collect();
    lanes::each(columns, |numbers: &mut [u32]| numbers.iter_mut().for_each(|number| *number &= mask));
    revealed
}

// What is masked is sent in the order in which the node that stays draws its masks: that of a block.
fn planes_of(block: &Block) -> Block {
    Block { rows: block.rows, bits: block.bits.clone(), ..Block::default() }
}

fn wider_than_numbers(block: &Block) -> Block {
    Block { bits: vec![], r32: vec![], ..block.clone() }
}

/// Where the bytes above the low half of `count` numbers begin.
#[inline(always)]
fn low_bytes(bytes: usize, count: usize) -> usize {
    bytes.min(2) * count
}

struct Write<'a> {
    bytes: usize,
    numbers: &'a [u32],
    out: &'a mut [u8],
}

impl Kernel for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { bytes, numbers, out } = self;
        let (low, high) = out.split_at_mut(low_bytes(bytes, numbers.len()));
        match bytes {
            1 => low.iter_mut().zip(numbers).for_each(|(out, x)| *out = *x as u8),
            _ => low.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(out, x)| *out = (*x as u16).to_le_bytes()),
        }
        match bytes {
            3 => high.iter_mut().zip(numbers).for_each(|(out, x)| *out = (*x >> 16) as u8),
            _ => {
                let high = high.as_chunks_mut().0.iter_mut();
                high.zip(numbers).for_each(|(out, x)| *out = ((*x >> 16) as u16).to_le_bytes());
            }
        }
    }
}

struct Read<'a> {
    bytes: usize,
    sent: &'a [u8],
    numbers: &'a mut [u32],
}

impl Kernel for Read<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { bytes, sent, numbers } = self;
        let (low, high) = sent.split_at(low_bytes(bytes, numbers.len()));
        match bytes {
            1 => numbers.iter_mut().zip(low).for_each(|(x, sent)| *x = u32::from(*sent)),
            _ => numbers
                .iter_mut()
                .zip(low.as_chunks().0)
                .for_each(|(x, sent)| *x = u32::from(u16::from_le_bytes(*sent))),
        }
        match bytes {
            3 => numbers.iter_mut().zip(high).for_each(|(x, sent)| *x |= u32::from(*sent) << 16),
            _ => {
                let high = high.as_chunks().0.iter();
                numbers.iter_mut().zip(high).for_each(|(x, sent)| *x |= u32::from(u16::from_le_bytes(*sent)) << 16);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tacit_math::{Prg, Seed};

    use super::Numbers;

    #[test]
    fn numbers_arrive_in_the_bytes_that_rows_need() {
        for (rows, bytes) in [(0, 1), (256, 1), (257, 2), (1 << 16, 2), (1 << 20, 3), ((1 << 24) + 1, 4)] {
            let numbers = Numbers::of(rows);
            assert_eq!(numbers.bytes(), bytes);
            for count in [0, 1, 77, 512] {
                let x: Vec<u32> = Prg::new(&Seed::from_bytes([6; 16])).vector(count);
                let (mut sent, mut back) = (vec![0; bytes * count], vec![7; count]);
                numbers.write(&x, &mut sent);
                numbers.read(&sent, &mut back);
                assert!(x.iter().zip(&back).all(|(x, back)| x & numbers.mask() == *back));
            }
        }
    }
}
