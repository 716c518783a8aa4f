//! The members of `psi`: an inner join of two owners' tables by private set intersection.

use serde::Deserialize;

use super::kind::Encoding;
use super::relational::InputColumn;

/// `psi`: both owners learn which of their rows match, and share the columns of these rows side by side.
#[derive(Clone, Debug, Deserialize)]
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

/// One owner's side of a `psi`.
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
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
