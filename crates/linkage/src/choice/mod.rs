//! How a match runs: protocol, roles, bins and workers, by public sizes, the network and the prices that all agree
//! on, so that all parties choose alike. What a party simulates on its own decides nothing.
//!
//! | module | what it chooses for |
//! |---|---|
//! | [`bins`] | the rows of two tables that match, bin by bin |
//! | [`whole`] | what two parties learn in place of rows, from whole tables |
//! | [`leader`] | more than two parties |

pub mod bins;
pub mod leader;
pub mod whole;

use tacit_net::Link;
use tacit_psi::Prices;

/// The basis of a choice, equal at all parties of a match but for the network of [`Terms::on`].
#[derive(Clone, Debug)]
pub struct Terms {
    link: Link,
    network: Link,
    prices: Prices,
}

/// The time that a match is predicted to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds {
    /// On the network that all agree on, by which they choose.
    pub agreed: f64,
    /// On this party's own.
    pub expected: f64,
}

impl Terms {
    /// On the network between any two parties, at the prices of what protocols take of a processor.
    pub fn of(link: Link, prices: Prices) -> Self {
        Self { link, network: link, prices }
    }

    /// The same choices, with times to expect on another network: one that a party simulates.
    pub fn on(self, network: Link) -> Self {
        Self { network, ..self }
    }

    /// Seconds of the processor, of rounds, and of bytes one behind the other.
    fn seconds(&self, processor: f64, rounds: u64, bytes: u64) -> Seconds {
        let [agreed, expected] = [self.link, self.network].map(|network| processor + network.seconds(rounds, bytes));
        Seconds { agreed, expected }
    }
}

/// What is cheapest of some options, the first of equal ones.
fn cheapest<T>(options: Vec<T>, seconds: impl Fn(&T) -> Seconds) -> Option<T> {
    options.into_iter().min_by(|a, b| seconds(a).agreed.total_cmp(&seconds(b).agreed))
}

#[cfg(test)]
mod tests {
    use super::bins::{Asked, Offer, Protocol, choose};
    use super::{Link, Prices, Terms};

    /// A party that tries a slow network chooses as the others do, and expects to wait.
    #[test]
    fn what_a_party_simulates_changes_what_it_expects_and_no_choice() {
        let asked = Asked { protocol: Protocol::Fastest, alone: None, bins: None };
        let offer = Offer { rows: 2_000, memory: 1 << 30, workers: 1 };
        let (near, far) = (Terms::of(Link::UNDECLARED, Prices::default()), Link { latency: 0.1, bandwidth: 1e6 });
        let chosen = |terms: Terms| choose(&asked, [offer; 2], &terms).expect("a choice");
        let (plain, slow) = (chosen(near.clone()), chosen(near.on(far)));
        assert_eq!((&*plain.protocol, plain.seconds.agreed), (&*slow.protocol, slow.seconds.agreed));
        assert_eq!(plain.seconds.expected, plain.seconds.agreed);
        assert!(slow.seconds.expected > plain.seconds.expected + 0.1 * plain.cost.rounds as f64 - 0.001);
        assert_ne!(chosen(Terms::of(far, Prices::default())).protocol, plain.protocol, "where all declare it");
    }
}
