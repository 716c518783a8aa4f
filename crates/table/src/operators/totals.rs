//! Sums and counts, in the ring that their declared kind asks for.

use tacit_math::{Plane, Ring, ring};
use tacit_mpc::{Backend, Linear, Rows, circuits, linear, ops};

use super::neighbours::moved_numbers;
use crate::convert::{to_kind, to_rings};
use crate::error::{Result, TableError};
use crate::expression::is_zero;
use crate::operator::{Encoding, Kind, Repr};
use crate::table::{Shares, Value, slice_bits};

/// Modulo what a total is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Modulus {
    /// 2^32: counts that end as planes.
    M32,
    /// 2^64.
    M64,
    /// 2^128.
    M128,
}

impl Modulus {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::M32, Self::M64, Self::M128];

    /// For a count of rows.
    pub fn of_count(kind: Kind) -> Self {
        match kind.repr {
            Repr::Bits => Self::M32,
            Repr::Ring64 => Self::M64,
            Repr::Ring128 => Self::M128,
        }
    }

    /// For a sum.
    pub fn of_sum(kind: Kind) -> Self {
        match kind.repr {
            Repr::Bits if kind.width > 64 => Self::M128,
            Repr::Bits | Repr::Ring64 => Self::M64,
            Repr::Ring128 => Self::M128,
        }
    }
}

/// A shared vector over one of the rings.
pub(crate) enum Totals<B: Backend> {
    M32(B::Vector<u32>),
    M64(B::Vector<u64>),
    M128(B::Vector<u128>),
}

/// The same expression in whichever ring.
macro_rules! in_ring {
    ($totals:expr, $x:ident => $result:expr) => {
        match $totals {
            Totals::M32($x) => Totals::M32($result),
            Totals::M64($x) => Totals::M64($result),
            Totals::M128($x) => Totals::M128($result),
        }
    };
}

/// An expression of two vectors over one ring.
macro_rules! in_one_ring {
    ($totals:expr, $x:ident, $y:ident => $result:expr) => {
        match $totals {
            (Totals::M32($x), Totals::M32($y)) => Totals::M32($result),
            (Totals::M64($x), Totals::M64($y)) => Totals::M64($result),
            (Totals::M128($x), Totals::M128($y)) => Totals::M128($result),
            _ => unreachable!("totals over one ring"),
        }
    };
}

impl<B: Backend> Clone for Totals<B> {
    fn clone(&self) -> Self {
        in_ring!(self, x => x.clone())
    }
}

impl<B: Backend> Totals<B> {
    /// Ones where the bits are one. Two rounds for all together.
    pub fn of_bits(b: &mut B, bits: &[&B::Bits], modulus: Modulus) -> Result<Vec<Self>> {
        if bits.is_empty() {
            return Ok(vec![]);
        }
        Ok(match modulus {
            Modulus::M32 => b.inject(bits)?.into_iter().map(Self::M32).collect(),
            Modulus::M64 => b.inject(bits)?.into_iter().map(Self::M64).collect(),
            Modulus::M128 => b.inject(bits)?.into_iter().map(Self::M128).collect(),
        })
    }

    /// Columns' values, converted together.
    pub fn of_values(b: &mut B, values: &[&Value<B>], modulus: Modulus) -> Result<Vec<Self>> {
        let is_there = |value: &&&Value<B>| Self::as_is(value, modulus).is_some();
        let others: Vec<&Value<B>> = values.iter().filter(|value| !is_there(value)).copied().collect();
        let mut converted = match modulus {
            Modulus::M32 => to_rings(b, &others)?.into_iter().map(Self::M32).collect::<Vec<_>>(),
            Modulus::M64 => to_rings(b, &others)?.into_iter().map(Self::M64).collect(),
            Modulus::M128 => to_rings(b, &others)?.into_iter().map(Self::M128).collect(),
        }
        .into_iter();
        let lost = || TableError::Internal("a column was not converted".into());
        values.iter().map(|value| Self::as_is(value, modulus).or_else(|| converted.next()).ok_or_else(lost)).collect()
    }

    /// A column's values where bits are one, added up for all of the bits.
    pub fn selected(b: &mut B, value: &Value<B>, bits: &[B::Bits], modulus: Modulus) -> Result<Self> {
        let values = Self::of_values(b, &[value], modulus)?.swap_remove(0);
        let bits: Vec<&B::Bits> = bits.iter().collect();
        Ok(match values {
            Self::M32(x) => Self::M32(selected(b, &bits, &x)?),
            Self::M64(x) => Self::M64(selected(b, &bits, &x)?),
            Self::M128(x) => Self::M128(selected(b, &bits, &x)?),
        })
    }

