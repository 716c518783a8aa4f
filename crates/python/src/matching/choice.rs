//! How a match runs, as all its parties choose alike.

use pyo3::prelude::*;
use tacit_linkage::choice::bins::{self, Limit, Offer};
use tacit_linkage::choice::{Seconds, Terms, leader, whole};
use tacit_net::Cost;
use tacit_run::declared_link;

use super::announced::Announcement;
use super::plan::MatchPlan;
use crate::fault::Result;
use crate::prices;

/// What the parties of a plan choose by. network: on which this party expects it to run, if that is another one.
fn terms(plan: &MatchPlan, network: Option<(f64, f64)>) -> Result<Terms> {
    let terms = Terms::of(plan.0.network(), prices::read(plan.0.prices.as_deref())?.matching);
    Ok(match network.map(declared_link).transpose()? {
        Some(network) => terms.on(network),
        None => terms,
    })
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
    expected: f64,
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
        let Seconds { agreed: seconds, expected } = seconds;
        Self {
            protocol,
            sender,
            bins,
            workers,
            capacities,
            sent,
            rounds,
            seconds,
            expected,
            others,
            limit,
            tokens,
            need,
            memory,
        }
    }
}

/// How the rows of two tables are matched. network: latency and bandwidth on which this party expects it to run, if
/// these are others than the plan's.
#[pyfunction]
#[pyo3(signature = (plan, announced, network=None))]
pub fn choose_bins(
    plan: &Bound<'_, MatchPlan>,
    announced: [Announcement; 2],
    network: Option<(f64, f64)>,
) -> Result<BinsChoice> {
    let (plan, terms) = (plan.get(), terms(plan.get(), network)?);
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
    expected: f64,
}

/// How two parties learn what they reveal in place of rows.
#[pyfunction]
#[pyo3(signature = (plan, announced, network=None))]
pub fn choose_whole(
    plan: &Bound<'_, MatchPlan>,
    announced: [Announcement; 2],
    network: Option<(f64, f64)>,
) -> Result<WholeChoice> {
    let plan = plan.get();
    let revealed = plan.0.revealed(announced.each_ref().map(|Announcement(told)| told.columns.len()))?;
    let sizes = announced.each_ref().map(|Announcement(told)| told.rows as usize);
    let whole::Choice { protocol, sender, cost: Cost { rounds, sent }, seconds } =
        whole::choose(revealed, sizes, plan.0.keys.len(), &terms(plan, network)?)?;
    let Seconds { agreed: seconds, expected } = seconds;
    Ok(WholeChoice { protocol, sender, sent, rounds, seconds, expected })
}

/// How more than two parties match.
#[derive(IntoPyObject)]
pub struct LeaderChoice {
    protocol: &'static str,
    leader: usize,
    sent: Vec<u64>,
    rounds: u64,
    seconds: f64,
    expected: f64,
}

/// Who of more than two parties finds the matches.
#[pyfunction]
#[pyo3(signature = (plan, announced, network=None))]
pub fn choose_leader(
    plan: &Bound<'_, MatchPlan>,
    announced: Vec<Announcement>,
    network: Option<(f64, f64)>,
) -> Result<LeaderChoice> {
    let plan = plan.get();
    let sizes: Vec<usize> = announced.iter().map(|Announcement(told)| told.rows as usize).collect();
    let leader::Choice { leader, cost: Cost { rounds, sent }, seconds } =
        leader::choose(&sizes, &plan.0.recipients()?, &terms(plan, network)?)?;
    let Seconds { agreed: seconds, expected } = seconds;
    Ok(LeaderChoice { protocol: leader::PROTOCOL, leader, sent, rounds, seconds, expected })
}
