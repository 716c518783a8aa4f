//! The declared costs of the engine's primitives.

use std::time::Duration;

use tacit_math::{network, plane::words_for};
use tacit_net::{Cost, Traffic};
use tacit_ot::ole;
use tacit_ot::ole::matrices::{self, Sizes};
use tacit_ot::silent::lookup::{self, WIDTH};

use super::garbled::{self, Batches, Circuit, Transfers};
use super::lookups::{ENTRIES, carry, parts, table};
use super::prices::{Prices, Processor, Work};
use super::products::batches::batches;
use super::products::bit_product::need_of;
use super::products::matrices::sizes;
use super::products::multiply;
use super::products::truncate::NARROW;
use super::rows::Layout;
use super::rows::shuffle::revealed;
use super::strategy::{self, Way};
use super::terms::{self, Terms};
use super::transfers::account::{Account, Foreseen, made_for};
use super::transfers::{BATCH, Order, streams};
use super::{NODES, in_both_directions, in_direction};
use crate::backends::cost::{Costs, Needs, Ordered, Products};
use crate::circuits::Evaluation;
use crate::{Form, Link, Shape};

/// The formulas of [`super::Two`].
#[derive(Default)]
pub struct TwoCosts {
    accounts: [Account; NODES],
    turn: usize,
    /// Whether labels of garbled circuits can be transferred.
    transfers: bool,
    /// Whether there are keys for oblivious linear evaluation.
    evaluates: bool,
    /// Whether OTs have been streamed.
    streamed: bool,
    terms: Terms,
    /// What is made ahead, if it is.
    ahead: Option<Foreseen>,
    processor: Processor,
}

/// Which directions a product of bits and ring elements uses: node d gives the elements.
type Directions = [bool; NODES];

fn plane_bytes(rows: usize) -> u64 {
    8 * words_for(rows) as u64
}

fn both(rounds: u64, sent: u64) -> Cost {
    Cost::alike(NODES, rounds, sent)
}

impl TwoCosts {
    /// Making what is missing of the OTs needed in each direction, unless that is done ahead, and taking them.
    fn stock(&mut self, need: [usize; NODES]) -> Cost {
        let mut cost = both(0, 0);
        match &mut self.ahead {
            Some(ahead) => ahead.note(need),
            None => {
                let orders = made_for(&mut self.accounts, need, &self.terms);
                orders.iter().for_each(|order| cost += order.cost(&mut self.streamed, &mut self.processor));
            }
        }
        cost
    }

    /// OTs that are made when they are used.
    fn streamed(&mut self, counts: [usize; NODES]) -> Cost {
        self.processor.add(Work::StreamedOt, counts.iter().sum());
        let first = !std::mem::replace(&mut self.streamed, true);
        self.processor.add(Work::BaseOts, first.into());
        streams::cost(first, counts)
    }

    fn bit_products(&mut self, rows: &[usize], directions: &[Directions], bytes: usize) -> Cost {
        let batches = batches(rows);
        let needs: Vec<_> = batches.iter().map(|batch| need_of(batch, |job| directions[job])).collect();
        let streamed = terms::streams(&self.terms, needs.iter().flatten().sum::<usize>() / NODES);
        let mut cost = both(u64::from(streamed), 0);
        for (batch, need) in batches.iter().zip(needs) {
            let mut sent = vec![0; NODES];
            for segment in batch {
                for sender in (0..NODES).filter(|&d| directions[segment.job][d]) {
                    self.processor.add(Work::BitProduct, segment.rows * bytes.div_ceil(8));
                    sent[sender] += (segment.rows * bytes) as u64;
                    sent[1 - sender] += plane_bytes(segment.rows);
                }
            }
            cost += if streamed { self.streamed(need) } else { self.stock(need) };
            cost += Cost { rounds: 1, sent };
        }
        cost
    }

    /// Lookups for `groups` groups of planes, for each of which the sender sends `words_sent` words for a word of rows.
    fn lookups(&mut self, rows: usize, groups: usize, words_sent: usize) -> Cost {
        self.processor.add(Work::Lookup, rows * groups);
        let words = parts(rows).map(|part| groups * part.len());
        let mut cost = self.made_lookups([0, 1].map(|direction| 64 * words[direction]));
        let sent = |node: usize| 8 * (words_sent * words[node] + WIDTH * words[1 - node]) as u64;
        cost += Cost { rounds: 3, sent: (0..NODES).map(sent).collect() };
        cost
    }

