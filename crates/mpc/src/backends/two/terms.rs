//! What protocols are chosen by, besides public sizes: the network and the prices, and what a row takes by them.

use tacit_ot::silent::lookup;

use super::prices::{Prices, Work};
use crate::Link;

/// Bits of a digit that streamed transfers look up, an OT for each.
pub(super) const DIGIT: usize = 4;

/// From this number of OTs of a direction on they are streamed, or made as streamed ones for the stock. A price decides
/// about each OT, not about this number: the streams' base OTs serve all operations of a session, of which nobody knows
/// the next. Four of this size pay for them.
const STREAMED_FROM: usize = 1 << 18;

/// What protocols are chosen by: the same at both nodes and in the declared costs.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    /// The network between the nodes.
    pub(super) link: Link,
    /// What work takes.
    pub(super) prices: Prices,
}

#[cfg(test)]
impl Terms {
    /// On a link, at the default prices.
    pub(super) fn of(link: Link) -> Self {
        Self { link, prices: Prices::default() }
    }
}

/// What a row takes of something.
#[derive(Clone, Copy)]
pub(super) struct Price {
    /// While both nodes compute.
    pub(super) seconds: f64,
    /// From the node that sends more.
    pub(super) bytes: f64,
}

impl Price {
    /// An AND, or some with a common factor: an OT of each direction from the stock.
    pub(super) fn and(prices: &Prices) -> Self {
        let [ot, factor, and] = [Work::SilentOt, Work::CommonFactor, Work::And].map(|work| prices.seconds(work));
        Self { seconds: 2.0 * ot + factor + and, bytes: 1.0 }
    }

    /// The same with streamed OTs.
    pub(super) fn streamed_and(prices: &Prices) -> Self {
        Self { seconds: 2.0 * prices.seconds(Work::StreamedOt) + prices.seconds(Work::And), bytes: 8.3 }
    }

    /// A silent lookup in one direction, of which every other row has none.
    pub(super) fn lookup(prices: &Prices) -> Self {
        Self { seconds: prices.seconds(Work::Lookup), bytes: 1.2 }
    }

    /// A streamed lookup: four OTs of one direction.
    pub(super) fn streamed_lookup(prices: &Prices) -> Self {
        Self {
            seconds: DIGIT as f64 * prices.seconds(Work::StreamedOt) + prices.seconds(Work::StreamedLookup),
            bytes: 18.0,
        }
    }
}

/// Whether the link is one on which large operations have their OTs streamed: lookups take less time so, for each plane
/// that they save. Of all operations lookups gain the least by streams, so that on such a link every one gains.
pub(super) fn is_fast(terms: &Terms) -> bool {
    let saved = |price: Price, planes: usize| (price.seconds + price.bytes / terms.link.bandwidth) / planes as f64;
    let [streamed, silent] = [Price::streamed_lookup(&terms.prices), Price::lookup(&terms.prices)];
    saved(streamed, DIGIT - 1) < saved(silent, lookup::WIDTH - 1)
}

/// Whether `ots` OTs of each direction are streamed.
pub(super) fn streams(terms: &Terms, ots: usize) -> bool {
    ots >= STREAMED_FROM && is_fast(terms)
}

#[cfg(test)]
mod tests {
    use super::{Price, Prices, STREAMED_FROM, Terms, Work, is_fast};
    use crate::Link;

    const FAST: Link = Link { latency: 1e-4, bandwidth: 1e9 };

    /// At the default prices a link is fast from 0.85 GB/s on; where streamed OTs are dear, no link is.
    #[test]
    fn prices_decide_which_link_is_fast() {
        let on = |bandwidth| Terms::of(Link { latency: 1e-4, bandwidth });
        assert!(is_fast(&on(8.6e8)) && !is_fast(&on(8.4e8)));
        let mut table = Prices::default().table();
        table.insert(Work::StreamedOt, 20_000);
        assert!(!is_fast(&Terms { prices: Prices::try_from(table).expect("a table"), ..on(1e12) }));
    }

    /// Seconds of a row.
    fn seconds(price: Price, link: Link) -> f64 {
        price.seconds + price.bytes / link.bandwidth
    }

    #[test]
    fn an_and_gains_more_by_streams_than_a_lookup() {
        let prices = Prices::default();
        let gains = |bandwidth| {
            let link = Link { latency: 0.0, bandwidth };
            seconds(Price::and(&prices), link) > seconds(Price::streamed_and(&prices), link)
        };
        assert!(gains(8.5e8) && gains(4e8) && !gains(1e8));
    }

    #[test]
    fn four_operations_pay_for_the_base_ots_of_streams() {
        let prices = Prices::default();
        let saved = seconds(Price::and(&prices), FAST) - seconds(Price::streamed_and(&prices), FAST);
        let pays = |operations: f64, ots: usize| {
            operations * (ots as f64 * saved - FAST.latency) > prices.seconds(Work::BaseOts)
        };
        assert!(pays(4.0, STREAMED_FROM) && !pays(1.0, STREAMED_FROM) && !pays(4.0, STREAMED_FROM / 4));
    }
}
