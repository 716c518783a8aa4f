//! A table whose rows are sorted by group.

use tacit_mpc::Backend;
use tacit_mpc::circuits::Planes;

use super::runs::Run;
use super::totals::same_as_next;
use crate::error::Result;

/// A table in the order of one of its sorts.
pub(crate) struct Sorted<B: Backend> {
    /// Rows of the table.
    pub rows: usize,
    /// The sort key's part for the ordering column, if any.
    pub value: Planes<B>,
    /// The part for the group keys.
    pub group: Planes<B>,
    /// Whether a row is not valid; None: all are.
    pub invalid: Option<B::Bits>,
}

impl<B: Backend> Sorted<B> {
    /// Whether each row is in the group of the next one.
    pub fn same_group(&self, b: &mut B) -> Result<B::Bits> {
        let planes: Planes<B> = self.group.iter().chain(&self.invalid).cloned().collect();
        same_as_next(b, self.rows, &planes)
    }

    /// Which rows have a value of the ordering column that is not NULL; None: all. NULLs come first, so that the key's
    /// top plane is zero for NULL.
    pub fn present(&self, run: &Run<'_, B>) -> Option<&B::Bits> {
        let nullable = run.column.as_ref().is_some_and(|value| value.null.is_some());
        if nullable { self.value.last() } else { None }
    }

    /// Which rows are the last ones of their group.
    pub fn ends(&self, b: &mut B, same_group: &B::Bits) -> Result<B::Bits> {
        let last = b.not(same_group);
        match &self.invalid {
            None => Ok(last),
            Some(invalid) => {
                let valid = b.not(invalid);
                Ok(b.and(&[&valid], &[&last])?.swap_remove(0))
            }
        }
    }
}
