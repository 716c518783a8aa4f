//! The rows of two tables that match, bin by bin.

use tacit_net::{Cost, PartyId, Traffic};
use tacit_ot::Adversary;
use tacit_psi::alignment::{self, Learns, role};
use tacit_psi::choice::sizes_of;
use tacit_psi::{Declared, Role, binning};

use super::{Seconds, Terms, cheapest};
use crate::error::MatchError;
use crate::family;
use crate::repetitions::Places;
use crate::wrong_input::WrongInput;

/// Bytes that a worker keeps at most for each token of a bin while it is matched.
pub const BYTES_PER_TOKEN: u64 = 512;

/// Least tokens a bin, however little memory there is.
const LEAST: u64 = 1 << 10;

/// The candidates without a request for a protocol. Each is semi-honest and the fastest on some network.
const AUTOMATIC: [&str; 3] = ["vole", "vole-compact", "dh"];

/// The protocol that the parties ask for.
#[derive(Clone, Copy, Debug)]
pub enum Protocol<'a> {
    /// The one that takes the least time.
    Fastest,
    /// By its name.
    Named(&'a str),
    /// One from elsewhere, of which nothing is known but its name. The first party receives.
    Elsewhere(&'a str),
}

impl Protocol<'_> {
    /// Whether the requested protocol is secure against malicious parties.
    fn withstands_deviations(self) -> Result<bool, MatchError> {
        match self {
            Self::Named(name) => Ok(family::named(name, 1)?.adversary() == Adversary::Malicious),
            Self::Fastest | Self::Elsewhere(_) => Ok(false),
        }
    }
}

/// The request of both parties. Parties are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The protocol.
    pub protocol: Protocol<'a>,
    /// Who learns the matches, if only one does.
    pub alone: Option<usize>,
    /// The number of bins, if they ask for one.
    pub bins: Option<usize>,
}

/// The announcement of a party.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Rows of its table.
    pub rows: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// How many bins it can match at once.
    pub workers: usize,
}

/// The reason for the number of bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The parties.
    Asked,
    /// Nothing: all tokens are in one.
    None,
    /// The tokens a bin for which protocols are fastest.
    Caches,
    /// The memory of the party that has less, but where parties may deviate.
    Memory,
}

/// How a match runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The protocol's name.
    pub protocol: String,
    /// Who plays its sender.
    pub sender: usize,
    /// How many bins.
    pub bins: usize,
    /// How many of them at once.
    pub workers: usize,
    /// Each party's padded size of a bin.
    pub capacities: [usize; 2],
    /// Payload bytes that each party sends, and rounds of one worker.
    pub cost: Cost,
    /// The predicted time.
    pub seconds: Seconds,
    /// The protocols that were not chosen, with their times on the network that all agree on.
    pub others: Vec<(String, f64)>,
    /// The reason for the number of bins.
    pub limit: Limit,
    /// Tokens of a bin that were aimed at.
    pub tokens: usize,
    /// Bytes that all workers need together.
    pub need: u64,
    /// Bytes of memory for all workers. The bins do not fit if the workers need more.
    pub memory: u64,
}

