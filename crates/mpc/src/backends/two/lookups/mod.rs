//! Functions of shared digits by transfers of one string of several.

pub(super) mod carry;
pub(super) mod choose;
pub(super) mod conjunction;
pub(super) mod table;

use std::ops::Range;

use tacit_math::plane::words_for;
use tacit_ot::silent::lookup::LOOKUP_STRINGS;

use super::NODES;

/// Entries of a random lookup's table that its sender sends: all but the first.
pub(super) const ENTRIES: usize = LOOKUP_STRINGS - 1;

/// The words of which each node is the sender.
pub(super) fn parts(rows: usize) -> [Range<usize>; NODES] {
    let words = words_for(rows);
    let middle = words.div_ceil(2);
    [0..middle, middle..words]
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn both_nodes_send_for_half_of_the_words() {
        for (rows, [first, second]) in [(0, [0, 0]), (1, [1, 0]), (64, [1, 0]), (65, [1, 1]), (300, [3, 2])] {
            assert_eq!(parts(rows), [0..first, first..first + second]);
        }
    }
}
