//! The smallest or largest value of rows that stand together, for every row, level by level.
//!
//! Functionality: each row gets the largest, or smallest, value among itself and the rows near to it in its group. How
//! far these reach before it and behind it is public. NULLs do not count; of NULLs alone it is NULL. Discloses nothing.
//!
//! Method: what covers p rows and, s <= p rows away, the same again cover p + s rows. Rows of the group that are
//! counted twice do no harm. Rows of other groups are not taken, by one bit. For a window of w rows that is log2(w)
//! levels, for a whole group as many as all rows need.
//!
//! Cost a level: a comparison of the value's bits, and their choice.

use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::{Backend, Linear};

use super::neighbours::{Chain, moved_bits};
use super::order::{Direction, from_key_planes, key_planes};
use crate::error::Result;
use crate::table::Value;

/// Which of two values is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    Smallest,
    Largest,
}

impl Extreme {
    /// The direction in which the value that is taken is the greatest, and NULL the least.
    fn direction(self) -> Direction {
        Direction { descending: self == Self::Smallest, nulls_first: true }
    }
}

/// How many rows are looked at, the row itself included; None: all of the group on that side.
#[derive(Clone, Copy)]
pub(crate) struct Reach {
    pub before: Option<usize>,
    pub behind: Option<usize>,
}

/// A column's extreme among rows before and rows behind, each row itself included.
pub(crate) fn extreme<B: Backend>(
    b: &mut B,
    chain: &mut Chain<B>,
    value: &Value<B>,
    which: Extreme,
    reach: Reach,
) -> Result<Value<B>> {
    let direction = which.direction();
    let key = key_planes(b, value, direction)?;
    let before = spread(b, chain, key.clone(), reach.before, -1)?;
    let behind = spread(b, chain, key, reach.behind, 1)?;
    let key = match (reach.before, reach.behind) {
        (_, Some(1)) => before,
        (Some(1), _) => behind,
        _ => {
            let less = circuits::less_than(b, &before, &behind, false)?;
            circuits::mux(b, &less, &behind, &before)?
        }
    };
    Ok(from_key_planes(b, key, value, direction))
}

/// The greatest key among `count` rows, from a row on in one direction. towards: 1 or -1.
fn spread<B: Backend>(
    b: &mut B,
    chain: &mut Chain<B>,
    mut key: Planes<B>,
    count: Option<usize>,
    towards: isize,
) -> Result<Planes<B>> {
    let rows = chain.next().rows();
    let count = count.unwrap_or(rows).min(rows);
    let mut covered = 1;
    while covered < count {
        let step = covered.min(count - covered);
        let by = towards * step as isize;
        let other: Planes<B> = key.iter().map(|plane| moved_bits::<B>(plane, by)).collect();
        let less = circuits::less_than(b, &key, &other, false)?;
        let within = chain.within(b, by)?;
        let take = b.and(&[&less], &[&within])?.swap_remove(0);
        key = circuits::mux(b, &take, &other, &key)?;
        covered += step;
    }
    Ok(key)
}
