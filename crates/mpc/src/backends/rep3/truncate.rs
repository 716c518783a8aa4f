//! Truncation with an exact wrap, as a split product.
//!
//! Functionality: of numbers x = s + t with |x| <= 2^(k-2) - 1, the function dither(s, t) of docs/protocols/arrays.md.
//! It is x / 2^f where that is an integer, else one of the two beside it. It takes shares, and has no coin. What it
//! gives is not a uniform sharing: component p + 2 is t / 2^f rounded down, but for its top f bits. Discloses nothing.
//! S is s + 2^(k-2) - 1, m and n are the top bits of S and t:
//!
//! 1. the dealer's summand is S / 2^f rounded down - m 2^(k-f) - (2^(k-2-f) - 1), the others' is t / 2^f rounded down;
//! 2. what is left of the wrap is (1 - m) n 2^(k-f): a split product of which f bits count.
//!
//! `truncated_apart` does so with S = s + 2^(k-2), which is x / 2^f rounded down, less the carry of the low f bits. In
//! its second round the dealer deals the low planes of s. Their component p is drawn with node p + 2 and masks
//! component p + 1 from node p + 1. Those of t are component p + 2 of the other number.
//!
//! Source: Dalskov, Escudero, Keller, PETS 2020, for the wrap under a slack bit. **Departures** the mask is a share
//! that nodes have, its wrap a split product, and the functionality a fixed function of shares.
//!
//! Rounds: 2. Bytes in all: an element and three times the bytes of f bits a row, which are one to four, eight or
//! sixteen. The low planes take f bits a row more.

use std::marker::PhantomData;

use tacit_math::plane::words_for;
use tacit_math::{Plane, Ring};

use super::split::{Dealer, Dealt, Summands, third};
use super::{NODES, Rep3, Share};
use crate::backends::wire::{Arriving, Outgoing};
use crate::bits::planes_of;
use crate::split::assert_truncation;
use crate::{Apart, Result, linear};

/// Bytes of the words that hold `by` bits.
pub(super) fn width(by: usize) -> usize {
    match by {
        ..=32 => by.div_ceil(8),
        33..=64 => size_of::<u64>(),
        _ => size_of::<u128>(),
    }
}

/// What is cut off, and what is added before and taken away after it. Words are of ring W, which has as many bits.
struct Truncation<R, W> {
    by: u32,
    before: R,
    after: R,
    words: PhantomData<W>,
}

impl<R: Ring, W: Ring> Truncation<R, W> {
    /// 2^(k-2) less one or nothing is added, so that no number is negative.
    fn new(by: usize, less: R) -> Self {
        assert_truncation::<R>(by);
        let (by, quarter) = (by as u32, R::ONE.shl(R::BITS - 2));
        Self { by, before: quarter.sub(less), after: quarter.shr(by).sub(less), words: PhantomData }
    }
}

impl<R: Ring, W: Ring> Dealt<R> for Truncation<R, W> {
    type Word = W;

    const SUMMAND: bool = true;

    fn products(&self) -> usize {
        1
    }

    fn width(&self) -> usize {
        width(self.by as usize)
    }

    #[inline(always)]
    fn first(&self, s: &[R], summand: &mut [R], words: &mut [W]) {
        for ((&s, summand), word) in s.iter().zip(summand).zip(words) {
            let s = s.add(self.before);
            let m = s.bit(R::BITS - 1);
            *summand = s.shr(self.by).sub(m.shl(R::BITS - self.by)).sub(self.after);
            *word = W::from_u128(R::ONE.sub(m).to_u128());
        }
    }

    // The wrap is taken away: hence the sign.
    #[inline(always)]
    fn second(&self, t: &[R], summand: &mut [R], words: &mut [W]) {
        for ((&t, summand), word) in t.iter().zip(summand).zip(words) {
            *summand = t.shr(self.by);
            *word = W::from_u128(t.bit(R::BITS - 1).to_u128()).neg();
        }
    }

    #[inline(always)]
    fn add_to(&self, out: &mut [R], words: &[W]) {
        let up = R::BITS - self.by;
        out.iter_mut().zip(words).for_each(|(out, word)| *out = out.add(R::from_u128(word.to_u128()).shl(up)));
    }
}