    /// Making the given numbers of lookups of each direction, and the stock that they take.
    fn made_lookups(&mut self, counts: [usize; NODES]) -> Cost {
        let begins = |d: usize| self.accounts[d].begins_lookups(counts[d]);
        let mut cost = in_both_directions(|d| lookup::extension_cost(begins(d), counts[d]));
        let need = [0, 1].map(|direction| self.accounts[direction].for_lookups(counts[direction]));
        cost += self.stock(need);
        cost
    }

    /// Streamed lookups of `digits` digits of each row, strings of `bits` bits.
    fn looked_up(&mut self, rows: usize, digits: usize, bits: usize) -> Cost {
        let mut cost = self.streamed([0; NODES]);
        self.processor.add(Work::StreamedOt, table::WIDTH * rows * digits);
        self.processor.add(Work::StreamedLookup, rows * digits);
        cost += table::cost(rows, digits, bits);
        cost
    }

    /// Lookups of the digits of each row, strings of `bits` bits, for each of which a silent one's sender sends
    /// `words_sent` words for a word of rows.
    fn looked_up_by(&mut self, way: Way, rows: usize, bits: usize, words_sent: usize) -> Cost {
        match way {
            Way::Streamed(digits) => self.looked_up(rows, digits, bits),
            Way::Silent(digits) => self.lookups(rows, digits, words_sent),
        }
    }

    /// Elements of `bytes` bytes chosen by digits.
    fn chosen(&mut self, rows: usize, bytes: usize) -> Cost {
        let lookups = 64 * words_for(rows);
        self.processor.add(Work::Choice, NODES * rows * bytes.div_ceil(8));
        let mut cost = self.made_lookups([lookups; NODES]);
        cost += both(3, (rows * ENTRIES * bytes) as u64 + WIDTH as u64 * plane_bytes(rows));
        cost
    }

    /// A garbled circuit on `rows` rows, of whose inputs node 1 knows a part of `transferred`
    /// ([`super::Two::garbled`]).
    pub fn garbled(&mut self, circuit: &Circuit, rows: usize, transferred: usize) -> Cost {
        let mut cost = both(0, 0);
        if rows == 0 {
            return cost;
        }
        if transferred > 0 && !self.transfers {
            self.transfers = true;
            cost += in_direction(0, Transfers::setup_cost());
        }
        self.processor.add(Work::GarbledAnd, rows * circuit.ands());
        self.processor.add(Work::GarbledInput, rows * transferred);
        let batches = Batches::new(circuit, rows, transferred);
        let asked = batches.iter().map(|(_, rows)| Transfers::bytes_asked(rows, transferred)).sum();
        cost += Cost { rounds: 2, sent: vec![(32 * rows * circuit.ands()) as u64, asked] };
        cost
    }

    /// Keys for oblivious linear evaluation, unless there are some.
    fn keys(&mut self) -> Traffic {
        let first = !std::mem::replace(&mut self.evaluates, true);
        self.processor.add(Work::ProductKeys, first.into());
        if first { ole::setup_cost() } else { Traffic::default() }
    }

    /// Products of `bytes` bytes by oblivious linear evaluation.
    pub(super) fn evaluated(&mut self, products: usize, bytes: usize) -> Cost {
        let evaluations = products * strategy::evaluations(8 * bytes);
        self.processor.add(Work::Product, evaluations);
        let mut cost = in_direction(0, self.keys() + ole::cost(evaluations));
        cost += self.bit_products(&[evaluations], &[[true; NODES]], bytes);
        cost
    }

    /// Products of `bytes` bytes by transfers.
    pub(super) fn transferred(&mut self, products: usize, bytes: usize) -> Cost {
        let bits = 8 * bytes;
        let ots = multiply::transfers(products, bits);
        let mut cost = self.stock([ots; NODES]);
        self.processor.add(Work::ProductBit, NODES * ots);
        cost += both(1, (ots / bits * (1 + multiply::packed_elements(bits)) * bytes) as u64);
        cost
    }

