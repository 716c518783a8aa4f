//! Between ring vectors and planes.
//!
//! Source: ABY3, section 5.3. **Departures** of a number that is narrower than its ring few planes are masked and
//! opened ([`narrow_to_ring`]): docs/protocols/arrays.md.

use tacit_math::{Plane, Ring};

use super::{Planes, add};
use crate::{Backend, Linear, Result, linear};

/// A number with more planes (sign-extended if signed) or fewer (reduced modulo 2^width). Local.
pub fn resize<B: Backend>(b: &B, x: &[B::Bits], width: usize, signed: bool) -> Planes<B> {
    let rows = x.first().map_or(0, |p| p.rows());
    let fill = match x.last() {
        Some(sign) if signed => sign.clone(),
        _ => b.public_bits(rows, || Plane::zeros(rows)),
    };
    (0..width).map(|j| x.get(j).unwrap_or(&fill).clone()).collect()
}

/// The low `width` planes of a ring vector.
pub fn to_planes<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, width: usize) -> Result<Planes<B>> {
    b.step("to_planes", |b| {
        let [[first, second]] = <[_; 1]>::try_from(b.summands(&[x], width)?).map_err(|_| ()).expect("one in, one out");
        add(b, &first, &second)
    })
}

/// The ring vector with the value of a number. Narrow numbers are injected plane by plane (one ring element a plane, 2
/// rounds). Wide ones are masked, opened to the nodes that do not know the mask, and unmasked (ABY3, section 5.3).
pub fn to_ring<R: Ring, B: Backend>(b: &mut B, x: &[B::Bits], signed: bool) -> Result<B::Vector<R>> {
    let rows = x.first().map_or(0, |p| p.rows());
    b.step("to_ring", |b| {
        if x.len() <= B::INJECT_AT_MOST {
            let bits = b.inject::<R>(&x.iter().collect::<Vec<_>>())?;
            let mut total = b.public_vector(rows, || vec![R::ZERO; rows]);
            for (j, bit) in bits.iter().enumerate() {
                let weight = R::ONE.shl(j as u32);
                let weight = if signed && j + 1 == x.len() { weight.neg() } else { weight };
                total = linear::add(&total, &linear::scale(bit, weight));
            }
            return Ok(total);
        }
        let wide = resize(b, x, R::BITS as usize, signed);
        let (mask, negated) = b.mask::<R>(rows)?;
        let difference = add(b, &wide, &negated)?;
        b.unmask(mask, &difference.iter().collect::<Vec<_>>())
    })
}

/// The ring vector with the value of a number, by an adder of little more than its own width. What [`to_ring`] gives,
/// for less bytes and more rounds where the number is narrower than the ring.
///
/// The planes of x - y modulo 2^n, for a mask y of the ring, are opened as in [`to_ring`]. With y they are shares of a
/// number that is x modulo 2^n. Times 2^(k-n) it is x 2^(k-n) in the ring, which a truncation divides exactly. n is two
/// more than x has planes, for the truncation's range. The dealer's planes of -y are as many as the ring has.
///
/// Rounds: 5 + log2(n). Bytes of three nodes, for 32 planes and a ring of 64 bits: 98, where [`to_ring`] takes 164.
///
/// # Errors
/// As the engine's.
pub fn narrow_to_ring<R: Ring, B: Backend>(b: &mut B, x: &[B::Bits], signed: bool) -> Result<B::Vector<R>> {
    let (rows, width) = (x.first().map_or(0, |p| p.rows()), x.len() + SLACK);
    if x.len() < FEW || width >= R::BITS as usize {
        return to_ring(b, x, signed);
    }
    b.step("to_ring", |b| {
        let wide = resize(b, x, width, signed);
        let (mask, negated) = b.mask::<R>(rows)?;
        let difference = add(b, &wide, &negated[..width])?;
        let congruent = b.unmask(mask, &difference.iter().collect::<Vec<_>>())?;
        let above = R::BITS as usize - width;
        let raised = linear::scale(&congruent, R::ONE.shl(above as u32));
        Ok(b.truncate(&[&raised], above)?.swap_remove(0))
    })
}

/// Planes beside those of a number whose multiple is truncated.
const SLACK: usize = 2;

/// Planes from which on a narrow number is masked instead of injected.
const FEW: usize = 3;
