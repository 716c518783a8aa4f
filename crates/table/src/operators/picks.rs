//! Which rows of a sorted column aggregates take: the first of each distinct value, the middle ones, that of a rank.

use tacit_mpc::Backend;

use super::runs::Run;
use super::sorted::Sorted;
use super::totals::{same_as_next, same_as_previous};
use super::{middle, rank};
use crate::error::{Result, TableError};
use crate::operator::{AggregateFunction, Aggregation, Rank};

/// A choice of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The first row of each distinct value that is not NULL.
    Distinct,
    /// The rows of the two middle values.
    Middle,
    /// The row at a rank.
    Rank(Rank),
}

impl Pick {
    /// The choice that an aggregate makes, if any.
    pub fn of(aggregation: &Aggregation, rows: usize) -> Result<Option<Self>> {
        use AggregateFunction::{CountDistinct, Middle, Ranked, SumDistinct};
        Ok(match aggregation.function {
            CountDistinct | SumDistinct => Some(Self::Distinct),
            Middle => Some(Self::Middle),
            Ranked => Some(Self::Rank(rank::rank_of(aggregation, rows)?)),
            _ => None,
        })
    }
}

/// The rows of each choice that a sort's aggregates make: one bit a row, or two for middle values.
pub(crate) struct Picks<B: Backend>(Vec<(Pick, Vec<B::Bits>)>);

impl<B: Backend> Picks<B> {
    /// No choice: of sums and counts alone.
    pub fn none() -> Self {
        Self(vec![])
    }

    /// All choices, each once. same_group, ends: of the sorted rows.
    pub fn new(
        b: &mut B,
        sorted: &Sorted<B>,
        [same_group, ends]: [&B::Bits; 2],
        run: &Run<'_, B>,
        aggregates: &[Aggregation],
    ) -> Result<Self> {
        let (rows, present) = (sorted.rows, sorted.present(run));
        let mut found = Self(vec![]);
        for &place in &run.aggregates {
            let Some(pick) = Pick::of(&aggregates[place], rows)? else { continue };
            if found.0.iter().any(|(known, _)| *known == pick) {
                continue;
            }
            let bits = match pick {
                Pick::Distinct => vec![new_values(b, sorted, same_group, present)?],
                Pick::Middle => middle::of_groups(b, rows, ends, present)?.into(),
                Pick::Rank(rank) => vec![rank::of_groups(b, rows, ends, same_group, present, rank)?],
            };
            found.0.push((pick, bits));
        }
        Ok(found)
    }

    /// The rows of a choice.
    pub fn bits(&self, pick: Pick) -> Result<&[B::Bits]> {
        let found = self.0.iter().find(|(known, _)| *known == pick);
        found.map(|(_, bits)| &**bits).ok_or_else(|| TableError::Internal("rows were not chosen".into()))
    }
}

/// Rows whose ordering column is not NULL and differs from the row before in the same group.
fn new_values<B: Backend>(
    b: &mut B,
    sorted: &Sorted<B>,
    same_group: &B::Bits,
    present: Option<&B::Bits>,
) -> Result<B::Bits> {
    let same_value = same_as_next(b, sorted.rows, &sorted.value)?;
    let same = b.and(&[&same_value], &[same_group])?.swap_remove(0);
    let new = b.not(&same_as_previous::<B>(&same));
    match present {
        Some(present) => Ok(b.and(&[&new], &[present])?.swap_remove(0)),
        None => Ok(new),
    }
}
