//! Which protocol computes an operation: a function of public sizes and of the declared link, the same at both nodes
//! and in the declared costs.
//!
//! Whether a circuit is garbled or goes gate by gate follows from the time that both would take. Gate by gate costs
//! rounds, garbling costs bytes: on a slow network few rows are garbled, on a fast one, or with many rows, none. Gate
//! by gate is reckoned with what the engine does then: ANDs and lookups by OTs from the stock or, many of them on a
//! fast link, by streamed ones. Both nodes and the declared costs decide alike, because it is a function of public
//! sizes, the declared link and the prices that both agree on. Without a link, nothing is garbled.

use tacit_math::plane::words_for;
use tacit_ot::silent::lookup;

use super::lookups::{ENTRIES, table};
use super::prices::{Prices, Work};
use super::transfers::streams;
use crate::Link;
use crate::circuits::Function;

/// The least number of silent lookups that are made. Below, ANDs take less traffic if the stock is made by silent OT.
const LEAST: usize = 1 << 16;

/// From this number of products on, a block of evaluations takes less time and fewer bytes than transfers, on any link.
pub(super) const MANY: usize = 1 << 13;

/// How digits are looked up, with the number of digits of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By streamed transfers.
    Streamed(usize),
    /// By silent ones.
    Silent(usize),
}

impl Way {
    /// Digits of a row.
    pub(super) fn digits(self) -> usize {
        match self {
            Self::Streamed(digits) | Self::Silent(digits) => digits,
        }
    }

    /// Where the digits are groups of planes: how many planes are conjoined, and how many there are in the end. One
    /// plane may be missing of the last streamed group.
    pub(super) fn conjoined(self, planes: usize) -> (usize, usize) {
        let (groups, conjoined) = match self {
            Self::Streamed(groups) => (groups, planes.min(groups * table::WIDTH)),
            Self::Silent(groups) => (groups, groups * lookup::WIDTH),
        };
        (conjoined, groups + planes - conjoined)
    }

    /// How `streamed` or `silent` digits of each row are looked up, unless gates are better.
    fn of(link: Option<Link>, rows: usize, streamed: usize, silent: usize) -> Option<Self> {
        if streams::is_fast(link) {
            looks_up(link, rows, streamed).then_some(Self::Streamed(streamed))
        } else {
            (64 * words_for(rows) * silent >= LEAST).then_some(Self::Silent(silent))
        }
    }
}

/// How `planes` planes are conjoined, unless ANDs are better.
pub(super) fn conjunction(link: Option<Link>, rows: usize, planes: usize) -> Option<Way> {
    Way::of(link, rows, (planes + 1) / table::WIDTH, planes / lookup::WIDTH)
}

/// How the carries of numbers of `width` bits are found, of which each node knows one, unless gates are better.
pub(super) fn carries(link: Option<Link>, rows: usize, width: usize) -> Option<Way> {
    Way::of(link, rows, width.div_ceil(table::WIDTH), width.div_ceil(lookup::WIDTH))
}

/// Into how many digits two shared numbers of `width` bits go, if that is better than gates.
pub(super) fn carries_of_planes(link: Option<Link>, rows: usize, width: usize) -> Option<usize> {
    let digits = width.div_ceil(table::PAIRS);
    looks_up(link, rows, digits).then_some(digits)
}

/// Whether `digits` digits of each row are looked up by streamed transfers.
fn looks_up(link: Option<Link>, rows: usize, digits: usize) -> bool {
    streams::streams(link, table::counts(rows, digits)[0])
}

/// Whether elements for digits of `values` nonzero values, of `rows` rows, are looked up.
pub(super) fn chooses(rows: usize, values: usize) -> bool {
    values == ENTRIES && 64 * words_for(rows) >= LEAST
}

/// Whether `products` products are made by oblivious linear evaluation.
pub(super) fn evaluates(products: usize) -> bool {
    products >= MANY
}

/// What a row takes of something.
#[derive(Clone, Copy)]
struct Price {
    /// While both nodes compute.
    seconds: f64,
    /// From the node that sends more.
    bytes: f64,
}

impl Price {
    /// An AND, or some with a common factor: an OT of each direction from the stock.
    fn and(prices: &Prices) -> Self {
        let [ot, factor, and] = [Work::SilentOt, Work::CommonFactor, Work::And].map(|work| prices.seconds(work));
        Self { seconds: 2.0 * ot + factor + and, bytes: 1.0 }
    }

