//! Multiplication (Protocol 1): sums of products of shares, as they are or divided by the scale.
//!
//! Functionality: z = sum over t of x_t * y_t, element by element. Or that divided by 2^f: each of four parts of it is
//! rounded to the nearest integer, so that the result is at most two from the quotient. Discloses nothing.
//!
//! 1. S1 and S2 draw r and s from their joint generator, for every factor anew. x1' = x1 + r, x2' = x2 - r; y1' = y1 +
//!    s, y2' = y2 - s.
//! 2. S1 sends x1' to Sa and y1' to Sb. S2 sends x2' to Sb and y2' to Sa.
//! 3. S1 computes t1 = x1' y1', S2 computes t2 = x2' y2', Sa computes ta = x1' y2' and Sb computes tb = x2' y1'. Each
//!    is a product of the signed representatives, divided by 2^f ([`super::integers`]).
//! 4. Sa draws ta1 from its generator with S1, and sends ta2 = ta - ta1 to S2. Sb draws tb2 from its generator with S2,
//!    and sends tb1 = tb - tb2 to S1.
//! 5. z1 = t1 + ta1 + tb1, z2 = t2 + ta2 + tb2.
//!
//! Without a scale all of it is modulo 2^k and exact, for planes modulo 2. With one, x1' + x2' = x over the integers
//! unless the shares wrap, which [`super::failure`] bounds.
//!
//! Source: PrivPy, section 5.3, Protocol 1, with both generators of its analysis.
//!
//! Rounds: 2. Bytes in all: four cells for each product and two for each element that comes out.

use tacit_math::{Plane, Ring, lanes};
use tacit_net::PartyId;

use super::integers::scaled_sums;
use super::{Four, S1, S2, SA, SB, Share};
use crate::backends::cell::{Cell, Lane, lanes as lanes_of, plane};
use crate::backends::wire::{Arriving, Outgoing};
use crate::{Linear, Result};

/// Elements that are worth a lane of their own.
const LEAST: usize = 1 << 14;

/// The factors of products: how long each is, and a primary server's component.
pub(super) struct Factor<'a, C> {
    pub length: usize,
    pub held: Option<&'a [C]>,
}

impl<'a, R: Ring> Factor<'a, R> {
    pub(super) fn of(share: &'a Share<Vec<R>>) -> Self {
        Self { length: share.rows, held: share.held.as_deref() }
    }
}

/// What a server has of all first factors and of all second ones, to compute its part of the products of.
pub(super) type Parts<C> = [Vec<Vec<C>>; 2];