    /// Whether a column is in the ring already.
    pub fn is_in(value: &Value<B>, modulus: Modulus) -> bool {
        matches!((&value.shares, modulus), (Shares::Ring64(_), Modulus::M64) | (Shares::Ring128(_), Modulus::M128))
    }

    /// Columns that are in the ring, added up over the rows where a bit is one; None: how many bits are.
    pub fn sums_where(
        b: &mut B,
        bits: &[&B::Bits],
        sums: &[(usize, Option<&Shares<B>>)],
        modulus: Modulus,
    ) -> Result<Vec<Self>> {
        if sums.is_empty() {
            return Ok(vec![]);
        }
        macro_rules! over {
            ($totals:path, $($shares:path)?) => {{
                let in_ring = |shares: Option<&'_ Shares<B>>| match shares {
                    $(Some($shares(x)) => Some(x.clone()),)?
                    _ => None,
                };
                let vectors: Vec<_> = sums.iter().map(|&(bit, shares)| (bit, in_ring(shares))).collect();
                let chosen: Vec<_> = vectors.iter().map(|(bit, x)| (*bit, x.as_ref())).collect();
                ops::sums_where(b, bits, &chosen)?.into_iter().map($totals).collect()
            }};
        }
        Ok(match modulus {
            Modulus::M32 => over!(Self::M32,),
            Modulus::M64 => over!(Self::M64, Shares::Ring64),
            Modulus::M128 => over!(Self::M128, Shares::Ring128),
        })
    }

    /// A column that is in the ring already.
    pub fn as_is(value: &Value<B>, modulus: Modulus) -> Option<Self> {
        match (&value.shares, modulus) {
            (Shares::Ring64(x), Modulus::M64) => Some(Self::M64(x.clone())),
            (Shares::Ring128(x), Modulus::M128) => Some(Self::M128(x.clone())),
            _ => None,
        }
    }

    /// Modulo what they are.
    pub fn modulus(&self) -> Modulus {
        match self {
            Self::M32(_) => Modulus::M32,
            Self::M64(_) => Modulus::M64,
            Self::M128(_) => Modulus::M128,
        }
    }

    /// A public number for every row. Local.
    pub fn public(b: &B, rows: usize, number: impl Fn(usize) -> usize, modulus: Modulus) -> Self {
        match modulus {
            Modulus::M32 => Self::M32(b.public_vector(rows, || (0..rows).map(|i| number(i) as u32).collect())),
            Modulus::M64 => Self::M64(b.public_vector(rows, || (0..rows).map(|i| number(i) as u64).collect())),
            Modulus::M128 => Self::M128(b.public_vector(rows, || (0..rows).map(|i| number(i) as u128).collect())),
        }
    }

    /// Prefix sums. Local.
    pub fn prefix_sums(&self) -> Self {
        in_ring!(self, x => x.map(x.rows(), |x| ring::prefix_sum(x)))
    }

    /// The sum with totals over the same ring. Local.
    pub fn plus(&self, other: &Self) -> Self {
        in_one_ring!((self, other), x, y => linear::add(x, y))
    }

    /// The difference to totals over the same ring. Local.
    pub fn minus(&self, other: &Self) -> Self {
        in_one_ring!((self, other), x, y => linear::sub(x, y))
    }

    /// Each row with the total of the row at a distance behind (negative: before); zero where there is none. Local.
    pub fn moved(&self, by: isize) -> Self {
        match self {
            Self::M32(x) => Self::M32(moved_numbers::<u32, B>(x, by)),
            Self::M64(x) => Self::M64(moved_numbers::<u64, B>(x, by)),
            Self::M128(x) => Self::M128(moved_numbers::<u128, B>(x, by)),
        }
    }

    /// The totals where a bit is one, else those of another vector.
    pub fn or_else(&self, b: &mut B, bit: &B::Bits, other: &Self) -> Result<Self> {
        let chosen = in_ring!(self.minus(other), x => b.select(&[bit], &[&x])?.swap_remove(0));
        Ok(other.plus(&chosen))
    }

    /// With this number of zeros behind. Local.
    pub fn padded(&self, zeros: usize) -> Self {
        in_ring!(self, x => x.map(x.rows() + zeros, |x| x.iter().copied().chain((0..zeros).map(|_| 0)).collect()))
    }

    /// The sum of all rows, as one row. Local.
    pub fn sum(&self) -> Self {
        in_ring!(self, x => linear::total(x))
    }

    /// Where a number of at most `width` bits is zero.
    pub fn is_zero(&self, b: &mut B, width: usize) -> Result<B::Bits> {
        match self {
            Self::M32(x) => is_zero(b, x, width.min(32)),
            Self::M64(x) => is_zero(b, x, width.min(64)),
            Self::M128(x) => is_zero(b, x, width.min(128)),
        }
    }

    /// Of numbers of one row, modulo one number, each of at most `width` bits, which are zero: all tested at once.
    pub fn are_zero(b: &mut B, numbers: &[Self], width: usize) -> Result<Vec<B::Bits>> {
        macro_rules! together {
            ($totals:path) => {{
                let all = numbers.iter().filter_map(|each| if let $totals(x) = each { Some(x) } else { None });
                $totals(linear::concat_vectors(&all.collect::<Vec<_>>()))
            }};
        }
        let together = match numbers.first() {
            None => return Ok(vec![]),
            Some(Self::M32(_)) => together!(Self::M32),
            Some(Self::M64(_)) => together!(Self::M64),
            Some(Self::M128(_)) => together!(Self::M128),
        };
        let zero = together.is_zero(b, width)?;
        Ok((0..numbers.len()).map(|place| slice_bits::<B>(&zero, place, 1)).collect())
    }

    /// As a column of a kind.
    pub fn into_value(self, b: &mut B, kind: Kind, null: Option<B::Bits>) -> Result<Value<B>> {
        let (repr, shares) = match self {
            Self::M32(x) => (Repr::Bits, Shares::Bits(circuits::to_planes(b, &x, kind.width.min(32))?)),
            Self::M64(x) => (Repr::Ring64, Shares::Ring64(x)),
            Self::M128(x) => (Repr::Ring128, Shares::Ring128(x)),
        };
        let value = Value::new(Kind { repr, ..kind }, Encoding::Int, null, shares);
        if (value.kind.repr, value.kind.width) == (kind.repr, kind.width) {
            Ok(value)
        } else {
            to_kind(b, &value, kind)
        }
    }

    /// Appends the vector to a bundle; gives its position there.
    pub fn push(self, rows: &mut Rows<B>) -> Place {
        match self {
            Self::M32(x) => {
                rows.r32.push(x);
                Place(Modulus::M32, rows.r32.len() - 1)
            }
            Self::M64(x) => {
                rows.r64.push(x);
                Place(Modulus::M64, rows.r64.len() - 1)
            }
            Self::M128(x) => {
                rows.r128.push(x);
                Place(Modulus::M128, rows.r128.len() - 1)
            }
        }
    }
}

