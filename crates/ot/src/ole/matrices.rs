//! Products of matrices of shares from ring-LWE, with the coefficients of polynomials as the elements of blocks.
//!
//! **Computes** additive shares of X_0 Y_1 + X_1 Y_0, for matrices X_i and Y_i of party i over Z/2^k. These are the
//! cross products of X_0 + X_1 and Y_0 + Y_1; k is 64 or 128. Shares are always exact. **Adversary** semi-honest,
//! either party. **Discloses** nothing.
//!
//! *Ring.* R_m is Z_m[X]/(X^N + 1), N = 2^14. Keys, errors, primes and the setup are those of [`super`]. P is the
//! product of four of its primes of 44 bits. Q is that of two others for k = 64, of the other four for k = 128. q = P Q
//! is just below 2^264 or 2^352. The plaintext modulus is 2^k, which does not divide q.
//!
//! *Blocks* (Iron). X goes in blocks of m x l, Y in blocks of l x n with m l n <= N. The asker's polynomial x has X[i,
//! t] at the power i l n + l - 1 - t. The answerer's y has Y[t, j] at j l + t. So x y has (X Y)[i, j] at i l n + j l +
//! l - 1. No other term comes there: i, j and t are the digits of a number below N + l - 1, and what is N or more goes
//! below l - 1.
//!
//! *Request.* The asker sends b = round(q x / 2^k) + e - a s, for each block of X. *Answer.* For a row of blocks of X
//! and a column of blocks of Y the answerer draws a ternary u and an error e''. It draws f, uniform below 2^F in each
//! coefficient, where F is 192 or 222, and r, uniform modulo 2^k. With the setup's encryption of zero (-p s + e', p) it
//! computes
//!
//! ```text
//! c_0 = sum of b y + (-p s + e') u + f + round(q r / 2^k)   and   c_1 = sum of a y + p u + e''   modulo q.
//! ```
//!
//! The sums are over the inner blocks, at most [`UNIT_REQUESTS`] = J of them; more have several answers. It divides
//! both by P, rounding down, and sends the whole c_1, but of c_0 **only the coefficients of results**: others would
//! tell partial sums. Its shares are -r. *End.* The asker's are round(2^k (c_0 + c_1 s) / Q) there.
//!
//! *Rounding.* q x / 2^k rounded is (q x - v) / 2^k, where v is q x modulo 2^k and at most 2^(k-1) from zero. Modulo a
//! prime of q this is -v / 2^k. 2^k z / Q modulo 2^k is a sum over the primes p of Q: of 2^k d / p, where d is z p / Q
//! modulo p. It is computed to 2^-18.
//!
//! **Why shares are exact.** Before it is divided, c_0 + c_1 s = (q / 2^k) (x y + r) + w + f modulo q. Multiples of 2^k
//! vanish, and w is the sum of (e + epsilon) y, plus e' u + e'' s + epsilon'. The roundings epsilon are at most 1/2, to
//! 2^-64, errors at most 21, coefficients of y at most 2^(k-1), to 2^-63. Each sum has at most N J = 2^20 terms. So |w|
//! < 21.6 * 2^20 * 2^(k-1) + 2^20 < 2^(k + 23.5): 2^88 or 2^152. Decoding bears q / 2^(k+1) > 2^198.9 or 2^222.998.
//! What dividing cuts off is 1 + N at most, of Q / 2^(k+1) > 2^22.9 or 2^46.9. Together these are less than 2^-6 of
//! what is borne for k = 64, and 0.501 + 2^-32 for k = 128, where f alone is a half. The bounds hold for any x, y, s
//! and errors.
//!
//! **What the asker sees** beside x y + r, which is uniform modulo 2^k as r is. (1) f drowns w: each coefficient of c_0
//! is within |w| / 2^F of what it is without w. At most N of an answer are told: 2^14 2^88 / 2^192 = 2^-90, or 2^14
//! 2^152 / 2^222 = 2^-56, whatever the errors are. So 2^50 or 2^16 answers with J inner blocks each stay within 2^-40.
//! Errors are as they were drawn: then the sum of e y has a standard deviation of 2^10 3.24 2^(k-1), and that of the
//! roundings is at most 2^(k+18). For k = 128 these are 2^21 answers, or 2^41 products of elements. (2) Without w, c_0
//! is (q / 2^k) (x y + r) + f - c_1 s, and nothing else is made of u but c_1. That is uniform under the ring-LWE
//! assumption for u with error e''. What is behind the last result, to fill a vector of eight, is noise f alone. **What
//! the answerer sees** are ring-LWE samples of s. Those modulo a smaller q are such samples modulo the larger one,
//! reduced.
//!
//! **Cost.** [`cost`]: requests of 540,672 or 720,896 bytes, answers of 180,224 or 360,448 and, for each element, 11 or
//! 22 bytes. A round more than there are batches of requests, of [`UNIT_REQUESTS`] at most. Which matrix the askers
//! encrypt, and the blocks' sizes, follow from the sizes of the matrices: those with the fewest bytes of some hundreds.
//!
//! **Sources.** Huang, Lu, Hong, Ding, *Cheetah*, USENIX Security 2022 (section 3: products by coefficients, ring 2^k).
//! Hao, Li, Chen, Xing, Xu, Zhang, *Iron*, NeurIPS 2022 (matrices in coefficients). Brakerski, CRYPTO 2012; Fan,
//! Vercauteren, ePrint 2012/144; and those of [`super`]. **Departures** both directions at once; noise is drowned by
//! noise of a stated size, after a rerandomisation, as in Gazelle, and bounded in the worst case.