    /// One node's permutation of n rows.
    fn permutation(&mut self, owner: usize, n: usize, layout: &Layout) -> Cost {
        let mut cost = both(0, 0);
        for switches in network::batches(network::switches(n), BATCH) {
            let mut need = [0; NODES];
            need[1 - owner] = switches.next_multiple_of(64);
            cost += self.stock(need);
            self.processor.add(Work::Switch, switches);
            self.processor.add(Work::SwitchedLane, switches * layout.lanes());
            let mut sent = vec![0; NODES];
            sent[owner] = plane_bytes(switches);
            sent[1 - owner] = (switches * layout.bytes()) as u64;
            cost += Cost { rounds: 2, sent };
        }
        cost
    }

    /// Those of both nodes, of two bundles together.
    fn permutations(&mut self, shape: Shape, reveal: Shape) -> Cost {
        let layout = Layout::of(shape, reveal);
        let mut cost = self.permutation(0, shape.rows, &layout);
        cost += self.permutation(1, shape.rows, &layout);
        cost
    }
}

impl Costs for TwoCosts {
    type Order = Order;
    type Prices = Prices;

    const COMPONENTS: usize = 1;
    const INJECT_AT_MOST: usize = 128;
    const SIGNS: bool = true;
    const SUMS_PRODUCTS: bool = false;
    const GARBLES: bool = true;

    fn and(&mut self, groups: &[Products]) -> Cost {
        let (mut cost, mut sent) = (both(0, 0), 0);
        let ots = 64 * groups.iter().map(|group| words_for(group.rows)).sum::<usize>();
        let streamed = terms::streams(&self.terms, ots);
        if streamed {
            cost += self.streamed([ots; NODES]);
            cost += both(1, 0);
        }
        for group in groups {
            self.processor.add(Work::And, group.rows * group.count);
            self.processor.add(Work::CommonFactor, if streamed { 0 } else { group.rows });
            let words = words_for(group.rows);
            for start in (0..words).step_by(BATCH / 64).filter(|_| !streamed) {
                let ots = 64 * (words - start).min(BATCH / 64);
                cost += self.stock([ots, ots]);
            }
            sent += (group.count as u64 + 1) * plane_bytes(group.rows);
        }
        cost += both(1, sent);
        cost
    }

    fn evaluate(&mut self, what: Evaluation, rows: usize) -> Option<(Cost, usize)> {
        let (terms, bits) = (&self.terms, carry::BITS);
        match what {
            Evaluation::Whole(function) => strategy::garbles(terms, function, rows)
                .then(|| (self.garbled(&garbled::circuit(function), rows, function.inputs()), function.outputs())),
            Evaluation::Conjunctions { planes } => strategy::conjunction(terms, rows, planes)
                .map(|way| (self.looked_up_by(way, rows, 1, ENTRIES), way.conjoined(planes).1)),
            Evaluation::Carries { width, summands: true } => strategy::carries(terms, rows, width)
                .map(|way| (self.looked_up_by(way, rows, bits, carry::SENT), bits * way.digits())),
            Evaluation::Carries { width, summands: false } => strategy::carries_of_planes(terms, rows, width)
                .map(|digits| (self.looked_up(rows, digits, bits), bits * digits)),
        }
    }

    fn declare(&mut self, link: Link) {
        self.terms.link = link;
    }

    fn price(&mut self, prices: Prices) {
        self.terms.prices = prices.clone();
        self.processor = Processor::new(prices);
    }

    fn processor(&mut self) -> Duration {
        self.processor.take()
    }

    fn make_ahead(&mut self) {
        self.ahead.get_or_insert_default();
    }

    fn needs(&mut self) -> Needs {
        self.ahead.as_mut().map(Foreseen::take).unwrap_or_default()
    }

    fn orders(&mut self, steps: &[Needs]) -> Vec<Ordered<Order>> {
        self.ahead.as_mut().map(|ahead| ahead.orders(steps, &self.terms)).unwrap_or_default()
    }

    fn unforeseen(&mut self, needs: &Needs) -> Vec<Ordered<Order>> {
        self.ahead.as_mut().map(|ahead| ahead.unforeseen(needs, &self.terms)).unwrap_or_default()
    }

