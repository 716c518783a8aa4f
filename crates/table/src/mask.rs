//! Zeroing values under secret bits.

use tacit_math::Ring;
use tacit_mpc::{Backend, circuits};

use crate::error::Result;
use crate::table::{Shares, Value};

/// The shares where the bit is one, zero elsewhere.
pub(crate) fn keep<B: Backend>(b: &mut B, bit: &B::Bits, shares: &Shares<B>) -> Result<Shares<B>> {
    Ok(keep_all(b, &[bit], &[(0, shares)])?.swap_remove(0))
}

/// Several columns, each where one of the bits (by its place) is one, zero elsewhere.
///
/// One AND a plane, one round for all; a product a ring vector and an injection a bit that masks some, 3 rounds for
/// each ring.
pub(crate) fn keep_all<B: Backend>(
    b: &mut B,
    bits: &[&B::Bits],
    columns: &[(usize, &Shares<B>)],
) -> Result<Vec<Shares<B>>> {
    let (mut masks, mut planes, mut r64, mut r128) = (vec![], vec![], vec![], vec![]);
    for &(bit, shares) in columns {
        match shares {
            Shares::Bits(column) => {
                masks.extend(column.iter().map(|_| bits[bit]));
                planes.extend(column);
            }
            Shares::Ring64(x) => r64.push((bit, x)),
            Shares::Ring128(x) => r128.push((bit, x)),
        }
    }
    let mut planes = if planes.is_empty() { vec![] } else { b.and(&masks, &planes)? }.into_iter();
    let (mut r64, mut r128) = (keep_vectors(b, bits, &r64)?.into_iter(), keep_vectors(b, bits, &r128)?.into_iter());
    let lost = "as many columns as before";
    let kept = columns.iter().map(|(_, shares)| match shares {
        Shares::Bits(column) => Shares::Bits(planes.by_ref().take(column.len()).collect()),
        Shares::Ring64(_) => Shares::Ring64(r64.next().expect(lost)),
        Shares::Ring128(_) => Shares::Ring128(r128.next().expect(lost)),
    });
    Ok(kept.collect())
}

fn keep_vectors<R: Ring, B: Backend>(
    b: &mut B,
    bits: &[&B::Bits],
    columns: &[(usize, &B::Vector<R>)],
) -> Result<Vec<B::Vector<R>>> {
    if columns.is_empty() {
        return Ok(vec![]);
    }
    let mut used: Vec<usize> = columns.iter().map(|&(bit, _)| bit).collect();
    used.sort_unstable();
    used.dedup();
    let injected = b.inject::<R>(&used.iter().map(|&bit| bits[bit]).collect::<Vec<_>>())?;
    let factor = |&(bit, _): &(usize, _)| &injected[used.partition_point(|&other| other < bit)];
    Ok(b.mul(&columns.iter().map(factor).collect::<Vec<_>>(), &columns.iter().map(|&(_, x)| x).collect::<Vec<_>>())?)
}

/// The conjunction of bits of which some may be absent, that is, one everywhere.
pub(crate) fn and_present<B: Backend>(b: &mut B, rows: usize, bits: Vec<B::Bits>) -> Result<Option<B::Bits>> {
    if bits.is_empty() { Ok(None) } else { Ok(Some(circuits::and_all(b, rows, bits)?)) }
}

/// For each value, which rows are valid and not NULL; None: all. One round for all together.
pub(crate) fn present<B: Backend>(
    b: &mut B,
    valid: Option<&B::Bits>,
    values: &[&Value<B>],
) -> Result<Vec<Option<B::Bits>>> {
    let filled: Vec<Option<B::Bits>> = values.iter().map(|value| value.null.as_ref().map(|null| b.not(null))).collect();
    let Some(valid) = valid else { return Ok(filled) };
    let nullable: Vec<&B::Bits> = filled.iter().flatten().collect();
    let both = if nullable.is_empty() { vec![] } else { b.and(&vec![valid; nullable.len()], &nullable)? };
    let mut both = both.into_iter();
    Ok(filled.iter().map(|bit| if bit.is_some() { both.next() } else { Some(valid.clone()) }).collect())
}