    /// The same with streamed OTs.
    fn streamed_and(prices: &Prices) -> Self {
        Self { seconds: 2.0 * prices.seconds(Work::StreamedOt) + prices.seconds(Work::And), bytes: 8.3 }
    }

    /// A silent lookup in one direction, of which every other row has none.
    fn lookup(prices: &Prices) -> Self {
        Self { seconds: prices.seconds(Work::Lookup), bytes: 1.2 }
    }

    /// A streamed lookup: four OTs of one direction.
    fn streamed_lookup(prices: &Prices) -> Self {
        Self { seconds: 4.0 * prices.seconds(Work::StreamedOt) + prices.seconds(Work::StreamedLookup), bytes: 18.0 }
    }
}

/// Bytes of a garbled AND.
const GARBLED_BYTES: f64 = 32.0;

/// Rounds of a garbled circuit.
const GARBLED_ROUNDS: f64 = 2.0;

/// What is reckoned for a circuit.
struct Reckoning<'a> {
    prices: &'a Prices,
    link: Link,
    rows: usize,
    seconds: f64,
}

impl<'a> Reckoning<'a> {
    fn new(prices: &'a Prices, link: Link, rows: usize) -> Self {
        Self { prices, link, rows, seconds: 0.0 }
    }

    /// Adds rounds, in which every row takes `count` at a price.
    fn add(&mut self, rounds: usize, count: usize, price: Price) {
        self.seconds += rounds as f64 * self.link.latency;
        self.seconds += (self.rows * count) as f64 * (price.seconds + price.bytes / self.link.bandwidth);
    }

    /// Adds `count` ANDs a row on `levels` levels.
    fn add_ands(&mut self, levels: usize, count: usize) {
        if streams::streams(Some(self.link), self.rows * count / levels.max(1)) {
            self.add(2 * levels, count, Price::streamed_and(self.prices));
        } else {
            self.add(levels, count, Price::and(self.prices));
        }
    }

    /// Adds the lookups of all digits.
    fn add_lookups(&mut self, way: Way) {
        match way {
            Way::Streamed(digits) => self.add(2, digits, Price::streamed_lookup(self.prices)),
            Way::Silent(digits) => self.add(3, digits, Price::lookup(self.prices)),
        }
    }

    /// Adds what finds a function's carry.
    fn add_carry(&mut self, function: Function, way: Option<Way>) {
        let Some(way) = way else { return self.add_ands(function.rounds(), function.shallow_gates()) };
        self.add_lookups(way);
        self.add_ands(levels(way.digits()), way.digits() - 1);
    }

    /// Adds the conjunction of planes, level by level.
    fn add_conjunction(&mut self, mut planes: usize) {
        while planes > 1 {
            let way = conjunction(Some(self.link), self.rows, planes);
            match way {
                None => self.add_ands(1, planes / 2),
                Some(way) => self.add_lookups(way),
            }
            planes = way.map_or(planes.div_ceil(2), |way| way.conjoined(planes).1);
        }
    }
}

/// Levels of a tree of pairs.
fn levels(leaves: usize) -> usize {
    leaves.next_power_of_two().ilog2() as usize
}

/// Whether garbling takes less time, on a declared link.
pub(super) fn garbles(prices: &Prices, link: Option<Link>, function: Function, rows: usize) -> bool {
    link.filter(|_| rows > 0).is_some_and(|link| {
        garbled_seconds(prices, link, function, rows) < gate_by_gate_seconds(prices, link, function, rows)
    })
}

fn gate_by_gate_seconds(prices: &Prices, link: Link, function: Function, rows: usize) -> f64 {
    let mut reckoning = Reckoning::new(prices, link, rows);
    match function {
        Function::SumSign { width } => reckoning.add_carry(function, carries(Some(link), rows, width - 1)),
        Function::All { planes } => reckoning.add_conjunction(planes),
        Function::LessThan { width } => {
            let way = carries_of_planes(Some(link), rows, width).map(Way::Streamed);
            reckoning.add_carry(function, way);
        }
        Function::Sum { .. } => reckoning.add_ands(function.rounds(), function.shallow_gates()),
    }
    reckoning.seconds
}

/// Tables leave while the next ones are made.
fn garbled_seconds(prices: &Prices, link: Link, function: Function, rows: usize) -> f64 {
    let each = |count: usize, price: f64| (rows * count) as f64 * price;
    let computing = each(function.least_gates(), prices.seconds(Work::GarbledAnd));
    let sending = each(function.least_gates(), GARBLED_BYTES / link.bandwidth);
    let asking = each(function.inputs(), prices.seconds(Work::GarbledInput));
    GARBLED_ROUNDS * link.latency + asking + computing.max(sending)
}

