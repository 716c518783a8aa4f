//! Which protocol computes an operation: a function of public sizes and of the link, the same at both nodes
//! and in the declared costs.
//!
//! Whether a circuit is garbled or goes gate by gate follows from the time that both would take. Gate by gate costs
//! rounds, garbling costs bytes: on a slow network few rows are garbled, on a fast one, or with many rows, none. Gate
//! by gate is reckoned with what the engine does then: ANDs and lookups by OTs from the stock or, many of them on a
//! fast link, by streamed ones. Both nodes and the declared costs decide alike, because it is a function of public
//! sizes, the link and the prices that both agree on. An undeclared link is [`crate::Link::UNDECLARED`], here as
//! everywhere.

use tacit_math::plane::words_for;
use tacit_ot::ole::{self, matrices};
use tacit_ot::silent::lookup;

use super::lookups::{ENTRIES, table};
use super::prices::Work;
use super::products::matrices::sizes;
use super::terms::{Price, Terms, is_fast, streams};
use crate::Form;
use crate::circuits::Function;

/// The least number of silent lookups that are made. An extension of silent OT begins with trees whose traffic does not
/// shrink with the lookups. Below this number ANDs take less traffic, and save no more than rounds in time.
const LEAST: usize = 1 << 16;

/// From this number of products on, evaluations take less time than transfers, keys included, and fewer bytes. No link
/// changes that, so none is asked.
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
    fn of(terms: &Terms, rows: usize, streamed: usize, silent: usize) -> Option<Self> {
        if is_fast(terms) {
            looks_up(terms, rows, streamed).then_some(Self::Streamed(streamed))
        } else {
            (64 * words_for(rows) * silent >= LEAST).then_some(Self::Silent(silent))
        }
    }
}

/// How `planes` planes are conjoined, unless ANDs are better.
pub(super) fn conjunction(terms: &Terms, rows: usize, planes: usize) -> Option<Way> {
    Way::of(terms, rows, (planes + 1) / table::WIDTH, planes / lookup::WIDTH)
}

/// How the carries of numbers of `width` bits are found, of which each node knows one, unless gates are better.
pub(super) fn carries(terms: &Terms, rows: usize, width: usize) -> Option<Way> {
    Way::of(terms, rows, width.div_ceil(table::WIDTH), width.div_ceil(lookup::WIDTH))
}

/// Into how many digits two shared numbers of `width` bits go, if that is better than gates.
pub(super) fn carries_of_planes(terms: &Terms, rows: usize, width: usize) -> Option<usize> {
    let digits = width.div_ceil(table::PAIRS);
    looks_up(terms, rows, digits).then_some(digits)
}

/// Whether `digits` digits of each row are looked up by streamed transfers.
fn looks_up(terms: &Terms, rows: usize, digits: usize) -> bool {
    streams(terms, table::counts(rows, digits)[0])
}

/// Whether elements for digits of `values` nonzero values, of `rows` rows, are looked up.
pub(super) fn chooses(rows: usize, values: usize) -> bool {
    values == ENTRIES && 64 * words_for(rows) >= LEAST
}

/// Whether `products` products are made by oblivious linear evaluation.
pub(super) fn evaluates(products: usize) -> bool {
    products >= MANY
}

/// The evaluations that a product of `bits` bits takes.
pub(super) fn evaluations(bits: usize) -> usize {
    if bits > 64 { 3 } else { 1 }
}

/// Whether a map over a ring of `bytes` bytes an element is made as a product of matrices. It is if that takes many
/// products one by one, and no fewer bytes. Matrices take no more rounds than many products, and no link changes bytes.
pub(super) fn multiplies_matrices(form: &Form, bytes: usize) -> bool {
    let sizes = sizes(form);
    let products = sizes.products();
    let counted = products.and_then(|products| products.checked_mul(evaluations(8 * bytes)));
    // More evaluations would not end, and a word might not count their bytes.
    let Some(evaluations) = counted.filter(|&evaluations| evaluations < 1 << 56) else { return true };
    let one_by_one = || ole::cost(evaluations).sender + (evaluations * bytes) as u64;
    products.is_some_and(evaluates) && matrices::cost(&[sizes], 8 * bytes as u32).sender <= one_by_one()
}

/// Bytes of a garbled AND.
const GARBLED_BYTES: f64 = 32.0;

/// Rounds of a garbled circuit.
const GARBLED_ROUNDS: f64 = 2.0;

/// What is reckoned for a circuit.
struct Reckoning<'a> {
    terms: &'a Terms,
    rows: usize,
    seconds: f64,
}

impl<'a> Reckoning<'a> {
    fn new(terms: &'a Terms, rows: usize) -> Self {
        Self { terms, rows, seconds: 0.0 }
    }

    /// Adds rounds, in which every row takes `count` at a price.
    fn add(&mut self, rounds: usize, count: usize, price: Price) {
        self.seconds += rounds as f64 * self.terms.link.latency;
        self.seconds += (self.rows * count) as f64 * (price.seconds + price.bytes / self.terms.link.bandwidth);
    }

