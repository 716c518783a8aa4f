//! Products of matrices and convolutions (the dot product of section 5.6): Protocol 1 for any map that is linear in
//! each of two operands.
//!
//! Functionality: f(x, y), or that divided by the scale once, after its sums. Discloses nothing. Steps are those of
//! [`super::multiply`], with f in place of the product of elements: f(x1' + x2', y1' + y2') is the sum of four terms.
//! Each operand is sent once, whatever the number of its products.
//!
//! Source: PrivPy, section 5.6.
//!
//! Rounds: 2. Bytes in all: two cells for each element of an operand, two for each that comes out.

use tacit_math::matrix::Element;

use super::integers::scaled_map;
use super::multiply::Factor;
use super::{Four, Share};
use crate::{Bilinear, Result};

/// Maps of shared vectors.
type Maps<'a, R> = [Bilinear<'a, Share<Vec<R>>>];

impl Four {
    pub(super) fn bilinear_maps<R: Element>(&mut self, maps: &Maps<'_, R>) -> Result<Vec<Share<Vec<R>>>> {
        self.maps(maps, |map, x, y| {
            let mut out = vec![R::ZERO; map.rows()];
            map.form.add_to(x, y, &mut out);
            out
        })
    }

    /// Divided by 2^by.
    pub(super) fn scaled_maps<R: Element>(&mut self, maps: &Maps<'_, R>, by: usize) -> Result<Vec<Share<Vec<R>>>> {
        self.maps(maps, |map, x, y| scaled_map(&map.form, x, y, by as u32))
    }

    fn maps<R: Element>(
        &mut self,
        maps: &Maps<'_, R>,
        of: impl Fn(&Bilinear<'_, Share<Vec<R>>>, &[R], &[R]) -> Vec<R>,
    ) -> Result<Vec<Share<Vec<R>>>> {
        let factors = [0, 1].map(|side| maps.iter().map(|map| operand(map, side)).collect::<Vec<_>>());
        let outputs: Vec<usize> = maps.iter().map(Bilinear::rows).collect();
        let made = self.products([&factors[0], &factors[1]], &outputs, |[x, y]| {
            maps.iter().zip(x).zip(y).map(|((map, x), y)| of(map, x, y)).collect()
        })?;
        Ok(made.into_iter().zip(outputs).map(|(held, rows)| Share { held, rows }).collect())
    }
}

/// An operand, as far as the map reads it.
fn operand<'a, R: Element>(map: &Bilinear<'a, Share<Vec<R>>>, side: usize) -> Factor<'a, R> {
    let (range, vector) = (map.ranges()[side].clone(), [map.x, map.y][side]);
    assert!(range.end <= vector.rows, "an operand within its vector");
    Factor { length: range.len(), held: vector.held.as_deref().map(|held| &held[range]) }
}
