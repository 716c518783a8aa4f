//! Bits to ring elements.
//!
//! Functionality: a Boolean-shared bit b becomes a shared 0 or 1 of a ring. Discloses nothing. For b = b_0 xor b_1 xor
//! b_2, node 0 knows s = b_0 xor b_1 and nodes 1 and 2 know b_2:
//!
//! 1. node 0 shares s = c_0 + c_1: c_0 is from its generator with node 2, c_1 goes to node 1;
//! 2. nodes 1 and 2 have b = s + b_2 - 2 s b_2 as two summands. Node 1 has t_1 = c_1 (1 - 2 b_2), node 2 has
//!    t_2 = c_0 (1 - 2 b_2) + b_2;
//! 3. the result's components z_0 and z_1 are from the generators of node 0 with nodes 2 and 1. Nodes 1 and 2 send each
//!    other t_1 - z_1 and t_2 - z_0, whose sum is z_2.
//!
//! Source: ABY3, section 5.4.1. **Departures** the product of the second step is computed by its two holders alone.
//!
//! Rounds: 2. Bytes sent by each node: one ring element a bit.

use std::ops::Range;

use tacit_math::{Plane, Ring, lanes};
use tacit_net::{PartyId, Received};

use super::{Rep3, Share};
use crate::Result;
use crate::backends::waves::{Wave, pieces, pieces_of, send_all_masked, waves};
use crate::backends::wire::WINDOW;

/// Elements that are computed at a time, within the first-level cache; a multiple of 64. What is drawn, received or
/// computed is written to memory once, when nothing more is done to it in its round.
const PIECE: usize = 1024;

