//! What the parties of a run agree on, and their sessions.

use tacit_mpc::{Backend, Link, Permits};
use tacit_table::{Executor, Operator, Parties, Program};

use crate::error::{Result, RunError};
use crate::kept::{KeptTable, readers};
use crate::prices::Prices;

/// Domain of the key of VARCHAR hashes.
const HASH_KEY_CONTEXT: &str = "tacit 2026-11-24 key of VARCHAR hashes";

/// The sessions of a node.
pub struct Sessions {
    /// The engine's session, with that of the clients beside it, if there are any.
    pub main: tacit_net::Session,
    /// The session in which stock is made ahead.
    pub background: Option<tacit_net::Session>,
}

/// What all parties of a run agree on.
pub struct Agreement {
    /// The engine's name.
    pub engine: String,
    /// The nodes in engine order.
    pub nodes: Vec<String>,
    /// Those who own inputs, or data in kept tables, or get answers, and are no nodes, in an order that is the same
    /// everywhere.
    pub clients: Vec<String>,
    /// The plan's hash.
    pub plan_hash: [u8; 32],
    /// The approved permits, as JSON.
    pub permits: String,
    /// The operators that will be executed, as JSON.
    pub operators: String,
    /// The network between the nodes ([`crate::agreed_link`]).
    pub link: Link,
    /// The prices by which protocols are chosen.
    pub prices: Prices,
    /// The kept tables that the operators read, one for each that reads one, in order. None among nodes that do not
    /// compare them.
    pub kept: Option<Vec<KeptTable>>,
    /// Whether an engine that can makes ahead what it needs, in a second session.
    pub ahead: bool,
}

impl Agreement {
    /// For sessions of one process, which compare no plans: the permits stand in for the plan.
    pub fn within_process(engine: &str, nodes: Vec<String>, permits: String, operators: String) -> Self {
        let plan_hash = *blake3::hash(permits.as_bytes()).as_bytes();
        Self {
            engine: engine.to_owned(),
            nodes,
            clients: vec![],
            plan_hash,
            permits,
            operators,
            link: Link::UNDECLARED,
            prices: Prices::default(),
            kept: None,
            ahead: true,
        }
    }

    /// The key under which all owners hash strings of unknown length. drawn: by the nodes, when they had compared what
    /// they approve ([`tacit_net::Session::drawn`]).
    ///
    /// All parties know it; it need not be secret. A hash leaves its owner only as shares, and only the outcome of
    /// comparisons under sharing is ever used, so nobody can search for strings that match one. Of n different strings
    /// two collide with a probability below n^2 / 2^(w + 1), where the planner chooses the width w so that this is
    /// below 2^-40 for a query. That holds for strings that were chosen before the key, so it is drawn after the plan.
    /// If it followed from the plan, the plan's author could change names in it until an innocent constant had the hash
    /// of another string. All would approve a condition on the one that computes with the other.
    pub fn hash_key(&self, drawn: &[u8; 32]) -> [u8; 32] {
        blake3::derive_key(HASH_KEY_CONTEXT, &[self.plan_hash, *drawn].concat())
    }

    /// The plan before its first step.
    ///
    /// # Errors
    /// An input error when permits or operators are malformed, or kept tables are missing.
    pub fn plan(&self) -> Result<Plan> {
        let permits = Permits::from_json(&self.permits).map_err(RunError::Permits)?;
        let program = Program::from_json(&self.operators)?;
        match (&self.kept, readers(&program).count()) {
            (Some(given), needed) if given.len() != needed => Err(RunError::KeptCount { given: given.len(), needed }),
            _ => self.check_clients(&program).map(|()| Plan { permits, program }),
        }
    }

    /// What executes the plan's operators on an engine, under its permits. drawn: as [`Self::hash_key`] takes it.
    pub fn executor<B: Backend>(&self, backend: B, permits: Permits, drawn: &[u8; 32]) -> Executor<B> {
        Executor::new(backend, permits, self.parties(), self.hash_key(drawn))
    }

    /// Nodes and clients.
    pub fn parties(&self) -> Parties {
        Parties { nodes: self.nodes.clone(), clients: self.clients.clone() }
    }

    /// Checks that every client has a part in a program: as an owner, also of data in a kept table, or as a recipient.
    /// The owners who have to approve what is read have to be clients.
    ///
    /// # Errors
    /// [`RunError::Bystander`], [`RunError::Absent`].
    fn check_clients(&self, program: &Program) -> Result<()> {
        let has_part = |client: &String| {
            program.operators().iter().any(|operator| match operator {
                Operator::Input(input) => input.owner == *client,
                Operator::Kept(kept) => kept.owners.contains(client),
                Operator::Release(release) => release.to.contains(client),
                _ => false,
            })
        };
        if let Some(party) = self.clients.iter().find(|client| self.nodes.contains(client) || !has_part(client)) {
            return Err(RunError::Bystander { party: party.clone() });
        }
        let approving = program.operators().iter().filter_map(|operator| match operator {
            Operator::Kept(kept) => Some(&kept.owners),
            _ => None,
        });
        match approving.flatten().find(|owner| !self.clients.contains(owner)) {
            Some(party) => Err(RunError::Absent { party: party.clone() }),
            None => Ok(()),
        }
    }
}

/// What a node will execute and may open: a step of a run uses up its part.
pub struct Plan {
    /// The approved permits.
    pub permits: Permits,
    /// The operators.
    pub program: Program,
}
