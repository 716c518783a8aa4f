//! The declared costs of the engine's primitives, and with what probability they fail.

use tacit_math::plane::words_for;
use tacit_net::Cost;

use super::compare::circuit;
use super::truncate::NARROW;
use super::{HOLDERS, NODES, S1, S2, SA, SB, failure};
use crate::Shape;
use crate::backends::cost::{Costs, Products};
use crate::backends::two::garbled::{Batches, Transfers};

/// The formulas of [`super::Four`].
#[derive(Default)]
pub struct FourCosts {
    /// Whether the OTs of comparisons have been set up.
    compared: bool,
    failure: f64,
}

fn plane_bytes(rows: usize) -> u64 {
    8 * words_for(rows) as u64
}

fn servers(rounds: u64) -> Cost {
    Cost::alike(NODES, rounds, 0)
}

/// Protocol 1, of factors and for results of as many bytes: a primary server sends its share of each factor once, an
/// assistant what it shares of each result.
fn products(factors: u64, results: u64) -> Cost {
    let mut cost = servers(2);
    (cost.sent[S1.0], cost.sent[S2.0]) = (factors, factors);
    (cost.sent[SA.0], cost.sent[SB.0]) = (results, results);
    cost
}

fn bytes_of(elements: usize, bytes: usize) -> u64 {
    (elements * bytes) as u64
}

fn sums(outputs: &[Products], bytes: usize) -> Cost {
    let factors = outputs.iter().map(|output| 2 * output.rows * output.count).sum();
    products(bytes_of(factors, bytes), bytes_of(outputs.iter().map(|output| output.rows).sum(), bytes))
}

fn maps(lengths: &[[usize; 3]], bytes: usize) -> Cost {
    let all = |which: usize| lengths.iter().map(|lengths| lengths[which]).sum::<usize>();
    products(bytes_of(all(0) + all(1), bytes), bytes_of(all(2), bytes))
}

/// One product for each row.
fn once(rows: &[usize]) -> Vec<Products> {
    rows.iter().map(|&rows| Products { rows, count: 1 }).collect()
}

impl FourCosts {
    /// Numbers that are re-randomised, with how far they may be from zero.
    fn may_wrap(&mut self, numbers: usize, most: u128, bytes: usize) {
        self.failure += failure::of_numbers(numbers, most, 8 * bytes as u32);
    }
}

impl Costs for FourCosts {
    /// Nothing is made ahead.
    type Order = std::convert::Infallible;
    /// What an operator takes is priced by its rows.
    type Prices = ();

    const COMPONENTS: usize = 1;
    const HOLDERS: Option<usize> = Some(HOLDERS);
    const INJECT_AT_MOST: usize = 6;
    const SUMS_PRODUCTS: bool = false;
    const FAILS: bool = true;

    fn failure(&mut self) -> f64 {
        std::mem::take(&mut self.failure)
    }

    fn and(&mut self, groups: &[Products]) -> Cost {
        let bytes = groups.iter().map(|group| group.count as u64 * plane_bytes(group.rows)).sum::<u64>();
        products(2 * bytes, bytes)
    }

    fn inner_products(&mut self, outputs: &[Products], bytes: usize) -> Cost {
        sums(outputs, bytes)
    }

    fn bilinear(&mut self, lengths: &[[usize; 3]], bytes: usize) -> Option<Cost> {
        Some(maps(lengths, bytes))
    }

    fn multiply_within(
        &mut self,
        outputs: &[Products],
        _by: usize,
        bytes: usize,
        within: &[[u128; 2]],
    ) -> Option<Cost> {
        for (output, factors) in outputs.iter().zip(within) {
            factors.iter().for_each(|&most| self.may_wrap(output.rows * output.count, most, bytes));
        }
        Some(sums(outputs, bytes))
    }

    fn bilinear_within(
        &mut self,
        lengths: &[[usize; 3]],
        _by: usize,
        bytes: usize,
        within: &[[u128; 2]],
    ) -> Option<Cost> {
        for (lengths, factors) in lengths.iter().zip(within) {
            lengths.iter().zip(factors).for_each(|(&length, &most)| self.may_wrap(length, most, bytes));
        }
        Some(maps(lengths, bytes))
    }