/// Both parties' choice, from what both announce.
///
/// # Errors
/// [`MatchError::Input`] for a protocol or a number of bins that there is not.
pub fn choose(asked: &Asked<'_>, offers: [Offer; 2], terms: &Terms) -> Result<Choice, MatchError> {
    let rows = offers.map(|offer| offer.rows);
    let memory = offers[0].memory.min(offers[1].memory);
    let offered = offers[0].workers.min(offers[1].workers).clamp(1, binning::AT_ONCE);
    let malicious = asked.protocol.withstands_deviations()?;
    // More bins let a party that deviates ask about more items, and it may declare as little memory as it likes.
    let for_bins = (!malicious).then_some(memory);
    let (bins, tokens, limit) = bins(asked.bins, rows[0].max(rows[1]), for_bins, offered)?;
    let capacities = rows.map(|rows| binning::capacity(rows, bins));
    let each = BYTES_PER_TOKEN.saturating_mul(capacities[0].max(capacities[1]) as u64);
    let fitting = if malicious { usize::try_from(memory / each).unwrap_or(usize::MAX) } else { usize::MAX };
    let workers = offered.min(fitting).clamp(1, bins);
    let need = each.saturating_mul(workers as u64);
    let run = Run { rows, bins, workers, capacities, alone: asked.alone };
    let options = match asked.protocol {
        Protocol::Fastest => AUTOMATIC.iter().map(|name| run.by(name, terms)).collect::<Result<_, _>>()?,
        Protocol::Named(name) => vec![run.by(name, terms)?],
        Protocol::Elsewhere(name) => vec![run.elsewhere(name, terms)],
    };
    let others = |chosen: &str| {
        let others = options.iter().filter(|option| option.name != chosen);
        others.map(|option| (option.name.clone(), option.seconds.agreed)).collect()
    };
    let Candidate { name, sender, cost, seconds } =
        cheapest(options.clone(), |option| option.seconds).ok_or(WrongInput::NoChoice)?;
    Ok(Choice {
        others: others(&name),
        protocol: name,
        sender,
        bins,
        workers,
        capacities,
        cost,
        seconds,
        limit,
        tokens,
        need,
        // Padding may exceed by a little what was divided evenly.
        memory: if asked.bins.is_some() { memory } else { memory.saturating_mul(2) },
    })
}

/// How many bins, the tokens of each that were aimed at, and why. memory: what all workers' bins are to fit into.
fn bins(
    asked: Option<usize>,
    rows: usize,
    memory: Option<u64>,
    workers: usize,
) -> Result<(usize, usize, Limit), MatchError> {
    let fitting = |memory| LEAST.max(memory / (BYTES_PER_TOKEN * workers as u64));
    let fitting = memory.and_then(|memory| usize::try_from(fitting(memory)).ok()).unwrap_or(usize::MAX);
    let tokens = fitting.min(binning::FAVOURED);
    match asked {
        Some(bins) if bins == 0 || bins > binning::MOST => {
            Err(WrongInput::BinCount { bins, most: binning::MOST }.into())
        }
        Some(bins) => Ok((bins, tokens, Limit::Asked)),
        None => Ok(match rows.div_ceil(tokens).clamp(1, binning::MOST) {
            1 => (1, tokens, Limit::None),
            bins if tokens == binning::FAVOURED => (bins, tokens, Limit::Caches),
            bins => (bins, tokens, Limit::Memory),
        }),
    }
}

/// The public sizes of a run.
struct Run {
    rows: [usize; 2],
    bins: usize,
    workers: usize,
    capacities: [usize; 2],
    alone: Option<usize>,
}

/// A protocol in its cheaper roles, and what it costs.
#[derive(Clone)]
struct Candidate {
    name: String,
    sender: usize,
    cost: Cost,
    seconds: Seconds,
}

impl Run {
    /// Both parties learn unless one does alone.
    fn learns(&self) -> Learns {
        if self.alone.is_some() { Learns::Receiver } else { Learns::Both }
    }

    /// By a protocol of this room.
    fn by(&self, name: &str, terms: &Terms) -> Result<Candidate, MatchError> {
        let protocol = family::named(name, self.bins)?;
        let [first, second] = self.capacities;
        let first = role(protocol.as_ref(), first, second, true, self.alone.map(|party| party == 0));
        let sizes = sizes_of(first, self.capacities);
        let Declared { setup, online } = alignment::declared(protocol.as_ref(), sizes, self.learns());
        let sender = usize::from(first == Role::Receiver);
        let all = setup * self.workers as u64 + online * self.bins as u64;
        // All workers are set up at the same time, and match a bin each at the same time.
        let turns = self.bins.div_ceil(self.workers) as u64;
        let matching = Traffic { rounds: setup.rounds + turns * online.rounds, ..all };
        let mut cost = matching.between(PartyId(sender), PartyId(1 - sender), 2);
        if self.alone.is_none() {
            // How often keys repeat: as long for any keys.
            let matches = self.capacities[0].min(self.capacities[1]);
            let counts = self.rows.map(|rows| (self.bins * Places::new(matches, rows, self.bins).bytes()) as u64);
            cost += Cost { rounds: turns, sent: counts.to_vec() };
        }
        Ok(self.candidate(name, sender, cost, terms))
    }

