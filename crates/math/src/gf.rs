//! The binary fields GF(2^64) and GF(2^128), and the 128-bit module over each of them.
//!
//! GF(2^64) is F_2[x] / (x^64 + x^4 + x^3 + x + 1) and GF(2^128) is F_2[x] / (x^128 + x^7 + x^2 + x + 1); bit i of a
//! number is the coefficient of x^i. Addition is XOR. An element of the *module* over a field is 128 bits: over
//! GF(2^128) one element, over GF(2^64) two of them, the low and the high half, scaled alike. A random element of the
//! module has 128 bits of entropy over either field.
//!
//! Three paths with equal results: carry-less multiplication on 512-bit vectors, on 128-bit vectors, and a portable one
//! of integer multiplications. All are constant-time in their operands.

pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
mod wide;

use bytemuck::{Pod, Zeroable};
use std::ops::{BitXor, BitXorAssign};

/// An element of GF(2^64).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Gf64(pub u64);

/// An element of GF(2^128).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Gf128(pub u128);

/// A binary field with its 128-bit module.
pub trait Field: Pod + Send + Sync + Eq + Default + std::fmt::Debug + BitXor<Output = Self> + BitXorAssign {
    /// Bits of an element: the field has 2^BITS elements.
    const BITS: usize;
    /// One.
    const ONE: Self;

    /// The element whose coefficients are the low [`Self::BITS`] bits of a number.
    fn from_bits(bits: u128) -> Self;

    /// The coefficients as a number.
    fn bits(self) -> u128;

    /// The product of two elements.
    fn multiply(self, other: Self) -> Self;

    /// The multiple of an element of the module.
    fn scale(self, element: u128) -> u128;

    /// `out[i] ^= scalars[i] * element`: a linear map of one module element, at about the speed of memory.
    ///
    /// # Panics
    /// If the lengths differ.
    fn add_scaled(out: &mut [u128], scalars: &[Self], element: u128);

    /// The sum of `scalars[i] * elements[i]` in the module.
    ///
    /// # Panics
    /// If the lengths differ.
    fn inner_product(scalars: &[Self], elements: &[u128]) -> u128;
}

/// The halves of a module element over GF(2^64).
fn halves(element: u128) -> (u64, u64) {
    (element as u64, (element >> 64) as u64)
}

