//! One file for each idea of relational algebra, every operator written once for all engines.

mod added;
pub(crate) mod aggregate;
mod collect;
pub(crate) mod filter;
pub(crate) mod group_by;
pub(crate) mod input;
pub(crate) mod join;
mod largest;
mod middle;
pub(crate) mod order;
pub(crate) mod project;
pub(crate) mod release;
mod runs;
pub(crate) mod scalar;
mod sorted;
mod totals;
pub(crate) mod union;
