//! Tags: short hashes of masked items that are compared instead of them, and a compact form of a set of tags.
//!
//! A tag of b bits makes two different items equal with probability 2^-b. So sets of n1 and n2 items take tags of
//! [`tag_bits`] bits, for a false match with probability 2^-42 at most over all pairs ([`crate::chance`]).
//!
//! A sorted set of n tags is written in the form of Elias and Fano (Elias, "Efficient Storage and Retrieval by Content
//! and Address of Static Files", JACM 1974). It has the low bits of every tag in order, then for every value of the
//! high bits a 1 for each tag that has it and a 0. For n a power of two that takes b - log2 n + 2 bits a tag, and its
//! size is a function of n and b alone.

use crate::interface::protocol::Item;
use crate::parts::chance::TAG_BITS;

/// Bits of a tag for `pairs` comparisons of different items, in all bins of a run: one of them matches with probability
/// 2^-42 at most.
pub fn tag_bits(pairs: u128) -> u32 {
    TAG_BITS + (128 - pairs.saturating_sub(1).leading_zeros())
}

/// A random oracle from byte strings to tags.
pub struct TagHash {
    key: [u8; 32],
    bits: u32,
}

impl TagHash {
    /// The oracle of a context, to tags of `bits` bits.
    ///
    /// # Panics
    /// If a tag has more than 128 bits.
    pub fn new(context: &[u8], bits: u32) -> Self {
        assert!(bits <= 128, "a tag is at most 128 bits");
        Self { key: blake3::derive_key("tacit 2026 psi: tags", context), bits }
    }

    /// The tag of a point.
    pub fn of_point(&self, point: &[u8; 32]) -> u128 {
        self.shorten(&blake3::keyed_hash(&self.key, point))
    }

    /// The tag of an item and its point.
    pub fn of_item(&self, item: Item, point: &[u8; 32]) -> u128 {
        let mut bytes = [0; 48];
        bytes[..16].copy_from_slice(&item.to_le_bytes());
        bytes[16..].copy_from_slice(point);
        self.shorten(&blake3::keyed_hash(&self.key, &bytes))
    }

    fn shorten(&self, digest: &blake3::Hash) -> u128 {
        let mut low = [0; 16];
        low.copy_from_slice(&digest.as_bytes()[..16]);
        // Parties sort tags, send them and look them up: by design addresses follow from them.
        tacit_marks::published(u128::from_le_bytes(low) & low_bits(self.bits))
    }
}

/// A number of `bits` ones.
pub(crate) fn low_bits(bits: u32) -> u128 {
    if bits == 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Every tag with its position, by tag.
pub fn sorted_places(tags: &[u128]) -> Vec<(u128, u32)> {
    let mut places: Vec<(u128, u32)> = tags.iter().copied().zip(0..).collect();
    places.sort_unstable();
    places
}

/// A set of tags in the form of Elias and Fano.
pub struct SortedTags {
    shape: Shape,
    low: Vec<u64>,
    high: Vec<u64>,
    /// How many tags have high bits below 0, 64, 128, ...
    before: Vec<u32>,
}

/// Public numbers of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    count: usize,
    bits: u32,
    /// Low bits of a tag.
    low: u32,
}

impl Shape {
    fn new(count: usize, bits: u32) -> Self {
        Self { count, bits, low: bits.saturating_sub(count.max(1).ilog2()) }
    }

    fn low_words(self) -> usize {
        (self.count * self.low as usize).div_ceil(64)
    }

    fn high_bits(self) -> usize {
        self.count + (1 << (self.bits - self.low))
    }

    /// Where in its word of 64 the last high bit is.
    fn last_bit(self) -> u32 {
        ((self.high_bits() - 1) % 64) as u32
    }

    fn bytes(self) -> usize {
        8 * self.low_words() + self.high_bits().div_ceil(8)
    }
}

