//! What engines of several nodes have in common: a session with the other nodes.

use tacit_net::Session;

use super::Costs;
use crate::{Backend, Link, Result};

/// An engine whose nodes are parties of a session, each of which runs its own end.
pub trait Networked: Backend {
    /// The engine's name, as federation files have it.
    const NAME: &'static str;
    /// How many nodes it has.
    const NODES: usize;
    /// What its primitives cost.
    type Formulas: Costs;

    /// Sets the engine up on a session of exactly its nodes, in engine order.
    ///
    /// # Errors
    /// When a peer is gone or misbehaves, or the operating system gives no randomness.
    fn start(session: Session) -> Result<Self>;

    /// Declares the network between the nodes, by which an engine may choose among protocols. Until then it is
    /// [`Link::UNDECLARED`]. All nodes declare the same, before they compute.
    fn declare(&mut self, _link: Link) {}

    /// Replaces the default prices by which an engine may choose among protocols. All nodes have the same.
    fn price(&mut self, _prices: <Self::Formulas as Costs>::Prices) {}

    /// The session, for its meter and transcript.
    fn session(&self) -> &Session;

    /// The session, for a protocol between two nodes that is no part of the engine. Every node has to begin as many
    /// rounds as the two do.
    fn session_mut(&mut self) -> &mut Session;

    /// Ends the engine in order and gives the session back, to close it.
    fn into_session(self) -> Session;

    /// Ends the engine and its session at once, and tells every peer why.
    fn abort(self, reason: &str) {
        self.into_session().abort(reason);
    }
}
