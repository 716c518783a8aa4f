//! An oblivious key-value store: a vector of random-looking columns from which every key's value is a linear
//! combination that the key chooses.
//!
//! **Construction**: random-band matrices (RB-OKVS) of Bienstock, Patel, Seo, Yeo, "Near-Optimal Oblivious Key-Value
//! Stores for Efficient PSI, PSU and Volume-Hiding Multi-Maps" (USENIX Security 2023). A key's row has w = 64 W random
//! bits in neighbouring columns from a random position on; the value is the XOR of the columns under its ones. Columns
//! that no row determines are random, so that the store of random values is a uniform vector, whatever the keys.
//!
//! **Failure**: with n keys at random among s positions, elimination from left to right is a queue: keys arrive at rate
//! n / s a column, one leaves a column. It fails when a key waits for w columns. By Kingman's inequality ("Inequalities
//! in the theory of queues", 1970) one key waits so long with probability at most e^(-θ w), where θ > 0 solves (n / s)
//! (e^θ - 1) = θ. So for n e^(-θ w) = 2^-45: θ = (45 + log2 n) ln 2 / w and s = n (e^θ - 1) / θ. The queue leaves out
//! that the bits of a waiting key may be zero in the next column, which costs a few columns a key. The paper's fit is λ
//! = 0.2691 w - 15.21 for s = 1.1 n and n = 2^20, where this formula gives 0.271 w - 20. Its measured constant is more
//! favourable than the formula. A test measures the probability where it is large enough to be seen.
//!
//! **Few keys**: n + 45 columns that every row may have are enough where they are not more than w. A random row lies in
//! the space that k others span with probability 2^(k - columns), so that some row does with 2^(n - columns) = 2^-45 at
//! most. One key takes 46 columns, not 256.
//!
//! **Runs**: a run of several stores of a kind takes 45 + log2 of their number in place of 45, so that none of them
//! fails ([`crate::chance`]).
//!
//! **Clusters**: positions are cut into ranges of about 2^16 keys with w columns at the end of each for the waiting
//! keys. So elimination works within the second-level cache and memory is that of one range. Each range's queue starts
//! empty, which is never worse.
//!
//! | n | w | columns a key |
//! |---|---|---|
//! | 2^16 | 256 | 1.091 |
//! | 2^20 | 256 | 1.097 |
//! | 2^20 | 512 | 1.053 |
//! | 2^24 | 256 | 1.103 |
//!
//! Cost: encoding about 2 / ε steps of W words a key, two products of a band; decoding one product of a band.
//! Departures: clusters, the closed formula instead of the paper's fitted table, and for few keys random matrices.
//! Garimella, Pinkas, Rosulek, Trieu, Yanai, "Oblivious Key-Value Stores and Amplification for Private Set
//! Intersection" (CRYPTO 2021), list these matrices.

mod elimination;
mod order;

pub use order::Order;

use crate::interface::protocol::Item;
use crate::parts::chance::EVENT_BITS;
use tacit_math::band::{self, Row, Word};
use tacit_math::{BlockCipher, Prg, Seed};

/// Keys of one cluster.
const CLUSTER: usize = 1 << 16;

/// Rows hashed and multiplied at once: they stay in the first-level cache.
const BATCH: usize = 128;

/// Where columns lie, a function of public numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Independent ranges.
    pub clusters: usize,
    /// First columns of bands in each.
    pub places: usize,
    /// Width of bands, less than that of a store's rows for few keys: their highest bits are zero.
    pub band: usize,
}

impl Layout {
    /// For `keys` keys and bands of `band` columns: the only store of its kind in a run, with failure probability
    /// 2^-45.
    pub fn new(keys: usize, band: usize) -> Self {
        Self::of_run(keys, band, 1)
    }

    /// For one of the `stores` stores of a kind in a run; one of them fails with a probability of 2^-45 in all.
    pub fn of_run(keys: usize, band: usize, stores: usize) -> Self {
        Self::with_failure(keys, band, f64::from(EVENT_BITS) + (stores.max(1) as f64).log2())
    }

    /// As [`Self::new`], with failure probability 2^-`bits`: for measuring it.
    pub fn with_failure(keys: usize, band: usize, bits: f64) -> Self {
        // All rows in the same few columns are independent but for 2^(keys - columns).
        let dense = (keys as f64 + bits).ceil().max(1.0) as usize;
        if dense <= band {
            return Self { clusters: 1, places: 1, band: dense };
        }
        let clusters = keys.div_ceil(CLUSTER).max(1);
        let keys = keys.max(1) as f64;
        let theta = (bits + keys.log2()) * std::f64::consts::LN_2 / band as f64;
        let expansion = theta.exp_m1() / theta;
        Self { clusters, places: (keys * expansion / clusters as f64).ceil() as usize, band }
    }

    /// Columns of one cluster.
    pub fn cluster_columns(&self) -> usize {
        self.places - 1 + self.band
    }

    /// Columns of all clusters.
    pub fn columns(&self) -> usize {
        self.clusters * self.cluster_columns()
    }
}

/// Rows that depend on each other: keys that are not distinct, or the failure of probability 2^-45.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependent;

/// A store with bands of 64 W columns, its rows chosen by a seed. The seed may be public, but must not be known to
/// whoever chooses keys.
pub struct Okvs<const W: usize> {
    layout: Layout,
    place: BlockCipher,
    bits: Vec<BlockCipher>,
    /// The bits of a row that lie in the band.
    within: [u64; W],
}

impl<const W: usize> Okvs<W> {
    /// The store of a seed for `keys` keys.
    pub fn new(keys: usize, seed: &Seed) -> Self {
        Self::with_layout(Layout::new(keys, 64 * W), seed)
    }

