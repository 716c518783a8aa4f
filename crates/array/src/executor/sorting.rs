//! Sorting along an axis: all lines of all arrays of a kind at once. The number of the line is the highest part of the
//! key.

use std::cell::LazyCell;

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
    let axes = axes(calls, axis);
    let lying = lying(calls, &axes);
    let destinations = destinations(b, &lying, axes[0].length, calls[0].bounds(0))?;
    let sorted = apply(b, bundle(lying), destinations)?;
    Ok(apart(only(sorted), &axes))
}

/// The positions that sort.
pub(super) fn order<B: Backend>(b: &mut B, calls: &[Call<'_, B>], axis: usize) -> Result<Vec<Shares<B>>> {
    let axes = axes(calls, axis);
    let (lying, length) = (lying(calls, &axes), axes[0].length);
    let destinations = destinations(b, &lying, length, calls[0].bounds(0))?;
    let count = lying.elements();
    let positions = (0..count).map(|place| (place % length) as i128).collect();
    let positions = Array::public(b, &[count], calls[0].instruction.ring, positions).into_shares();
    Ok(apart(only(apply(b, bundle(positions), destinations)?), &axes))
}

fn axes<B: Backend>(calls: &[Call<'_, B>], axis: usize) -> Vec<Axis> {
    calls.iter().map(|call| Axis::of(&call.args[0].shape, axis)).collect()
}

/// All lines of all arrays, one behind the other.
fn lying<B: Backend>(calls: &[Call<'_, B>], axes: &[Axis]) -> Shares<B> {
    let line_by_line =
        |(call, axis): (&Call<'_, B>, &Axis)| call.args[0].shares().gather(axis.elements(), || axis.behind());
    let lines: Vec<Shares<B>> = calls.iter().zip(axes).map(line_by_line).collect();
    Shares::behind_each_other(&lines.iter().collect::<Vec<_>>())
}

/// The arrays of which the lines are one behind the other.
fn apart<B: Backend>(shares: Shares<B>, axes: &[Axis]) -> Vec<Shares<B>> {
    let back = |start: &mut usize, axis: &Axis| {
        let first = *start as u32;
        *start += axis.elements();
        Some(shares.gather(axis.elements(), || axis.back().into_iter().map(|place| first + place).collect()))
    };
    axes.iter().scan(0, back).collect()
}

/// Where each element goes.
fn destinations<B: Backend>(b: &mut B, lying: &Shares<B>, length: usize, bounds: Bounds) -> Result<B::Vector<u32>> {
    let mut key = match lying {
        Shares::Bits(plane) => vec![plane.clone()],
        Shares::Ring64(x) => key::<u64, B>(b, x, bounds)?,
        Shares::Ring128(x) => key::<u128, B>(b, x, bounds)?,
    };
    let rows = lying.elements();
    let width = bits_of((rows / length.max(1)).saturating_sub(1) as u128);
    let planes = LazyCell::new(|| {
        let numbers: Vec<u64> = (0..rows).map(|place| (place / length) as u64).collect();
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
