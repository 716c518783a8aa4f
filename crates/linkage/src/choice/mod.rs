//! How a match runs: protocol, roles, bins and workers, by public sizes, the declared network and the prices that all
//! agree on, so that all parties choose alike.
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

/// The basis of a choice, equal at all parties of a match.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The network between any two of them.
    pub link: Link,
    /// Whether anybody has declared a network.
    pub declared: bool,
    /// What protocols take of a processor.
    pub prices: Prices,
}

impl Terms {
    /// The worst of the networks that the parties declare, each by its latency (seconds, 0 if it is not declared) and
    /// its bandwidth (bytes a second, if it is declared). What none declares is as for everything else.
    pub fn of(networks: &[(f64, Option<f64>)], prices: Prices) -> Self {
        let latency = networks.iter().map(|network| network.0).fold(0.0, f64::max);
        let bandwidth = networks.iter().filter_map(|network| network.1).reduce(f64::min);
        let assumed = Link::UNDECLARED;
        let link = Link {
            latency: if latency > 0.0 { latency } else { assumed.latency },
            bandwidth: bandwidth.unwrap_or(assumed.bandwidth),
        };
        Self { link, declared: latency > 0.0 || bandwidth.is_some(), prices }
    }
}

/// What is cheapest of some options, the first of equal ones.
fn cheapest<T>(options: Vec<T>, seconds: impl Fn(&T) -> f64) -> Option<T> {
    options.into_iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
}

#[cfg(test)]
mod tests {
    use super::{Link, Prices, Terms};

    #[test]
    fn the_worst_of_what_is_declared_counts() {
        let terms = |networks: &[(f64, Option<f64>)]| {
            let Terms { link, declared, .. } = Terms::of(networks, Prices::default());
            (link.latency, link.bandwidth, declared)
        };
        let Link { latency, bandwidth } = Link::UNDECLARED;
        assert_eq!(terms(&[(0.0, None), (0.0, None)]), (latency, bandwidth, false));
        assert_eq!(terms(&[(0.02, None), (0.01, Some(1e6))]), (0.02, 1e6, true));
        assert_eq!(terms(&[(0.0, Some(2e6)), (0.0, Some(3e6))]), (latency, 2e6, true));
    }
}
