//! Sums along an axis: local.

use tacit_mpc::{Backend, Linear};

use super::call::Call;
use crate::array::{Element, Shares};
use crate::program::Operation;

/// An axis of a shape: how many arrays there are before it, how long it is, and how many elements each step goes over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub outer: usize,
    pub length: usize,
    pub inner: usize,
}

impl Axis {
    pub fn of(shape: &[usize], axis: usize) -> Self {
        let product = |sizes: &[usize]| sizes.iter().product();
        Self { outer: product(&shape[..axis]), length: shape[axis], inner: product(&shape[axis + 1..]) }
    }

    /// Elements that are not on the same line along the axis.
    pub fn lines(self) -> usize {
        self.outer * self.inner
    }

    /// All elements.
    pub fn elements(self) -> usize {
        self.lines() * self.length
    }

    /// With the axis in front: where its elements lie.
    pub fn in_front(self) -> Vec<u32> {
        let at = |step: usize, outer: usize, inner: usize| ((outer * self.length + step) * self.inner + inner) as u32;
        let lines = || (0..self.outer).flat_map(|outer| (0..self.inner).map(move |inner| (outer, inner)));
        (0..self.length).flat_map(|step| lines().map(move |(outer, inner)| at(step, outer, inner))).collect()
    }

    /// With the axis behind all others: where its elements lie.
    pub fn behind(self) -> Vec<u32> {
        let at = |outer: usize, inner: usize, step: usize| ((outer * self.length + step) * self.inner + inner) as u32;
        let lines = (0..self.outer).flat_map(|outer| (0..self.inner).map(move |inner| (outer, inner)));
        lines.flat_map(|(outer, inner)| (0..self.length).map(move |step| at(outer, inner, step))).collect()
    }

    /// From behind all others to where it was.
    pub fn back(self) -> Vec<u32> {
        let from = self.behind();
        let mut back = vec![0; from.len()];
        from.iter().enumerate().for_each(|(place, &from)| back[from as usize] = place as u32);
        back
    }
}

/// The sums along an axis, or of the first elements along it.
pub(super) fn sums<R: Element, B: Backend>(calls: &[Call<'_, B>]) -> Vec<Shares<B>> {
    let one = |call: &Call<'_, B>| {
        let (x, shape) = (call.args[0].vector::<R>(), &call.args[0].shape);
        match call.instruction.operation {
            Operation::CumulativeSum { axis } => x.map(x.rows(), |x| cumulative(x, Axis::of(shape, axis))),
            Operation::Sum { axis } => {
                let axis = Axis::of(shape, axis);
                x.map(axis.lines(), |x| total(x, axis))
            }
            _ => unreachable!("sums alone come here"),
        }
    };
    calls.iter().map(one).map(R::shares).collect()
}

fn total<R: Element>(x: &[R], Axis { outer, length, inner }: Axis) -> Vec<R> {
    if inner == 1 && length > 0 {
        return x.chunks_exact(length).map(|line| line.iter().fold(R::ZERO, |sum, &x| sum.add(x))).collect();
    }
    let mut out = vec![R::ZERO; outer * inner];
    for line in 0..outer {
        let out = &mut out[line * inner..(line + 1) * inner];
        for step in 0..length {
            let from = &x[(line * length + step) * inner..][..inner];
            out.iter_mut().zip(from).for_each(|(sum, &x)| *sum = sum.add(x));
        }
    }
    out
}

fn cumulative<R: Element>(x: &[R], Axis { outer, length, inner }: Axis) -> Vec<R> {
    let mut out = x.to_vec();
    for line in 0..outer {
        for step in 1..length {
            let place = (line * length + step) * inner;
            for i in place..place + inner {
                out[i] = out[i].add(out[i - inner]);
            }
        }
    }
    out
}