mod answer;
mod ask;
mod base;
mod blocks;
#[cfg(test)]
mod fresh;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod views;

use std::collections::VecDeque;
use std::ops::Range;

use tacit_math::Ring;
use tacit_math::ntt::DEGREE;
use tacit_net::{Session, Traffic};

use super::{NO_RESIDUES, Ole};
use crate::OtError;
use answer::{Request, factor};
use base::{Base, Halves, base};
use blocks::{Plan, Unit, batches};

/// Most requests whose products are added up, and most that are kept: bounds memory.
pub const UNIT_REQUESTS: usize = 64;

/// Most answers that are made at a time.
const UNIT_ANSWERS: usize = 16;

/// Answers that are sent before the first is awaited: nobody waits for the network, and few are under way.
const WINDOW: usize = 16;

/// Sizes of a product: `rows` x `inner` times `inner` x `columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of the left matrix.
    pub rows: usize,
    /// Its columns.
    pub inner: usize,
    /// Columns of the right matrix.
    pub columns: usize,
}

impl Sizes {
    /// Products of elements. None if there are more than a word counts.
    pub fn products(&self) -> Option<usize> {
        let sizes = [self.rows, self.inner, self.columns];
        if sizes.contains(&0) { Some(0) } else { sizes.into_iter().try_fold(1, usize::checked_mul) }
    }
}

/// This party's shares of two matrices: their elements by row and column.
pub struct Product<'a, R> {
    /// The sizes of both.
    pub sizes: Sizes,
    /// Elements of the left matrix.
    pub left: &'a (dyn Fn(usize, usize) -> R + Sync),
    /// Elements of the right matrix.
    pub right: &'a (dyn Fn(usize, usize) -> R + Sync),
}

/// The parameters from which bits of security are recomputed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// N, the dimension of the ring.
    pub degree: usize,
    /// Bits of the plaintext's ring, k.
    pub bits: u32,
    /// log2 q.
    pub log2_modulus: f64,
    /// log2 Q, of what is left of an answer.
    pub log2_kept: f64,
    /// log2 of the bound of the noise that drowns what an answer was made of.
    pub log2_flood: f64,
    /// Requests whose products are added up in an answer, at most.
    pub requests: usize,
}

/// The parameters of a ring of `bits` bits; errors and the secret are those of [`super::parameters`].
pub fn parameters(bits: u32) -> Parameters {
    let [log2_modulus, log2_kept, log2_flood] = base::logarithms(bits);
    Parameters { degree: DEGREE, bits, log2_modulus, log2_kept, log2_flood, requests: UNIT_REQUESTS }
}

/// Processor time and memory of products at each party.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Polynomials modulo one prime: of requests, blocks and answers.
    pub polynomials: usize,
    /// Products of two of them.
    pub products: usize,
    /// The most bytes that are kept at a time, beside the matrices.
    pub memory: usize,
}

