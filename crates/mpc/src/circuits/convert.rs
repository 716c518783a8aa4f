//! Between ring vectors and planes.

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
