//! Who takes part in a plan.

use tacit_net::PartyId;

use crate::error::Result;
use crate::wrong_input::WrongInput;

/// The nodes of an engine, in its order, and its clients: parties that own inputs or get answers and are no nodes.
#[derive(Clone, Debug, Default)]
pub struct Parties {
    /// Their names.
    pub nodes: Vec<String>,
    /// Their names; in a session of all parties they come behind the nodes.
    pub clients: Vec<String>,
}

impl From<Vec<String>> for Parties {
    /// Nodes without clients.
    fn from(nodes: Vec<String>) -> Self {
        Self { nodes, clients: vec![] }
    }
}

impl Parties {
    /// All of them, nodes first.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.nodes.iter().chain(&self.clients)
    }

    /// The place of an owner among all.
    pub(crate) fn owner(&self, name: &str) -> Result<PartyId> {
        let place = self.names().position(|party| party == name).map(PartyId);
        Ok(place
            .ok_or_else(|| WrongInput::NoParty { name: name.to_owned(), parties: self.names().cloned().collect() })?)
    }

    /// The place of an owner who has to be a node.
    pub(crate) fn owning_node(&self, name: &str) -> Result<PartyId> {
        let place = self.nodes.iter().position(|node| node == name).map(PartyId);
        Ok(place
            .ok_or_else(|| WrongInput::NoNode { name: name.to_owned(), parties: self.names().cloned().collect() })?)
    }

    /// Those of some parties that are clients.
    pub fn clients_among(&self, names: &[String]) -> Vec<String> {
        names.iter().filter(|name| self.clients.contains(name)).cloned().collect()
    }
}
