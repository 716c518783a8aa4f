//! The engines of nodes that plans run on: the one place that names them.

use std::collections::HashMap;

use tacit_mpc::backends::{Costs, Four, Networked, Rep3, Two, two};
use tacit_mpc::{Link, Permits};
use tacit_net::Session;
use tacit_table::{Operator, Parties, Program, StepCost, TableError};

use crate::agreement::{Agreement, Sessions};
use crate::circuit_join::shared_matches;
use crate::client::ClientOf;
use crate::error::{Result, RunError};
use crate::failure;
use crate::memory::Memory;
use crate::node::{Node, NodeOf};
use crate::prices::{Prices, Rows};
use crate::suite::{Ahead, Suite};

/// All engines of nodes.
static ENGINES: &[Engine] = &[Engine::of::<Rep3>(), Engine::of::<Two>(), Engine::of::<Four>()];

impl Suite for Rep3 {
    fn prices(all: &Prices) -> (&Rows, ()) {
        (&all.rep3.rows, ())
    }
}

impl Suite for Two {
    const AHEAD: Option<Ahead<Self>> = Some(Ahead { start: Two::with_stock_ahead, order: Two::order });

    fn prices(all: &Prices) -> (&Rows, two::prices::Prices) {
        (&all.two.rows, all.two.work.clone())
    }
}

/// Programs are priced by their rows as those of three nodes are.
impl Suite for Four {
    fn prices(all: &Prices) -> (&Rows, ()) {
        (&all.rep3.rows, ())
    }
}

/// An engine of nodes: how to make a node of it, and what it costs.
pub struct Engine {
    /// The name, as federation files have it.
    pub name: &'static str,
    /// How many nodes it has.
    pub nodes: usize,
    /// How many components of every value a node holds.
    pub components: usize,
    /// Whether its nodes can make stock ahead.
    pub ahead: bool,
    /// Whether circuits are garbled or not by the network.
    pub garbles: bool,
    /// Makes this party's node.
    pub start: fn(Sessions, &Agreement, Permits, &Program, Option<&Memory>) -> Result<Box<dyn Node>>,
    /// Refuses a plan whose programs it may get wrong too often: [`failure::check`].
    pub check: fn(&[Operator]) -> Result<()>,
    /// The prices of rows.
    pub rows: fn(&Prices) -> &Rows,
    /// Makes this party a client of the nodes.
    pub client: fn(Session, &Agreement, Permits) -> Box<dyn Node>,
    /// What operators cost, without what two owners do with each other.
    pub cost: DeclareCosts,
    /// The permits that operators need, as a JSON list without bounds on rows.
    pub permits: fn(&Parties, &[Operator]) -> Result<String, TableError>,
}

type DeclareCosts =
    fn(&Parties, &[Operator], &HashMap<usize, usize>, Link, &Prices, bool) -> Result<Vec<StepCost>, TableError>;

/// The names of all engines of nodes, each with its number of nodes. The first is for federations that name none.
pub fn engines() -> Vec<(&'static str, usize)> {
    ENGINES.iter().map(|engine| (engine.name, engine.nodes)).collect()
}

impl Engine {
    const fn of<B: Suite>() -> Self
    where
        NodeOf<B>: Send,
        ClientOf<B>: Send,
    {
        Self {
            name: B::NAME,
            nodes: B::NODES,
            components: B::COUNT,
            ahead: B::AHEAD.is_some(),
            garbles: <B as Networked>::Formulas::GARBLES,
            check: failure::check::<B>,
            rows: |prices| B::prices(prices).0,
            start: NodeOf::<B>::start,
            client: ClientOf::<B>::start,
            cost: |parties, operators, rows, link, prices, ahead| {
                let (work, matches) = (B::prices(prices).1, shared_matches(&parties.nodes));
                tacit_table::cost::<B::Formulas>(parties, operators, rows, link, work, ahead, matches)
            },
            permits: |parties, operators| {
                tacit_table::cost::permits::<B::Formulas>(parties, operators, shared_matches(&parties.nodes))
            },
        }
    }

    /// The engine of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ENGINES.iter().find(|engine| engine.name == name)
    }

    /// The engine of a name, among nodes of these names.
    ///
    /// # Errors
    /// [`RunError::NoEngine`]; [`RunError::NodeCount`] and [`RunError::NodeTwice`] for nodes that are not as many
    /// different ones as the engine has.
    pub fn among(name: &str, nodes: &[String]) -> Result<&'static Self> {
        let engine = Self::named(name).ok_or_else(|| RunError::NoEngine {
            name: name.to_owned(),
            engines: ENGINES.iter().map(|engine| engine.name).collect(),
        })?;
        let (given, needed) = (nodes.len(), engine.nodes);
        if given != needed {
            return Err(RunError::NodeCount { engine: engine.name, needed, given });
        }
        if (1..given).any(|i| nodes[..i].contains(&nodes[i])) {
            return Err(RunError::NodeTwice);
        }
        Ok(engine)
    }
}