    /// Adds `count` ANDs a row on `levels` levels.
    fn add_ands(&mut self, levels: usize, count: usize) {
        if streams(self.terms, self.rows * count / levels.max(1)) {
            self.add(2 * levels, count, Price::streamed_and(&self.terms.prices));
        } else {
            self.add(levels, count, Price::and(&self.terms.prices));
        }
    }

    /// Adds the lookups of all digits.
    fn add_lookups(&mut self, way: Way) {
        match way {
            Way::Streamed(digits) => self.add(2, digits, Price::streamed_lookup(&self.terms.prices)),
            Way::Silent(digits) => self.add(3, digits, Price::lookup(&self.terms.prices)),
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
            let way = conjunction(self.terms, self.rows, planes);
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

/// Whether garbling takes less time.
pub(super) fn garbles(terms: &Terms, function: Function, rows: usize) -> bool {
    rows > 0 && garbled_seconds(terms, function, rows) < gate_by_gate_seconds(terms, function, rows)
}

fn gate_by_gate_seconds(terms: &Terms, function: Function, rows: usize) -> f64 {
    let mut reckoning = Reckoning::new(terms, rows);
    match function {
        Function::SumSign { width } => reckoning.add_carry(function, carries(terms, rows, width - 1)),
        Function::All { planes } => reckoning.add_conjunction(planes),
        Function::LessThan { width } => {
            let way = carries_of_planes(terms, rows, width).map(Way::Streamed);
            reckoning.add_carry(function, way);
        }
        Function::Sum { .. } | Function::Division { .. } => {
            reckoning.add_ands(function.rounds(), function.shallow_gates());
        }
    }
    reckoning.seconds
}

/// Tables leave while the next ones are made.
fn garbled_seconds(terms: &Terms, function: Function, rows: usize) -> f64 {
    let Terms { link, prices } = terms;
    let each = |count: usize, price: f64| (rows * count) as f64 * price;
    let computing = each(function.least_gates(), prices.seconds(Work::GarbledAnd));
    let sending = each(function.least_gates(), GARBLED_BYTES / link.bandwidth);
    let asking = each(function.inputs(), prices.seconds(Work::GarbledInput));
    GARBLED_ROUNDS * link.latency + asking + computing.max(sending)
}

#[cfg(test)]
mod tests {
    use tacit_ot::Adversary;
    use tacit_ot::silent::cot;

    use super::{
        Function, LEAST, MANY, Terms, Way, Work, carries, conjunction, is_fast, looks_up, lookup, multiplies_matrices,
    };
    use crate::backends::two::costs::TwoCosts;
    use crate::backends::two::prices::Prices;
    use crate::{Link, MatrixProduct};
    use tacit_net::{Cost, Traffic};

    const COMPARISON: Function = Function::LessThan { width: 32 };
    const SIGN: Function = Function::SumSign { width: 33 };
    const FAST: Link = Link { latency: 1e-4, bandwidth: 1e9 };
    const FAR: Link = Link { latency: 0.06, bandwidth: 125e6 };

    /// At the default prices.
    fn garbles(link: Link, function: Function, rows: usize) -> bool {
        super::garbles(&Terms::of(link), function, rows)
    }

    #[test]
    fn few_rows_on_a_slow_network_are_garbled() {
        assert!(garbles(FAR, COMPARISON, 1_000) && garbles(FAR, COMPARISON, 10_000));
        assert!(!garbles(FAR, COMPARISON, 1_000_000), "bytes cost more than rounds");
        assert!(!garbles(FAR, COMPARISON, 0), "nothing to compute takes no rounds");
        assert!(!garbles(FAR, Function::All { planes: 2 }, 1), "one gate is one round");
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
        for function in [COMPARISON, SIGN, Function::All { planes: 61 }] {
            assert!(garbles(FAST, function, 100) && !garbles(FAST, function, 1 << 18), "{function:?}");
        }
    }

    /// An undeclared network is one like others.
    #[test]
    fn prices_decide_on_an_undeclared_network() {
        for function in [COMPARISON, SIGN, Function::All { planes: 61 }] {
            assert!(garbles(Link::UNDECLARED, function, 100), "{function:?}");
        }
        assert!(!garbles(Link::UNDECLARED, SIGN, 1_000_000));
        assert!(!garbles(Link::UNDECLARED, Function::All { planes: 61 }, 1_000_000));
        assert!(!is_fast(&Terms::default()));
    }

    #[test]
    fn where_garbling_is_dear_nothing_is_garbled() {
        let mut table = Prices::default().table();
        table.insert(Work::GarbledAnd, 1_000_000_000);
        let dear = Terms { link: FAR, prices: Prices::try_from(table).expect("a table") };
        assert!(garbles(FAR, COMPARISON, 1_000) && !super::garbles(&dear, COMPARISON, 1_000));
    }

    #[test]
    fn few_planes_are_conjoined_by_ands() {
        let near = Terms::default();
        assert_eq!(conjunction(&near, LEAST, lookup::WIDTH - 1), None);
        assert_eq!(conjunction(&near, LEAST, lookup::WIDTH), Some(Way::Silent(1)));
        assert_eq!(conjunction(&near, LEAST - 64, lookup::WIDTH), None);
        assert_eq!(conjunction(&near, 1, lookup::WIDTH * LEAST / 64 + 1), Some(Way::Silent(LEAST / 64)));
    }

    #[test]
    fn three_planes_more_are_a_group_if_they_are_streamed() {
        let after = |planes| conjunction(&Terms::of(FAST), 1 << 17, planes).map(|way| way.conjoined(planes));
        assert_eq!([1, 2, 3, 4].map(after), [None, None, Some((3, 1)), Some((4, 1))]);
        assert_eq!([5, 6, 7, 61].map(after), [Some((4, 2)), Some((4, 3)), Some((7, 2)), Some((60, 16))]);
        assert_eq!(Way::Silent(20).conjoined(61), (60, 21));
    }

    #[test]
    fn few_rows_go_gate_by_gate() {
        let near = Terms::default();
        assert_eq!(carries(&near, 100, 32), None);
        assert_eq!(carries(&near, 1 << 16, 32), Some(Way::Silent(11)));
        assert_eq!(carries(&near, 1 << 16, 1), Some(Way::Silent(1)));
        let fast = Terms::of(FAST);
        assert_eq!(carries(&fast, 1 << 13, 32), None);
        assert_eq!(carries(&fast, 1 << 14, 32), Some(Way::Streamed(8)));
    }

    #[test]
    fn many_digits_on_a_fast_link_are_looked_up() {
        let on = |bandwidth| Terms::of(Link { latency: 1e-4, bandwidth });
        assert!(looks_up(&on(1e9), 1 << 14, 8) && !looks_up(&on(1e9), 1 << 13, 8));
        assert!(!looks_up(&on(1e8), 1 << 20, 8) && !looks_up(&Terms::default(), 1 << 20, 8));
    }

    /// Bytes of both nodes.
    fn sent(costs: impl IntoIterator<Item = Traffic>) -> f64 {
        costs.into_iter().map(|cost| cost.sender + cost.receiver).sum::<u64>() as f64
    }

    #[test]
    fn the_least_number_of_lookups_takes_less_traffic_than_ands() {
        // Bytes of an OT that silent OT made.
        let each = sent([cot::extension_cost(Adversary::SemiHonest, 1 << 20)]) / f64::from(1 << 20);
        // An AND takes an OT of each direction and two bits of each node.
        let and = 2.0 * each + 0.5;
        // One direction, as all lookups of a row are. Strings: seven bits from the sender, three from the receiver.
        let lookups = |count: usize| {
            let (made, ots) = (lookup::extension_cost(false, count), lookup::ots(false, count));
            sent([made]) + ots as f64 * each + count as f64 * 10.0 / 8.0
        };
        let ands = |count: usize| (count * (lookup::WIDTH - 1)) as f64 * and;
        // Two directions share the lookups of an operation. Heavier noise makes larger trees.
        let most = if tacit_net::VERSION.ends_with("heavier-noise") { 2 * LEAST } else { LEAST };
        assert!(2.0 * lookups(most / 2) < ands(most));
        assert!(2.0 * lookups(LEAST / 16) > ands(LEAST / 8));
    }

    #[test]
    fn few_products_and_thin_ones_are_made_one_by_one() {
        let whole = |sizes, bytes| multiplies_matrices(&MatrixProduct::new(&(), &(), sizes).bilinear().form, bytes);
        for bytes in [8, 16] {
            assert!(whole([512; 3], bytes) && whole([1, 128, 128], bytes) && whole([1 << 20, 4, 1], bytes));
            // As many as no word counts, or whose bytes none does.
            assert!(whole([1 << 22, 1 << 21, 1 << 21], bytes) && whole([1 << 20, 1 << 20, 1 << 19], bytes));
            assert!(!whole([20; 3], bytes) && !whole([1, MANY - 1, 1], bytes) && !whole([0, 1 << 20, 1], bytes));
        }
    }

    #[test]
    fn many_products_take_less_time_and_traffic_by_evaluation() {
        for link in [Link::UNDECLARED, FAST, FAR, Link { latency: 0.02, bandwidth: 12.5e6 }] {
            let of = |products: usize, evaluated: bool| {
                let mut costs = TwoCosts::default();
                let Cost { rounds, sent } =
                    if evaluated { costs.evaluated(products, 8) } else { costs.transferred(products, 8) };
                let processor = crate::backends::cost::Costs::processor(&mut costs).as_secs_f64();
                (link.seconds(rounds, sent[0].max(sent[1])) + processor, sent[0] + sent[1])
            };
            let [evaluated, transferred] = [true, false].map(|evaluated| of(MANY, evaluated));
            assert!(evaluated.0 < transferred.0 && evaluated.1 < transferred.1, "{link:?}");
        }
    }
}
