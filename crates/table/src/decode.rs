//! The recipient's side of a release: from opened planes and ring elements to clear values.

use tacit_math::{Plane, transpose};
use tacit_mpc::Block;

use crate::data::{ColumnData, DataColumn, DataTable, Text};
use crate::operator::{Encoding, Kind, Repr};

/// The valid rows of an opened bundle, whose layout is that of [`crate::bundle`] with the valid plane behind it, if
/// any.
pub(crate) fn decode(block: Block, columns: &[(String, Kind, Encoding)], with_valid: bool) -> DataTable {
    let Block { rows, mut bits, r64, r128, .. } = block;
    let valid = if with_valid { bits.pop() } else { None };
    let kept: Vec<u32> =
        (0..rows as u32).filter(|&i| valid.as_ref().is_none_or(|valid| valid.get(i as usize))).collect();
    let (mut bits, mut r64, mut r128) = (bits.into_iter(), r64.into_iter(), r128.into_iter());
    let columns = columns.iter().map(|(name, kind, encoding)| {
        let data = match kind.repr {
            Repr::Bits => {
                let planes: Vec<Plane> = bits.by_ref().take(kind.width).map(|plane| plane.gather(&kept)).collect();
                of_planes(&planes, kept.len(), *kind, *encoding)
            }
            Repr::Ring64 => {
                let values = r64.next().unwrap_or_default();
                let wide = |&i: &u32| {
                    if kind.signed { i128::from(values[i as usize] as i64) } else { i128::from(values[i as usize]) }
                };
                integers(kept.iter().map(wide), kind)
            }
            Repr::Ring128 => {
                let values = r128.next().unwrap_or_default();
                integers(kept.iter().map(|&i| values[i as usize] as i128), kind)
            }
        };
        let nulls = if kind.nullable { bits.next().map(|plane| plane.gather(&kept)) } else { None };
        DataColumn { name: name.clone(), data, nulls }
    });
    DataTable { rows: kept.len(), columns: columns.collect(), pad_to: None }
}

fn of_planes(planes: &[Plane], rows: usize, kind: Kind, encoding: Encoding) -> ColumnData {
    if encoding == Encoding::Bytes {
        return ColumnData::Text(text(planes, rows));
    }
    if kind.is_boolean() {
        return ColumnData::Booleans(planes[0].clone());
    }
    let numbers = transpose::wide_rows_of_planes(&planes.iter().take(128).collect::<Vec<_>>(), rows);
    let spare = 128 - kind.width.min(128) as u32;
    let extend = |x: u128| if kind.signed { ((x << spare) as i128) >> spare } else { x as i128 };
    integers(numbers.into_iter().map(extend), &kind)
}

/// 64-bit integers where the kind says that all values fit.
fn integers(values: impl Iterator<Item = i128>, kind: &Kind) -> ColumnData {
    if kind.high() <= i64::MAX.into() && kind.low() >= i64::MIN.into() {
        ColumnData::Integers(values.map(|x| x as i64).collect())
    } else {
        ColumnData::Wide(values.collect())
    }
}

/// Strings from zero-padded bytes, the first byte in the topmost eight planes.
fn text(planes: &[Plane], rows: usize) -> Text {
    let bytes: Vec<Vec<u64>> =
        planes.chunks(8).rev().map(|byte| transpose::rows_of_planes(&byte.iter().collect::<Vec<_>>(), rows)).collect();
    let mut out = Text::default();
    let mut string = Vec::with_capacity(bytes.len());
    for row in 0..rows {
        string.clear();
        string.extend(bytes.iter().map(|column| column[row] as u8).take_while(|&byte| byte != 0));
        out.push(&string);
    }
    out
}