impl SortedTags {
    /// Bytes of a set of `count` tags of `bits` bits.
    pub fn bytes(count: usize, bits: u32) -> usize {
        Shape::new(count, bits).bytes()
    }

    /// The written form of tags in ascending order.
    ///
    /// # Panics
    /// If they are not in order or one has more than `bits` bits.
    pub fn write(sorted: &[u128], bits: u32) -> Vec<u8> {
        assert!(sorted.is_sorted() && sorted.last().is_none_or(|&last| last <= low_bits(bits)), "sorted tags that fit");
        let shape = Shape::new(sorted.len(), bits);
        let mut low = vec![0u64; shape.low_words()];
        let mut high = vec![0u8; shape.high_bits().div_ceil(8)];
        for (place, &tag) in sorted.iter().enumerate() {
            put(&mut low, place * shape.low as usize, tag & low_bits(shape.low), shape.low);
            let one = place + (tag.checked_shr(shape.low).unwrap_or(0) as usize);
            high[one / 8] |= 1 << (one % 8);
        }
        let mut out: Vec<u8> = low.iter().flat_map(|word| word.to_le_bytes()).collect();
        out.append(&mut high);
        out
    }

    /// Reads what [`Self::write`] wrote. None if the bytes are no set of `count` tags of `bits` bits.
    pub fn read(bytes: &[u8], count: usize, bits: u32) -> Option<Self> {
        let shape = Shape::new(count, bits);
        if bytes.len() != shape.bytes() {
            return None;
        }
        let (low, high) = bytes.split_at(8 * shape.low_words());
        let words = |bytes: &[u8]| -> Vec<u64> {
            let word = |chunk: &[u8]| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            };
            bytes.chunks(8).map(word).collect()
        };
        let (low, high) = (words(low), words(high));
        let ones: usize = high.iter().map(|word| word.count_ones() as usize).sum();
        // The last bit is the 0 of the highest value; none follows.
        let beyond = high.last().is_some_and(|&last| last.unbounded_shr(shape.last_bit()) != 0);
        let zeros = shape.high_bits() - count;
        let tags = Self { shape, low, before: sample(&high, zeros), high };
        (ones == count && !beyond && tags.iter().is_sorted()).then_some(tags)
    }

    /// The tags in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u128> + '_ {
        let ones = self.high.iter().zip(0..).flat_map(|(&word, number)| {
            let next = |rest: &u64| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), next)
                .map(move |rest| 64 * number + rest.trailing_zeros() as usize)
        });
        ones.zip(0..).map(|(one, place)| self.compose((one - place) as u128, place))
    }

    /// The position of a tag in the order, if it is in the set.
    pub fn place(&self, tag: u128) -> Option<u32> {
        if tag > low_bits(self.shape.bits) {
            return None;
        }
        let value = tag.checked_shr(self.shape.low).unwrap_or(0) as usize;
        let mut place = self.before[value / 64] as usize;
        let mut bit = place + value / 64 * 64;
        let mut at = value / 64 * 64;
        while at <= value && place < self.shape.count {
            if self.high[bit / 64] >> (bit % 64) & 1 == 0 {
                at += 1;
            } else {
                if at == value && self.compose(value as u128, place) == tag {
                    return Some(place as u32);
                }
                place += 1;
            }
            bit += 1;
        }
        None
    }

    fn compose(&self, high: u128, place: usize) -> u128 {
        let low = get(&self.low, place * self.shape.low as usize, self.shape.low);
        high.checked_shl(self.shape.low).unwrap_or(0) | low
    }
}

/// How many ones stand before every 64th zero.
fn sample(high: &[u64], zeros: usize) -> Vec<u32> {
    let mut before = vec![0; zeros / 64 + 1];
    let (mut ones, mut seen) = (0, 0);
    for bit in 0..64 * high.len() {
        if high[bit / 64] >> (bit % 64) & 1 == 1 {
            ones += 1;
        } else {
            seen += 1;
            if seen % 64 == 0 && seen <= zeros {
                before[seen / 64] = ones;
            }
        }
    }
    before
}

