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

use tacit_math::{Plane, Ring};
use tacit_net::PartyId;

use super::{Rep3, Share};
use crate::Result;
use crate::backends::wire::{Outgoing, WINDOW, recv_into};

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
        let (next, mut shares) = (self.next(), Vec::new());
        self.session.next_round();
        let mut out = Outgoing::masked(&mut self.session, next);
        let mut buffer = [R::ZERO; PIECE];
        for bit in bits {
            let s = bit.mine.xor(&bit.next);
            let [mut z_0, mut z_1] = [(); 2].map(|()| Vec::with_capacity(s.rows()));
            for piece in pieces(s.rows()) {
                let c = &mut buffer[..piece.len()];
                // Step 1: c_1 = s - c_0, which c_0 masks from node 1.
                self.with_previous.fill(c);
                for_each_bit(&s.words()[piece.start / 64..], c, |s, c_0| R::from_u128(s.into()).sub(c_0));
                out.push_masked(&mut self.session, c)?;
                // Step 3: z_0 and z_1, drawn in the order in which nodes 2 and 1 draw them.
                self.with_previous.fill(c);
                z_0.extend_from_slice(c);
                self.with_next.fill(c);
                z_1.extend_from_slice(c);
            }
            shares.push(Share { mine: z_0, next: z_1 });
        }
        out.finish(&mut self.session)?;
        self.session.next_round();
        Ok(shares)
    }

    /// Node 1: receives c_1, holds b_2 as its second component, draws z_1 with node 0.
    fn inject_second<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let (previous, next, mut parts) = (self.previous(), self.next(), Vec::new());
        self.session.next_round();
        let [mut buffer, mut masks] = [[R::ZERO; PIECE]; 2];
        for bit in bits {
            let b_2 = &bit.next;
            let [mut z_1, mut masked] = [(); 2].map(|()| Vec::with_capacity(b_2.rows()));
            for piece in pieces(b_2.rows()) {
                let [t_1, z] = [&mut buffer, &mut masks].map(|room| &mut room[..piece.len()]);
                // Step 1: c_1 arrives. Step 2: t_1 = c_1 (1 - 2 b_2).
                recv_into(&mut self.session, previous, t_1)?;
                for_each_bit(&b_2.words()[piece.start / 64..], t_1, negate_if);
                // Step 3: z_1 masks t_1 from node 2.
                self.with_previous.fill(z);
                subtract(t_1, z);
                z_1.extend_from_slice(z);
                masked.extend_from_slice(t_1);
            }
            parts.push((z_1, masked));
        }
        self.session.next_round();
        self.exchange_parts(next, &mut parts)?;
        Ok(parts.into_iter().map(|(z_1, z_2)| Share { mine: z_1, next: z_2 }).collect())
    }

    /// Node 2: knows c_0, holds b_2 as its first component, draws z_0 with node 0.
    fn inject_third<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let (previous, mut parts) = (self.previous(), Vec::new());
        self.session.next_round();
        let [mut buffer, mut masks] = [[R::ZERO; PIECE]; 2];
        for bit in bits {
            let b_2 = &bit.mine;
            let [mut z_0, mut masked] = [(); 2].map(|()| Vec::with_capacity(b_2.rows()));
            for piece in pieces(b_2.rows()) {
                let [t_2, z] = [&mut buffer, &mut masks].map(|room| &mut room[..piece.len()]);
                // Step 1: c_0 is drawn. Step 2: t_2 = c_0 (1 - 2 b_2) + b_2.
                self.with_next.fill(t_2);
                let t = |b_2: u64, c_0: R| negate_if(b_2, c_0).add(R::from_u128(b_2.into()));
                for_each_bit(&b_2.words()[piece.start / 64..], t_2, t);
                // Step 3: z_0 masks t_2 from node 1.
                self.with_next.fill(z);
                subtract(t_2, z);
                z_0.extend_from_slice(z);
                masked.extend_from_slice(t_2);
            }
            parts.push((z_0, masked));
        }
        self.session.next_round();
        self.exchange_parts(previous, &mut parts)?;
        Ok(parts.into_iter().map(|(z_0, z_2)| Share { mine: z_2, next: z_0 }).collect())
    }

    /// Step 3 of nodes 1 and 2: the second vector of every part, t_1 - z_1 or t_2 - z_0, becomes z_2. The other node's
    /// elements are received and added while later ones are still sent.
    fn exchange_parts<R: Ring>(&mut self, peer: PartyId, parts: &mut [(Vec<R>, Vec<R>)]) -> Result<()> {
        let mut out = Outgoing::masked(&mut self.session, peer);
        let lengths: Vec<usize> = parts.iter().map(|(_, part)| part.len()).collect();
        let places =
            || lengths.iter().enumerate().flat_map(|(part, &rows)| pieces(rows).map(move |piece| (part, piece)));
        let (mut arriving, mut received) = (places(), 0);
        for (part, piece) in places() {
            out.push_masked(&mut self.session, &parts[part].1[piece])?;
            while received + WINDOW < out.sent() {
                let (part, piece) = arriving.next().expect("less is received than sent");
                received += size_of::<R>() * piece.len();
                self.add_received(peer, &mut parts[part].1[piece])?;
            }
        }
        out.finish(&mut self.session)?;
        arriving.try_for_each(|(part, piece)| self.add_received(peer, &mut parts[part].1[piece]))
    }

    /// Adds as many elements of a peer.
    fn add_received<R: Ring>(&mut self, peer: PartyId, elements: &mut [R]) -> Result<()> {
        let mut buffer = [R::ZERO; PIECE];
        let theirs = &mut buffer[..elements.len()];
        recv_into(&mut self.session, peer, theirs)?;
        elements.iter_mut().zip(theirs).for_each(|(a, b)| *a = a.add(*b));
        Ok(())
    }
}

/// The rows, [`PIECE`] at a time.
fn pieces(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(PIECE).map(move |at| at..rows.min(at + PIECE))
}

/// value = f(bit, value) for every row, without a branch on the bit.
fn for_each_bit<R: Ring>(bits: &[u64], values: &mut [R], f: impl Fn(u64, R) -> R) {
    for (word, chunk) in bits.iter().zip(values.chunks_mut(64)) {
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