impl Four {
    /// Steps 1 to 5. outputs: how long each is. Every server computes what `compute` says of its parts of the factors.
    pub(super) fn products<C: Cell>(
        &mut self,
        factors: [&[Factor<'_, C>]; 2],
        outputs: &[usize],
        compute: impl Fn(&Parts<C>) -> Vec<Vec<C>>,
    ) -> Result<Vec<Option<Vec<C>>>> {
        self.session.next_round();
        let parts = self.randomised(factors)?;
        let made = compute(&parts);
        drop(parts);
        self.session.next_round();
        self.shared_again(made, outputs)
    }

    /// Steps 1 and 2.
    fn randomised<C: Cell>(&mut self, factors: [&[Factor<'_, C>]; 2]) -> Result<Parts<C>> {
        let lengths = |side: usize| factors[side].iter().map(|factor| factor.length).collect();
        let [x, y] = match self.me() {
            S1 => [self.masked(factors[0], SA)?, self.masked(factors[1], SB)?],
            S2 => [self.masked(factors[0], SB)?, self.masked(factors[1], SA)?],
            SA => [self.arrived(S1, lengths(0))?, self.arrived(S2, lengths(1))?],
            _ => [self.arrived(S2, lengths(0))?, self.arrived(S1, lengths(1))?],
        };
        Ok([x, y])
    }

    fn arrived<C: Cell>(&mut self, from: PartyId, lengths: Vec<usize>) -> Result<Vec<Vec<C>>> {
        Arriving::new(from, lengths).finish(&mut self.session)
    }

    /// A primary server's components, masked, which are also sent to an assistant that knows no mask.
    pub(super) fn masked<C: Cell>(&mut self, factors: &[Factor<'_, C>], to: PartyId) -> Result<Vec<Vec<C>>> {
        let mut out = Outgoing::masked(&mut self.session, to);
        let mut all = Vec::with_capacity(factors.len());
        for factor in factors {
            let held = factor.held.expect("a primary server has a component");
            let drawn: Vec<C> = self.joint.vector(factor.length);
            let masked = if self.session.me() == S1 { zip(held, &drawn, C::plus) } else { zip(held, &drawn, C::minus) };
            out.push_masked(&mut self.session, &masked)?;
            all.push(masked);
        }
        out.finish(&mut self.session)?;
        Ok(all)
    }

    /// Steps 4 and 5.
    fn shared_again<C: Cell>(&mut self, made: Vec<Vec<C>>, outputs: &[usize]) -> Result<Vec<Option<Vec<C>>>> {
        let drawn: Vec<Vec<C>> = outputs.iter().map(|&length| self.across.vector(length)).collect();
        let each = made.into_iter().zip(&drawn);
        let assistant = match self.me() {
            S1 => SB,
            S2 => SA,
            me => {
                let to = if me == SA { S2 } else { S1 };
                let mut out = Outgoing::masked(&mut self.session, to);
                for (made, drawn) in each {
                    out.push_masked(&mut self.session, &zip(&made, drawn, C::minus))?;
                }
                out.finish(&mut self.session)?;
                return Ok(outputs.iter().map(|_| None).collect());
            }
        };
        let own: Vec<Vec<C>> = each.map(|(made, drawn)| zip(&made, drawn, C::plus)).collect();
        let sent = self.arrived(assistant, outputs.to_vec())?;
        Ok(own.iter().zip(&sent).map(|(own, sent)| Some(zip(own, sent, C::plus))).collect())
    }

    /// z = sum of products, for each output.
    pub(super) fn inner_products_of_vectors<R: Ring>(&mut self, terms: &Terms<'_, R>) -> Result<Vec<Share<Vec<R>>>> {
        self.sums(terms, |sum, rows| {
            lanes::vector(rows, LEAST, 1, |lane, room| {
                room.extend(lane.map(|i| sum.iter().fold(R::ZERO, |total, [x, y]| total.add(x[i].mul(y[i])))));
            })
        })
    }

    /// z = sum of products, divided by 2^by, for each output.
    pub(super) fn scaled_inner_products<R: Ring>(
        &mut self,
        terms: &Terms<'_, R>,
        by: usize,
    ) -> Result<Vec<Share<Vec<R>>>> {
        self.sums(terms, |sum, rows| scaled_sums(sum, rows, by as u32))
    }

    fn sums<R: Ring>(
        &mut self,
        terms: &Terms<'_, R>,
        of: impl Fn(&[[&[R]; 2]], usize) -> Vec<R>,
    ) -> Result<Vec<Share<Vec<R>>>> {
        let [x, y]: [Vec<Factor<'_, R>>; 2] = [
            terms.iter().flatten().map(|(x, _)| Factor::of(x)).collect(),
            terms.iter().flatten().map(|(_, y)| Factor::of(y)).collect(),
        ];
        let outputs: Vec<usize> = terms.iter().map(|pairs| pairs.first().map_or(0, |(x, _)| x.rows())).collect();
        let sums = self.products([&x, &y], &outputs, |[x, y]| {
            let mut pairs = x.iter().zip(y).map(|(x, y)| [x.as_slice(), y.as_slice()]);
            let mut sum =
                |(terms, &rows): (&Vec<_>, _)| of(&pairs.by_ref().take(terms.len()).collect::<Vec<_>>(), rows);
            terms.iter().zip(&outputs).map(&mut sum).collect()
        })?;
        Ok(sums.into_iter().zip(outputs).map(|(held, rows)| Share { held, rows }).collect())
    }

    /// ANDs: Protocol 1 modulo 2, without a scale.
    pub(super) fn and_planes(
        &mut self,
        x: &[&Share<Plane>],
        y: &[&Share<Plane>],
        base: &[Option<&Share<Plane>>],
    ) -> Result<Vec<Share<Plane>>> {
        let outputs: Vec<usize> = x.iter().map(|x| words(x)).collect();
        let factors = |planes: &[&'_ Share<Plane>]| -> Vec<Factor<'_, Lane>> {
            let factor = |x: &Share<Plane>| Factor { length: words(x), held: None };
            planes.iter().map(|x| factor(x)).collect()
        };
        let mut of_both = [factors(x), factors(y)];
        for (factors, planes) in of_both.iter_mut().zip([x, y]) {
            factors.iter_mut().zip(planes).for_each(|(factor, x)| factor.held = x.held.as_ref().map(lanes_of));
        }
        let products = self.products([&of_both[0], &of_both[1]], &outputs, |[x, y]| {
            x.iter().zip(y).map(|(x, y)| zip(x, y, Lane::times)).collect()
        })?;
        let shared = products.into_iter().zip(x).zip(base).map(|((held, x), base)| {
            let mut product = held.map(|lanes| plane(x.rows, lanes));
            if let Some((product, base)) = product.as_mut().zip(base.and_then(|base| base.held.as_ref())) {
                product.xor_assign(base);
            }
            Share { held: product, rows: x.rows }
        });
        Ok(shared.collect())
    }
}

/// Pairs of factors, for each output.
pub(super) type Terms<'a, R> = [Vec<(&'a Share<Vec<R>>, &'a Share<Vec<R>>)>];

/// Words of a plane.
fn words(plane: &Share<Plane>) -> usize {
    tacit_math::plane::words_for(plane.rows)
}

/// Two vectors of one length, element by element.
pub(super) fn zip<C: Cell>(x: &[C], y: &[C], of: impl Fn(C, C) -> C + Sync) -> Vec<C> {
    assert_eq!(x.len(), y.len(), "vectors of one length");
    lanes::vector(x.len(), LEAST, 1, |lane, room| {
        room.extend(x[lane.clone()].iter().zip(&y[lane]).map(|(&x, &y)| of(x, y)));
    })
}
