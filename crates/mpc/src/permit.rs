//! Permits: the right to open one value, minted only from the approved disclosures of a plan.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{MpcError, Result};

/// What kind of thing a permit discloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermitKind {
    /// The query's own answer.
    Answer,
    /// Values beyond the answer.
    Value,
    /// A row count.
    Size,
    /// Which of its rows match another owner's.
    Matches,
}

/// One entry of the approved list.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approval {
    site: String,
    kind: PermitKind,
    recipients: Vec<String>,
    columns: Vec<String>,
}

/// The approved disclosures of a plan that have not been used yet.
#[derive(Debug, Default)]
pub struct Permits(HashSet<Approval>);

/// The right to open one value once. It can be neither copied nor made outside this module.
#[derive(Debug)]
#[must_use = "a permit that is not used discloses nothing"]
pub struct Permit {
    site: String,
    recipients: Vec<String>,
    columns: usize,
}

impl Permits {
    /// The approved list as JSON (see docs/placed-plan.md).
    ///
    /// # Errors
    /// When the text is not such a list, or names a disclosure twice.
    pub fn from_json(text: &str) -> std::result::Result<Self, String> {
        let list: Vec<Approval> =
            serde_json::from_str(text).map_err(|e| format!("the approved disclosures are not valid JSON: {e}"))?;
        let count = list.len();
        let set: HashSet<Approval> = list.into_iter().map(Approval::sorted).collect();
        if set.len() == count {
            Ok(Self(set))
        } else {
            Err("the approved disclosures name one disclosure twice".into())
        }
    }

    /// Every approval that is left as JSON text, in one order, however the list was written.
    pub fn canonical(&self) -> Vec<String> {
        let text = |approval| serde_json::to_string(approval).expect("names and numbers");
        let mut texts: Vec<String> = self.0.iter().map(text).collect();
        texts.sort_unstable();
        texts
    }

    /// Takes the permit for exactly this disclosure out of the list.
    ///
    /// # Errors
    /// [`MpcError::NotPermitted`] when the list does not (or no longer) hold it.
    pub fn take(
        &mut self,
        site: &str,
        kinds: &[PermitKind],
        recipients: &[String],
        columns: &[String],
    ) -> Result<Permit> {
        let wanted =
            |kind| Approval { site: site.into(), kind, recipients: recipients.into(), columns: columns.into() };
        match kinds.iter().any(|&kind| self.0.remove(&wanted(kind).sorted())) {
            true => Ok(Permit { site: site.into(), recipients: recipients.into(), columns: columns.len() }),
            false => Err(MpcError::NotPermitted { site: site.into(), what: describe(kinds, recipients, columns) }),
        }
    }
}

impl Approval {
    fn sorted(mut self) -> Self {
        self.recipients.sort();
        self
    }
}

fn describe(kinds: &[PermitKind], recipients: &[String], columns: &[String]) -> String {
    let what = match kinds {
        [PermitKind::Size] => "a row count".into(),
        [PermitKind::Matches] => "matching rows".into(),
        _ => format!("columns {}", columns.join(", ")),
    };
    format!("{what} to {}", recipients.join(", "))
}

impl Permit {
    /// The step that may open.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// The names of the parties that will learn the value.
    pub fn recipients(&self) -> &[String] {
        &self.recipients
    }

    /// The number of table columns that may be opened.
    pub fn columns(&self) -> usize {
        self.columns
    }
}
