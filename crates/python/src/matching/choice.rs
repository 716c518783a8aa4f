//! How a match runs, as all its parties choose alike.

use pyo3::prelude::*;
use tacit_linkage::choice::bins::{self, Asked, Limit, Offer, Protocol};
use tacit_linkage::choice::whole::{self, Revealed};
use tacit_linkage::choice::{Terms, leader};

use super::announced::Announcement;
use crate::fault::{Failure, Result};
use crate::prices;

fn terms(all: &[Announcement], table: Option<&str>) -> Result<Terms> {
    Ok(Terms::of(&networks(all), prices::read(table)?.matching))
}

fn networks(all: &[Announcement]) -> Vec<(f64, Option<f64>)> {
    all.iter().map(|Announcement(told)| (told.latency, told.bandwidth)).collect()
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

/// How the rows of two tables are matched. alone: who learns, if only one does. plugin: the name of a protocol from
/// elsewhere.
#[pyfunction]
#[pyo3(signature = (announced, *, protocol=None, plugin=None, alone=None, bins=None, prices=None))]
pub fn choose_bins(
    announced: [Announcement; 2],
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
    let terms = terms(&announced, prices)?;
    let offers = announced.map(|Announcement(told)| Offer {
        rows: told.rows as usize,
        memory: told.memory,
        workers: told.workers as usize,
    });
    Ok(bins::choose(&Asked { protocol, alone, bins }, offers, &terms)?.into())
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

/// How two parties learn what they reveal in place of rows. receiver: of numbers.
#[pyfunction]
#[pyo3(signature = (reveal, announced, *, keys=1, method=None, receiver=0, prices=None))]
pub fn choose_whole(
    reveal: &str,
    announced: [Announcement; 2],
    keys: usize,
    method: Option<&str>,
    receiver: usize,
    prices: Option<&str>,
) -> Result<WholeChoice> {
    let revealed = match reveal {
        "ids" if keys > 1 => Revealed::IdsByKeys,
        "ids" => Revealed::Ids(method),
        "shares" => Revealed::Shares(announced.each_ref().map(|Announcement(told)| told.columns.len())),
        "cardinality" | "sum" if receiver < 2 => Revealed::Numbers { receiver, summed: reveal == "sum" },
        _ => return Err(Failure::input(format!("there is nothing like {reveal:?} to reveal"))),
    };
    let sizes = announced.each_ref().map(|Announcement(told)| told.rows as usize);
    let whole::Choice { protocol, sender, sent, rounds, seconds } =
        whole::choose(revealed, sizes, keys, &terms(&announced, prices)?)?;
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

/// Who of more than two parties finds the matches.
#[pyfunction]
#[pyo3(signature = (announced, recipients, *, prices=None))]
pub fn choose_leader(
    announced: Vec<Announcement>,
    recipients: Vec<usize>,
    prices: Option<&str>,
) -> Result<LeaderChoice> {
    let sizes: Vec<usize> = announced.iter().map(|Announcement(told)| told.rows as usize).collect();
    let leader::Choice { leader, sent, rounds, seconds } =
        leader::choose(&sizes, &recipients, &terms(&announced, prices)?)?;
    Ok(LeaderChoice { protocol: leader::PROTOCOL, leader, sent, rounds, seconds })
}

/// The network that a match reckons with, as latency and bandwidth, and whether anybody declares one.
#[pyfunction]
pub fn declared_network(announced: Vec<Announcement>) -> (f64, f64, bool) {
    let Terms { link, declared, .. } = Terms::of(&networks(&announced), Default::default());
    (link.latency, link.bandwidth, declared)
}