/// Writes the low `bits` bits of a value at a bit position of zeros.
fn put(words: &mut [u64], at: usize, value: u128, bits: u32) {
    let (mut at, mut value, mut left) = (at, value, bits as usize);
    while left > 0 {
        let (word, shift) = (at / 64, at % 64);
        words[word] |= (value as u64) << shift;
        let taken = (64 - shift).min(left);
        value = value.checked_shr(taken as u32).unwrap_or(0);
        at += taken;
        left -= taken;
    }
}

/// Reads `bits` bits at a bit position.
fn get(words: &[u64], at: usize, bits: u32) -> u128 {
    let (mut out, mut got) = (0u128, 0usize);
    while got < bits as usize {
        let (word, shift) = ((at + got) / 64, (at + got) % 64);
        out |= u128::from(words[word] >> shift) << got;
        got += 64 - shift;
    }
    out & low_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tags_are_as_long_as_the_pairs_demand() {
        for (pairs, bits) in [(0, 42), (1, 42), (2, 43), (1 << 40, 82), ((1 << 40) + 1, 83)] {
            assert_eq!(tag_bits(pairs), bits);
        }
    }

    #[test]
    fn a_million_prepared_tags_take_nine_bytes_and_a_quarter() {
        let bits = tag_bits(1 << (20 + 30));
        assert_eq!(SortedTags::bytes(1 << 20, bits), (74 << 20) / 8);
        let bits = tag_bits(1 << (20 + 12));
        assert_eq!(SortedTags::bytes(1 << 20, bits), (56 << 20) / 8);
    }

    #[test]
    fn the_last_bit_of_large_sets_is_where_it_is() {
        // Their high bits are 2^32 and more.
        assert_eq!([1 << 31, (1 << 32) - 1, 1 << 40].map(|count| Shape::new(count, 80).last_bit()), [63, 62, 63]);
    }

    #[test]
    fn malformed_sets_are_refused() {
        let tags = [3, 700, 701, 90_000];
        let good = SortedTags::write(&tags, 17);
        assert!(SortedTags::read(&good, 4, 17).is_some());
        assert!(SortedTags::read(&good[1..], 4, 17).is_none());
        assert!(SortedTags::read(&good, 5, 17).is_none());
        let mut one_more = good.clone();
        *one_more.last_mut().expect("bytes") ^= 1;
        assert!(SortedTags::read(&one_more, 4, 17).is_none());
        let swapped = SortedTags::write(&[700, 700], 17);
        let mut unsorted = swapped.clone();
        unsorted[0] ^= 1;
        assert!(SortedTags::read(&swapped, 2, 17).is_some());
        assert!(SortedTags::read(&unsorted, 2, 17).is_none());
    }

    proptest! {
        #[test]
        fn sets_come_back(mut tags in prop::collection::vec(any::<u128>(), 0..300), bits in 1u32..=128, other: u128) {
            tags.iter_mut().for_each(|tag| *tag &= low_bits(bits));
            tags.sort_unstable();
            let written = SortedTags::write(&tags, bits);
            prop_assert_eq!(written.len(), SortedTags::bytes(tags.len(), bits));
            let read = SortedTags::read(&written, tags.len(), bits).expect("a set");
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), tags.clone());
            for &tag in tags.iter().chain([&(other & low_bits(bits))]) {
                let expected = tags.iter().position(|&t| t == tag).map(|place| place as u32);
                prop_assert_eq!(read.place(tag), expected);
            }
        }

        #[test]
        fn any_bytes_are_a_set_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40), count in 0usize..20, bits in 1u32..=64) {
            if let Some(set) = SortedTags::read(&bytes, count, bits) {
                prop_assert_eq!(SortedTags::write(&set.iter().collect::<Vec<_>>(), bits).len(), bytes.len());
            }
        }
    }
}
