//! Sending and receiving whole columns in pieces, so that computing, sending and receiving overlap.
//!
//! A stream is of one of two types. A [`Masked`] one says nothing to its receiver. By an [`Opening`] one the receiver
//! learns something: whoever asks what an engine shows finds every place by this name.

use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ops::Range;

use bytemuck::Pod;
use tacit_math::lanes::{self, Grow};
use tacit_math::plane::words_for;
use tacit_math::{Plane, Prg, append};
use tacit_net::{PartyId, Session};

use super::cell;
use super::cell::Cell;
use super::waves::{CHUNK, MESSAGE, WORTH_IT, pieces, pieces_of, send_all_masked, send_all_open, waves};
use crate::{Block, Result, Shape};

/// Bytes that may be on their way to a node before it stops computing to receive. What is received soon is still in the
/// cache, and few buffers serve the whole round.
pub(in crate::backends) const WINDOW: usize = 4 * MESSAGE;

/// The same for streams with which the peer does as much as this node does: it goes on with a piece while this node
/// makes the next.
const PROMPT_MESSAGE: usize = MESSAGE / 4;

/// The same for paced streams: one that is being made and one on its way fit into the cache of one core.
const PACED_MESSAGE: usize = MESSAGE / 2;

/// Marks a stream that looks random to its receiver, whatever the values are: shares, masked values, tables of a
/// garbled circuit.
pub(in crate::backends) struct Masked;

/// Marks a stream of components that the receiver adds up with its own to a value in clear.
pub(in crate::backends) struct Opening;

/// A stream of bytes to one peer within one round, cut into messages.
pub(in crate::backends) struct Outgoing<Content> {
    to: PartyId,
    buffer: Vec<u8>,
    /// Length of every message but the last.
    message: usize,
    paced: bool,
    content: PhantomData<Content>,
}

impl Outgoing<Masked> {
    pub(in crate::backends) fn masked(session: &mut Session, to: PartyId) -> Self {
        Self::new(session, to, MESSAGE, false)
    }

    /// A stream in short messages, at whose end the peer has little left to do: for one on whose last part both nodes
    /// wait.
    pub(in crate::backends) fn prompt(session: &mut Session, to: PartyId) -> Self {
        Self::new(session, to, PROMPT_MESSAGE, false)
    }

    /// A stream that is never made more than a message ahead of the network. It is for a node that does nothing else
    /// meanwhile, on which the peer does not wait for anything else. A few messages' memory then serves all of it and
    /// stays in the cache at both nodes.
    pub(in crate::backends) fn paced(session: &mut Session, to: PartyId) -> Self {
        Self::new(session, to, PACED_MESSAGE, true)
    }

    /// Appends cells that look random to the receiver; sends when a message is full.
    pub(in crate::backends) fn push_masked<T: Pod>(&mut self, session: &mut Session, cells: &[T]) -> Result<()> {
        self.push(session, cells)
    }

    /// Appends `blocks` blocks, at most a message, that `write` makes where they are sent from. They are in one
    /// message.
    pub(in crate::backends) fn place(
        &mut self,
        session: &mut Session,
        blocks: usize,
        write: impl for<'a> FnOnce(&'a mut [MaybeUninit<u128>]) -> &'a mut [u128],
    ) -> Result<()> {
        if self.buffer.len() + size_of::<u128>() * blocks > self.message {
            self.flush(session)?;
        }
        append::blocks(&mut self.buffer, blocks, write);
        if self.buffer.len() == self.message {
            self.flush(session)?;
        }
        Ok(())
    }
}

impl Outgoing<Opening> {
    pub(in crate::backends) fn opening(session: &mut Session, to: PartyId) -> Self {
        Self::new(session, to, MESSAGE, false)
    }

    /// Appends a component of what the receiver will have in clear; sends when a message is full.
    pub(in crate::backends) fn push_open<T: Pod>(&mut self, session: &mut Session, component: &[T]) -> Result<()> {
        self.push(session, component)
    }
}

impl<Content> Outgoing<Content> {
    fn new(session: &mut Session, to: PartyId, message: usize, paced: bool) -> Self {
        Self { to, buffer: session.buffer(message), message, paced, content: PhantomData }
    }

