//! Copying values of the first, or last, row of each group to all rows of the group, without a scan.
//!
//! Functionality: rows stand in groups, of which a bit marks the first row (the first row of all is one). Every row
//! gets what the first row of its group holds. From the last rows up it is the same backwards. Discloses nothing: not
//! even how many groups there are.
//!
//! Method: the first rows of groups are brought to the front, and replaced by the differences between neighbours. All
//! others become zero. Back in their places, prefix sums give every row the value of the first row of its group. (The
//! copy-down of a join by sorting, see [`super::join`], where the number of groups is not public.)
//!
//! Cost for W bits a row: a partition by one bit, twice 4/3 W bits moved, and the masking of W bits.

use tacit_math::Ring;
use tacit_mpc::{Backend, Result, Rows, ops};

/// Every row with what the first row of its group holds. firsts: which rows are these; the first of all rows is one.
pub(crate) fn from_first<B: Backend>(b: &mut B, firsts: &B::Bits, moving: Rows<B>) -> Result<Rows<B>> {
    b.step("copy_down", |b| {
        let to_front = ops::partition(b, firsts)?;
        let mut moving = moving;
        moving.bits.push(firsts.clone());
        let mut front = ops::apply(b, moving, to_front.clone())?;
        let flag = front.bits.pop().expect("the marks moved along");
        let steps = masked(b, &flag, front.differences())?;
        let back = ops::invert(b, to_front)?;
        Ok(ops::apply(b, steps, back)?.prefix_sums())
    })
}

/// Every row with what the last row of its group holds. lasts: which rows are these; the last of all rows is one.
pub(crate) fn from_last<B: Backend>(b: &mut B, lasts: &B::Bits, moving: Rows<B>) -> Result<Rows<B>> {
    let backwards: Vec<u32> = (0..moving.rows as u32).rev().collect();
    let mut moving = moving;
    moving.bits.push(lasts.clone());
    let mut turned = moving.gather_public(&backwards);
    let firsts = turned.bits.pop().expect("the marks are in the bundle");
    Ok(from_first(b, &firsts, turned)?.gather_public(&backwards))
}

/// All columns where a bit is one, zero elsewhere.
fn masked<B: Backend>(b: &mut B, bit: &B::Bits, columns: Rows<B>) -> Result<Rows<B>> {
    let Rows { rows, bits, r32, r64, r128 } = columns;
    let bits = match bits.is_empty() {
        true => bits,
        false => b.and(&vec![bit; bits.len()], &bits.iter().collect::<Vec<_>>())?,
    };
    let (r32, r64, r128) = (vectors(b, bit, r32)?, vectors(b, bit, r64)?, vectors(b, bit, r128)?);
    Ok(Rows { rows, bits, r32, r64, r128 })
}

/// The same of vectors over one ring. One that is alone needs no injected bit.
fn vectors<R: Ring, B: Backend>(b: &mut B, bit: &B::Bits, x: Vec<B::Vector<R>>) -> Result<Vec<B::Vector<R>>> {
    let columns: Vec<&B::Vector<R>> = x.iter().collect();
    match columns.len() {
        0 => Ok(vec![]),
        1 => b.select(&[bit], &columns),
        count => {
            let factor: B::Vector<R> = b.inject(&[bit])?.swap_remove(0);
            b.mul(&vec![&factor; count], &columns)
        }
    }
}