    /// By one from elsewhere, which declares nothing.
    fn elsewhere(&self, name: &str, terms: &Terms) -> Candidate {
        self.candidate(name, self.alone.map_or(1, |party| 1 - party), Cost::alike(2, 0, 0), terms)
    }

    fn candidate(&self, name: &str, sender: usize, cost: Cost, terms: &Terms) -> Candidate {
        let items = self.bins as f64 * self.capacities.iter().sum::<usize>() as f64;
        let busiest = cost.sent.iter().copied().max().unwrap_or(0);
        // Both directions carry at the same time.
        let seconds = terms.seconds(terms.prices.seconds(name, items), cost.rounds, busiest);
        Candidate { name: name.to_owned(), sender, cost, seconds }
    }
}

#[cfg(test)]
mod tests {
    use tacit_net::Link;
    use tacit_psi::Prices;

    use super::{Asked, Limit, Offer, Protocol, Terms, choose};

    const GIB: u64 = 1 << 30;

    fn offer(rows: usize) -> Offer {
        Offer { rows, memory: 3 * GIB, workers: 2 }
    }

    fn terms(latency: f64, bandwidth: Option<f64>) -> Terms {
        let mut link = Link::UNDECLARED;
        if latency > 0.0 {
            link.latency = latency;
        }
        link.bandwidth = bandwidth.unwrap_or(link.bandwidth);
        Terms::of(link, Prices::default())
    }

    const AUTOMATIC: Asked<'static> = Asked { protocol: Protocol::Fastest, alone: None, bins: None };

    /// Protocol, sender, bins, workers.
    #[test]
    fn what_is_chosen_follows_from_sizes_and_network() {
        let near = (0.0, None);
        let (far, thin, slow) = ((0.1, None), (0.0, Some(1.25e6)), (0.02, Some(12.5e6)));
        let expected = [
            ([0, 0], near, ("dh", 1, 1, 1)),
            ([0, 0], far, ("dh", 1, 1, 1)),
            ([0, 0], thin, ("dh", 1, 1, 1)),
            ([0, 0], slow, ("dh", 1, 1, 1)),
            ([100, 100], near, ("dh", 1, 1, 1)),
            ([100, 100], far, ("dh", 1, 1, 1)),
            ([100, 100], thin, ("dh", 1, 1, 1)),
            ([100, 100], slow, ("dh", 1, 1, 1)),
            ([2_000, 2_000], near, ("vole", 1, 1, 1)),
            ([2_000, 2_000], far, ("dh", 1, 1, 1)),
            ([2_000, 2_000], thin, ("dh", 1, 1, 1)),
            ([2_000, 2_000], slow, ("dh", 1, 1, 1)),
            ([5_000, 5_000], near, ("vole", 1, 1, 1)),
            ([5_000, 5_000], far, ("dh", 1, 1, 1)),
            ([5_000, 5_000], thin, ("vole", 1, 1, 1)),
            ([5_000, 5_000], slow, ("vole", 1, 1, 1)),
            ([10, 100_000], near, ("vole", 1, 1, 1)),
            ([10, 100_000], far, ("vole", 1, 1, 1)),
            ([10, 100_000], thin, ("vole-compact", 1, 1, 1)),
            ([10, 100_000], slow, ("vole-compact", 1, 1, 1)),
            ([100_000, 10], near, ("vole", 0, 1, 1)),
            ([100_000, 10], far, ("vole", 0, 1, 1)),
            ([100_000, 10], thin, ("vole-compact", 0, 1, 1)),
            ([100_000, 10], slow, ("vole-compact", 0, 1, 1)),
            ([50_000, 50_000], near, ("vole", 1, 1, 1)),
            ([50_000, 50_000], far, ("vole", 1, 1, 1)),
            ([50_000, 50_000], thin, ("vole-compact", 1, 1, 1)),
            ([50_000, 50_000], slow, ("vole", 1, 1, 1)),
            ([1_048_576, 1_048_576], near, ("vole", 1, 1, 1)),
            ([1_048_576, 1_048_576], far, ("vole", 1, 1, 1)),
            ([1_048_576, 1_048_576], thin, ("vole-compact", 1, 1, 1)),
            ([1_048_576, 1_048_576], slow, ("vole-compact", 1, 1, 1)),
            ([1_048_577, 7], near, ("vole", 0, 2, 2)),
            ([1_048_577, 7], far, ("vole", 0, 2, 2)),
            ([1_048_577, 7], thin, ("vole-compact", 0, 2, 2)),
            ([1_048_577, 7], slow, ("vole-compact", 0, 2, 2)),
            ([100_000_000, 100_000_000], near, ("vole", 1, 96, 2)),
            ([100_000_000, 100_000_000], far, ("vole", 1, 96, 2)),
            ([100_000_000, 100_000_000], thin, ("vole-compact", 1, 96, 2)),
            ([100_000_000, 100_000_000], slow, ("vole", 1, 96, 2)),
        ];
        for (rows, (latency, bandwidth), chosen) in expected {
            let found = choose(&AUTOMATIC, rows.map(offer), &terms(latency, bandwidth)).expect("a choice");
            let found = (&*found.protocol, found.sender, found.bins, found.workers);
            assert_eq!(found, chosen, "{rows:?} at {latency} s, {bandwidth:?}");
        }
    }

