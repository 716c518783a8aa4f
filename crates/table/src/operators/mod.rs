//! One file for each idea of relational algebra, every operator written once for all engines.

mod added;
pub(crate) mod aggregate;
mod buckets;
mod collect;
mod copies;
mod extremes;
pub(crate) mod filter;
mod frames;
pub(crate) mod group_by;
pub(crate) mod input;
pub(crate) mod join;
mod join_order;
mod middle;
mod neighbours;
pub(crate) mod order;
mod outer;
pub(crate) mod pairs;
mod picked;
pub(crate) mod project;
pub(crate) mod release;
mod running;
mod runs;
pub(crate) mod scalar;
mod sorted;
mod totals;
pub(crate) mod union;
pub(crate) mod window;
