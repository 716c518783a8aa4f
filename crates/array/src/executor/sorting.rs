//! Sorting along an axis: all lines at once, the number of the line being the highest part of the key.

use tacit_math::transpose;
use tacit_mpc::circuits::{Planes, to_planes};
use tacit_mpc::ops::{apply, sort_order};
use tacit_mpc::{Backend, Result, Rows};

use super::along::Axis;
use super::arithmetic::plus_public;
use super::call::Call;
use super::comparisons::Bounds;
use crate::array::{Array, Element, Shares};

/// Elements in ascending order.
pub(super) fn sort<B: Backend>(b: &mut B, calls: &[Call<'_, B>], axis: usize) -> Result<Vec<Shares<B>>> {
    let one = |call: &Call<'_, B>| {
        let axis = Axis::of(&call.args[0].shape, axis);
        let lying = lying(call.args[0], axis);
        let destinations = destinations(b, &lying, axis, call.bounds(0))?;
        let rows = bundle(lying);
        let sorted = apply(b, rows, destinations)?;
        Ok(back(only(sorted), axis))
    };
    calls.iter().map(one).collect()
}

/// The positions that sort.
pub(super) fn order<B: Backend>(b: &mut B, calls: &[Call<'_, B>], axis: usize) -> Result<Vec<Shares<B>>> {
    let one = |call: &Call<'_, B>| {
        let axis = Axis::of(&call.args[0].shape, axis);
        let lying = lying(call.args[0], axis);
        let destinations = destinations(b, &lying, axis, call.bounds(0))?;
        let count = axis.lines() * axis.length;
        let positions = (0..count).map(|place| (place % axis.length) as i128).collect();
        let positions = Array::public(b, &[count], call.instruction.ring, positions).into_shares();
        Ok(back(only(apply(b, bundle(positions), destinations)?), axis))
    };
    calls.iter().map(one).collect()
}

/// The elements with the axis behind all others.
fn lying<B: Backend>(array: &Array<B>, axis: Axis) -> Shares<B> {
    array.shares().gather(array.elements(), || axis.behind())
}

/// The elements with the axis where it was.
fn back<B: Backend>(shares: Shares<B>, axis: Axis) -> Shares<B> {
    shares.gather(shares.elements(), || axis.back())
}

/// Where each element goes.
fn destinations<B: Backend>(b: &mut B, lying: &Shares<B>, axis: Axis, bounds: Bounds) -> Result<B::Vector<u32>> {
    let mut key = match lying {
        Shares::Bits(plane) => vec![plane.clone()],
        Shares::Ring64(x) => key::<u64, B>(b, x, bounds)?,
        Shares::Ring128(x) => key::<u128, B>(b, x, bounds)?,
    };
    let rows = lying.elements();
    let width = bits_of(axis.lines().saturating_sub(1) as u128);
    let planes = std::cell::LazyCell::new(|| {
        let numbers: Vec<u64> = (0..rows).map(|place| (place / axis.length) as u64).collect();
        transpose::planes_of_rows(&numbers, width)
    });
    key.extend((0..width).map(|plane| b.public_bits(rows, || planes[plane].clone())));
    sort_order(b, rows, &key)
}

/// Numbers within bounds as planes without a sign: their distance from the lower bound.
fn key<R: Element, B: Backend>(b: &mut B, x: &B::Vector<R>, (low, high): Bounds) -> Result<Planes<B>> {
    let width = bits_of(high.saturating_sub(low).max(0) as u128);
    if width == 0 {
        return Ok(vec![]);
    }
    let distance = plus_public::<R, B>(b, x, -low);
    to_planes(b, &distance, width)
}

/// The bits of a number.
fn bits_of(number: u128) -> usize {
    (u128::BITS - number.leading_zeros()) as usize
}

fn bundle<B: Backend>(shares: Shares<B>) -> Rows<B> {
    let empty = Rows::empty(shares.elements());
    match shares {
        Shares::Bits(plane) => Rows { bits: vec![plane], ..empty },
        Shares::Ring64(x) => Rows { r64: vec![x], ..empty },
        Shares::Ring128(x) => Rows { r128: vec![x], ..empty },
    }
}

/// The only column of a bundle.
fn only<B: Backend>(mut rows: Rows<B>) -> Shares<B> {
    match (rows.bits.pop(), rows.r64.pop(), rows.r128.pop()) {
        (Some(plane), _, _) => Shares::Bits(plane),
        (_, Some(x), _) => Shares::Ring64(x),
        (_, _, Some(x)) => Shares::Ring128(x),
        _ => unreachable!("one column"),
    }
}

