//! The distinct tokens of a bin and the rows that have each: intersections run on sets, joins on rows.

use tacit_psi::Item;

/// A slot of the table that nothing is in.
const EMPTY: u32 = u32::MAX;

/// Distinct tokens and their rows.
pub struct Distinct {
    /// The distinct tokens, in the order in which each occurs first, and behind them padding, if there is any.
    pub tokens: Vec<Item>,
    /// How many of them are no padding.
    keys: usize,
    /// Rows by token: those of token i are `rows[starts[i]..starts[i + 1]]`. None if every token has one row, its own
    /// index.
    groups: Option<Groups>,
}

struct Groups {
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Distinct {
    /// Finds equal tokens. Tokens are pseudorandom, so their middle bits are the position in an open hash table of this
    /// party's own.
    ///
    /// # Panics
    /// With 2^32 tokens or more: a bin is far smaller.
    pub fn of(all: Vec<Item>) -> Self {
        assert!(all.len() < EMPTY as usize, "a bin holds fewer than 2^32 tokens");
        let size = (2 * all.len()).next_power_of_two();
        let mask = size - 1;
        let mut table = vec![EMPTY; size];
        let mut tokens: Vec<Item> = Vec::with_capacity(all.len());
        // Of each row its distinct token, from the first row that repeats one on.
        let mut owners: Option<Vec<u32>> = None;
        for (row, &token) in all.iter().enumerate() {
            let mut slot = (token >> 2) as usize & mask;
            let owner = loop {
                match table[slot] {
                    EMPTY => {
                        table[slot] = tokens.len() as u32;
                        tokens.push(token);
                        break table[slot];
                    }
                    index if tokens[index as usize] == token => break index,
                    _ => slot = (slot + 1) & mask,
                }
            };
            if owners.is_none() && owner as usize != row {
                owners = Some((0..row as u32).collect());
            }
            if let Some(owners) = &mut owners {
                owners.push(owner);
            }
        }
        Self { groups: owners.map(|owners| Groups::new(&owners, tokens.len())), keys: tokens.len(), tokens }
    }

    /// The rows of a distinct token; none of padding, which matches nothing but in what a peer makes up.
    pub fn rows(&self, token: u32) -> impl Iterator<Item = u32> + '_ {
        let (from, to, groups) = match &self.groups {
            _ if self.is_padding(token) => (0, 0, None),
            None => (token, token + 1, None),
            Some(groups) => (groups.starts[token as usize], groups.starts[token as usize + 1], Some(groups)),
        };
        (from..to).map(move |at| groups.map_or(at, |groups| groups.rows[at as usize]))
    }

    /// How many rows have a token, as a peer is told: one for padding, which so looks like any key.
    pub fn count(&self, token: u32) -> u32 {
        if self.is_padding(token) {
            return 1;
        }
        self.groups.as_ref().map_or(1, |groups| groups.starts[token as usize + 1] - groups.starts[token as usize])
    }

    fn is_padding(&self, token: u32) -> bool {
        token as usize >= self.keys
    }
}

impl Groups {
    /// A counting sort of rows by owner, stable.
    fn new(owners: &[u32], tokens: usize) -> Self {
        let mut starts = vec![0u32; tokens + 1];
        owners.iter().for_each(|&owner| starts[owner as usize + 1] += 1);
        (0..tokens).for_each(|token| starts[token + 1] += starts[token]);
        let mut next = starts.clone();
        let mut rows = vec![0; owners.len()];
        for (row, &owner) in owners.iter().enumerate() {
            rows[next[owner as usize] as usize] = row as u32;
            next[owner as usize] += 1;
        }
        Self { starts, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn every_row_is_with_its_token(all in prop::collection::vec(0u128..40, 0..120)) {
            let mut expected: BTreeMap<Item, Vec<u32>> = BTreeMap::new();
            all.iter().enumerate().for_each(|(row, &token)| expected.entry(token).or_default().push(row as u32));
            let mut distinct = Distinct::of(all);
            prop_assert_eq!(distinct.tokens.len(), expected.len());
            // Padding looks like a key that does not repeat, and has no rows.
            distinct.tokens.extend([41, 42]);
            let (keys, padding) = distinct.tokens.split_at(expected.len());
            for index in keys.len()..keys.len() + padding.len() {
                prop_assert_eq!((distinct.count(index as u32), distinct.rows(index as u32).count()), (1, 0));
            }
            for (index, token) in keys.iter().enumerate() {
                let rows: Vec<u32> = distinct.rows(index as u32).collect();
                prop_assert_eq!(distinct.count(index as u32) as usize, rows.len());
                prop_assert_eq!(Some(&rows), expected.get(token));
            }
        }
    }
}