/// What [`Ole::matrix_products`] costs in a ring of `bits` bits; both parties send the same.
pub fn cost(all: &[Sizes], bits: u32) -> Traffic {
    let plans: Vec<Plan> = all.iter().filter_map(|&sizes| Plan::of(sizes, bits)).collect();
    let bytes = plans.iter().map(|plan| plan.bytes(base(bits))).sum();
    let batches = batches(plans.iter().flat_map(|plan| plan.units(0)).collect()).len();
    Traffic { rounds: if batches == 0 { 0 } else { batches as u64 + 1 }, sender: bytes, receiver: bytes }
}

/// What they take of a processor and of memory.
pub fn work(all: &[Sizes], bits: u32) -> Work {
    let base = base(bits);
    let limbs = base.limbs.len();
    let polynomials = 2 * limbs * DEGREE * size_of::<u64>();
    let mut work = Work::default();
    for batch in batches(all.iter().filter_map(|&sizes| Plan::of(sizes, bits)).flat_map(|plan| plan.units(0)).collect())
    {
        for unit in &batch {
            let blocks = unit.inner.len() * unit.columns.len();
            let answers = unit.rows.len() * unit.columns.len();
            work.polynomials += limbs * (4 * unit.requests() + blocks + 8 * answers);
            work.products += limbs * 2 * (unit.rows.len() * blocks + answers);
        }
        // Requests that were read, both directions' messages, sums, and answers under way.
        let requests = batch.iter().map(Unit::requests).sum::<usize>() * (polynomials + 2 * base.request());
        let most = |count: &dyn Fn(&Unit) -> usize| batch.iter().map(count).max().unwrap_or(0);
        let sums = most(&|unit| unit.rows.len()) * 2 * polynomials;
        let answers = most(&|unit| unit.rows.len() * unit.columns.len()).min(2 * WINDOW) * base.answer(DEGREE);
        work.memory = work.memory.max(requests + sums + answers);
    }
    work
}

/// A product with its plan.
struct Planned<'a, R> {
    product: &'a Product<'a, R>,
    plan: Plan,
}

impl<R: Ring> Planned<'_, R> {
    /// A block of the matrix that is encrypted, with the places of its elements.
    fn left(&self, rows: Range<usize>, inner: Range<usize>) -> impl Iterator<Item = (usize, R)> {
        let element =
            move |row, of| if self.plan.transposed { self.product.right(of, row) } else { self.product.left(row, of) };
        let (first, start) = (rows.start, inner.start);
        rows.flat_map(move |row| inner.clone().map(move |of| (row, of)))
            .map(move |(row, of)| (self.plan.left(row - first, of - start), element(row, of)))
    }

    /// A block of the other one.
    fn right(&self, inner: Range<usize>, columns: Range<usize>) -> impl Iterator<Item = (usize, R)> {
        let element = move |of, column| {
            if self.plan.transposed { self.product.left(column, of) } else { self.product.right(of, column) }
        };
        let (first, start) = (columns.start, inner.start);
        columns
            .flat_map(move |column| inner.clone().map(move |of| (of, column)))
            .map(move |(of, column)| (self.plan.right(of - start, column - first), element(of, column)))
    }

    /// The places of a block of results in their polynomial.
    fn places(&self, [rows, columns]: &[Range<usize>; 2]) -> Vec<usize> {
        let column = |row| (0..columns.len()).map(move |column| self.plan.result(row, column));
        (0..rows.len()).flat_map(column).collect()
    }

    /// Adds a block of results.
    fn add(&self, [rows, columns]: &[Range<usize>; 2], block: &[R], sums: &mut [R]) {
        let places = rows.clone().flat_map(|row| columns.clone().map(move |column| self.plan.place(row, column)));
        places.zip(block).for_each(|(place, &share)| sums[place] = sums[place].add(share));
    }
}

impl<R: Ring> Product<'_, R> {
    fn left(&self, row: usize, inner: usize) -> R {
        (self.left)(row, inner)
    }

    fn right(&self, inner: usize, column: usize) -> R {
        (self.right)(inner, column)
    }
}

