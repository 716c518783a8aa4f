//! How a match runs, as all its parties choose alike.

use pyo3::prelude::*;
use tacit_linkage::choice::bins::{self, Asked, Limit, Offer, Protocol};
use tacit_linkage::choice::whole::{self, Revealed};
use tacit_linkage::choice::{Terms, leader};

use crate::fault::{Failure, Result};
use crate::prices;

/// What every party declares of its network: latency, 0 if undeclared, and bandwidth.
type Networks = Vec<(f64, Option<f64>)>;

fn terms(networks: &Networks, table: Option<&str>) -> Result<Terms> {
    Ok(Terms::of(networks, prices::read(table)?.matching))
}

/// How bins are matched.
#[derive(IntoPyObject)]
pub struct BinsChoice {
    protocol: String,
    sender: usize,
    bins: usize,
    workers: usize,
    capacities: [usize; 2],
    sent: [u64; 2],
    rounds: u64,
    seconds: f64,
    others: Vec<(String, f64)>,
    limit: &'static str,
    tokens: usize,
    need: u64,
    memory: u64,
}

impl From<bins::Choice> for BinsChoice {
    fn from(choice: bins::Choice) -> Self {
        let limit = match choice.limit {
            Limit::Asked => "asked",
            Limit::None => "none",
            Limit::Caches => "caches",
            Limit::Memory => "memory",
        };
        let bins::Choice { protocol, sender, bins, workers, capacities, sent, rounds, seconds, .. } = choice;
        let bins::Choice { others, tokens, need, memory, .. } = choice;
        Self { protocol, sender, bins, workers, capacities, sent, rounds, seconds, others, limit, tokens, need, memory }
    }
}

/// How the rows of two tables are matched. offers: rows, memory (bytes) and workers of each party. alone: who learns,
/// if only one does. plugin: the name of a protocol from elsewhere.
#[pyfunction]
#[pyo3(signature = (offers, networks, *, protocol=None, plugin=None, alone=None, bins=None, prices=None))]
pub fn choose_bins(
    offers: [(usize, u64, usize); 2],
    networks: Networks,
    protocol: Option<&str>,
    plugin: Option<&str>,
    alone: Option<usize>,
    bins: Option<usize>,
    prices: Option<&str>,
) -> Result<BinsChoice> {
    let protocol = match (plugin, protocol) {
        (Some(name), _) => Protocol::Elsewhere(name),
        (None, Some(name)) => Protocol::Named(name),
        (None, None) => Protocol::Fastest,
    };
    let offers = offers.map(|(rows, memory, workers)| Offer { rows, memory, workers });
    Ok(bins::choose(&Asked { protocol, alone, bins }, offers, &terms(&networks, prices)?)?.into())
}

/// How something is computed from two whole tables.
#[derive(IntoPyObject)]
pub struct WholeChoice {
    protocol: String,
    sender: usize,
    sent: [u64; 2],
    rounds: u64,
    seconds: f64,
}

/// How two parties learn what they reveal in place of rows. columns: of each party, of shares. receiver: of numbers.
#[pyfunction]
#[pyo3(signature = (reveal, rows, networks, *, keys=1, method=None, columns=[0, 0], receiver=0, prices=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn choose_whole(
    reveal: &str,
    rows: [usize; 2],
    networks: Networks,
    keys: usize,
    method: Option<&str>,
    columns: [usize; 2],
    receiver: usize,
    prices: Option<&str>,
) -> Result<WholeChoice> {
    let revealed = match reveal {
        "ids" if keys > 1 => Revealed::IdsByKeys,
        "ids" => Revealed::Ids(method),
        "shares" => Revealed::Shares(columns),
        "cardinality" | "sum" if receiver < 2 => Revealed::Numbers { receiver, summed: reveal == "sum" },
        _ => return Err(Failure::input(format!("there is nothing like {reveal:?} to reveal"))),
    };
    let whole::Choice { protocol, sender, sent, rounds, seconds } =
        whole::choose(revealed, rows, keys, &terms(&networks, prices)?)?;
    Ok(WholeChoice { protocol, sender, sent, rounds, seconds })
}

/// How more than two parties match.
#[derive(IntoPyObject)]
pub struct LeaderChoice {
    protocol: &'static str,
    leader: usize,
    sent: Vec<u64>,
    rounds: u64,
    seconds: f64,
}

/// Who of more than two parties finds the matches, by all parties' rows.
#[pyfunction]
#[pyo3(signature = (rows, recipients, networks, *, prices=None))]
pub fn choose_leader(
    rows: Vec<usize>,
    recipients: Vec<usize>,
    networks: Networks,
    prices: Option<&str>,
) -> Result<LeaderChoice> {
    let leader::Choice { leader, sent, rounds, seconds } =
        leader::choose(&rows, &recipients, &terms(&networks, prices)?)?;
    Ok(LeaderChoice { protocol: leader::PROTOCOL, leader, sent, rounds, seconds })
}

/// The network that a match reckons with, as latency and bandwidth, and whether anybody declares one.
#[pyfunction]
pub fn declared_network(networks: Networks) -> (f64, f64, bool) {
    let Terms { link, declared, .. } = Terms::of(&networks, Default::default());
    (link.latency, link.bandwidth, declared)
}
