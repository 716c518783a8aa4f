//! The operators of a placed plan, as docs/placed-plan.md defines their JSON.

mod expression;
mod guards;
mod integer;
mod keeping;
mod kind;
mod matching;
mod program;
mod relational;
mod window;

pub use expression::{Call, Expression, Function};
pub use keeping::{Keep, Kept};
pub use kind::{Encoding, Kind, Repr};
pub use matching::{CircuitPsi, Psi, PsiKey, PsiSide, UniversalIds};
pub use program::{ArrayInput, ArrayOutput, ArrayProgram};
pub use relational::{
    Aggregate, AggregateFunction, Aggregation, Broadcast, Filter, GroupBy, GroupJoin, Input, InputColumn, Join,
    KeptSides, Limit, OutputColumn, Pairs, Project, Rank, Release, Resize, Sort, SortKey, Union, UnionColumn,
};
pub use window::{Frame, FrameUnit, Window, WindowFunction, WindowOutput};

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::wrong_input::WrongInput;

/// One step that all nodes execute.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operator {
    /// An owner's table becomes shared.
    Input(Input),
    /// Rows that do not satisfy a predicate become invalid.
    Filter(Filter),
    /// Columns computed row by row.
    Project(Project),
    /// Rows of several tables, one after the other.
    Union(Union),
    /// Join of unique keys with any keys.
    Join(Join),
    /// Every row of one table beside every row of another.
    Pairs(Pairs),
    /// Inner join of two owners' tables by private set intersection.
    Psi(Psi),
    /// Inner join of two owners' tables by private set intersection into shares.
    CircuitPsi(CircuitPsi),
    /// Full join of two owners' tables by universal ids.
    UniversalIds(UniversalIds),
    /// A scalar's columns added to every row.
    Broadcast(Broadcast),
    /// One row a group.
    GroupBy(GroupBy),
    /// Rows of one table with aggregates of another's.
    GroupJoin(GroupJoin),
    /// One row.
    Aggregate(Aggregate),
    /// Every row with values computed over its partition.
    Window(Window),
    /// Rows in an order.
    Sort(Sort),
    /// The head of an order.
    Limit(Limit),
    /// Rows without padding.
    Resize(Resize),
    /// A program on arrays.
    Program(ArrayProgram),
    /// A kept table becomes a table of this session.
    Kept(Kept),
    /// Shares kept by the nodes for later sessions.
    Keep(Keep),
    /// Rows opened to parties.
    Release(Release),
}

/// The local steps of the sides whose sizes are announced.
fn unsized_sides(sides: [&PsiSide; 2]) -> impl Iterator<Item = usize> {
    sides.map(|side| (side.local, side.rows)).into_iter().filter_map(|(local, rows)| rows.is_none().then_some(local))
}

