//! Blinding items by sums, of a fresh multiple of the group's base point for each. That is cheaper than by an exponent,
//! since multiples of fixed points come from tables ([`tacit_math::ristretto::Comb`]; elsewhere `curve25519-dalek`
//! computes the same).
//!
//! Given are an item's point P, a fresh r, a key k and the base point G. Who asks sends 2 (P + r G), who has the key
//! answers k/4 times that, and 2 (answer - r (k/2) G) is k P. **Departures** from Jarecki, Krawczyk, Xu (PKC 2021,
//! Figure 1): every sum is doubled, because encodings of doubles are cheap to compute for many points at once.

use crate::error::PsiError;
use crate::interface::protocol::Item;
use crate::parts::group::{Encoding, HashToGroup, InvalidPoint, Kernel, decode, double_and_encode, in_parallel};
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_COMPRESSED;
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::{RistrettoPoint, Scalar};
use std::ops::Range;
use tacit_math::randomness;
use zeroize::Zeroizing;

/// A public point with a table of its multiples.
pub struct FixedPoint(Table);

enum Table {
    Library(Box<RistrettoBasepointTable>),
    #[cfg(target_arch = "x86_64")]
    Wide(tacit_math::ristretto::Wide, Box<tacit_math::ristretto::Comb>),
}

impl FixedPoint {
    /// The point of an encoding; None if it is not canonical, is no point, or is the identity.
    pub fn new(encoding: &Encoding) -> Option<Self> {
        match Kernel::best() {
            #[cfg(target_arch = "x86_64")]
            Kernel::Wide(wide) => wide.comb(encoding).map(|comb| Self(Table::Wide(wide, Box::new(comb)))),
            Kernel::Library => Self::of_library(encoding),
        }
    }

    fn of_library(encoding: &Encoding) -> Option<Self> {
        let point = decode(&[*encoding]).ok()?.swap_remove(0);
        Some(Self(Table::Library(Box::new(RistrettoBasepointTable::create(&point)))))
    }

    /// The group's base point.
    pub fn base() -> Self {
        Self::new(RISTRETTO_BASEPOINT_COMPRESSED.as_bytes()).expect("the base point is a point")
    }

    /// Twice the sum of an item's point and of a multiple of this one.
    fn add_to_items(&self, scalars: &[[u8; 32]], uniform: &[[u8; 64]], out: &mut [Encoding]) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Table::Wide(wide, comb) => wide.map_and_add(comb, scalars, uniform, out),
            Table::Library(table) => {
                let points = uniform.iter().map(RistrettoPoint::from_uniform_bytes);
                let sums: Vec<_> = points.zip(scalars).map(|(point, scalar)| point + multiple(table, scalar)).collect();
                double_and_encode(&sums, out);
            }
        }
    }

    /// Twice the sum of a point and of a multiple of this one.
    fn add_to_points(
        &self,
        scalars: &[[u8; 32]],
        points: &[Encoding],
        out: &mut [Encoding],
    ) -> Result<(), InvalidPoint> {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Table::Wide(wide, comb) => wide.add(comb, scalars, points, out).map_err(InvalidPoint),
            Table::Library(table) => {
                let sums =
                    decode(points)?.into_iter().zip(scalars).map(|(point, scalar)| point + multiple(table, scalar));
                double_and_encode(&sums.collect::<Vec<_>>(), out);
                Ok(())
            }
        }
    }
}

fn multiple(table: &RistrettoBasepointTable, scalar: &[u8; 32]) -> RistrettoPoint {
    table * &Scalar::from_bytes_mod_order(*scalar)
}

/// A secret scalar r for each of some items, for blinding by sums. They are erased when dropped.
pub struct Blinds(Zeroizing<Vec<[u8; 32]>>);

impl Blinds {
    /// Uniformly random scalars from the operating system.
    ///
    /// # Errors
    /// [`PsiError::Randomness`] when there is none.
    pub fn random(count: usize) -> Result<Self, PsiError> {
        let mut wide = Zeroizing::new(vec![[0; 64]; count]);
        randomness::fill(wide.as_flattened_mut())?;
        let scalars = wide.iter().map(|wide| Scalar::from_bytes_mod_order_wide(wide).to_bytes());
        Ok(Self(Zeroizing::new(scalars.collect())))
    }

    /// 2 (P + r G) for the point P of each item `part` of the items that these are for, G the base point: uniformly
    /// random points, whatever the items are.
    pub fn blind(&self, base: &FixedPoint, hash: &HashToGroup, items: &[Item], part: Range<usize>) -> Vec<Encoding> {
        let (scalars, items) = (&self.0[part.clone()], &items[part]);
        let result = in_parallel(items.len(), |part, out| {
            base.add_to_items(&scalars[part.clone()], &hash.uniform(&items[part]), out);
            Ok(())
        });
        result.expect("every item has a point")
    }

    /// 2 (Q - r K) for points Q that answer the items `part`, and a public point K.
    ///
    /// # Errors
    /// The position of an encoding that is no point other than the identity.
    pub fn unblind(
        &self,
        key: &FixedPoint,
        answers: &[Encoding],
        part: Range<usize>,
    ) -> Result<Vec<Encoding>, InvalidPoint> {
        let negative = |r: &[u8; 32]| (-Scalar::from_bytes_mod_order(*r)).to_bytes();
        let negatives: Zeroizing<Vec<_>> = Zeroizing::new(self.0[part].iter().map(negative).collect());
        in_parallel(answers.len(), |part, out| key.add_to_points(&negatives[part.clone()], &answers[part], out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::group::Exponent;

    fn items(n: u128) -> Vec<Item> {
        (0..n).map(|i| i * 0x0123_4567_89ab_cdef_0123_4567).collect()
    }

    /// An item blinded, answered and unblinded is the item raised, by either kernel.
    #[test]
    fn blinds_are_undone() {
        let (hash, all) = (HashToGroup::new(b"test"), items(300));
        let key = Exponent::random().expect("randomness");
        let blinds = Blinds::random(all.len()).expect("randomness");
        let half = key.half().of_base();
        let kernels = [
            (FixedPoint::base(), FixedPoint::new(&half)),
            (
                FixedPoint::of_library(RISTRETTO_BASEPOINT_COMPRESSED.as_bytes()).expect("a point"),
                FixedPoint::of_library(&half),
            ),
        ];
        for (base, key_point) in kernels {
            let key_point = key_point.expect("a point");
            for part in [0..300, 17..150] {
                let blinded = blinds.blind(&base, &hash, &all, part.clone());
                let answers = key.half().half().raise(&blinded).expect("points");
                let found = blinds.unblind(&key_point, &answers, part.clone());
                assert_eq!(found, Ok(key.mask(&hash, &all[part])));
            }
            let mut answers = vec![key.of_base(); 300];
            answers[201] = [0; 32];
            assert_eq!(blinds.unblind(&key_point, &answers, 0..300), Err(InvalidPoint(201)));
        }
        assert!(FixedPoint::new(&[0; 32]).is_none() && FixedPoint::of_library(&[0xff; 32]).is_none());
    }

    /// The same item is another point each time.
    #[test]
    fn equal_items_are_blinded_to_different_points() {
        let blinds = Blinds::random(64).expect("randomness");
        let mut points = blinds.blind(&FixedPoint::base(), &HashToGroup::new(b"test"), &[5; 64], 0..64);
        points.sort_unstable();
        assert!(points.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