    fn push<T: Pod>(&mut self, session: &mut Session, cells: &[T]) -> Result<()> {
        let mut bytes: &[u8] = bytemuck::cast_slice(cells);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(self.message - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == self.message {
                self.flush(session)?;
            }
        }
        Ok(())
    }

    /// Sends what was gathered, so that the peer can go on with it.
    pub(in crate::backends) fn flush(&mut self, session: &mut Session) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let gathered = mem::take(&mut self.buffer);
        session.send(self.to, gathered)?;
        if self.paced {
            session.settle(self.to, self.message)?;
        }
        self.buffer = session.buffer(self.message);
        Ok(())
    }

    /// Sends what is left.
    pub(in crate::backends) fn finish(self, session: &mut Session) -> Result<()> {
        if !self.buffer.is_empty() {
            session.send(self.to, self.buffer)?;
        }
        Ok(())
    }
}

/// A column of a block on its way.
enum Column<'a> {
    Bits(&'a [cell::Lane]),
    R32(&'a [u32]),
    R64(&'a [u64]),
    R128(&'a [u128]),
}

/// The columns, in the order of [`Block::bytes`].
fn columns(block: &Block) -> Vec<Column<'_>> {
    let bits = block.bits.iter().map(|c| Column::Bits(cell::lanes(c)));
    let vectors = bits.chain(block.r32.iter().map(|c| Column::R32(c))).chain(block.r64.iter().map(|c| Column::R64(c)));
    vectors.chain(block.r128.iter().map(|c| Column::R128(c))).collect()
}

impl Column<'_> {
    /// A piece of the column less a mask, in place of the mask. The piece is a range of bytes.
    fn less(&self, piece: Range<usize>, mask: &mut [u8]) {
        fn less<C: Cell>(column: &[C], piece: Range<usize>, mask: &mut [u8]) {
            let cells = &column[piece.start / size_of::<C>()..];
            let masks: &mut [C] = bytemuck::cast_slice_mut(mask);
            masks.iter_mut().zip(cells).for_each(|(mask, &cell)| *mask = cell.minus(*mask));
        }
        match self {
            Self::Bits(column) => less(column, piece, mask),
            Self::R32(column) => less(column, piece, mask),
            Self::R64(column) => less(column, piece, mask),
            Self::R128(column) => less(column, piece, mask),
        }
    }
}

/// Sends a block less pseudorandom content, which the block itself does not keep: the block that [`Block::random`]
/// would draw.
pub(in crate::backends) fn mask_and_send(
    session: &mut Session,
    to: PartyId,
    block: &Block,
    prg: &mut Prg,
) -> Result<()> {
    let (columns, lengths) = (columns(block), block.bytes().map(<[u8]>::len).collect::<Vec<_>>());
    for wave in waves(&lengths, 1) {
        let mut messages = wave.buffers(session);
        let mut in_messages = wave.in_messages(&mut messages);
        let rooms = wave.message_rooms(&mut in_messages).into_iter().zip(prg.parts(wave.blocks(1)));
        wave.compute(rooms, |chunk, (mut message, mut part)| {
            let mut buffer = [0u128; PIECE / 16];
            let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut buffer);
            for piece in pieces_of(chunk, PIECE) {
                let masked = &mut buffer[..piece.len()];
                part.fill(masked);
                columns[chunk.output].less(piece, masked);
                message.extend_from_slice(masked);
            }
        });
        lanes::finish(in_messages);
        send_all_masked(session, to, messages)?;
    }
    Ok(())
}

/// Bytes that are masked at a time: within the first-level cache, and whole blocks of the generator.
const PIECE: usize = 8 << 10;

/// Vectors of known lengths that a peer sends one behind the other in one round, received while others are still
/// computed.
pub(in crate::backends) struct Arriving<T> {
    from: PartyId,
    lengths: Vec<usize>,
    vectors: Vec<Vec<T>>,
    /// Vectors that are complete.
    complete: usize,
    received: usize,
}