impl Operator {
    /// Reads one operator.
    ///
    /// # Errors
    /// [`WrongInput::Operator`] when the text is not an operator.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| WrongInput::Operator { detail: error.to_string() }.into())
    }

    /// Reads a list of operators in execution order.
    ///
    /// # Errors
    /// [`WrongInput::Operators`] when the text is not such a list; [`WrongInput::RepeatedId`] when two operators have
    /// one id. [`WrongInput::Unchecked`], [`WrongInput::Unguarded`] and [`WrongInput::Guard`] when something of a
    /// program that checks bounds is opened before their guard.
    pub fn list_from_json(text: &str) -> Result<Vec<Self>> {
        let malformed = |error: serde_json::Error| WrongInput::Operators { detail: error.to_string() };
        let operators: Vec<Self> = serde_json::from_str(text).map_err(malformed)?;
        let mut ids = HashSet::new();
        match operators.iter().find(|operator| !operator.ids().into_iter().all(|id| ids.insert(id))) {
            Some(twice) => Err(WrongInput::RepeatedId { operator: twice.name() }.into()),
            None => guards::check(&operators).map(|()| operators),
        }
    }

    /// The operator as JSON: as it was understood, with all members.
    ///
    /// # Panics
    /// Never: an operator holds names, numbers, truth values and lists of these.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("an operator can be written")
    }

    /// The step id.
    pub fn id(&self) -> usize {
        match self {
            Self::Input(x) => x.id,
            Self::Filter(x) => x.id,
            Self::Project(x) => x.id,
            Self::Union(x) => x.id,
            Self::Join(x) => x.id,
            Self::Pairs(x) => x.id,
            Self::Psi(x) => x.id,
            Self::CircuitPsi(x) => x.id,
            Self::UniversalIds(x) => x.id,
            Self::Broadcast(x) => x.id,
            Self::GroupBy(x) => x.id,
            Self::GroupJoin(x) => x.id,
            Self::Aggregate(x) => x.id,
            Self::Window(x) => x.id,
            Self::Sort(x) => x.id,
            Self::Limit(x) => x.id,
            Self::Resize(x) => x.id,
            Self::Program(x) => x.id,
            Self::Kept(x) => x.id,
            Self::Keep(x) => x.id,
            Self::Release(x) => x.id,
        }
    }

    /// The ids of the steps under which its tables are found. Of every operator but a program that is its own.
    pub fn makes(&self) -> Vec<usize> {
        match self {
            Self::Program(x) => x.tables(),
            _ => vec![self.id()],
        }
    }

    /// All ids that are its alone.
    fn ids(&self) -> Vec<usize> {
        match self {
            Self::Program(x) => [vec![x.id], self.makes()].concat(),
            _ => vec![self.id()],
        }
    }

    /// What the step does, as in the JSON.
    pub fn op(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Filter(_) => "filter",
            Self::Project(_) => "project",
            Self::Union(_) => "union",
            Self::Join(_) => "join",
            Self::Pairs(_) => "pairs",
            Self::Psi(_) => "psi",
            Self::CircuitPsi(_) => "circuit_psi",
            Self::UniversalIds(_) => "universal_ids",
            Self::Broadcast(_) => "broadcast",
            Self::GroupBy(_) => "group_by",
            Self::GroupJoin(_) => "group_join",
            Self::Aggregate(_) => "aggregate",
            Self::Window(_) => "window",
            Self::Sort(_) => "sort",
            Self::Limit(_) => "limit",
            Self::Resize(_) => "resize",
            Self::Program(_) => "program",
            Self::Kept(_) => "kept",
            Self::Keep(_) => "keep",
            Self::Release(_) => "release",
        }
    }

    /// The step's name, such as `3.join`: key of metrics, place of errors, site of disclosures.
    pub fn name(&self) -> String {
        format!("{}.{}", self.id(), self.op())
    }

    /// Of which steps and local steps nodes learn the number of rows when it is executed. Of others the plan says it.
    pub fn announced(&self) -> Vec<usize> {
        match self {
            Self::Input(x) if x.rows.is_none() => vec![x.id],
            Self::Resize(x) if x.rows.is_none() => vec![x.id],
            Self::Psi(x) => unsized_sides(x.sides()).chain([x.id]).collect(),
            Self::CircuitPsi(x) => unsized_sides(x.sides()).collect(),
            Self::UniversalIds(x) => unsized_sides(x.sides()).chain([x.id]).collect(),
            _ => vec![],
        }
    }

    /// The sides of a join of two owners' keys, left first.
    pub fn matched_sides(&self) -> Option<[&PsiSide; 2]> {
        match self {
            Self::Psi(x) => Some(x.sides()),
            Self::CircuitPsi(x) => Some(x.sides()),
            Self::UniversalIds(x) => Some(x.sides()),
            _ => None,
        }
    }

    /// The ids of the steps whose tables it takes, in order.
    pub fn inputs(&self) -> Vec<usize> {
        match self {
            Self::Input(_) | Self::Psi(_) | Self::CircuitPsi(_) | Self::UniversalIds(_) | Self::Kept(_) => vec![],
            Self::Filter(x) => vec![x.input],
            Self::Project(x) => vec![x.input],
            Self::Union(x) => x.inputs.clone(),
            Self::Join(x) => vec![x.left, x.right],
            Self::Pairs(x) => vec![x.left, x.right],
            Self::Broadcast(x) => vec![x.input, x.scalar],
            Self::GroupBy(x) => vec![x.input],
            Self::GroupJoin(x) => vec![x.left, x.right],
            Self::Aggregate(x) => vec![x.input],
            Self::Window(x) => vec![x.input],
            Self::Sort(x) => vec![x.input],
            Self::Limit(x) => vec![x.input],
            Self::Resize(x) => vec![x.input],
            Self::Program(x) => x.steps(),
            Self::Keep(x) => vec![x.input],
            Self::Release(x) => vec![x.input],
        }
    }
}
