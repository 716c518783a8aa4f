//! Addition: parallel prefix over (generate, propagate) pairs.

use tacit_math::Ring;

use super::whole::{carries, whole};
use super::{Function, Gates, Planes};
use crate::{Backend, Result, linear};

/// x + y modulo 2^width: a Sklansky adder. About width log2(width) ANDs, 1 + log2(width) rounds.
pub fn add<B: Backend>(b: &mut B, x: &[B::Bits], y: &[B::Bits]) -> Result<Planes<B>> {
    assert!(x.len() == y.len() && !x.is_empty(), "numbers of one positive width");
    match whole(b, Function::Sum { width: x.len() }, &[x, y])? {
        Some(sum) => Ok(sum),
        None => add_by_gates(b, x, y),
    }
}

/// The adder of few levels.
pub(super) fn add_by_gates<G: Gates>(g: &mut G, x: &[G::Wire], y: &[G::Wire]) -> Result<Vec<G::Wire>, G::Error> {
    Ok(add_all_by_gates(g, &[(x, y)])?.swap_remove(0))
}

/// Two numbers of one positive width.
pub(super) type Pair<'a, W> = (&'a [W], &'a [W]);

/// Several sums of equally wide numbers, on the levels of one.
pub(super) fn add_all_by_gates<G: Gates>(
    g: &mut G,
    pairs: &[Pair<'_, G::Wire>],
) -> Result<Vec<Vec<G::Wire>>, G::Error> {
    let top = pairs[0].0.len() - 1;
    let sums: Vec<Vec<G::Wire>> = pairs.iter().map(|(x, y)| g.xor_all(&refs(x), &refs(y))).collect();
    let (left, right): (Vec<_>, Vec<_>) = pairs.iter().flat_map(|(x, y)| std::iter::zip(&x[..top], &y[..top])).unzip();
    let generate = g.and(&left, &right)?;
    let propagate: Vec<G::Wire> = sums.iter().flat_map(|sum| sum[..top].to_vec()).collect();
    let mut prefixes = Prefixes { top, generate, propagate };
    let mut span = 1;
    while span < top {
        sklansky_level(g, &mut prefixes, span)?;
        span *= 2;
    }
    let with_carries = |(k, sum): (usize, Vec<G::Wire>)| {
        let carries = &prefixes.generate[k * top..(k + 1) * top];
        let carried = g.xor_all(&refs(&sum[1..]), &refs(carries));
        std::iter::once(sum[0].clone()).chain(carried).collect()
    };
    Ok(sums.into_iter().enumerate().map(with_carries).collect())
}

/// Of several sums, one behind the other, whether the positions up to each one generate or propagate a carry.
struct Prefixes<W> {
    /// Positions of each sum.
    top: usize,
    generate: Vec<W>,
    propagate: Vec<W>,
}

/// Position i in the upper half of each block of 2 span positions takes in the last position of the lower half.
fn sklansky_level<G: Gates>(g: &mut G, prefixes: &mut Prefixes<G::Wire>, span: usize) -> Result<(), G::Error> {
    let Prefixes { top, generate, propagate } = prefixes;
    let upper: Vec<usize> = (0..generate.len()).filter(|place| place % *top / span % 2 == 1).collect();
    let lower = |place: usize| place - place % *top + (place % *top / span * span - 1);
    let wide: Vec<usize> = upper.iter().copied().filter(|place| place % *top / span > 1).collect();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    left.extend(upper.iter().map(|&i| &propagate[i]));
    right.extend(upper.iter().map(|&i| &generate[lower(i)]));
    left.extend(wide.iter().map(|&i| &propagate[i]));
    right.extend(wide.iter().map(|&i| &propagate[lower(i)]));
    let base: Vec<_> = upper.iter().map(|&i| Some(&generate[i])).chain(wide.iter().map(|_| None)).collect();
    let mut products = g.and_xor(&left, &right, &base)?.into_iter();
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
    let carry = carry_of_summands(b, &first[..top], &second[..top])?;
    Ok(linear::xor(&sum, &carry))
}

/// Whether numbers that have `width` bits, and no more, are negative: by the engine's own form
/// ([`Backend::sign_within`]), else as [`sign`].
///
/// # Errors
/// As the engine's.
pub fn negative<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, width: usize) -> Result<B::Bits> {
    match b.sign_within(x, width)? {
        Some(negative) => Ok(negative),
        None => sign(b, x, width),
    }
}

/// The carry out of low planes of what [`Backend::summands`] or [`Backend::truncate_apart`] gave.
pub(super) fn carry_of_summands<B: Backend>(b: &mut B, first: &[B::Bits], second: &[B::Bits]) -> Result<B::Bits> {
    match carries(b, first, second, true)? {
        Some([generate, propagate]) => join_carries(b, generate, propagate),
        None => carry_out(b, first, second),
    }
}

/// The carry out of x + y.
pub(super) fn carry_out<B: Backend>(b: &mut B, x: &[B::Bits], y: &[B::Bits]) -> Result<B::Bits> {
    if let Some([generate, propagate]) = carries(b, x, y, false)? {
        return join_carries(b, generate, propagate);
    }
    carry_by_gates(b, x, y)
}

/// The carry out of x + y, by few levels.
pub(super) fn carry_by_gates<G: Gates>(g: &mut G, x: &[G::Wire], y: &[G::Wire]) -> Result<G::Wire, G::Error> {
    let generate = g.and(&refs(x), &refs(y))?;
    let propagate = g.xor_all(&refs(x), &refs(y));
    join_carries(g, generate, propagate)
}

/// The carry out of digits that generate or propagate one, by a tree.
fn join_carries<G: Gates>(
    g: &mut G,
    mut generate: Vec<G::Wire>,
    mut propagate: Vec<G::Wire>,
) -> Result<G::Wire, G::Error> {
    while generate.len() > 1 {
        (generate, propagate) = carry_level(g, &generate, &propagate)?;
    }
    Ok(generate.swap_remove(0))
}

/// Joins neighbours: G = G_high xor (P_high and G_low), P = P_high and P_low. The lowest P is never used and not
/// computed.
fn carry_level<G: Gates>(
    g: &mut G,
    generate: &[G::Wire],
    propagate: &[G::Wire],
) -> Result<(Vec<G::Wire>, Vec<G::Wire>), G::Error> {
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
    let mut joined = g.and_xor(&left, &right, &base)?;
    let spans = joined.split_off(pairs);
    let mut spans: Vec<G::Wire> = std::iter::once(propagate[0].clone()).chain(spans).collect();
    if generate.len() % 2 == 1 {
        joined.push(generate[2 * pairs].clone());
        spans.push(propagate[2 * pairs].clone());
    }
    Ok((joined, spans))
}

fn refs<S>(planes: &[S]) -> Vec<&S> {
    planes.iter().collect()
}