fn selected<R: Ring, B: Backend>(b: &mut B, bits: &[&B::Bits], x: &B::Vector<R>) -> Result<B::Vector<R>> {
    let factors: Vec<B::Vector<R>> = b.inject(bits)?;
    let factor = factors[1..].iter().fold(factors[0].clone(), |sum, bit| linear::add(&sum, bit));
    Ok(b.mul(&[&factor], &[x])?.swap_remove(0))
}

/// Where in a bundle a vector is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(pub Modulus, usize);

impl Place {
    /// The vector there.
    pub fn get<B: Backend>(self, rows: &Rows<B>) -> Totals<B> {
        match self.0 {
            Modulus::M32 => Totals::M32(rows.r32[self.1].clone()),
            Modulus::M64 => Totals::M64(rows.r64[self.1].clone()),
            Modulus::M128 => Totals::M128(rows.r128[self.1].clone()),
        }
    }
}

/// Whether each row equals the next one, in all planes. The last row equals nothing.
pub(crate) fn same_as_next<B: Backend>(b: &mut B, rows: usize, planes: &[B::Bits]) -> Result<B::Bits> {
    let next: Vec<B::Bits> = planes.iter().map(|plane| plane.map(rows, Plane::shift_up)).collect();
    let same = circuits::equal(b, rows, planes, &next)?;
    Ok(same.map(rows, |p| p.and(&Plane::from_fn(rows, |i| i + 1 < rows))))
}

/// From "as the next row" to "as the row before". Local.
pub(crate) fn same_as_previous<B: Backend>(same_as_next: &B::Bits) -> B::Bits {
    same_as_next.map(same_as_next.rows(), Plane::shift_down)
}
