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

use tacit_math::{Plane, Ring};

use super::{Rep3, Share};
use crate::Result;
use crate::backends::wire::{Outgoing, recv_cells};

/// Elements that are computed at a time, within the first-level cache; a multiple of 64.
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
        for bit in bits {
            let s = bit.mine.xor(&bit.next);
            let mut buffer = [R::ZERO; PIECE];
            for at in (0..s.rows()).step_by(PIECE) {
                // Step 1: c_1 = s - c_0, which c_0 masks from node 1.
                let c = &mut buffer[..PIECE.min(s.rows() - at)];
                self.with_previous.fill(c);
                for_each_bit(&s.words()[at / 64..], c, |s, c_0| R::from_u128(s.into()).sub(c_0));
                out.push_masked(&mut self.session, c)?;
            }
            // Step 3: z_0 and z_1, drawn in the order in which nodes 2 and 1 draw them.
            let (z_0, z_1) = (self.with_previous.vector(s.rows()), self.with_next.vector(s.rows()));
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
        for bit in bits {
            // Step 1: c_1 arrives. Step 2: t_1 = c_1 (1 - 2 b_2).
            let mut t_1: Vec<R> = recv_cells(&mut self.session, previous, bit.next.rows())?;
            for_each_bit(bit.next.words(), &mut t_1, |b_2, c_1| negate_if(b_2, c_1));
            // Step 3: z_1 masks t_1 from node 2.
            let z_1: Vec<R> = self.with_previous.vector(t_1.len());
            subtract(&mut t_1, &z_1);
            parts.push((z_1, t_1));
        }
        self.session.next_round();
        self.exchange_parts(next, &mut parts)?;
        Ok(parts.into_iter().map(|(z_1, z_2)| Share { mine: z_1, next: z_2 }).collect())
    }

    /// Node 2: knows c_0, holds b_2 as its first component, draws z_0 with node 0.
    fn inject_third<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let (previous, mut parts) = (self.previous(), Vec::new());
        self.session.next_round();
        for bit in bits {
            // Step 1: c_0 is drawn. Step 2: t_2 = c_0 (1 - 2 b_2) + b_2.
            let mut t_2: Vec<R> = self.with_next.vector(bit.mine.rows());
            for_each_bit(bit.mine.words(), &mut t_2, |b_2, c_0| negate_if(b_2, c_0).add(R::from_u128(b_2.into())));
            // Step 3: z_0 masks t_2 from node 1.
            let z_0: Vec<R> = self.with_next.vector(t_2.len());
            subtract(&mut t_2, &z_0);
            parts.push((z_0, t_2));
        }
        self.session.next_round();
        self.exchange_parts(previous, &mut parts)?;
        Ok(parts.into_iter().map(|(z_0, z_2)| Share { mine: z_2, next: z_0 }).collect())
    }

    /// Step 3 of nodes 1 and 2: the second vector of every part, t_1 - z_1 or t_2 - z_0, becomes z_2.
    fn exchange_parts<R: Ring>(&mut self, peer: tacit_net::PartyId, parts: &mut [(Vec<R>, Vec<R>)]) -> Result<()> {
        let mut out = Outgoing::masked(&mut self.session, peer);
        parts.iter().try_for_each(|(_, part)| out.push_masked(&mut self.session, part))?;
        out.finish(&mut self.session)?;
        for (_, part) in parts {
            let theirs: Vec<R> = recv_cells(&mut self.session, peer, part.len())?;
            part.iter_mut().zip(theirs).for_each(|(a, b)| *a = a.add(b));
        }
        Ok(())
    }
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