impl Rep3 {
    pub(super) fn inject_bits<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        match self.me() {
            0 => self.inject_first(bits),
            1 => self.inject_second(bits),
            _ => self.inject_third(bits),
        }
    }

    /// Node 0: deals s, then draws z_0 and z_1.
    fn inject_first<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let next = self.next();
        self.session.next_round();
        let (lengths, [mut z_0, mut z_1]) = rooms_for(bits);
        for wave in waves(&lengths, size_of::<R>()) {
            let mut messages = wave.buffers(&mut self.session);
            let (mut of_z_0, mut of_z_1) = (wave.in_outputs(&mut z_0), wave.in_outputs(&mut z_1));
            let mut in_messages = wave.in_messages(&mut messages);
            let rooms = wave
                .rooms(&mut of_z_0)
                .into_iter()
                .zip(wave.rooms(&mut of_z_1))
                .zip(wave.message_rooms(&mut in_messages));
            // Of every piece, node 2 draws c_0 and z_0, node 1 draws z_1.
            let (blocks, twice) = (wave.blocks(1), wave.blocks(2));
            let drawn = self.with_previous.parts(twice).into_iter().zip(self.with_next.parts(blocks));
            wave.compute(rooms.zip(drawn), |chunk, (((mut z_0, mut z_1), mut message), (mut previous, mut next))| {
                let (mut buffer, bit) = ([R::ZERO; PIECE], bits[chunk.output]);
                for piece in pieces_of(chunk, PIECE) {
                    let c = &mut buffer[..piece.len()];
                    // Step 1: c_1 = s - c_0, which c_0 masks from node 1.
                    previous.fill(c);
                    let words = piece.start / 64..;
                    let s = bit.mine.words()[words.clone()].iter().zip(&bit.next.words()[words]).map(|(a, b)| a ^ b);
                    for_each_bit(s, c, |s, c_0| R::from_u128(s.into()).sub(c_0));
                    message.extend_from_slice(bytemuck::cast_slice(c));
                    // Step 3: z_0 and z_1, drawn in the order in which nodes 2 and 1 draw them.
                    previous.fill(c);
                    z_0.extend_from_slice(c);
                    next.fill(c);
                    z_1.extend_from_slice(c);
                }
            });
            lanes::finish(of_z_0);
            lanes::finish(of_z_1);
            lanes::finish(in_messages);
            send_all_masked(&mut self.session, next, messages)?;
        }
        self.session.next_round();
        Ok(z_0.into_iter().zip(z_1).map(|(z_0, z_1)| Share { mine: z_0, next: z_1 }).collect())
    }

    /// Node 1: receives c_1, holds b_2 as its second component, draws z_1 with node 0.
    fn inject_second<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let (previous, next) = (self.previous(), self.next());
        self.session.next_round();
        let (lengths, [mut z_1, mut masked]) = rooms_for(bits);
        for wave in waves(&lengths, size_of::<R>()) {
            // Step 1: c_1 arrives.
            let arrived = self.session.recv_held(previous, wave.bytes())?;
            let (mut of_z_1, mut of_masked) = (wave.in_outputs(&mut z_1), wave.in_outputs(&mut masked));
            let rooms = wave.rooms(&mut of_z_1).into_iter().zip(wave.rooms(&mut of_masked));
            let drawn = self.with_previous.parts(wave.blocks(1)).into_iter().zip(wave.starts());
            wave.compute(rooms.zip(drawn), |chunk, ((mut z_1, mut masked), (mut previous, start))| {
                let ([mut buffer, mut masks], b_2) = ([[R::ZERO; PIECE]; 2], &bits[chunk.output].next);
                for piece in pieces_of(chunk, PIECE) {
                    let [t_1, z] = [&mut buffer, &mut masks].map(|room| &mut room[..piece.len()]);
                    read(&arrived, start + size_of::<R>() * (piece.start - chunk.range.start), t_1);
                    // Step 2: t_1 = c_1 (1 - 2 b_2).
                    for_each_bit(words(b_2, &piece), t_1, negate_if);
                    // Step 3: z_1 masks t_1 from node 2.
                    previous.fill(z);
                    subtract(t_1, z);
                    z_1.extend_from_slice(z);
                    masked.extend_from_slice(t_1);
                }
            });
            lanes::finish(of_z_1);
            lanes::finish(of_masked);
            self.session.give_back(arrived);
        }
        self.session.next_round();
        self.exchange_parts(next, &lengths, &mut masked)?;
        Ok(z_1.into_iter().zip(masked).map(|(z_1, z_2)| Share { mine: z_1, next: z_2 }).collect())
    }

    /// Node 2: knows c_0, holds b_2 as its first component, draws z_0 with node 0.
    fn inject_third<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let previous = self.previous();
        self.session.next_round();
        let (lengths, [mut z_0, mut masked]) = rooms_for(bits);
        for wave in waves(&lengths, size_of::<R>()) {
            let (mut of_z_0, mut of_masked) = (wave.in_outputs(&mut z_0), wave.in_outputs(&mut masked));
            let rooms = wave.rooms(&mut of_z_0).into_iter().zip(wave.rooms(&mut of_masked));
            let drawn = self.with_next.parts(wave.blocks(2));
            wave.compute(rooms.zip(drawn), |chunk, ((mut z_0, mut masked), mut next)| {
                let ([mut buffer, mut masks], b_2) = ([[R::ZERO; PIECE]; 2], &bits[chunk.output].mine);
                for piece in pieces_of(chunk, PIECE) {
                    let [t_2, z] = [&mut buffer, &mut masks].map(|room| &mut room[..piece.len()]);
                    // Step 1: c_0 is drawn. Step 2: t_2 = c_0 (1 - 2 b_2) + b_2.
                    next.fill(t_2);
                    let t = |b_2: u64, c_0: R| negate_if(b_2, c_0).add(R::from_u128(b_2.into()));
                    for_each_bit(words(b_2, &piece), t_2, t);
                    // Step 3: z_0 masks t_2 from node 1.
                    next.fill(z);
                    subtract(t_2, z);
                    z_0.extend_from_slice(z);
                    masked.extend_from_slice(t_2);
                }
            });
            lanes::finish(of_z_0);
            lanes::finish(of_masked);
        }
        self.session.next_round();
        self.exchange_parts(previous, &lengths, &mut masked)?;
        Ok(z_0.into_iter().zip(masked).map(|(z_0, z_2)| Share { mine: z_2, next: z_0 }).collect())
    }

    /// Step 3 of nodes 1 and 2: their parts, t_1 - z_1 or t_2 - z_0, become z_2. The other node's elements are received
    /// and added while later ones are still sent.
    fn exchange_parts<R: Ring>(&mut self, peer: PartyId, lengths: &[usize], parts: &mut [Vec<R>]) -> Result<()> {
        let waves = waves(lengths, size_of::<R>());
        let (mut arriving, mut sent, mut received) = (waves.iter(), 0, 0);
        for wave in &waves {
            let mut messages = wave.buffers(&mut self.session);
            let mut in_messages = wave.in_messages(&mut messages);
            wave.compute(wave.message_rooms(&mut in_messages).into_iter(), |chunk, mut message| {
                message.extend_from_slice(bytemuck::cast_slice(&parts[chunk.output][chunk.range.clone()]));
            });
            lanes::finish(in_messages);
            send_all_masked(&mut self.session, peer, messages)?;
            sent += wave.bytes();
            while received + WINDOW < sent {
                let wave = arriving.next().expect("less is received than sent");
                received += wave.bytes();
                self.add_received(peer, wave, parts)?;
            }
        }
        arriving.try_for_each(|wave| self.add_received(peer, wave, parts))
    }

    /// Adds a peer's elements of a wave.
    fn add_received<R: Ring>(&mut self, peer: PartyId, wave: &Wave, parts: &mut [Vec<R>]) -> Result<()> {
        let arrived = self.session.recv_held(peer, wave.bytes())?;
        let slices = wave.slices(parts.iter_mut().map(Vec::as_mut_slice)).into_iter().zip(wave.starts());
        wave.compute(slices, |chunk, (elements, start)| {
            let mut buffer = [R::ZERO; PIECE];
            for piece in pieces(chunk.range.len(), PIECE) {
                let theirs = &mut buffer[..piece.len()];
                read(&arrived, start + size_of::<R>() * piece.start, theirs);
                elements[piece].iter_mut().zip(theirs).for_each(|(a, b)| *a = a.add(*b));
            }
        });
        self.session.give_back(arrived);
        Ok(())
    }
}

