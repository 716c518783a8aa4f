//! Shares outside of a session: taken apart into what one node holds, and put together again by the same node.
//!
//! This opens nothing: the components of one node are as random as they were in the session. Nobody but the node itself
//! may see them, and whoever keeps them answers for that. A sharing is static: the same components serve in any number
//! of later sessions. Every protocol of these engines is secure for whatever sharing of its inputs the nodes hold. Each
//! masks with fresh randomness what it sends, and opens a linear function of a value by components that follow from the
//! opened value and the recipient's own.

use super::Networked;
use super::rep3::{self, Rep3};
use super::two::{self, Two};
use crate::{Block, Rows};

/// An engine of nodes whose shares outlive its session.
pub trait Components: Networked {
    /// How many components of every value a node holds.
    const COUNT: usize;

    /// What this node holds of shared rows.
    fn take_apart(rows: Rows<Self>) -> Vec<Block>;

    /// The shared rows of which this node holds these components, all of one shape.
    ///
    /// # Panics
    /// When there are not [`Self::COUNT`] of them.
    fn put_together(components: Vec<Block>) -> Rows<Self>;
}

impl Components for Rep3 {
    const COUNT: usize = 2;

    fn take_apart(rows: Rows<Self>) -> Vec<Block> {
        let (mine, next) = rep3::components(rows);
        vec![mine, next]
    }

    fn put_together(components: Vec<Block>) -> Rows<Self> {
        let [mine, next] = exactly(components);
        rep3::share_rows(mine, next)
    }
}

impl Components for Two {
    const COUNT: usize = 1;

    fn take_apart(rows: Rows<Self>) -> Vec<Block> {
        vec![two::component(rows)]
    }

    fn put_together(components: Vec<Block>) -> Rows<Self> {
        let [own] = exactly(components);
        two::share_rows(own)
    }
}

fn exactly<const N: usize>(components: Vec<Block>) -> [Block; N] {
    components.try_into().unwrap_or_else(|found: Vec<Block>| panic!("{} components, not {N}", found.len()))
}