impl<T: Pod + Send> Arriving<T> {
    pub(in crate::backends) fn new(from: PartyId, lengths: Vec<usize>) -> Self {
        let vectors = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        Self { from, vectors, lengths, complete: 0, received: 0 }
    }

    /// Receives until at most a window is missing of `bytes` bytes. A peer that does the same has sent them.
    pub(in crate::backends) fn keep_up(&mut self, session: &mut Session, bytes: usize) -> Result<()> {
        while self.received + WINDOW < bytes {
            let missing = (bytes - WINDOW - self.received).next_multiple_of(MESSAGE);
            self.receive(session, missing.min(at_a_time()) / size_of::<T>())?;
        }
        Ok(())
    }

    /// Receives the rest.
    pub(in crate::backends) fn finish(mut self, session: &mut Session) -> Result<Vec<Vec<T>>> {
        while self.complete < self.lengths.len() {
            self.receive(session, at_a_time() / size_of::<T>())?;
        }
        Ok(self.vectors)
    }

    /// Receives `cells` cells more, or all that are missing.
    fn receive(&mut self, session: &mut Session, mut cells: usize) -> Result<()> {
        let vectors = self.vectors.iter_mut().zip(&self.lengths).skip(self.complete);
        let grow = |(vector, &length): (_, &usize)| {
            let vector: &mut Vec<T> = vector;
            let count = (cells > 0 || length == 0).then(|| cells.min(length - vector.len()))?;
            cells -= count;
            Some(Grow::new(vector, count))
        };
        self.received += size_of::<T>() * receive_all(session, self.from, vectors.map_while(grow).collect())?;
        let missing = self.vectors.iter().zip(&self.lengths).position(|(vector, &length)| vector.len() < length);
        self.complete = missing.unwrap_or(self.lengths.len());
        Ok(())
    }
}

/// Bytes that are received before they are handed on: messages for all threads.
fn at_a_time() -> usize {
    MESSAGE * lanes::threads()
}

/// Receives a vector of `count` cells.
pub(in crate::backends) fn recv_cells<T: Pod + Send>(
    session: &mut Session,
    from: PartyId,
    count: usize,
) -> Result<Vec<T>> {
    let mut cells = Vec::with_capacity(count);
    for piece in pieces(count, at_a_time() / size_of::<T>()) {
        receive_all(session, from, vec![Grow::new(&mut cells, piece.len())])?;
    }
    Ok(cells)
}

/// Receives the new cells of all vectors. Returns how many there are.
fn receive_all<T: Pod + Send>(session: &mut Session, from: PartyId, mut vectors: Vec<Grow<'_, T>>) -> Result<usize> {
    let chunks = vectors.iter().flat_map(|vector| pieces(vector.more(), CHUNK / size_of::<T>()));
    let lengths: Vec<usize> = chunks.map(|chunk| chunk.len()).collect();
    let count = lengths.iter().sum::<usize>();
    let received = session.recv_held(from, size_of::<T>() * count)?;
    let starts = lengths.iter().scan(0, |next, &length| Some(mem::replace(next, *next + size_of::<T>() * length)));
    let starts: Vec<usize> = starts.collect();
    let ends = starts.iter().skip(1).copied().chain([received.len()]);
    let rooms = lanes::rooms(&mut vectors, &lengths);
    let work = rooms.into_iter().zip(starts.iter().copied().zip(ends)).collect();
    lanes::each_worth(received.len() >= WORTH_IT, work, |(mut room, (start, end))| {
        room.extend_from_bytes(received.slices(start..end));
    });
    // A share that came from a peer is as secret as one that was drawn.
    vectors.into_iter().for_each(|vector| tacit_marks::secret(vector.finish()));
    session.give_back(received);
    Ok(count)
}

/// Receives a plane.
pub(in crate::backends) fn recv_plane(session: &mut Session, from: PartyId, rows: usize) -> Result<Plane> {
    Ok(Plane::from_words(rows, recv_cells(session, from, words_for(rows))?))
}

