//! Numbers as sums of two, of which one node knows one and the others know the other.

use tacit_math::Ring;

use crate::SharedTypes;

/// A function f(s + t) = sum over i of u_i(s) w_i(t), plus v(t), over a ring. One node knows s, another one or two know
/// t. Nodes that know t must compute equal words: with integers, never with floating-point numbers.
///
/// Takes as long for any s and t: they are shares, which are as secret as what they are shares of.
pub trait Split<R: Ring>: Sync {
    /// How many products there are: one or more.
    fn products(&self) -> usize;

    /// The words u_i(s) of some numbers: all of u_0, then all of u_1, and so on.
    fn first(&self, s: &[R], u: &mut [R]);

    /// The words w_i(t) of some numbers, in the same order, and v(t).
    fn second(&self, t: &[R], w: &mut [R], v: &mut [R]);
}

/// Panics unless a function has products.
pub(crate) fn assert_products<R: Ring>(f: &impl Split<R>) {
    assert!(f.products() > 0, "a split product is of one product or more");
}

/// Panics unless a truncation leaves a number's sign and the bit of slack beside it.
pub(crate) fn assert_truncation<R: Ring>(by: usize) {
    assert!(by >= 1 && by <= R::BITS as usize - 2, "truncation leaves a number's sign");
}

/// Numbers without their low bits.
pub struct Apart<B: SharedTypes, R: Ring> {
    /// Rounded down, less one where the low bits of the two summands carry.
    pub less_carry: B::Vector<R>,
    /// The low planes of both summands, lowest first. There are none if no carry is missing.
    pub low: [Vec<B::Bits>; 2],
}