impl Rep3 {
    /// dither(s, t).
    pub(super) fn truncated<R: Ring>(&mut self, x: &[Summands<'_, R>], by: usize) -> Result<Vec<Share<Vec<R>>>> {
        match by {
            ..=32 => self.split(x, &Truncation::<R, u32>::new(by, R::ONE)),
            33..=64 => self.split(x, &Truncation::<R, u64>::new(by, R::ONE)),
            _ => self.split(x, &Truncation::<R, u128>::new(by, R::ONE)),
        }
    }

    /// x / 2^f rounded down, less a carry; and the low bits of s and t, whose carry it is.
    pub(super) fn truncated_apart<R: Ring>(&mut self, x: &[&Share<Vec<R>>], by: usize) -> Result<Vec<Apart<Self, R>>> {
        match by {
            ..=32 => self.apart(x, &Truncation::<R, u32>::new(by, R::ZERO)),
            33..=64 => self.apart(x, &Truncation::<R, u64>::new(by, R::ZERO)),
            _ => self.apart(x, &Truncation::<R, u128>::new(by, R::ZERO)),
        }
    }

    /// Low planes are sent before anything of the second round is waited for, and come behind it.
    fn apart<R: Ring, W: Ring>(&mut self, x: &[&Share<Vec<R>>], f: &Truncation<R, W>) -> Result<Vec<Apart<Self, R>>> {
        let (by, summands): (_, Vec<_>) = (f.by as usize, x.iter().copied().map(Summands::Shared).collect());
        let begun = self.begin_split(&summands, f)?;
        let own = summands.iter().map(|x| self.deal_low_planes(x, by)).collect::<Result<_>>()?;
        let of_next = summands.iter().map(|x| self.draw_low_planes(x, by)).collect();
        let wholes = self.finish_split(begun, f)?;
        let of_previous = summands.iter().map(|x| self.receive_low_planes(x, by)).collect::<Result<_>>()?;
        let mut thirds: [Vec<[Vec<Share<Plane>>; 2]>; NODES] = [own, of_next, of_previous];
        // By their dealers.
        thirds.rotate_right(self.me());
        let mut thirds = thirds.map(Vec::into_iter);
        let apart = wholes.into_iter().map(|less_carry| {
            let parts: Vec<_> = thirds.iter_mut().map(|third| third.next().expect("planes of every vector")).collect();
            let low = [0, 1].map(|side| (0..by).map(|j| concat(&parts, side, j)).collect());
            Apart { less_carry, low }
        });
        Ok(apart.collect())
    }

    /// The dealer: component p masks component p + 1 from node p + 1.
    fn deal_low_planes<R: Ring>(&mut self, x: &Summands<'_, R>, by: usize) -> Result<[Vec<Share<Plane>>; 2]> {
        let (rows, peer) = (third(x.rows(), self.me()), self.next());
        let mut s = vec![R::ZERO; rows.len()];
        x.s(&rows, 0..rows.len(), &mut s);
        let masks = Plane::random_all(&vec![rows.len(); by], &mut self.with_previous);
        let mut out = Outgoing::masked(&mut self.session, peer);
        let mut dealt = Vec::with_capacity(by);
        for (mask, plane) in masks.into_iter().zip(planes_of(&s, by)) {
            let next = plane.xor(&mask);
            out.push_masked(&mut self.session, next.words())?;
            dealt.push(Share { mine: mask, next });
        }
        out.finish(&mut self.session)?;
        Ok([dealt, shares(none(rows.len(), by), none(rows.len(), by))])
    }

    /// Node p + 2 draws component p.
    fn draw_low_planes<R: Ring>(&mut self, x: &Summands<'_, R>, by: usize) -> [Vec<Share<Plane>>; 2] {
        let rows = third(x.rows(), self.next().0);
        let t = planes_of(x.t(rows.clone(), Dealer::Next), by);
        let drawn = Plane::random_all(&vec![rows.len(); by], &mut self.with_next);
        [shares(none(rows.len(), by), drawn), shares(t, none(rows.len(), by))]
    }

    /// Node p + 1 receives component p + 1.
    fn receive_low_planes<R: Ring>(&mut self, x: &Summands<'_, R>, by: usize) -> Result<[Vec<Share<Plane>>; 2]> {
        let rows = third(x.rows(), self.previous().0);
        let t = planes_of(x.t(rows.clone(), Dealer::Previous), by);
        let words = vec![words_for(rows.len()); by];
        let received = Arriving::new(self.previous(), words).finish(&mut self.session)?;
        let received = received.into_iter().map(|words| Plane::from_words(rows.len(), words)).collect();
        Ok([shares(received, none(rows.len(), by)), shares(none(rows.len(), by), t)])
    }
}

fn none(rows: usize, planes: usize) -> Vec<Plane> {
    (0..planes).map(|_| Plane::zeros(rows)).collect()
}

fn shares(mine: Vec<Plane>, next: Vec<Plane>) -> Vec<Share<Plane>> {
    mine.into_iter().zip(next).map(|(mine, next)| Share { mine, next }).collect()
}

/// A plane of all thirds.
fn concat(thirds: &[[Vec<Share<Plane>>; 2]], side: usize, plane: usize) -> Share<Plane> {
    linear::concat_bits(&thirds.iter().map(|third| &third[side][plane]).collect::<Vec<_>>())
}