/// The numbers of rows, and two empty vectors for as many elements of each.
fn rooms_for<R: Ring>(bits: &[&Share<Plane>]) -> (Vec<usize>, [Vec<Vec<R>>; 2]) {
    let lengths: Vec<usize> = bits.iter().map(|bit| bit.mine.rows()).collect();
    let vectors = [(); 2].map(|()| lengths.iter().map(|&length| Vec::with_capacity(length)).collect());
    (lengths, vectors)
}

/// The words of a plane from the first row of a piece on.
fn words(plane: &Plane, piece: &Range<usize>) -> impl Iterator<Item = u64> {
    plane.words()[piece.start / 64..].iter().copied()
}

/// Elements that a peer sent, from a byte on.
fn read<R: Ring>(arrived: &Received, at: usize, elements: &mut [R]) {
    arrived.read(at, bytemuck::cast_slice_mut(elements));
    // A share that came from a peer is as secret as one that was drawn.
    tacit_marks::secret(elements);
}

/// value = f(bit, value) for every row, without a branch on the bit.
fn for_each_bit<R: Ring>(bits: impl Iterator<Item = u64>, values: &mut [R], f: impl Fn(u64, R) -> R) {
    for (word, chunk) in bits.zip(values.chunks_mut(64)) {
        for (i, value) in chunk.iter_mut().enumerate() {
            *value = f(word >> i & 1, *value);
        }
    }
}

/// x (1 - 2 bit).
fn negate_if<R: Ring>(bit: u64, x: R) -> R {
    x.sub(x.mul(R::from_u128(bit.into())).shl(1))
}

fn subtract<R: Ring>(x: &mut [R], y: &[R]) {
    x.iter_mut().zip(y).for_each(|(a, &b)| *a = a.sub(b));
}
