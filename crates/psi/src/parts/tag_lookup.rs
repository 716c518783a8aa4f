//! Finding equal tags: this party's are kept by their high bits, the peer's are looked up as they arrive.
//!
//! Tags are images of hashes, so their high bits spread evenly. A bucket for each of about n values of these bits holds
//! one tag in the mean, and a search touches two cache lines. A batch of searches first reads all bounds, then all
//! buckets, so that the processor waits for many lines at once. What is looked up may be chosen by an adversary: a
//! search is never longer than one of this party's own buckets.

use crate::interface::protocol::Match;

/// Lookups whose memory is awaited together.
const BATCH: usize = 64;

/// Tags of this party, by bucket.
pub struct Table {
    /// Bits below the bucket's number.
    shift: u32,
    /// The bits of a tag.
    mask: u128,
    /// Where each bucket begins, and the end.
    bounds: Vec<u32>,
    /// The low 64 bits of each tag.
    low: Vec<u64>,
    /// What is above them, if they and the bucket's number are not the whole tag.
    high: Option<Vec<u64>>,
    numbers: Vec<u32>,
}

impl Table {
    /// A table of `tags` of `bits` bits each.
    ///
    /// # Panics
    /// If tags have more than 128 bits.
    pub fn new(tags: &[u128], bits: u32) -> Self {
        assert!(bits <= 128, "a tag is at most 128 bits");
        let buckets = tags.len().max(2).ilog2().min(bits);
        let shift = bits - buckets;
        let bucket = |tag: u128| tag.checked_shr(shift).unwrap_or(0) as usize;
        let mut bounds = vec![0; (1 << buckets) + 1];
        tags.iter().for_each(|&tag| bounds[bucket(tag)] += 1);
        let mut sum = 0;
        for bound in &mut bounds {
            sum += *bound;
            *bound = sum;
        }
        let (mut low, mut numbers) = (vec![0; tags.len()], vec![0; tags.len()]);
        let mut high = (shift > 64).then(|| vec![0; tags.len()]);
        for (&tag, number) in tags.iter().zip(0..) {
            // Bounds are ends until all tags of a bucket are placed.
            let end = &mut bounds[bucket(tag)];
            *end -= 1;
            let place = *end as usize;
            (low[place], numbers[place]) = (tag as u64, number);
            if let Some(high) = &mut high {
                high[place] = (tag >> 64) as u64;
            }
        }
        Self { shift, mask: u128::MAX.checked_shr(128 - bits).unwrap_or(0), bounds, low, high, numbers }
    }

    /// Appends the matches of the peer's `tags`, the first of which has position `first`. Bits that a tag does not have
    /// are not looked at: a peer may send anything.
    pub fn look_up(&self, tags: &[u128], first: u32, matches: &mut Vec<Match>) {
        let mut places = [(0, 0); BATCH];
        for (tags, first) in tags.chunks(BATCH).zip((first..).step_by(BATCH)) {
            for (place, &tag) in places.iter_mut().zip(tags) {
                let bucket = (tag & self.mask).checked_shr(self.shift).unwrap_or(0) as usize;
                *place = (self.bounds[bucket], self.bounds[bucket + 1]);
            }
            for (&(begin, end), (&tag, theirs)) in places.iter().zip(tags.iter().zip(first..)) {
                for place in begin as usize..end as usize {
                    let tag = tag & self.mask;
                    if self.low[place] == tag as u64 && self.agrees(place, tag) {
                        matches.push(Match { mine: self.numbers[place], theirs });
                    }
                }
            }
        }
    }

    fn agrees(&self, place: usize, tag: u128) -> bool {
        self.high.as_ref().is_none_or(|high| high[place] == (tag >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use tacit_math::{Prg, Seed};

    #[test]
    fn lookups_are_those_of_a_map() {
        let mut prg = Prg::new(&Seed::from_bytes([1; 16]));
        for (own, bits) in
            [(0, 40), (1, 40), (2, 64), (3, 128), (500, 80), (1000, 128), (5000, 72), (4096, 77), (300, 8)]
        {
            let mask = u128::MAX >> (128 - bits);
            let mine: Vec<u128> = prg.vector::<u128>(own).into_iter().map(|tag| tag & mask).collect();
            let mut theirs: Vec<u128> = prg.vector::<u128>(777).into_iter().map(|tag| tag & mask).collect();
            theirs.iter_mut().zip(&mine).step_by(3).for_each(|(theirs, &mine)| *theirs = mine);
            theirs
                .iter_mut()
                .zip(&mine)
                .skip(1)
                .step_by(3)
                .for_each(|(theirs, &mine)| *theirs = mine ^ 1 << (bits - 1));
            theirs
                .iter_mut()
                .zip(&mine)
                .skip(2)
                .step_by(3)
                .for_each(|(theirs, &mine)| *theirs = mine ^ 1 << (bits / 2));
            let mut by_tag: HashMap<u128, Vec<u32>> = HashMap::new();
            mine.iter().zip(0..).for_each(|(&tag, number)| by_tag.entry(tag).or_default().push(number));
            let found = |(tag, theirs): (&u128, u32)| {
                by_tag.get(tag).into_iter().flatten().map(move |&mine| Match { mine, theirs }).collect::<Vec<_>>()
            };
            let mut expected: Vec<Match> = theirs.iter().zip(10..).flat_map(found).collect();
            let mut matches = Vec::new();
            Table::new(&mine, bits).look_up(&theirs, 10, &mut matches);
            expected.sort_unstable();
            matches.sort_unstable();
            assert_eq!(matches, expected, "{own} tags of {bits} bits");
        }
    }
}
