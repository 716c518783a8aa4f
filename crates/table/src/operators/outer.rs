//! Rows that stay without a partner: NULL beside them, and rows of one table behind those of another.

use tacit_math::Plane;
use tacit_mpc::{Backend, linear};

use crate::convert::constant_planes;
use crate::error::Result;
use crate::mask::{keep_all, present};
use crate::operator::Repr;
use crate::table::{Shares, Value};

/// The values where the bit is one, NULL elsewhere. All masks in one round, all NULLs in another.
pub(super) fn null_unless<B: Backend>(b: &mut B, bit: &B::Bits, values: Vec<Value<B>>) -> Result<Vec<Value<B>>> {
    let masked: Vec<_> = values.iter().map(|value| (0, &value.shares)).collect();
    let shares = keep_all(b, &[bit], &masked)?;
    let filled = present(b, Some(bit), &values.iter().collect::<Vec<_>>())?;
    let all = values.iter().zip(shares).zip(filled);
    Ok(all
        .map(|((value, shares), filled)| {
            let null = b.not(filled.as_ref().unwrap_or(bit));
            Value::new(value.kind, value.encoding, Some(null), shares)
        })
        .collect())
}

/// Rows of NULL. Local.
pub(super) fn null_rows<B: Backend>(b: &B, like: &Value<B>, rows: usize) -> Value<B> {
    let shares = match like.kind.repr {
        Repr::Bits => Shares::Bits(constant_planes(b, rows, (0..like.kind.width).map(|_| false))),
        Repr::Ring64 => Shares::Ring64(b.public_vector(rows, || vec![0; rows])),
        Repr::Ring128 => Shares::Ring128(b.public_vector(rows, || vec![0; rows])),
    };
    Value::new(like.kind, like.encoding, Some(b.public_bits(rows, || Plane::ones(rows))), shares)
}

/// The rows of one value and then those of another of its kind, each with its number of rows. Local.
pub(super) fn followed<B: Backend>(b: &B, first: (&Value<B>, usize), second: (&Value<B>, usize)) -> Value<B> {
    let shares = match (&first.0.shares, &second.0.shares) {
        (Shares::Bits(x), Shares::Bits(y)) => {
            Shares::Bits(x.iter().zip(y).map(|(x, y)| linear::concat_bits(&[x, y])).collect())
        }
        (Shares::Ring64(x), Shares::Ring64(y)) => Shares::Ring64(linear::concat_vectors(&[x, y])),
        (Shares::Ring128(x), Shares::Ring128(y)) => Shares::Ring128(linear::concat_vectors(&[x, y])),
        _ => unreachable!("values of one kind"),
    };
    let null = |(value, rows): (&Value<B>, usize)| {
        value.null.clone().unwrap_or_else(|| b.public_bits(rows, || Plane::zeros(rows)))
    };
    let nullable = first.0.null.is_some() || second.0.null.is_some();
    let null = nullable.then(|| linear::concat_bits(&[&null(first), &null(second)]));
    Value::new(first.0.kind, first.0.encoding, null, shares)
}
