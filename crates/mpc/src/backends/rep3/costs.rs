//! The declared costs of the engine's primitives.

use super::NODES;
use super::open::sender_to;
use super::split::third;
use super::truncate::width;
use crate::Shape;
use crate::backends::cost::{Costs, Products};
use crate::backends::numbers::{self, Numbers};
use tacit_math::plane::words_for;
use tacit_net::Cost;

/// The formulas of [`super::Rep3`].
#[derive(Default)]
pub struct Rep3Costs {
    turn: usize,
}

/// Bytes of planes of these lengths.
fn plane_bytes(rows: &[usize]) -> u64 {
    rows.iter().map(|&n| 8 * words_for(n) as u64).sum()
}

fn ring_bytes(rows: &[usize], bytes: usize) -> u64 {
    rows.iter().map(|&n| (n * bytes) as u64).sum()
}

/// Two rounds in which each node deals words of a third of the rows, and the two others exchange one word.
fn dealt(rows: &[usize], by_dealer: usize, exchanged: usize) -> Cost {
    Cost { rounds: 2, ..by_thirds(rows, by_dealer, exchanged) }
}

/// Bytes from the dealer of each third of the rows, and from both other nodes.
fn by_thirds(rows: &[usize], by_dealer: usize, by_others: usize) -> Cost {
    let of = |node: usize, dealer: usize| if node == dealer { by_dealer } else { by_others };
    let sent = |node| {
        let of_rows =
            |&rows: &usize| (0..NODES).map(|dealer| third(rows, dealer).len() * of(node, dealer)).sum::<usize>();
        rows.iter().map(of_rows).sum::<usize>() as u64
    };
    Cost { rounds: 0, sent: (0..NODES).map(sent).collect() }
}

fn every_node(rounds: u64, sent: u64) -> Cost {
    Cost::alike(NODES, rounds, sent)
}

/// Elements that come out of maps.
fn outputs(lengths: &[[usize; 3]]) -> Vec<usize> {
    lengths.iter().map(|lengths| lengths[2]).collect()
}

impl Rep3Costs {
    /// Sums of products that are truncated without being shared anew.
    fn truncated_sums(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost {
        let mut cost = by_thirds(rows, 0, bytes);
        cost.rounds = 1;
        cost += self.truncate(rows, by, bytes);
        cost
    }
}

impl Costs for Rep3Costs {
    /// Nothing is made ahead.
    type Order = std::convert::Infallible;
    /// What an operator takes is priced by its rows.
    type Prices = ();

    const COMPONENTS: usize = 2;
    const INJECT_AT_MOST: usize = 6;
    const SCANS_DIGITS: bool = true;

    fn and(&mut self, groups: &[Products]) -> Cost {
        every_node(1, groups.iter().map(|group| group.count as u64 * plane_bytes(&[group.rows])).sum())
    }

    fn inner_products(&mut self, outputs: &[Products], bytes: usize) -> Cost {
        every_node(1, ring_bytes(&outputs.iter().map(|output| output.rows).collect::<Vec<_>>(), bytes))
    }

    fn bilinear(&mut self, lengths: &[[usize; 3]], bytes: usize) -> Option<Cost> {
        Some(every_node(1, ring_bytes(&outputs(lengths), bytes)))
    }

    fn bilinear_truncate(&mut self, lengths: &[[usize; 3]], by: usize, bytes: usize) -> Option<Cost> {
        Some(self.truncated_sums(&outputs(lengths), by, bytes))
    }

    fn inject(&mut self, rows: &[usize], bytes: usize) -> Cost {
        every_node(2, ring_bytes(rows, bytes))
    }

    fn scan_product(&mut self, rows: usize, bits: usize) -> Cost {
        every_node(3, ring_bytes(&vec![rows; bits + 1], Numbers::of(rows).bytes()))
    }

    fn summands(&mut self, rows: &[usize], width: usize) -> Cost {
        Cost { rounds: 1, sent: vec![width as u64 * plane_bytes(rows), 0, 0] }
    }

    fn mask(&mut self, rows: usize, width: usize) -> Cost {
        self.summands(&[rows], width)
    }

    fn unmask(&mut self, rows: usize, width: usize) -> Cost {
        let opened = width as u64 * plane_bytes(&[rows]);
        Cost { rounds: 1, sent: vec![0, opened, opened] }
    }

    fn split_product(&mut self, rows: &[usize], products: usize, bytes: usize) -> Cost {
        dealt(rows, products * bytes, bytes)
    }

    fn truncate(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost {
        dealt(rows, bytes + width(by), width(by))
    }

    fn truncate_apart(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost {
        let mut cost = self.truncate(rows, by, bytes);
        for (dealer, sent) in cost.sent.iter_mut().enumerate() {
            let thirds: Vec<usize> = rows.iter().map(|&rows| third(rows, dealer).len()).collect();
            *sent += by as u64 * plane_bytes(&thirds);
        }
        cost
    }

    fn multiply_truncate(&mut self, outputs: &[Products], by: usize, bytes: usize) -> Cost {
        let rows: Vec<usize> = outputs.iter().map(|output| output.rows).collect();
        self.truncated_sums(&rows, by, bytes)
    }

    fn shuffle(&mut self, shape: Shape) -> Cost {
        self.shuffle_reveal(shape, Shape { rows: shape.rows, ..Shape::default() })
    }

    fn shuffle_reveal(&mut self, shape: Shape, reveal: Shape) -> Cost {
        let (rows, reveal) = (shape.bytes(), numbers::revealed_bytes(reveal));
        let mut sent = vec![2 * rows + 3 * reveal, rows + reveal, rows + 2 * reveal];
        sent.rotate_right(self.turn);
        self.turn = (self.turn + 1) % NODES;
        Cost { rounds: 3, sent }
    }

    fn input(&mut self, owner: usize, shape: Shape) -> Cost {
        let mut cost = every_node(1, 0);
        cost.sent[owner] = shape.bytes();
        cost
    }

    fn open(&mut self, shape: Shape, recipients: &[usize]) -> Cost {
        let mut cost = every_node(1, 0);
        recipients.iter().for_each(|&r| cost.sent[sender_to(r)] += shape.bytes());
        cost
    }

    fn announce(&mut self, owner: usize) -> Cost {
        let mut cost = every_node(1, 0);
        cost.sent[owner] = 16;
        cost
    }
}
