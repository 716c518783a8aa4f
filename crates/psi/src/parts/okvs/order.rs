//! Items by the positions of their rows.

use super::{BATCH, Layout};
use crate::interface::protocol::Item;
use tacit_math::BlockCipher;

/// Items' numbers and positions, by position: first all of the first cluster.
pub struct Order {
    numbers: Vec<u32>,
    places: Vec<u32>,
    /// Where each cluster begins, and the end.
    bounds: Vec<usize>,
}

impl Order {
    /// Places are uniform: the high half of a 64-bit image times their number.
    pub(super) fn new(layout: &Layout, cipher: &BlockCipher, items: &[Item]) -> Self {
        assert!(u32::try_from(layout.columns()).is_ok(), "a store has fewer than 2^32 columns");
        let all = (layout.clusters * layout.places) as u128;
        let mut keys = Vec::with_capacity(items.len());
        let mut images = [0; BATCH];
        for items in items.chunks(BATCH) {
            let images = &mut images[..items.len()];
            images.copy_from_slice(items);
            cipher.encrypt(images);
            keys.extend(images.iter().map(|&image| ((u128::from(image as u64) * all) >> 64) as u32));
        }
        let (mut order, bounds) = partition(&keys, layout.places as u32, layout.clusters);
        let mut sorted = Vec::new();
        let mut counts = Vec::new();
        for cluster in 0..layout.clusters {
            let first = (cluster * layout.places) as u32;
            let slice = &mut order[bounds[cluster]..bounds[cluster + 1]];
            sort_by_count(slice, |number| keys[number as usize] - first, layout.places, &mut counts, &mut sorted);
        }
        // A place's cluster skips the columns at the end of each cluster before it.
        let skip = layout.band as u32 - 1;
        let places = |&number: &u32| keys[number as usize] + keys[number as usize] / layout.places as u32 * skip;
        Self { places: order.iter().map(places).collect(), numbers: order, bounds }
    }

    /// Numbers and places of a cluster's items.
    pub(super) fn cluster(&self, cluster: usize) -> (&[u32], &[u32]) {
        let range = self.bounds[cluster]..self.bounds[cluster + 1];
        (&self.numbers[range.clone()], &self.places[range])
    }
}

/// Numbers of `keys`, by `key / width`, and where each of the `parts` begins.
fn partition(keys: &[u32], width: u32, parts: usize) -> (Vec<u32>, Vec<usize>) {
    let mut bounds = vec![0; parts + 1];
    keys.iter().for_each(|key| bounds[(key / width) as usize + 1] += 1);
    for part in 0..parts {
        bounds[part + 1] += bounds[part];
    }
    let mut next = bounds.clone();
    let mut out = vec![0; keys.len()];
    for (key, number) in keys.iter().zip(0..) {
        let place = &mut next[(key / width) as usize];
        out[*place] = number;
        *place += 1;
    }
    (out, bounds)
}

/// Sorts `numbers` by a key below `range`, by counting.
fn sort_by_count(
    numbers: &mut [u32],
    key: impl Fn(u32) -> u32,
    range: usize,
    counts: &mut Vec<u32>,
    sorted: &mut Vec<u32>,
) {
    counts.clear();
    counts.resize(range + 1, 0);
    numbers.iter().for_each(|&number| counts[key(number) as usize + 1] += 1);
    let mut sum = 0;
    for count in counts.iter_mut() {
        sum += *count;
        *count = sum;
    }
    sorted.clear();
    sorted.resize(numbers.len(), 0);
    for &number in numbers.iter() {
        let place = &mut counts[key(number) as usize];
        sorted[*place as usize] = number;
        *place += 1;
    }
    numbers.copy_from_slice(sorted);
}
