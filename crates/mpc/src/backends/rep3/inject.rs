//! Bits to ring elements.
//!
//! Functionality: a Boolean-shared bit becomes a shared 0 or 1 of a ring. Discloses nothing. For b = b0 xor b1 xor b2,
//! node 0 knows s = b0 xor b1 and nodes 1 and 2 know b2. Node 0 shares s = c0 + c1 with c0 from its generator with node
//! 2; nodes 1 and 2 hold b = s + b2 - 2 s b2 = c1 (1 - 2 b2) + (c0 (1 - 2 b2) + b2) as two summands and reshare it.
//! ABY3, section 5.4.1. **Departures** the product of the second step is computed by its two holders alone.
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

    /// Node 0: deals s, then holds y0 and y1 from its generators.
    fn inject_first<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let (next, mut shares) = (self.next(), Vec::new());
        self.session.next_round();
        let mut out = Outgoing::masked(&mut self.session, next);
        for bit in bits {
            let known = bit.mine.xor(&bit.next);
            let mut piece = [R::ZERO; PIECE];
            for at in (0..known.rows()).step_by(PIECE) {
                let piece = &mut piece[..PIECE.min(known.rows() - at)];
                self.with_previous.fill(piece);
                for_each_bit(&known.words()[at / 64..], piece, |s, c0| R::from_u128(s.into()).sub(c0));
                out.push_masked(&mut self.session, piece)?;
            }
            let (mine, next) = (self.with_previous.vector(known.rows()), self.with_next.vector(known.rows()));
            shares.push(Share { mine, next });
        }
        out.finish(&mut self.session)?;
        self.session.next_round();
        Ok(shares)
    }

    /// Node 1: receives c1, holds b2 as its second component; component 1 of the result is from the generator with
    /// node 0.
    fn inject_second<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let (previous, next, mut parts) = (self.previous(), self.next(), Vec::new());
        self.session.next_round();
        for bit in bits {
            let mut summand: Vec<R> = recv_cells(&mut self.session, previous, bit.next.rows())?;
            for_each_bit(bit.next.words(), &mut summand, |b2, c1| negate_if(b2, c1));
            let mine: Vec<R> = self.with_previous.vector(summand.len());
            subtract(&mut summand, &mine);
            parts.push((mine, summand));
        }
        self.session.next_round();
        self.exchange_parts(next, &mut parts)?;
        Ok(parts.into_iter().map(|(mine, next)| Share { mine, next }).collect())
    }

    /// Node 2: knows c0, holds b2 as its first component; component 0 of the result is from the generator with node 0.
    fn inject_third<R: Ring>(&mut self, bits: &[&Share<Plane>]) -> Result<Vec<Share<Vec<R>>>> {
        let (previous, mut parts) = (self.previous(), Vec::new());
        self.session.next_round();
        for bit in bits {
            let mut summand: Vec<R> = self.with_next.vector(bit.mine.rows());
            for_each_bit(bit.mine.words(), &mut summand, |b2, c0| negate_if(b2, c0).add(R::from_u128(b2.into())));
            let next: Vec<R> = self.with_next.vector(summand.len());
            subtract(&mut summand, &next);
            parts.push((next, summand));
        }
        self.session.next_round();
        self.exchange_parts(previous, &mut parts)?;
        Ok(parts.into_iter().map(|(next, mine)| Share { mine, next }).collect())
    }

    /// Adds to the second vector of every part the peer's.
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
