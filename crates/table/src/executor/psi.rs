//! The engine's part of `psi`: sizes become known, and the matching rows become shared.
//!
//! What happens between, an intersection protocol between the two owners, is the caller's: this room knows none. The
//! order of calls is [`Executor::psi_sizes`], at the owners [`Executor::psi_keys`], then the protocol,
//! [`Executor::psi_rows`], [`Executor::psi_share`]. Discloses the sizes that the plan announces, and the number of
//! rows of the join. Costs beyond the protocol: an announcement for each of these and an input for each side.

use tacit_mpc::{Backend, Permit, PermitKind};

use super::sides::check;
use super::{Executor, in_step_of};
use crate::data::DataTable;
use crate::error::Result;
use crate::matching::KeyGroups;
use crate::operator::{Input, Psi, PsiSide};
use crate::operators::input::{self, Prepared};
use crate::table::Table;

impl<B: Backend> Executor<B> {
    /// The number of items of both sides, left first, once every node knows it. own: at an owner the rows of its data,
    /// or of their source where the plan pads to that.
    ///
    /// Takes all permits of the step, so that nothing has been sent if one is missing. Gives that of the number of rows
    /// of the join, for [`Self::psi_rows`], once the owners know which rows match.
    ///
    /// # Errors
    /// [`TableError::Policy`] before anything is sent; [`TableError::Input`] for sizes that cannot be;
    /// [`TableError::Net`].
    pub fn psi_sizes(&mut self, psi: &Psi, own: [Option<usize>; 2]) -> Result<([usize; 2], Permit)> {
        let site = psi_name(psi);
        check(psi.sides()).map_err(|error| error.within(&site))?;
        for side in psi.sides() {
            let recipient = [side.owner.clone()];
            let _matches = self.permits.take(&site, &[PermitKind::Matches], &recipient, &[])?;
        }
        let rows = self.size_permit(&site)?;
        Ok((self.sizes(&site, psi.sides(), own)?, rows))
    }

    /// A side's keys as items for an intersection protocol, at its owner.
    ///
    /// # Errors
    /// [`TableError::Input`] when the data is not as the operator declares.
    pub fn psi_keys(&self, psi: &Psi, side: usize, data: &DataTable, size: usize) -> Result<KeyGroups> {
        let unique = side == 0 || psi.right_unique;
        KeyGroups::new(psi.sides()[side], data, size, unique, &self.hash).map_err(|error| error.within(&psi_name(psi)))
    }

    /// The number of rows of the join, which the right side's owner knows and all nodes learn. permit: that which
    /// [`Self::psi_sizes`] took.
    ///
    /// # Errors
    /// [`TableError::Policy`] for more rows than it allows; [`TableError::Net`].
    pub fn psi_rows(&mut self, psi: &Psi, permit: Permit, own: Option<usize>) -> Result<usize> {
        self.announced(&psi_name(psi), &psi.right, permit, own)
    }

    /// The join: the columns of both sides, side by side. Each owner gives its matching rows, in the common order.
    ///
    /// # Errors
    /// [`TableError::Input`] at an owner whose data is not as the operator declares; [`TableError::Net`].
    pub fn psi_share(&mut self, psi: &Psi, rows: usize, data: [Option<DataTable>; 2]) -> Result<Table<B>> {
        let mut columns = Vec::new();
        for (side, data) in psi.sides().into_iter().zip(data) {
            let input = input_of(psi, side);
            let hash = &self.hash;
            let encode = |data: DataTable| input::prepare(&input, &data, hash);
            let block = data.map(encode).transpose().map_err(|error| error.within(&psi_name(psi)))?;
            let prepared = block.unwrap_or(Prepared { rows, block: None });
            let Self { backend, parties, .. } = self;
            let table =
                in_step_of(backend, &psi_name(psi), |b| input::share(b, parties, &input, rows, prepared.block))?;
            columns.extend(table.columns);
        }
        Ok(Table::new(rows, None, columns))
    }
}

/// The step's name, as that of any operator.
fn psi_name(psi: &Psi) -> String {
    format!("{}.psi", psi.id)
}

/// One side's matching rows as an input, whose number of rows is exact.
fn input_of(psi: &Psi, side: &PsiSide) -> Input {
    let (owner, columns) = (side.owner.clone(), side.columns.clone());
    Input { id: psi.id, owner, columns, rows: None, pad_to_source: false, sorted_by: vec![], ordered: false }
}
