//! The members of `psi` and `circuit_psi`, inner joins of two owners' tables by private set intersection, and of
//! `universal_ids`, their full join.

use serde::{Deserialize, Serialize};
use tacit_mpc::Shape;

use super::kind::Encoding;
use super::relational::InputColumn;
use crate::encode;

/// `psi`: both owners learn which of their rows match, and share the columns of these rows side by side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Psi {
    /// Step id.
    pub id: usize,
    /// The side whose keys are unique.
    pub left: PsiSide,
    /// The other side, of another owner.
    pub right: PsiSide,
    /// Whether the keys of right are unique too. If not, its owner tells how many of its rows match each left row.
    pub right_unique: bool,
}

/// `circuit_psi`: nobody learns which rows match; both sides' keys are unique.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CircuitPsi {
    /// Step id.
    pub id: usize,
    /// One side.
    pub left: PsiSide,
    /// The other side, of another owner.
    pub right: PsiSide,
}

/// `universal_ids`: a full join of two owners' tables, whose rows get universal ids; both sides' keys are unique. Both
/// owners learn how many keys match, and nobody which.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniversalIds {
    /// Step id.
    pub id: usize,
    /// One side. Its columns are nullable.
    pub left: PsiSide,
    /// The other side, of another owner. Its columns are nullable.
    pub right: PsiSide,
}

/// One owner's side of a `psi`, a `circuit_psi` or a `universal_ids`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PsiSide {
    /// The local step whose result the owner gives.
    pub local: usize,
    /// The owner's name.
    pub owner: String,
    /// To how many items the keys are padded; None: a size is announced.
    pub rows: Option<usize>,
    /// Whether the announced size is that of the unfiltered source instead of the exact one.
    #[serde(default)]
    pub pad_to_source: bool,
    /// The key columns, in the order of the other side's.
    pub keys: Vec<PsiKey>,
    /// The columns that are shared.
    pub columns: Vec<InputColumn>,
}

/// A key column.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PsiKey {
    /// Its name in the owner's data.
    pub source: String,
    /// `int` for numbers, `hash` for strings.
    pub encode: Encoding,
}

impl Psi {
    /// Both sides, left first.
    pub fn sides(&self) -> [&PsiSide; 2] {
        [&self.left, &self.right]
    }
}

impl CircuitPsi {
    /// Both sides, left first.
    pub fn sides(&self) -> [&PsiSide; 2] {
        [&self.left, &self.right]
    }
}

impl UniversalIds {
    /// Both sides, left first.
    pub fn sides(&self) -> [&PsiSide; 2] {
        [&self.left, &self.right]
    }
}

impl PsiSide {
    /// The shape of the columns, with no rows.
    pub fn shape(&self) -> Shape {
        encode::shape(&self.columns, 0, false)
    }
}