    #[test]
    fn who_learns_alone_receives() {
        for alone in [0, 1] {
            for protocol in [Protocol::Fastest, Protocol::Named("kkrt"), Protocol::Elsewhere("magic")] {
                let asked = Asked { protocol, alone: Some(alone), bins: None };
                let found = choose(&asked, [offer(10), offer(1_000)], &terms(0.0, None)).expect("a choice");
                assert_eq!(found.sender, 1 - alone);
            }
        }
    }

    #[test]
    fn bins_follow_from_memory_and_caches() {
        let bins = |memory, workers| {
            let offer = Offer { rows: 10_000_000, memory, workers };
            let found = choose(&AUTOMATIC, [offer, Offer { memory: 64 * GIB, ..offer }], &terms(0.0, None));
            found.map(|found| (found.bins, found.workers, found.limit)).expect("a choice")
        };
        assert_eq!(bins(3 * GIB, 1), (10, 1, Limit::Caches));
        assert_eq!(bins(GIB / 4, 1), (20, 1, Limit::Memory));
        assert_eq!(bins(GIB / 4, 4), (77, 4, Limit::Memory));
        assert_eq!(bins(64 * GIB, 5_000), (20, 20, Limit::Memory));
        assert_eq!(bins(1024 * GIB, 5_000), (20, 20, Limit::Memory), "of the party that has less");
    }

    /// Bins follow from rows alone, workers from memory.
    #[test]
    fn a_peer_with_little_memory_gets_no_more_bins_to_ask_in() {
        let asked = Asked { protocol: Protocol::Named("vole-malicious"), alone: None, bins: None };
        let chosen = |memory, workers| {
            let (mine, peer) = (Offer { rows: 16_777_216, memory: 64 * GIB, workers: 8 }, 10_000_000);
            let found = choose(&asked, [mine, Offer { rows: peer, memory, workers }], &terms(0.0, None));
            let found = found.expect("a choice");
            assert_eq!(found.limit, Limit::Caches);
            (found.bins, found.workers, found.need <= found.memory)
        };
        assert_eq!([GIB / 1024, GIB / 2, 3 * GIB].map(|memory| chosen(memory, 8).0), [16; 3]);
        assert_eq!(chosen(3 * GIB, 8), (16, 5, true));
        assert_eq!(chosen(GIB / 1024, 8), (16, 1, false));
    }

    #[test]
    fn what_there_is_not_is_refused() {
        let refused = |protocol, bins| {
            let asked = Asked { protocol: Protocol::Named(protocol), alone: None, bins };
            choose(&asked, [offer(10), offer(10)], &terms(0.0, None)).expect_err("it is none").to_string()
        };
        assert!(refused("magic", None).starts_with("there is no protocol \"magic\""));
        assert_eq!(refused("dh", Some(0)), "0 bins; choose from 1 to 16384");
        assert_eq!(refused("dh", Some(1 << 15)), "32768 bins; choose from 1 to 16384");
    }
}
