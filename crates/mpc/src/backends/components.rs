//! Shares outside of an engine: taken apart into what one node holds, and put together again by the same node. A kept
//! table's file has them so, and they come from clients and go to them so ([`super::clients`]).
//!
//! This opens nothing: the components of one node are as random as they were in the session. Nobody but the node itself
//! may see them, and whoever keeps them answers for that. A sharing is static: the same components serve in any number
//! of later sessions. Every protocol of these engines is secure for whatever sharing of its inputs the nodes hold. Each
//! masks with fresh randomness what it sends, and opens a linear function of a value by components that follow from the
//! opened value and the recipient's own.

use super::{Costs, Networked};
use crate::{Block, Rows, Shape};

/// An engine of nodes whose shares outlive its session.
pub trait Components: Networked {
    /// How many components of every value a node holds.
    const COUNT: usize = Self::Formulas::COMPONENTS;

    /// Adds this node's part of a fresh sharing of zero to its first component. So the sum of all nodes' first
    /// components stays what it is and is all that they say. Local.
    fn add_zero(&mut self, component: &mut Block);

    /// What this node holds of shared rows.
    fn take_apart(rows: Rows<Self>) -> Vec<Block>;

    /// The shared rows of which this node holds these components, all of one shape.
    ///
    /// # Panics
    /// When there are not [`Self::COUNT`] of them.
    fn put_together(components: Vec<Block>) -> Rows<Self>;

    /// What a node knows of shared rows of this shape that holds no component of them.
    ///
    /// # Panics
    /// When every node of the engine holds some.
    fn holding_none(_shape: Shape) -> Rows<Self> {
        unreachable!("every node of {} holds components", Self::NAME)
    }
}

/// As many components as an engine's nodes have.
pub(in crate::backends) fn exactly<const N: usize>(components: Vec<Block>) -> [Block; N] {
    components.try_into().unwrap_or_else(|found: Vec<Block>| panic!("{} components, not {N}", found.len()))
}