#[cfg(test)]
mod tests {
    use super::{Function, LEAST, Link, Prices, Way, Work, carries, conjunction, looks_up, lookup};

    const COMPARISON: Function = Function::LessThan { width: 32 };
    const SIGN: Function = Function::SumSign { width: 33 };

    /// At the default prices.
    fn garbles(link: Link, function: Function, rows: usize) -> bool {
        super::garbles(&Prices::default(), Some(link), function, rows)
    }

    #[test]
    fn few_rows_on_a_slow_network_are_garbled() {
        let far = Link { latency: 0.06, bandwidth: 125e6 };
        assert!(garbles(far, COMPARISON, 1_000) && garbles(far, COMPARISON, 10_000));
        assert!(!garbles(far, COMPARISON, 1_000_000), "bytes cost more than rounds");
        assert!(!garbles(far, COMPARISON, 0), "nothing to compute takes no rounds");
        assert!(!garbles(far, Function::All { planes: 2 }, 1), "one gate is one round");
    }

    #[test]
    fn bytes_decide_on_a_network_of_one_place() {
        let near = Link { latency: 0.00005, bandwidth: 200e6 };
        for function in [COMPARISON, SIGN, Function::All { planes: 61 }] {
            assert!(garbles(near, function, 10) && !garbles(near, function, 1_000_000), "{function:?}");
        }
        assert!(!garbles(near, COMPARISON, 100_000));
    }

    #[test]
    fn what_is_streamed_on_a_fast_network_is_not_garbled() {
        let fast = Link { latency: 0.0001, bandwidth: 1e9 };
        for function in [COMPARISON, SIGN, Function::All { planes: 61 }] {
            assert!(garbles(fast, function, 100) && !garbles(fast, function, 1 << 18), "{function:?}");
        }
    }

    #[test]
    fn where_garbling_is_dear_nothing_is_garbled() {
        let far = Link { latency: 0.06, bandwidth: 125e6 };
        let mut table = Prices::default().table();
        table.insert(Work::GarbledAnd, 1_000_000_000);
        let dear = Prices::try_from(table).expect("a table");
        assert!(garbles(far, COMPARISON, 1_000) && !super::garbles(&dear, Some(far), COMPARISON, 1_000));
    }

    #[test]
    fn few_planes_are_conjoined_by_ands() {
        assert_eq!(conjunction(None, LEAST, lookup::WIDTH - 1), None);
        assert_eq!(conjunction(None, LEAST, lookup::WIDTH), Some(Way::Silent(1)));
        assert_eq!(conjunction(None, LEAST - 64, lookup::WIDTH), None);
        assert_eq!(conjunction(None, 1, lookup::WIDTH * LEAST / 64 + 1), Some(Way::Silent(LEAST / 64)));
    }

    #[test]
    fn three_planes_more_are_a_group_if_they_are_streamed() {
        let fast = Some(Link { latency: 1e-4, bandwidth: 1e9 });
        let after = |planes| conjunction(fast, 1 << 17, planes).map(|way| way.conjoined(planes));
        assert_eq!([1, 2, 3, 4].map(after), [None, None, Some((3, 1)), Some((4, 1))]);
        assert_eq!([5, 6, 7, 61].map(after), [Some((4, 2)), Some((4, 3)), Some((7, 2)), Some((60, 16))]);
        assert_eq!(Way::Silent(20).conjoined(61), (60, 21));
    }

    #[test]
    fn few_rows_go_gate_by_gate() {
        assert_eq!(carries(None, 100, 32), None);
        assert_eq!(carries(None, 1 << 16, 32), Some(Way::Silent(11)));
        assert_eq!(carries(None, 1 << 16, 1), Some(Way::Silent(1)));
        let fast = Some(Link { latency: 1e-4, bandwidth: 1e9 });
        assert_eq!(carries(fast, 1 << 13, 32), None);
        assert_eq!(carries(fast, 1 << 14, 32), Some(Way::Streamed(8)));
    }

    #[test]
    fn many_digits_on_a_fast_link_are_looked_up() {
        let link = |bandwidth| Some(Link { latency: 1e-4, bandwidth });
        assert!(looks_up(link(1e9), 1 << 14, 8) && !looks_up(link(1e9), 1 << 13, 8));
        assert!(!looks_up(link(1e8), 1 << 20, 8) && !looks_up(None, 1 << 20, 8));
    }
}
