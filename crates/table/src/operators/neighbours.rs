//! Rows that are a public number of rows away, and whether they belong to the same group.

use std::collections::HashMap;

use tacit_math::{Plane, Ring};
use tacit_mpc::{Backend, Linear};

use crate::error::Result;
use crate::table::{Shares, Value};

/// Rows in groups, each of which stands together.
pub(crate) struct Chain<B: Backend> {
    /// Whether each row is in the group of the row 2^j behind, for j from 0.
    powers: Vec<B::Bits>,
    found: HashMap<usize, B::Bits>,
}

impl<B: Backend> Chain<B> {
    /// From whether each row is in the group of the next one. The last row is not.
    pub fn new(same_as_next: B::Bits) -> Self {
        Self { powers: vec![same_as_next], found: HashMap::new() }
    }

    /// Whether each row is in the group of the next one.
    pub fn next(&self) -> &B::Bits {
        &self.powers[0]
    }

    /// Whether each row is in the group of the row before.
    pub fn previous(&self) -> B::Bits {
        moved_bits::<B>(self.next(), -1)
    }

    /// Whether the row at this distance behind is in a row's group. About 2 log2 of the distance ANDs of a bit, each in
    /// a round of its own.
    pub fn within(&mut self, b: &mut B, by: isize) -> Result<B::Bits> {
        let distance = by.unsigned_abs();
        if !self.found.contains_key(&distance) {
            let found = self.reach(b, distance)?;
            self.found.insert(distance, found);
        }
        let behind = &self.found[&distance];
        // A row before is as far from this one as this one is from it.
        Ok(if by < 0 { moved_bits::<B>(behind, by) } else { behind.clone() })
    }

    fn reach(&mut self, b: &mut B, distance: usize) -> Result<B::Bits> {
        let rows = self.next().rows();
        if distance == 0 || distance >= rows {
            return Ok(b.public_bits(rows, || Plane::constant(rows, distance == 0)));
        }
        let (mut found, mut covered): (Option<B::Bits>, usize) = (None, 0);
        for j in (0..usize::BITS as usize).filter(|j| distance >> j & 1 == 1) {
            let further = moved_bits::<B>(self.power(b, j)?, covered as isize);
            covered += 1 << j;
            found = Some(match found {
                None => further,
                Some(found) => b.and(&[&found], &[&further])?.swap_remove(0),
            });
        }
        Ok(found.unwrap_or_else(|| unreachable!("the distance has a bit")))
    }

    fn power(&mut self, b: &mut B, j: usize) -> Result<&B::Bits> {
        while self.powers.len() <= j {
            let last = &self.powers[self.powers.len() - 1];
            let further = moved_bits::<B>(last, 1 << (self.powers.len() - 1));
            let next = b.and(&[last], &[&further])?.swap_remove(0);
            self.powers.push(next);
        }
        Ok(&self.powers[j])
    }
}

/// Each row with the bit of the row at a distance behind (negative: before); zero where there is none. Local.
pub(crate) fn moved_bits<B: Backend>(x: &B::Bits, by: isize) -> B::Bits {
    let rows = x.rows();
    let left = rows.saturating_sub(by.unsigned_abs());
    let zeros = Plane::zeros(rows - left);
    x.map(rows, |plane| match by < 0 {
        true => Plane::concat(&[&zeros, &plane.slice(0, left)]),
        false => Plane::concat(&[&plane.slice(rows - left, left), &zeros]),
    })
}

/// The same of numbers. Local.
pub(crate) fn moved_numbers<R: Ring, B: Backend>(x: &B::Vector<R>, by: isize) -> B::Vector<R> {
    let rows = x.rows();
    let left = rows.saturating_sub(by.unsigned_abs());
    let zeros = || std::iter::repeat_n(R::ZERO, rows - left);
    x.map(rows, |x| match by < 0 {
        true => zeros().chain(x[..left].iter().copied()).collect(),
        false => x[rows - left..].iter().copied().chain(zeros()).collect(),
    })
}

/// The same of a column. Local.
pub(crate) fn moved_value<B: Backend>(x: &Value<B>, by: isize) -> Value<B> {
    let shares = match &x.shares {
        Shares::Bits(planes) => Shares::Bits(planes.iter().map(|plane| moved_bits::<B>(plane, by)).collect()),
        Shares::Ring64(x) => Shares::Ring64(moved_numbers::<u64, B>(x, by)),
        Shares::Ring128(x) => Shares::Ring128(moved_numbers::<u128, B>(x, by)),
    };
    Value::new(x.kind, x.encoding, x.null.as_ref().map(|null| moved_bits::<B>(null, by)), shares)
}