    fn truncate_within(&mut self, rows: &[usize], _by: usize, bytes: usize, within: &[u128]) -> Option<Cost> {
        rows.iter().zip(within).for_each(|(&rows, &most)| self.may_wrap(rows, most, bytes));
        Some(servers(0))
    }

    fn sign_within(&mut self, rows: usize, width: usize, bytes: usize) -> Option<Cost> {
        if !failure::compares(width, 8 * bytes as u32) {
            return None;
        }
        self.may_wrap(rows, 1 << (width - 1), bytes);
        let mut cost = compared(rows, bytes, &mut self.compared);
        cost.sent[SB.0] += plane_bytes(rows);
        Some(cost)
    }

    fn inject(&mut self, rows: &[usize], bytes: usize) -> Cost {
        sums(&once(rows), bytes)
    }

    fn scan_product(&mut self, rows: usize, bits: usize) -> Cost {
        let mut cost = self.inject(&vec![rows; bits], size_of::<u32>());
        cost += sums(&[Products { rows, count: bits }], size_of::<u32>());
        cost
    }

    fn split_product(&mut self, rows: &[usize], products: usize, bytes: usize) -> Cost {
        sums(&rows.iter().map(|&rows| Products { rows, count: products }).collect::<Vec<_>>(), bytes)
    }

    fn truncate(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost {
        sums(&once(rows), if by <= NARROW { size_of::<u32>() } else { bytes })
    }

    fn truncate_apart(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost {
        self.truncate(rows, by, bytes)
    }

    fn multiply_truncate(&mut self, outputs: &[Products], by: usize, bytes: usize) -> Cost {
        let mut cost = sums(outputs, bytes);
        cost += self.truncate(&outputs.iter().map(|output| output.rows).collect::<Vec<_>>(), by, bytes);
        cost
    }

    fn summands(&mut self, _rows: &[usize], _width: usize) -> Cost {
        servers(0)
    }

    fn mask(&mut self, _rows: usize, _width: usize) -> Cost {
        servers(0)
    }

    fn unmask(&mut self, rows: usize, width: usize) -> Cost {
        let mut cost = servers(1);
        cost.sent[S1.0] = width as u64 * plane_bytes(rows);
        cost
    }

    fn shuffle(&mut self, shape: Shape) -> Cost {
        Cost::alike(NODES, 2, shape.bytes())
    }

    fn shuffle_reveal(&mut self, shape: Shape, reveal: Shape) -> Cost {
        let mut cost = Cost::alike(NODES, 2, shape.bytes());
        for (server, sent) in cost.sent.iter_mut().enumerate() {
            *sent += reveal.bytes() * if server < HOLDERS { 1 } else { NODES as u64 - 1 };
        }
        cost
    }

    fn input(&mut self, owner: usize, shape: Shape) -> Cost {
        let mut cost = servers(1);
        cost.sent[owner] = if owner < HOLDERS { 0 } else { shape.bytes() };
        cost
    }

    fn open(&mut self, shape: Shape, recipients: &[usize]) -> Cost {
        let mut cost = servers(1);
        for holder in 0..HOLDERS {
            let others = recipients.iter().filter(|&&recipient| recipient != holder).count() as u64;
            cost.sent[holder] = others * shape.bytes();
        }
        cost
    }

    fn announce(&mut self, owner: usize) -> Cost {
        let mut cost = servers(1);
        cost.sent[owner] = 8 * (NODES as u64 - 1);
        cost
    }
}

/// Protocol 2 but for what Sb shares of the result. set_up: whether there are OTs already.
fn compared(rows: usize, bytes: usize, set_up: &mut bool) -> Cost {
    let mut cost = servers(2);
    if rows == 0 {
        return cost;
    }
    (cost.sent[S1.0], cost.sent[S2.0]) = (bytes_of(rows, bytes), bytes_of(rows, bytes));
    if !std::mem::replace(set_up, true) {
        cost += Transfers::setup_cost().between(SA, SB, NODES);
    }
    let (circuit, transferred) = (circuit(8 * bytes), 8 * bytes + 1);
    let batches = Batches::new(&circuit, rows, transferred);
    let asked = batches.iter().map(|(_, rows)| Transfers::bytes_asked(rows, transferred)).sum();
    let mut garbled = servers(2);
    garbled.sent[SA.0] = (32 * rows * circuit.ands()) as u64 + 3 * plane_bytes(rows);
    garbled.sent[SB.0] = asked;
    cost += garbled;
    cost
}