    fn inner_products(&mut self, outputs: &[Products], bytes: usize) -> Cost {
        let products = outputs.iter().map(|output| output.rows * output.count).sum();
        if products == 0 {
            return both(0, 0);
        }
        if strategy::evaluates(products) { self.evaluated(products, bytes) } else { self.transferred(products, bytes) }
    }

    fn is_whole(form: &Form, bytes: usize) -> bool {
        strategy::multiplies_matrices(form, bytes)
    }

    fn whole(&mut self, forms: &[Form], bytes: usize) -> (Cost, u64) {
        let (sizes, bits): (Vec<Sizes>, _) = (forms.iter().map(sizes).collect(), 8 * bytes as u32);
        let work = matrices::work(&sizes, bits);
        self.processor.add(Work::MatrixPolynomial, work.polynomials);
        self.processor.add(Work::MatrixProduct, work.products);
        (in_direction(0, self.keys() + matrices::cost(&sizes, bits)), work.memory as u64)
    }

    fn inject(&mut self, rows: &[usize], bytes: usize) -> Cost {
        let next = |_: &usize| {
            self.turn = (self.turn + 1) % NODES;
            [self.turn == 0, self.turn == 1]
        };
        let directions: Vec<Directions> = rows.iter().map(next).collect();
        self.bit_products(rows, &directions, bytes)
    }

    fn split_product(&mut self, rows: &[usize], products: usize, bytes: usize) -> Cost {
        let outputs: Vec<Products> = rows.iter().map(|&rows| Products { rows, count: products }).collect();
        self.inner_products(&outputs, bytes)
    }

    fn truncate(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost {
        let mut cost = self.and(&rows.iter().map(|&rows| Products { rows, count: 1 }).collect::<Vec<_>>());
        cost += self.inject(rows, if by <= NARROW { size_of::<u32>() } else { bytes });
        cost
    }

    fn truncate_apart(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost {
        self.truncate(rows, by, bytes)
    }

    fn multiply_truncate(&mut self, outputs: &[Products], by: usize, bytes: usize) -> Cost {
        let mut cost = self.inner_products(outputs, bytes);
        cost += self.truncate(&outputs.iter().map(|output| output.rows).collect::<Vec<_>>(), by, bytes);
        cost
    }

    fn select(&mut self, rows: &[usize], bytes: usize) -> Cost {
        self.bit_products(rows, &vec![[true; NODES]; rows.len()], bytes)
    }

    fn scan_product(&mut self, rows: usize, bits: usize) -> Cost {
        let bytes = size_of::<u32>();
        let mut cost = self.inject(&vec![rows; bits], bytes);
        cost += if strategy::chooses(rows, bits) {
            self.chosen(rows, bytes)
        } else {
            self.select(&vec![rows; bits], bytes)
        };
        cost
    }

    fn summands(&mut self, _rows: &[usize], _width: usize) -> Cost {
        both(0, 0)
    }

    fn mask(&mut self, _rows: usize, _width: usize) -> Cost {
        both(0, 0)
    }

    fn unmask(&mut self, rows: usize, width: usize) -> Cost {
        Cost { rounds: 1, sent: vec![width as u64 * plane_bytes(rows), 0] }
    }

    fn shuffle(&mut self, shape: Shape) -> Cost {
        self.permutations(shape, Shape { rows: shape.rows, ..Shape::default() })
    }

    fn shuffle_reveal(&mut self, shape: Shape, reveal: Shape) -> Cost {
        let mut cost = self.permutations(shape, reveal);
        cost += both(1, (reveal.rows * revealed(reveal).bytes()) as u64);
        cost
    }

    fn input(&mut self, _owner: usize, _shape: Shape) -> Cost {
        both(0, 0)
    }

    fn open(&mut self, shape: Shape, recipients: &[usize]) -> Cost {
        let mut cost = both(1, 0);
        recipients.iter().for_each(|&r| cost.sent[1 - r] += shape.bytes());
        cost
    }

    fn announce(&mut self, owner: usize) -> Cost {
        let mut cost = both(1, 0);
        cost.sent[owner] = 8;
        cost
    }
}
