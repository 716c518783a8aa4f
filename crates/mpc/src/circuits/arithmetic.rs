//! Addition: parallel prefix over (generate, propagate) pairs.

use tacit_math::Ring;

use super::whole::{carries, whole};
use super::{Function, Planes};
use crate::{Backend, Result, linear};

/// x + y modulo 2^width: a Sklansky adder. About width log2(width) ANDs, 1 + log2(width) rounds.
pub fn add<B: Backend>(b: &mut B, x: &[B::Bits], y: &[B::Bits]) -> Result<Planes<B>> {
    assert!(x.len() == y.len() && !x.is_empty(), "numbers of one positive width");
    let width = x.len();
    if let Some(sum) = whole(b, Function::Sum { width }, &[x, y])? {
        return Ok(sum);
    }
    let sums: Planes<B> = x.iter().zip(y).map(|(x, y)| linear::xor(x, y)).collect();
    let mut generate = b.and(&refs(&x[..width - 1]), &refs(&y[..width - 1]))?;
    let mut propagate: Planes<B> = sums[..width - 1].to_vec();
    let mut span = 1;
    while span < width - 1 {
        sklansky_level(b, &mut generate, &mut propagate, span)?;
        span *= 2;
    }
    let carries = std::iter::zip(&sums[1..], &generate).map(|(sum, carry)| linear::xor(sum, carry));
    Ok(std::iter::once(sums[0].clone()).chain(carries).collect())
}

/// Position i in the upper half of each block of 2 span positions takes in the last position of the lower half.
fn sklansky_level<B: Backend>(
    b: &mut B,
    generate: &mut Planes<B>,
    propagate: &mut Planes<B>,
    span: usize,
) -> Result<()> {
    let upper: Vec<usize> = (0..generate.len()).filter(|i| i / span % 2 == 1).collect();
    let lower = |i: usize| i / span * span - 1;
    let wide: Vec<usize> = upper.iter().copied().filter(|i| i / span > 1).collect();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    left.extend(upper.iter().map(|&i| &propagate[i]));
    right.extend(upper.iter().map(|&i| &generate[lower(i)]));
    left.extend(wide.iter().map(|&i| &propagate[i]));
    right.extend(wide.iter().map(|&i| &propagate[lower(i)]));
    let base: Vec<_> = upper.iter().map(|&i| Some(&generate[i])).chain(wide.iter().map(|_| None)).collect();
    let mut products = b.and_xor(&left, &right, &base)?.into_iter();
    for (&i, joined) in upper.iter().zip(products.by_ref()) {
        generate[i] = joined;
    }
    for (&i, product) in wide.iter().zip(products) {
        propagate[i] = product;
    }
    Ok(())
}

/// Plane `width` - 1 of a ring vector: the sign of numbers of `width` bits. About 3 width ANDs, log2(width) + 1 rounds,
/// unless the engine has a cheaper protocol for carries ([`Backend::evaluate`]).
pub fn sign<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, width: usize) -> Result<B::Bits> {
    let [first, second] = b.summands(&[x], width)?.swap_remove(0);
    let top = width - 1;
    let sum = linear::xor(&first[top], &second[top]);
    if top == 0 {
        return Ok(sum);
    }
    if let Some(mut sign) = whole(b, Function::SumSign { width }, &[&first, &second])? {
        return Ok(sign.swap_remove(0));
    }
    let (first, second) = (&first[..top], &second[..top]);
    let carry = match carries(b, first, second, true)? {
        Some([generate, propagate]) => join_carries(b, generate, propagate)?,
        None => carry_out(b, first, second)?,
    };
    Ok(linear::xor(&sum, &carry))
}

/// The carry out of x + y.
pub(super) fn carry_out<B: Backend>(b: &mut B, x: &[B::Bits], y: &[B::Bits]) -> Result<B::Bits> {
    if let Some([generate, propagate]) = carries(b, x, y, false)? {
        return join_carries(b, generate, propagate);
    }
    let generate = b.and(&refs(x), &refs(y))?;
    let propagate: Planes<B> = x.iter().zip(y).map(|(x, y)| linear::xor(x, y)).collect();
    join_carries(b, generate, propagate)
}

/// The carry out of digits that generate or propagate one, by a tree.
fn join_carries<B: Backend>(b: &mut B, mut generate: Planes<B>, mut propagate: Planes<B>) -> Result<B::Bits> {
    while generate.len() > 1 {
        (generate, propagate) = carry_level(b, &generate, &propagate)?;
    }
    Ok(generate.swap_remove(0))
}

/// Joins neighbours: G = G_high xor (P_high and G_low), P = P_high and P_low. The lowest P is never used and not
/// computed.
fn carry_level<B: Backend>(b: &mut B, generate: &[B::Bits], propagate: &[B::Bits]) -> Result<(Planes<B>, Planes<B>)> {
    let pairs = generate.len() / 2;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for k in 0..pairs {
        left.push(&propagate[2 * k + 1]);
        right.push(&generate[2 * k]);
    }
    for k in 1..pairs {
        left.push(&propagate[2 * k + 1]);
        right.push(&propagate[2 * k]);
    }
    let base: Vec<_> = (0..left.len()).map(|k| (k < pairs).then(|| &generate[2 * k + 1])).collect();
    let mut joined = b.and_xor(&left, &right, &base)?;
    let spans = joined.split_off(pairs);
    let mut spans: Planes<B> = std::iter::once(propagate[0].clone()).chain(spans).collect();
    if generate.len() % 2 == 1 {
        joined.push(generate[2 * pairs].clone());
        spans.push(propagate[2 * pairs].clone());
    }
    Ok((joined, spans))
}

fn refs<S>(planes: &[S]) -> Vec<&S> {
    planes.iter().collect()
}
