//! How a match runs, as all its parties choose alike.

use pyo3::prelude::*;
use tacit_linkage::choice::bins::{self, Limit, Offer};
use tacit_linkage::choice::{Terms, leader, whole};
use tacit_net::Cost;

use super::announced::Announcement;
use super::plan::MatchPlan;
use crate::fault::Result;
use crate::prices;

fn terms(plan: &MatchPlan, all: &[Announcement]) -> Result<Terms> {
    Ok(Terms::of(&networks(all), prices::read(plan.0.prices.as_deref())?.matching))
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
    sent: Vec<u64>,
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
        let bins::Choice { protocol, sender, bins, workers, capacities, cost, seconds, .. } = choice;
        let bins::Choice { others, tokens, need, memory, .. } = choice;
        let Cost { rounds, sent } = cost;
        Self { protocol, sender, bins, workers, capacities, sent, rounds, seconds, others, limit, tokens, need, memory }
    }
}

/// How the rows of two tables are matched.
#[pyfunction]
pub fn choose_bins(plan: &Bound<'_, MatchPlan>, announced: [Announcement; 2]) -> Result<BinsChoice> {
    let (plan, terms) = (plan.get(), terms(plan.get(), &announced)?);
    let offers = announced.map(|Announcement(told)| Offer {
        rows: told.rows as usize,
        memory: told.memory,
        workers: told.workers as usize,
    });
    Ok(bins::choose(&plan.0.asked()?, offers, &terms)?.into())
}

/// How something is computed from two whole tables.
#[derive(IntoPyObject)]
pub struct WholeChoice {
    protocol: String,
    sender: usize,
    sent: Vec<u64>,
    rounds: u64,
    seconds: f64,
}

/// How two parties learn what they reveal in place of rows.
#[pyfunction]
pub fn choose_whole(plan: &Bound<'_, MatchPlan>, announced: [Announcement; 2]) -> Result<WholeChoice> {
    let plan = plan.get();
    let revealed = plan.0.revealed(announced.each_ref().map(|Announcement(told)| told.columns.len()))?;
    let sizes = announced.each_ref().map(|Announcement(told)| told.rows as usize);
    let whole::Choice { protocol, sender, cost: Cost { rounds, sent }, seconds } =
        whole::choose(revealed, sizes, plan.0.keys.len(), &terms(plan, &announced)?)?;
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
pub fn choose_leader(plan: &Bound<'_, MatchPlan>, announced: Vec<Announcement>) -> Result<LeaderChoice> {
    let plan = plan.get();
    let sizes: Vec<usize> = announced.iter().map(|Announcement(told)| told.rows as usize).collect();
    let leader::Choice { leader, cost: Cost { rounds, sent }, seconds } =
        leader::choose(&sizes, &plan.0.recipients()?, &terms(plan, &announced)?)?;
    Ok(LeaderChoice { protocol: leader::PROTOCOL, leader, sent, rounds, seconds })
}

/// The network that a match reckons with, as latency and bandwidth, and whether anybody declares one.
#[pyfunction]
pub fn declared_network(announced: Vec<Announcement>) -> (f64, f64, bool) {
    let Terms { link, declared, .. } = Terms::of(&networks(&announced), Default::default());
    (link.latency, link.bandwidth, declared)
}