/// Sends all columns of a block that looks random to the receiver.
pub(in crate::backends) fn send_masked(session: &mut Session, to: PartyId, block: &Block) -> Result<()> {
    send_columns(session, to, &block.bytes().collect::<Vec<_>>(), send_all_masked)
}

/// Sends all columns of a component of what the receiver will have in clear.
pub(in crate::backends) fn send_open(session: &mut Session, to: PartyId, component: &Block) -> Result<()> {
    send_columns(session, to, &component.bytes().collect::<Vec<_>>(), send_all_open)
}

/// Sends a component of planes that the receiver will have in clear.
pub(in crate::backends) fn send_open_planes(session: &mut Session, to: PartyId, component: &[&Plane]) -> Result<()> {
    let columns: Vec<&[u8]> = component.iter().map(|plane| bytemuck::cast_slice(plane.words())).collect();
    send_columns(session, to, &columns, send_all_open)
}

fn send_columns(
    session: &mut Session,
    to: PartyId,
    columns: &[&[u8]],
    send: fn(&mut Session, PartyId, Vec<Vec<u8>>) -> Result<()>,
) -> Result<()> {
    let lengths: Vec<usize> = columns.iter().map(|column| column.len()).collect();
    for wave in waves(&lengths, 1) {
        let mut messages = wave.buffers(session);
        let mut in_messages = wave.in_messages(&mut messages);
        wave.compute(wave.message_rooms(&mut in_messages).into_iter(), |chunk, mut message| {
            message.extend_from_slice(&columns[chunk.output][chunk.range.clone()]);
        });
        lanes::finish(in_messages);
        send(session, to, messages)?;
    }
    Ok(())
}

/// Receives a block of a known shape.
pub(in crate::backends) fn recv_block(session: &mut Session, from: PartyId, shape: Shape) -> Result<Block> {
    let rows = shape.rows;
    let words = Arriving::new(from, vec![words_for(rows); shape.bits]).finish(session)?;
    Ok(Block {
        rows,
        bits: words.into_iter().map(|words| Plane::from_words(rows, words)).collect(),
        r32: (0..shape.r32).map(|_| recv_cells(session, from, rows)).collect::<Result<_>>()?,
        r64: (0..shape.r64).map(|_| recv_cells(session, from, rows)).collect::<Result<_>>()?,
        r128: (0..shape.r128).map(|_| recv_cells(session, from, rows)).collect::<Result<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use tacit_net::{Options, PartyId, Session, memory};

    use super::{Arriving, MESSAGE, Outgoing, WINDOW};

    /// What a party sends: more than a window, in vectors that end anywhere in a message.
    fn sent(party: usize) -> Vec<Vec<u64>> {
        [700_001, 0, 1_200_003, 5].map(|len| (0..len).map(|i| i * (party as u64 + 2)).collect()).to_vec()
    }

    fn exchange(session: &mut Session) -> Vec<Vec<u64>> {
        let (me, peer) = (session.me().0, PartyId(1 - session.me().0));
        let vectors = sent(me);
        session.next_round();
        let mut out = Outgoing::masked(session, peer);
        let mut arriving = Arriving::new(peer, vectors.iter().map(Vec::len).collect());
        let mut made = 0;
        for piece in vectors.iter().flat_map(|vector| vector.chunks(2048)) {
            out.push_masked(session, piece).expect("a peer");
            made += size_of_val(piece);
            let sent = made / MESSAGE * MESSAGE;
            arriving.keep_up(session, sent).expect("a peer");
            assert!(arriving.received + WINDOW >= sent, "no more than a window is missing");
        }
        out.finish(session).expect("a peer");
        arriving.finish(session).expect("a peer")
    }

    #[test]
    fn vectors_arrive_whole_while_others_are_sent() {
        let threads = memory::mesh(&["a", "b"], &Options::default()).into_iter().map(|mut session| {
            std::thread::spawn(move || {
                let received = exchange(&mut session);
                session.close().expect("all was received");
                received
            })
        });
        let received: Vec<_> = threads.collect::<Vec<_>>().into_iter().map(|t| t.join().expect("no panic")).collect();
        assert!(received[0] == sent(1) && received[1] == sent(0));
    }
}
