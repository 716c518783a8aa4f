//! Division of unsigned numbers by secret ones, with what remains.
//!
//! Two bits of the quotient at a time: what remains of x is compared with y, 2 y and 3 y at once, by three subtractions on
//! the levels of one. So it takes half of the rounds of bit-by-bit (restoring) division for 3 / 2 of its ANDs. By a public
//! number, [`super::Reciprocal`] needs one adder.

use super::arithmetic::add_all_by_gates;
use super::whole::whole;
use super::{Function, Gates, Planes};
use crate::{Backend, Result};

/// x / y without what remains, and that: of as many planes as x, and as y. Both are arbitrary where y is 0. For each two
/// bits of x, about 3 width (1 + log2(width) / 2) ANDs in 2 + log2(width) rounds, where y has width - 3 bits.
pub fn divide<B: Backend>(b: &mut B, x: &[B::Bits], y: &[B::Bits]) -> Result<[Planes<B>; 2]> {
    assert!(!x.is_empty() && !y.is_empty(), "numbers of positive widths");
    let function = Function::Division { dividend: x.len(), divisor: y.len() };
    let mut quotient = match whole(b, function, &[x, y])? {
        Some(both) => both,
        None => divide_by_gates(b, x, y)?,
    };
    let rest = quotient.split_off(x.len());
    Ok([quotient, rest])
}

/// The quotient, and behind it the remainder, by few levels.
pub(super) fn divide_by_gates<G: Gates>(g: &mut G, x: &[G::Wire], y: &[G::Wire]) -> Result<Vec<G::Wire>, G::Error> {
    let zero = g.xor(&y[0], &y[0]);
    let multiples = multiples(g, y, &zero)?;
    let (mut rest, mut quotient) = (vec![zero.clone(); y.len()], Vec::new());
    let padded: Vec<G::Wire> = x.iter().cloned().chain((x.len() % 2 == 1).then_some(zero)).collect();
    for digit in padded.rchunks(2) {
        let (left, [low, high]) = step(g, &rest, digit, &multiples)?;
        rest = left;
        quotient.extend([high, low]);
    }
    quotient.reverse();
    quotient.truncate(x.len());
    quotient.extend(rest);
    Ok(quotient)
}

/// y, 2 y and 3 y, wide enough for differences with a sign.
fn multiples<G: Gates>(g: &mut G, y: &[G::Wire], zero: &G::Wire) -> Result<[Vec<G::Wire>; 3], G::Error> {
    let shifted = |by: usize| {
        let planes = std::iter::repeat_n(zero, by).chain(y).chain(std::iter::repeat_n(zero, 3 - by));
        planes.cloned().collect::<Vec<G::Wire>>()
    };
    let [once, twice] = [shifted(0), shifted(1)];
    let thrice = add_all_by_gates(g, &[(&once, &twice)])?.swap_remove(0);
    Ok([once, twice, thrice])
}

/// What remains, four times as large and with two more bits of x, less the largest multiple of y that is in it; and which
/// multiple that is, in two bits.
fn step<G: Gates>(
    g: &mut G,
    rest: &[G::Wire],
    digit: &[G::Wire],
    multiples: &[Vec<G::Wire>; 3],
) -> Result<(Vec<G::Wire>, [G::Wire; 2]), G::Error> {
    let (width, zero) = (rest.len(), g.xor(&digit[0], &digit[0]));
    let taken: Vec<G::Wire> = digit.iter().chain(rest).cloned().chain([zero]).collect();
    // t - k y = not(not(t) + k y)
    let complement: Vec<G::Wire> = taken.iter().map(|wire| g.not(wire)).collect();
    let pairs = multiples.each_ref().map(|multiple| (&complement[..], &multiple[..]));
    let negated = add_all_by_gates(g, &pairs)?;
    // The sign of what is negated says whether the multiple is in t. Those of higher multiples imply those of lower ones.
    let fits: Vec<G::Wire> = negated.iter().map(|sum| sum[width + 2].clone()).collect();
    let mut candidates = vec![taken[..width].to_vec()];
    candidates.extend(negated.iter().map(|sum| sum[..width].iter().map(|wire| g.not(wire)).collect::<Vec<_>>()));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (k, fits) in fits.iter().enumerate() {
        for (lower, higher) in std::iter::zip(&candidates[k], &candidates[k + 1]) {
            left.push(fits);
            right.push(g.xor(lower, higher));
        }
    }
    let changes = g.and(&left, &right.iter().collect::<Vec<_>>())?;
    let mut rest = candidates.swap_remove(0);
    for (place, change) in changes.iter().enumerate() {
        rest[place % width] = g.xor(&rest[place % width], change);
    }
    let odd = g.xor(&fits[0], &fits[1]);
    Ok((rest, [g.xor(&odd, &fits[2]), fits[1].clone()]))
}
