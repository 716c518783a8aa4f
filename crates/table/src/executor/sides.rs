//! What joins of two owners' tables have in common: two sides, whose sizes become known to all nodes.

use tacit_mpc::{Backend, Permit, PermitKind};

use super::{Executor, in_step_of};
use crate::error::Result;
use crate::operator::PsiSide;
use crate::operators::input;
use crate::wrong_input::WrongInput;

/// Names of the two sides in sites of permits.
const SIDES: [&str; 2] = ["left", "right"];

impl<B: Backend> Executor<B> {
    /// The number of items of both sides of the step of this name: as the plan says, or as their owners announce. The
    /// permits for both are taken first.
    pub(super) fn sizes(&mut self, name: &str, sides: [&PsiSide; 2], own: [Option<usize>; 2]) -> Result<[usize; 2]> {
        let mut permits = [None, None];
        for (k, side) in sides.iter().enumerate() {
            if side.rows.is_none() {
                permits[k] = Some(self.size_permit(&format!("{name}/{}", SIDES[k]))?);
            }
        }
        let mut sizes = sides.map(|side| side.rows.unwrap_or_default());
        for (k, permit) in permits.into_iter().enumerate() {
            if let Some(permit) = permit {
                sizes[k] = self.announced(name, sides[k], permit, own[k])?;
            }
        }
        Ok(sizes)
    }

    /// The permit to tell all nodes a number of rows.
    pub(super) fn size_permit(&mut self, site: &str) -> Result<Permit> {
        Ok(self.permits.take(site, &[PermitKind::Size], &self.parties.nodes, &[])?)
    }

    /// A number that a side's owner tells all nodes.
    pub(super) fn announced(
        &mut self,
        name: &str,
        side: &PsiSide,
        permit: Permit,
        own: Option<usize>,
    ) -> Result<usize> {
        let Self { backend, parties, .. } = self;
        in_step_of(backend, name, |b| {
            let owner = parties.owning_node(&side.owner)?;
            input::announced_rows(b, owner, &side.owner, own, permit)
        })
    }
}

/// Whether a join of these sides can be executed at all.
pub(super) fn check([left, right]: [&PsiSide; 2]) -> Result<()> {
    if left.keys.is_empty() || left.keys.len() != right.keys.len() {
        return Err(WrongInput::KeyCount { operator: "psi" }.into());
    }
    for side in [left, right] {
        input::at_most(side.rows.unwrap_or_default(), "a side of a psi")?;
    }
    Ok(())
}
