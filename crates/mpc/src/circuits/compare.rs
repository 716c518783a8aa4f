//! Equality and order.

use super::arithmetic::carry_out;
use super::whole::whole;
use super::{Evaluation, Function, Planes};
use crate::{Backend, Result, linear};

/// AND of all planes, level by level: by ANDs of pairs it takes width - 1 ANDs in log2(width) rounds. The AND of none is
/// one, for `rows` rows.
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

/// The ANDs of pairs of planes, and the last one as it is if their number is odd. One round.
pub fn and_pairs<B: Backend>(b: &mut B, mut planes: Planes<B>) -> Result<Planes<B>> {
    let odd = if planes.len() % 2 == 1 { planes.pop() } else { None };
    let half = planes.len() / 2;
    planes = b.and(&planes[..half].iter().collect::<Vec<_>>(), &planes[half..].iter().collect::<Vec<_>>())?;
    planes.extend(odd);
    Ok(planes)
}

/// OR of all planes, as [`and_all`].
pub fn or_all<B: Backend>(b: &mut B, rows: usize, planes: &[B::Bits]) -> Result<B::Bits> {
    let complements = planes.iter().map(|p| b.not(p)).collect();
    let none = and_all(b, rows, complements)?;
    Ok(b.not(&none))
}

/// x = y, for numbers of equal width, as [`and_all`].
pub fn equal<B: Backend>(b: &mut B, rows: usize, x: &[B::Bits], y: &[B::Bits]) -> Result<B::Bits> {
    assert_eq!(x.len(), y.len(), "numbers of one width");
    let same = x.iter().zip(y).map(|(x, y)| b.not(&linear::xor(x, y))).collect();
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
    let complement: Planes<B> = x.iter().map(|x| b.not(x)).collect();
    carry_out(b, &complement, &y)
}