fn whole(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

impl Field for Gf64 {
    const BITS: usize = 64;
    const ONE: Self = Self(1);

    fn from_bits(bits: u128) -> Self {
        Self(bits as u64)
    }

    fn bits(self) -> u128 {
        self.0.into()
    }

    fn multiply(self, other: Self) -> Self {
        Self(portable::reduce64(carryless(self.0, other.0)))
    }

    fn scale(self, element: u128) -> u128 {
        let (low, high) = halves(element);
        whole(self.multiply(Self(low)).0, self.multiply(Self(high)).0)
    }

    fn add_scaled(out: &mut [u128], scalars: &[Self], element: u128) {
        assert_eq!(out.len(), scalars.len(), "one scalar for each element");
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = wide::Wide::detect() {
            return wide.add_scaled64(out, bytemuck::cast_slice(scalars), element);
        }
        portable::add_scaled(out, scalars, element);
    }

    fn inner_product(scalars: &[Self], elements: &[u128]) -> u128 {
        assert_eq!(scalars.len(), elements.len(), "one scalar for each element");
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = wide::Wide::detect() {
            return wide.inner_product64(bytemuck::cast_slice(scalars), elements);
        }
        portable::inner_product(scalars, elements)
    }
}

impl Field for Gf128 {
    const BITS: usize = 128;
    const ONE: Self = Self(1);

    fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    fn bits(self) -> u128 {
        self.0
    }

    fn multiply(self, other: Self) -> Self {
        let ((a0, a1), (b0, b1)) = (halves(self.0), halves(other.0));
        let (low, high) = (carryless(a0, b0), carryless(a1, b1));
        let middle = carryless(a0 ^ a1, b0 ^ b1) ^ low ^ high;
        Self(portable::reduce128(low ^ middle << 64, high ^ middle >> 64))
    }

    fn scale(self, element: u128) -> u128 {
        self.multiply(Self(element)).0
    }

    fn add_scaled(out: &mut [u128], scalars: &[Self], element: u128) {
        assert_eq!(out.len(), scalars.len(), "one scalar for each element");
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = wide::Wide::detect() {
            return wide.add_scaled128(out, bytemuck::cast_slice(scalars), element);
        }
        portable::add_scaled(out, scalars, element);
    }

    fn inner_product(scalars: &[Self], elements: &[u128]) -> u128 {
        assert_eq!(scalars.len(), elements.len(), "one scalar for each element");
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = wide::Wide::detect() {
            return wide.inner_product128(bytemuck::cast_slice(scalars), elements);
        }
        portable::inner_product(scalars, elements)
    }
}

/// The carry-less product of two numbers, by the processor's instruction where it has one.
pub(crate) fn carryless(a: u64, b: u64) -> u128 {
    #[cfg(target_arch = "x86_64")]
    if let Some(narrow) = wide::Narrow::detect() {
        return narrow.carryless(a, b);
    }
    portable::carryless(a, b)
}

macro_rules! addition_is_xor {
    ($field:ty) => {
        impl BitXor for $field {
            type Output = Self;
            fn bitxor(self, other: Self) -> Self {
                Self(self.0 ^ other.0)
            }
        }
        impl BitXorAssign for $field {
            fn bitxor_assign(&mut self, other: Self) {
                self.0 ^= other.0;
            }
        }
    };
}

addition_is_xor!(Gf64);
addition_is_xor!(Gf128);

#[cfg(test)]
mod tests {
    use super::{Field, Gf64, Gf128, carryless, portable};
    use crate::{Prg, Seed};

    /// Schoolbook multiplication in F_2[x] modulo x^bits + tail.
    fn schoolbook(a: u128, b: u128, bits: usize, tail: u128) -> u128 {
        let top = 1_u128 << (bits - 1);
        let mask = top | (top - 1);
        (0..bits).rev().fold(0, |product, i| {
            let carry = product & top != 0;
            let shifted = (product << 1) & mask ^ if carry { tail } else { 0 };
            shifted ^ if b >> i & 1 == 1 { a } else { 0 }
        })
    }

    fn prg() -> Prg {
        Prg::new(&Seed::from_bytes([9; 16]))
    }

    #[test]
    fn products_are_the_schoolbook_ones() {
        let mut cases: Vec<[u128; 2]> = prg().vector(500);
        cases.extend([[0, u128::MAX], [1, u128::MAX], [u128::MAX; 2], [1 << 127, 2], [1 << 63, 2]]);
        for [a, b] in cases {
            let (low, other) = (a as u64, b as u64);
            let expected = schoolbook(low.into(), other.into(), 64, 0x1b);
            assert_eq!(u128::from(Gf64(low).multiply(Gf64(other)).0), expected);
            assert_eq!(Gf128(a).multiply(Gf128(b)).0, schoolbook(a, b, 128, 0x87));
            assert_eq!(portable::carryless(low, other), carryless(low, other));
            let halves = [b, b >> 64].map(|half| schoolbook(low.into(), u128::from(half as u64), 64, 0x1b));
            assert_eq!(Gf64(low).scale(b), halves[0] | halves[1] << 64);
        }
    }

    #[test]
    fn products_form_a_field() {
        for [a, b, c] in prg().vector::<[u128; 3]>(100) {
            let (x, y, z) = (Gf128(a), Gf128(b), Gf128(c));
            assert_eq!(x.multiply(y).multiply(z), x.multiply(y.multiply(z)));
            assert_eq!(x.multiply(y ^ z), x.multiply(y) ^ x.multiply(z));
            let (x, y) = (Gf64(a as u64), Gf64(b as u64));
            assert_eq!(x.multiply(y).scale(c), x.scale(y.scale(c)));
            let fermat = (0..64).fold(x, |power, _| power.multiply(power));
            assert_eq!(fermat, x, "x to the number of elements is x");
        }
    }

    fn slices_agree<F: Field>() {
        let mut prg = prg();
        for len in (0..40).chain([63, 64, 65, 1000]) {
            let scalars: Vec<F> = prg.vector(len);
            let elements: Vec<u128> = prg.vector(len);
            let by_one = scalars.iter().zip(&elements).fold(0, |sum, (a, &m)| sum ^ a.scale(m));
            assert_eq!(F::inner_product(&scalars, &elements), by_one, "{len} elements");
            assert_eq!(portable::inner_product(&scalars, &elements), by_one, "{len} elements");
            let (mut out, mut portable) = (elements.clone(), elements.clone());
            let factor = prg.vector::<u128>(1)[0];
            F::add_scaled(&mut out, &scalars, factor);
            portable::add_scaled(&mut portable, &scalars, factor);
            let by_one: Vec<u128> = scalars.iter().zip(&elements).map(|(a, m)| m ^ a.scale(factor)).collect();
            assert_eq!(out, by_one, "{len} elements");
            assert_eq!(portable, by_one, "{len} elements");
        }
    }

    #[test]
    fn slices_agree_on_every_path() {
        #[cfg(target_arch = "x86_64")]
        println!("512-bit carry-less multiplication: {}", super::wide::Wide::detect().is_some());
        slices_agree::<Gf64>();
        slices_agree::<Gf128>();
    }
}
