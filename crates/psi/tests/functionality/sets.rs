//! Pairs of random sets with a known overlap.

use tacit_math::{Prg, Seed};
use tacit_psi::{Item, Sizes};

/// The sets of one run.
pub struct Sets {
    pub sender: Vec<Item>,
    pub receiver: Vec<Item>,
}

impl Sets {
    /// Random sets whose first `common` items, before each is shuffled, are equal.
    pub fn random(sizes: Sizes, common: usize, seed: u8) -> Self {
        let mut prg = Prg::new(&Seed::from_bytes([seed; 16]));
        let mut sender: Vec<Item> = prg.vector(sizes.sender);
        let mut receiver: Vec<Item> = prg.vector(sizes.receiver);
        receiver[..common].copy_from_slice(&sender[..common]);
        for set in [&mut sender, &mut receiver] {
            let order = tacit_math::permutation::random(set.len(), &mut prg);
            *set = tacit_math::permutation::gather(set, &order);
        }
        Self { sender, receiver }
    }

    pub fn sizes(&self) -> Sizes {
        Sizes { sender: self.sender.len(), receiver: self.receiver.len() }
    }
}

/// Sizes and overlaps at which protocols break: nothing, one, around powers of two, disjoint, equal, very unequal.
pub fn awkward(largest: usize) -> Vec<(Sizes, usize)> {
    let mut shapes = Vec::new();
    let mut add = |sender, receiver, common| shapes.push((Sizes { sender, receiver }, common));
    for (sender, receiver) in [(0, 0), (0, 5), (5, 0), (1, 1), (1, 300)] {
        add(sender, receiver, 0);
    }
    add(1, 1, 1);
    add(2, 3, 2);
    for size in [255, 256, 257, 1023, 1025] {
        add(size, size, size / 3);
    }
    add(500, 500, 500);
    add(4096, 4096, 0);
    add(1, largest, 1);
    add(largest, 1, 1);
    add(largest, largest / 2 + 1, largest / 5);
    shapes
}
