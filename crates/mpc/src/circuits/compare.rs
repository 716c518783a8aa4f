//! Equality and order.

use super::arithmetic::{carry_by_gates, carry_out};
use super::whole::whole;
use super::{Evaluation, Function, Gates, Planes};
use crate::{Backend, Result, linear};

/// AND of all planes, level by level: by ANDs of pairs it takes width - 1 ANDs in log2(width) rounds. The AND of none
/// is one, for `rows` rows.
pub fn and_all<B: Backend>(b: &mut B, rows: usize, mut planes: Planes<B>) -> Result<B::Bits> {
    if planes.is_empty() {
        return Ok(b.public_bits(rows, || tacit_math::Plane::ones(rows)));
    }
    if planes.len() > 1
        && let Some(mut all) = whole(b, Function::All { planes: planes.len() }, &[&planes])?
    {
        return Ok(all.swap_remove(0));
    }
    while planes.len() > 1 {
        let what = Evaluation::Conjunctions { planes: planes.len() };
        planes = match b.evaluate(what, &planes.iter().collect::<Vec<_>>())? {
            Some(fewer) => fewer,
            None => and_pairs(b, planes)?,
        };
    }
    Ok(planes.swap_remove(0))
}

/// AND of all of them, by few levels.
pub(super) fn and_all_by_gates<G: Gates>(g: &mut G, mut wires: Vec<G::Wire>) -> Result<G::Wire, G::Error> {
    while wires.len() > 1 {
        wires = and_pairs(g, wires)?;
    }
    Ok(wires.swap_remove(0))
}

/// The ANDs of pairs, and the last one as it is if their number is odd: one level.
///
/// # Errors
/// That of the gates.
pub fn and_pairs<G: Gates>(g: &mut G, mut wires: Vec<G::Wire>) -> Result<Vec<G::Wire>, G::Error> {
    let odd = if wires.len() % 2 == 1 { wires.pop() } else { None };
    let (first, second) = wires.split_at(wires.len() / 2);
    wires = g.and(&first.iter().collect::<Vec<_>>(), &second.iter().collect::<Vec<_>>())?;
    wires.extend(odd);
    Ok(wires)
}

/// OR of all planes, as [`and_all`].
pub fn or_all<B: Backend>(b: &mut B, rows: usize, planes: &[B::Bits]) -> Result<B::Bits> {
    let complements = b.not_all(&planes.iter().collect::<Vec<_>>());
    let none = and_all(b, rows, complements)?;
    Ok(b.not(&none))
}

/// x = y, for numbers of equal width, as [`and_all`].
pub fn equal<B: Backend>(b: &mut B, rows: usize, x: &[B::Bits], y: &[B::Bits]) -> Result<B::Bits> {
    assert_eq!(x.len(), y.len(), "numbers of one width");
    let [x, y] = [x, y].map(|planes| planes.iter().collect::<Vec<_>>());
    let same = b.not_all(&linear::xor_all(&x, &y).iter().collect::<Vec<_>>());
    and_all(b, rows, same)
}

/// x < y, for numbers of equal positive width; two's complement if signed. About 3 width ANDs, 1 + log2(width) rounds.
///
/// x < y exactly when x + not(y) + 1 does not carry, that is, when not(x) + y carries.
pub fn less_than<B: Backend>(b: &mut B, x: &[B::Bits], y: &[B::Bits], signed: bool) -> Result<B::Bits> {
    assert!(x.len() == y.len() && !x.is_empty(), "numbers of one positive width");
    let (mut x, mut y): (Planes<B>, Planes<B>) = (x.to_vec(), y.to_vec());
    if signed {
        let sign = x.len() - 1;
        (x[sign], y[sign]) = (b.not(&x[sign]), b.not(&y[sign]));
    }
    if let Some(mut less) = whole(b, Function::LessThan { width: x.len() }, &[&x, &y])? {
        return Ok(less.swap_remove(0));
    }
    let complement = b.not_all(&x.iter().collect::<Vec<_>>());
    carry_out(b, &complement, &y)
}

/// x < y for unsigned numbers, by few levels.
pub(super) fn less_by_gates<G: Gates>(g: &mut G, x: &[G::Wire], y: &[G::Wire]) -> Result<G::Wire, G::Error> {
    let complement: Vec<G::Wire> = x.iter().map(|x| g.not(x)).collect();
    carry_by_gates(g, &complement, y)
}
