//! Columns that move together: from values to one bundle and back.

use std::sync::Arc;

use tacit_mpc::{Backend, Rows};

use crate::operator::{Encoding, Kind, Repr};
use crate::table::{Shares, Value};

/// Which columns of a bundle make up which value.
pub(crate) struct Layout(Vec<(Kind, Encoding)>);

/// The values as one bundle, to which more columns may be appended. The planes of a value come before its null plane.
pub(crate) fn bundle<'a, B: Backend>(rows: usize, values: impl IntoIterator<Item = &'a Value<B>>) -> (Rows<B>, Layout)
where
    Value<B>: 'a,
{
    bundle_taken(rows, values.into_iter().map(|value| Arc::new(value.clone())))
}

/// The same of values that are taken: what nothing else has is moved, not copied.
pub(crate) fn bundle_taken<B: Backend>(
    rows: usize,
    values: impl IntoIterator<Item = Arc<Value<B>>>,
) -> (Rows<B>, Layout) {
    let mut out = Rows::empty(rows);
    let mut layout = Vec::new();
    for value in values {
        let Value { kind, encoding, null, shares } = Arc::unwrap_or_clone(value);
        match shares {
            Shares::Bits(planes) => out.bits.extend(planes),
            Shares::Ring64(x) => out.r64.push(x),
            Shares::Ring128(x) => out.r128.push(x),
        }
        out.bits.extend(null);
        layout.push((kind, encoding));
    }
    (out, Layout(layout))
}

impl Layout {
    /// The values, and the bundle of the columns that were appended behind them.
    pub fn unbundle<B: Backend>(&self, rows: Rows<B>) -> (Vec<Value<B>>, Rows<B>) {
        let Rows { rows, bits, r32, r64, r128 } = rows;
        let (mut bits, mut r64, mut r128) = (bits.into_iter(), r64.into_iter(), r128.into_iter());
        let values = self.0.iter().map(|&(kind, encoding)| {
            let shares = match kind.repr {
                Repr::Bits => Shares::Bits(bits.by_ref().take(kind.width).collect()),
                Repr::Ring64 => Shares::Ring64(r64.next().expect("bundled before")),
                Repr::Ring128 => Shares::Ring128(r128.next().expect("bundled before")),
            };
            let null = if kind.nullable { bits.next() } else { None };
            Value::new(kind, encoding, null, shares)
        });
        let values = values.collect();
        (values, Rows { rows, bits: bits.collect(), r32, r64: r64.collect(), r128: r128.collect() })
    }
}