impl Ole {
    /// This party's shares of its left matrix times the peer's right one plus the peer's left one times its right one,
    /// for each product, row after row.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`] if the peer sends no residues.
    pub fn matrix_products<R: Ring>(
        &mut self,
        session: &mut Session,
        products: &[Product<'_, R>],
    ) -> Result<Vec<Vec<R>>, OtError> {
        let base = base(R::BITS);
        let mut sums: Vec<Vec<R>> =
            products.iter().map(|Product { sizes, .. }| vec![R::ZERO; sizes.rows * sizes.columns]).collect();
        let planned: Vec<Option<Planned<'_, R>>> = products
            .iter()
            .map(|product| Plan::of(product.sizes, R::BITS).map(|plan| Planned { product, plan }))
            .collect();
        let of = |unit: &Unit| planned[unit.product].as_ref().expect("something to multiply");
        let units =
            planned.iter().enumerate().flat_map(|(i, planned)| planned.iter().flat_map(move |p| p.plan.units(i)));
        let mut batches = batches(units.collect());
        if !batches.is_empty() {
            batches.push(Vec::new());
        }
        // The batch before, with the peer's requests.
        let mut asked: Vec<(&Unit, Vec<Vec<Request>>)> = Vec::new();
        for batch in &batches {
            session.next_round();
            // Answers to the batch before, and the end of it.
            let mut awaited = VecDeque::new();
            for (unit, requests) in std::mem::take(&mut asked) {
                for columns in &unit.columns {
                    let blocks = unit.results(columns);
                    for (block, (answer, masks)) in
                        blocks.iter().zip(self.answers(base, of(unit), unit, &requests, columns))
                    {
                        let negative: Vec<R> = masks.into_iter().map(R::neg).collect();
                        of(unit).add(block, &negative, &mut sums[unit.product]);
                        session.send(self.peer, answer)?;
                    }
                    awaited.extend(blocks.into_iter().map(|block| (unit, block)));
                    while awaited.len() > WINDOW {
                        let (unit, block) = awaited.pop_front().expect("more than some");
                        self.end(session, of(unit), &block, &mut sums[unit.product])?;
                    }
                }
            }
            for (unit, block) in awaited {
                self.end(session, of(unit), &block, &mut sums[unit.product])?;
            }
            // Requests of this batch.
            for unit in batch {
                for (rows, inner) in unit.blocks() {
                    let buffer = session.buffer(base.request());
                    let request = self.asker.ask_block(base, of(unit).left(rows, inner), buffer);
                    session.send(self.peer, request)?;
                }
            }
            for unit in batch {
                let mut requests: Vec<Vec<Request>> = Vec::with_capacity(unit.rows.len());
                for _ in &unit.rows {
                    let row = unit.inner.iter().map(|_| {
                        let message = self.receive(session, base.request())?;
                        let request = self.answerer.read(base, &message);
                        request.ok_or_else(|| OtError::cheating(session, self.peer, NO_RESIDUES))
                    });
                    requests.push(row.collect::<Result<_, _>>()?);
                }
                asked.push((unit, requests));
            }
        }
        Ok(sums)
    }

    /// The answers to a unit's requests for a column of blocks, each with its masks.
    fn answers<R: Ring>(
        &mut self,
        base: &Base,
        planned: &Planned<'_, R>,
        unit: &Unit,
        requests: &[Vec<Request>],
        columns: &Range<usize>,
    ) -> Vec<(Vec<u8>, Vec<R>)> {
        let length = planned.plan.block.inner * planned.plan.block.columns;
        let factors: Vec<Halves> = unit
            .inner
            .iter()
            .map(|inner| factor(base, length, planned.right(inner.clone(), columns.clone())))
            .collect();
        let places: Vec<Vec<usize>> =
            unit.rows.iter().map(|rows| planned.places(&[rows.clone(), columns.clone()])).collect();
        self.answerer.answer_blocks(base, requests, &factors, &places)
    }

    /// Receives an answer and adds its results.
    fn end<R: Ring>(
        &mut self,
        session: &mut Session,
        planned: &Planned<'_, R>,
        block: &[Range<usize>; 2],
        sums: &mut [R],
    ) -> Result<(), OtError> {
        let (base, places) = (base(R::BITS), planned.places(block));
        let message = self.receive(session, base.answer(places.len()))?;
        let shares = self.asker.end_block(base, &message, &places);
        planned.add(block, &shares.ok_or_else(|| OtError::cheating(session, self.peer, NO_RESIDUES))?, sums);
        Ok(())
    }
}