    /// The store of a seed with a layout for bands of this width.
    ///
    /// # Panics
    /// If the layout is for wider bands, or W is odd.
    pub fn with_layout(layout: Layout, seed: &Seed) -> Self {
        let fits = layout.band == 64 * W || layout.band < 64 * W && layout.places == 1;
        assert!(fits && W.is_multiple_of(2), "a layout for bands of an even number of words");
        let cipher = |purpose: &str| BlockCipher::new(&seed.derive(purpose));
        let bits = (0..W / 2).map(|number| cipher(&format!("okvs/bits/{number}"))).collect();
        let ones = |word: usize| u64::MAX.unbounded_shr(64 - layout.band.saturating_sub(64 * word).min(64) as u32);
        Self { layout, place: cipher("okvs/place"), bits, within: std::array::from_fn(ones) }
    }

    /// Where its columns lie.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The order in which `items` are encoded and decoded: by their positions.
    pub fn order(&self, items: &[Item]) -> Order {
        Order::new(&self.layout, &self.place, items)
    }

    /// The columns from which every item decodes to its value. `values` is called with items' numbers and a place for
    /// their values, `random` fills the columns that no item determines.
    ///
    /// # Errors
    /// [`Dependent`] if the items' rows are not independent.
    pub fn encode<T: Word>(
        &self,
        items: &[Item],
        order: &Order,
        random: &mut Prg,
        values: impl FnMut(&[u32], &mut [T]),
    ) -> Result<Vec<T>, Dependent> {
        let mut out = vec![T::zeroed(); self.layout.columns()];
        self.encode_clusters(items, order, random, values, |cluster, columns| {
            out[cluster * columns.len()..][..columns.len()].copy_from_slice(columns);
            Ok::<_, Dependent>(())
        })?;
        Ok(out)
    }

    /// As [`Self::encode`], handing on the columns cluster by cluster, the last one first: who consumes a vector beside
    /// it can give back its memory from the end.
    ///
    /// # Errors
    /// [`Dependent`], and the first error of `take`.
    pub fn encode_clusters<T: Word, E: From<Dependent>>(
        &self,
        items: &[Item],
        order: &Order,
        random: &mut Prg,
        mut values: impl FnMut(&[u32], &mut [T]),
        mut take: impl FnMut(usize, &[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let columns = self.layout.cluster_columns();
        let mut system = elimination::System::<T, W>::new(columns.max(64 * W));
        let mut sides = [T::zeroed(); BATCH];
        for cluster in (0..self.layout.clusters).rev() {
            system.reset(random);
            for (numbers, rows) in self.batches(items, order, cluster) {
                let sides = &mut sides[..numbers.len()];
                values(numbers, sides);
                for (row, &side) in rows.iter().zip(sides.iter()) {
                    system.insert(row.start as usize - cluster * columns, row.bits, side)?;
                }
            }
            take(cluster, &system.solve()[..columns])?;
        }
        Ok(())
    }

    /// The values of all items of one cluster, in batches: `take` gets items' numbers and their values. `columns` are
    /// those of this cluster.
    pub fn decode_cluster<T: Word>(
        &self,
        items: &[Item],
        order: &Order,
        cluster: usize,
        columns: &[T],
        mut take: impl FnMut(&[u32], &mut [T]),
    ) {
        let first = (cluster * self.layout.cluster_columns()) as u32;
        let mut values = [T::zeroed(); BATCH];
        // A row of few columns reaches beyond them, with zeros.
        let mut filled = Vec::new();
        let columns = if columns.len() < 64 * W {
            filled.extend_from_slice(columns);
            filled.resize(64 * W, T::zeroed());
            &filled
        } else {
            columns
        };
        for (numbers, mut rows) in self.batches(items, order, cluster) {
            rows.iter_mut().for_each(|row| row.start -= first);
            let values = &mut values[..numbers.len()];
            band::products(&rows, columns, values);
            take(numbers, values);
        }
    }

    /// The values of all items, by their numbers.
    pub fn decode<T: Word>(&self, items: &[Item], order: &Order, columns: &[T]) -> Vec<T> {
        let mut out = vec![T::zeroed(); items.len()];
        for (cluster, columns) in columns.chunks_exact(self.layout.cluster_columns()).enumerate() {
            self.decode_cluster(items, order, cluster, columns, |numbers, values| {
                numbers.iter().zip(values).for_each(|(&number, value)| out[number as usize] = *value);
            });
        }
        out
    }

    /// Numbers and rows of a cluster's items, a batch at a time, by place.
    fn batches<'a>(
        &'a self,
        items: &'a [Item],
        order: &'a Order,
        cluster: usize,
    ) -> impl Iterator<Item = (&'a [u32], Vec<Row<W>>)> {
        let (numbers, places) = order.cluster(cluster);
        let rows = move |(numbers, places): (&'a [u32], &'a [u32])| {
            let mut rows: Vec<_> = places.iter().map(|&start| Row { start, bits: [0; W] }).collect();
            let mut images = [0; BATCH];
            for (half, cipher) in self.bits.iter().enumerate() {
                let images = &mut images[..numbers.len()];
                images.iter_mut().zip(numbers).for_each(|(image, &number)| *image = items[number as usize]);
                cipher.encrypt(images);
                for (row, image) in rows.iter_mut().zip(images) {
                    row.bits[2 * half] = *image as u64 & self.within[2 * half];
                    row.bits[2 * half + 1] = (*image >> 64) as u64 & self.within[2 * half + 1];
                }
            }
            (numbers, rows)
        };
        numbers.chunks(BATCH).zip(places.chunks(BATCH)).map(rows)
    }
}
