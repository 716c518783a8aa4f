//! What a run needs of an engine's type.

use tacit_mpc::MpcError;
use tacit_mpc::backends::{Components, Costs, Networked};
use tacit_net::Session;

use crate::foresight::OrderOf;
use crate::prices::{Prices, Rows};

/// What a run needs of an engine of nodes beyond its operations.
pub trait Suite: Components + 'static {
    /// Its prices: of rows, and of its primitives.
    fn prices(all: &Prices) -> (&Rows, <Self::Formulas as Costs>::Prices);

    /// How its nodes make stock ahead of its use, if they can.
    const AHEAD: Option<Ahead<Self>> = None;
}

/// How an engine makes stock ahead, in a second session between the same nodes.
pub struct Ahead<B: Networked> {
    /// Sets the engine up on both sessions.
    pub start: fn(Session, Session) -> Result<B, MpcError>,
    /// Has stock made for the step of this name. All nodes order the same in the same order.
    pub order: fn(&mut B, &str, OrderOf<B>),
}
