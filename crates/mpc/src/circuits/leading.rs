//! The position of the highest one.

use super::Planes;
use crate::{Backend, Result, linear};

/// The number with nothing but its highest one: no plane or one is set in each row. About width log2(width) / 2 ANDs,
/// log2(width) rounds.
pub fn leading_one<B: Backend>(b: &mut B, x: &[B::Bits]) -> Result<Planes<B>> {
    let mut above: Planes<B> = x.to_vec();
    let mut span = 1;
    while span < above.len() {
        or_level(b, &mut above, span)?;
        span *= 2;
    }
    let next = |j: usize| above.get(j + 1);
    Ok((0..x.len()).map(|j| next(j).map_or_else(|| above[j].clone(), |next| linear::xor(&above[j], next))).collect())
}

/// From the top, position i in the second half of each block of 2 span positions takes in the last position of the
/// first half (Sklansky).
fn or_level<B: Backend>(b: &mut B, above: &mut Planes<B>, span: usize) -> Result<()> {
    let top = above.len() - 1;
    let second: Vec<usize> = (0..=top).filter(|i| i / span % 2 == 1).collect();
    let first = |i: usize| top - (i / span * span - 1);
    let either: Planes<B> = second.iter().map(|&i| linear::xor(&above[top - i], &above[first(i)])).collect();
    let left: Vec<&B::Bits> = second.iter().map(|&i| &above[top - i]).collect();
    let right: Vec<&B::Bits> = second.iter().map(|&i| &above[first(i)]).collect();
    let joined = b.and_xor(&left, &right, &either.iter().map(Some).collect::<Vec<_>>())?;
    for (i, plane) in second.into_iter().zip(joined) {
        above[top - i] = plane;
    }
    Ok(())
}
