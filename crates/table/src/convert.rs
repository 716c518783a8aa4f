//! A value in another representation.

use tacit_math::plane::words_for;
use tacit_math::{Plane, Ring};
use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::linear::concat_bits;
use tacit_mpc::{Backend, Linear};

use crate::error::Result;
use crate::operator::{Encoding, Kind, Repr};
use crate::table::{Shares, Value};

/// The planes of a value, `kind.width` of them.
pub(crate) fn planes<B: Backend>(b: &mut B, value: &Value<B>) -> Result<Planes<B>> {
    match &value.shares {
        Shares::Bits(planes) => Ok(planes.clone()),
        Shares::Ring64(x) => Ok(circuits::to_planes(b, x, value.kind.width)?),
        Shares::Ring128(x) => Ok(circuits::to_planes(b, x, value.kind.width)?),
    }
}

/// The planes of a value, as many as asked for. Strings are padded behind their last byte.
pub(crate) fn planes_of_width<B: Backend>(b: &mut B, value: &Value<B>, width: usize) -> Result<Planes<B>> {
    let mut planes = planes(b, value)?;
    if value.encoding == Encoding::Bytes {
        planes.reverse();
        planes = circuits::resize(b, &planes, width, false);
        planes.reverse();
        return Ok(planes);
    }
    Ok(circuits::resize(b, &planes, width, value.kind.signed))
}

/// The same value as a kind says. Nullability stays what it is.
pub(crate) fn to_kind<B: Backend>(b: &mut B, value: &Value<B>, kind: Kind) -> Result<Value<B>> {
    let shares = match (&value.shares, kind.repr) {
        (Shares::Ring64(_), Repr::Ring64) | (Shares::Ring128(_), Repr::Ring128) => value.shares.clone(),
        (_, Repr::Bits) => Shares::Bits(planes_of_width(b, value, kind.width)?),
        (_, Repr::Ring64) => Shares::Ring64(to_ring(b, value)?),
        (_, Repr::Ring128) => Shares::Ring128(to_ring(b, value)?),
    };
    Ok(Value::new(kind, value.encoding, value.null.clone(), shares))
}

/// The value as a ring vector.
pub(crate) fn to_ring<R: Ring, B: Backend>(b: &mut B, value: &Value<B>) -> Result<B::Vector<R>> {
    let planes = planes(b, value)?;
    let width = planes.len().min(R::BITS as usize);
    Ok(circuits::to_ring(b, &planes[..width], value.kind.signed)?)
}

/// Several columns as ring vectors: narrow ones together, wide ones together, each as one long column.
pub(crate) fn to_rings<R: Ring, B: Backend>(b: &mut B, values: &[&Value<B>]) -> Result<Vec<B::Vector<R>>> {
    let is_narrow = |value: &&Value<B>| value.kind.width <= B::INJECT_AT_MOST;
    let mut out: Vec<Option<B::Vector<R>>> = values.iter().map(|_| None).collect();
    for narrow in [true, false] {
        let places: Vec<usize> = (0..values.len()).filter(|&i| is_narrow(&values[i]) == narrow).collect();
        let part: Vec<&Value<B>> = places.iter().map(|&i| values[i]).collect();
        places.into_iter().zip(to_rings_at_once(b, &part)?).for_each(|(place, x)| out[place] = Some(x));
    }
    Ok(out.into_iter().flatten().collect())
}

fn to_rings_at_once<R: Ring, B: Backend>(b: &mut B, values: &[&Value<B>]) -> Result<Vec<B::Vector<R>>> {
    let [first, rest @ ..] = values else { return Ok(vec![]) };
    if rest.is_empty() {
        return Ok(vec![to_ring(b, first)?]);
    }
    let Kind { width, signed, .. } = rest.iter().fold(first.kind, |kind, value| common_kind(kind, value.kind));
    let width = width.min(R::BITS as usize);
    let columns = values.iter().map(|value| planes_of_width(b, value, width)).collect::<Result<Vec<_>>>()?;
    let long: Planes<B> = (0..width).map(|j| concat_bits(&columns.iter().map(|c| &c[j]).collect::<Vec<_>>())).collect();
    let rows = columns[0][0].rows();
    let long: B::Vector<R> = circuits::to_ring(b, &long, signed)?;
    Ok((0..values.len()).map(|k| long.map(rows, |x| x[k * rows..(k + 1) * rows].to_vec())).collect())
}

/// The narrowest kind of planes that holds the values of both.
pub(crate) fn common_kind(x: Kind, y: Kind) -> Kind {
    let width = match (x.signed, y.signed) {
        (true, false) => x.width.max(y.width + 1),
        (false, true) => y.width.max(x.width + 1),
        _ => x.width.max(y.width),
    };
    Kind { repr: Repr::Bits, width, signed: x.signed || y.signed, nullable: false }
}

/// A public number in every row: the planes of its two's complement. Local.
pub(crate) fn constant_planes<B: Backend>(b: &B, rows: usize, bits: impl Iterator<Item = bool>) -> Planes<B> {
    bits.map(|bit| b.public_bits(rows, || Plane::constant(rows, bit))).collect()
}

/// One row's value in each of `rows` rows. Local.
pub(crate) fn repeat<B: Backend>(value: &Value<B>, rows: usize) -> Value<B> {
    // No branch on a share: `vec![x; count]` asks whether x is zero.
    fn times<T: Copy>(x: T, count: usize) -> Vec<T> {
        std::iter::repeat_n(x, count).collect()
    }
    let of_plane = |p: &Plane| Plane::from_words(rows, times((p.words()[0] & 1).wrapping_neg(), words_for(rows)));
    let bit = |plane: &B::Bits| plane.map(rows, of_plane);
    let shares = match &value.shares {
        Shares::Bits(planes) => Shares::Bits(planes.iter().map(bit).collect()),
        Shares::Ring64(x) => Shares::Ring64(x.map(rows, |x| times(x[0], rows))),
        Shares::Ring128(x) => Shares::Ring128(x.map(rows, |x| times(x[0], rows))),
    };
    Value::new(value.kind, value.encoding, value.null.as_ref().map(bit), shares)
}
