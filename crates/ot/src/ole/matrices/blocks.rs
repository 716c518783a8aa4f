//! How a product of matrices is cut into blocks that fit into polynomials: a function of public sizes.

use std::ops::Range;

use tacit_math::ntt::DEGREE;

use super::base::{Base, base};
use super::{Sizes, UNIT_ANSWERS, UNIT_REQUESTS};

/// A product whose left matrix is encrypted, and the sizes of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Whether the left matrix is the transpose of what was the right one.
    pub(super) transposed: bool,
    pub(super) sizes: Sizes,
    /// The largest block's sizes.
    pub(super) block: Sizes,
}

/// Requests that are kept together, and all answers to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Which product.
    pub(super) product: usize,
    /// Rows of the left matrix's blocks.
    pub(super) rows: Vec<Range<usize>>,
    /// Columns of the left matrix's blocks, rows of the right one's.
    pub(super) inner: Vec<Range<usize>>,
    /// Columns of the right matrix's blocks.
    pub(super) columns: Vec<Range<usize>>,
}

impl Unit {
    pub(super) fn requests(&self) -> usize {
        self.rows.len() * self.inner.len()
    }

    /// The blocks that are requests, as their rows and their columns.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        self.rows.iter().flat_map(|rows| self.inner.iter().map(|inner| (rows.clone(), inner.clone())))
    }

    /// Those of the result that are in a column of blocks.
    pub(super) fn results(&self, columns: &Range<usize>) -> Vec<[Range<usize>; 2]> {
        self.rows.iter().map(|rows| [rows.clone(), columns.clone()]).collect()
    }
}

impl Plan {
    /// The one with the fewest bytes. None if there is nothing to multiply.
    pub(super) fn of(sizes: Sizes, bits: u32) -> Option<Self> {
        if sizes.products() == Some(0) {
            return None;
        }
        let turned = Sizes { rows: sizes.columns, columns: sizes.rows, ..sizes };
        let both = [(false, sizes), (true, turned)];
        let plans = both.into_iter().flat_map(|(transposed, sizes)| {
            let of_inner = move |inner: usize| {
                parts(sizes.columns.min(DEGREE / inner)).map(move |columns: usize| {
                    let most = (DEGREE / inner / columns).min(sizes.rows);
                    // Blocks that are equally high.
                    let rows = sizes.rows.div_ceil(sizes.rows.div_ceil(most));
                    Self { transposed, sizes, block: Sizes { rows, inner, columns } }
                })
            };
            parts(sizes.inner.min(DEGREE)).flat_map(of_inner)
        });
        plans.min_by_key(|plan| plan.bytes(base(bits)))
    }

    /// Bytes of each node; `u64::MAX` for those that a word does not count.
    pub(super) fn bytes(&self, base: &Base) -> u64 {
        self.counted_bytes(base).unwrap_or(u64::MAX)
    }

    fn counted_bytes(&self, base: &Base) -> Option<u64> {
        let Self { sizes, block, .. } = self;
        let [rows, inner, columns] =
            [counted(sizes.rows, block.rows), counted(sizes.inner, block.inner), counted(sizes.columns, block.columns)];
        let blocks = |parts: [(usize, usize); 2]| parts.iter().map(|(_, count)| *count as u64).sum::<u64>();
        let requests = blocks(rows).checked_mul(blocks(inner))?.checked_mul(base.request() as u64)?;
        let mut answers = 0_u64;
        for ((height, many), (width, count)) in rows.into_iter().flat_map(|rows| columns.map(|columns| (rows, columns)))
        {
            // A block's results are coefficients of one polynomial.
            let each = base.answer(height * width) as u64;
            answers = answers.checked_add((many as u64).checked_mul(count as u64)?.checked_mul(each)?)?;
        }
        answers.checked_mul(blocks(inner).div_ceil(UNIT_REQUESTS as u64))?.checked_add(requests)
    }

    /// All of it, in order.
    pub(super) fn units(&self, product: usize) -> Vec<Unit> {
        let Self { sizes, block, .. } = self;
        let rows = ranges(sizes.rows, block.rows);
        let inner = ranges(sizes.inner, block.inner);
        let columns = ranges(sizes.columns, block.columns);
        let mut units = Vec::new();
        for inner in inner.chunks(UNIT_REQUESTS) {
            for rows in rows.chunks((UNIT_REQUESTS / inner.len()).min(UNIT_ANSWERS)) {
                let [rows, inner] = [rows, inner].map(<[_]>::to_vec);
                units.push(Unit { product, rows, inner, columns: columns.clone() });
            }
        }
        units
    }

    /// Where an element of the left matrix's block stands in its polynomial.
    pub(super) fn left(&self, row: usize, inner: usize) -> usize {
        let Sizes { inner: k, columns: n, .. } = self.block;
        row * k * n + k - 1 - inner
    }

    /// Where one of the right matrix's block does.
    pub(super) fn right(&self, inner: usize, column: usize) -> usize {
        column * self.block.inner + inner
    }

    /// Where one of their product does, and nothing else.
    pub(super) fn result(&self, row: usize, column: usize) -> usize {
        let Sizes { inner: k, columns: n, .. } = self.block;
        row * k * n + column * k + k - 1
    }

    /// The place of an element of this product in what was asked for, row after row.
    pub(super) fn place(&self, row: usize, column: usize) -> usize {
        if self.transposed { column * self.sizes.rows + row } else { row * self.sizes.columns + column }
    }
}

/// Units in batches, whose requests are made in one round.
pub(super) fn batches(units: Vec<Unit>) -> Vec<Vec<Unit>> {
    let mut batches: Vec<Vec<Unit>> = Vec::new();
    let mut asked = UNIT_REQUESTS;
    for unit in units {
        asked += unit.requests();
        if asked > UNIT_REQUESTS {
            asked = unit.requests();
            batches.push(Vec::new());
        }
        batches.last_mut().expect("a batch").push(unit);
    }
    batches
}

/// Sizes of the parts into which a length is cut: into one, two, three, four, six, eight, twelve and so on.
fn parts(length: usize) -> impl Iterator<Item = usize> {
    let counts = (0..=length.ilog2() + 1).flat_map(|power| [1 << power, 3 << power]);
    counts.map(move |count| length.div_ceil(count))
}

/// Parts of a length, the last one perhaps shorter.
fn ranges(length: usize, step: usize) -> Vec<Range<usize>> {
    (0..length).step_by(step).map(|start| start..length.min(start + step)).collect()
}

/// The lengths of such parts, each with how many there are.
fn counted(length: usize, step: usize) -> [(usize, usize); 2] {
    [(step, length / step), (length % step, usize::from(!length.is_multiple_of(step)))]
}

#[cfg(test)]
mod tests {
    use super::{DEGREE, Plan, Sizes, base, batches};
    use crate::ole::matrices::{UNIT_ANSWERS, UNIT_REQUESTS};

    const SIZES: [[usize; 3]; 12] = [
        [1, 1, 1],
        [512, 512, 512],
        [1, 40_000, 1],
        [40_000, 1, 1],
        [1, 1, 40_000],
        [3, 5_000_000, 2],
        [100_000, 20, 30],
        [30, 20, 100_000],
        [129, 257, 65],
        [7, 16_384, 3],
        [1, 1_000, 100_000],
        [2_000, 1_999, 1],
    ];

    fn plans() -> impl Iterator<Item = (Plan, u32)> {
        let of = |[rows, inner, columns]: [usize; 3], bits| {
            (Plan::of(Sizes { rows, inner, columns }, bits).expect("something to multiply"), bits)
        };
        SIZES.into_iter().flat_map(move |sizes| [64, 128].map(|bits| of(sizes, bits)))
    }

    #[test]
    fn blocks_fit_and_are_all_of_the_matrices() {
        for (plan, bits) in plans() {
            let Sizes { rows, inner, columns } = plan.block;
            assert!(rows * inner * columns <= DEGREE && rows * inner * columns > 0, "{plan:?}");
            let units = plan.units(0);
            assert!(units.iter().all(|unit| unit.requests() <= UNIT_REQUESTS && unit.rows.len() <= UNIT_ANSWERS));
            let (mut products, mut bytes) = (0, 0);
            for unit in &units {
                let all = |parts: &[std::ops::Range<usize>]| parts.iter().map(ExactSizeIterator::len).sum::<usize>();
                products += all(&unit.rows) * all(&unit.inner) * all(&unit.columns);
                bytes += unit.requests() * base(bits).request();
                let results = unit.columns.iter().flat_map(|columns| unit.results(columns));
                bytes += results.map(|[a, b]| base(bits).answer(a.len() * b.len())).sum::<usize>();
            }
            assert_eq!(products, plan.sizes.rows * plan.sizes.inner * plan.sizes.columns, "{plan:?}");
            assert_eq!(bytes as u64, plan.bytes(base(bits)), "{plan:?}");
            let batches = batches(units);
            assert!(
                batches.iter().all(|units| units.iter().map(super::Unit::requests).sum::<usize>() <= UNIT_REQUESTS)
            );
        }
    }

    /// Where a word does not count the products, or not the bytes, there is a plan all the same.
    #[test]
    fn sizes_beyond_a_word_are_seen() {
        let sizes = |[rows, inner, columns]: [usize; 3]| Sizes { rows, inner, columns };
        // 2^64 products, which are zero modulo 2^64.
        let large = sizes([1 << 22, 1 << 21, 1 << 21]);
        assert_eq!(large.products(), None);
        let plan = Plan::of(large, 64).expect("something to multiply");
        assert!(plan.bytes(base(64)) > 1 << 50 && plan.bytes(base(64)) < u64::MAX);
        let plan = Plan::of(sizes([1 << 40; 3]), 64).expect("something to multiply");
        assert_eq!(plan.bytes(base(64)), u64::MAX);
        for empty in [[0, 1 << 40, 1 << 40], [1 << 40, 0, 1 << 40], [1 << 40, 1 << 40, 0]] {
            assert_eq!(Plan::of(sizes(empty), 128), None);
        }
    }

    /// Packing of matrices: each coefficient of a result is the sum that it has to be, and no other term comes to it.
    #[test]
    fn a_result_is_a_coefficient_of_the_product() {
        for (rows, inner, columns) in [(4, 3, 5), (1, 16_384, 1), (2, 1, 7), (16, 64, 16), (512, 8, 4), (3, 5_461, 1)] {
            let block = Sizes { rows, inner, columns };
            let plan = Plan { transposed: false, sizes: block, block };
            let ends = |length: usize| [0, length / 2, length - 1];
            for (row, column) in ends(rows).into_iter().flat_map(|row| ends(columns).map(|column| (row, column))) {
                let target = plan.result(row, column);
                assert!(target < DEGREE);
                let mut found = 0;
                for (i, t) in (0..rows).flat_map(|i| (0..inner).map(move |t| (i, t))) {
                    let left = plan.left(i, t);
                    // The right element that would meet it there, with either sign.
                    for place in [target.checked_sub(left), Some(target + DEGREE - left)].into_iter().flatten() {
                        if place < inner * columns {
                            let (of, at) = (place % inner, place / inner);
                            assert_eq!((i, t, at, place), (row, of, column, plan.right(t, column)), "{plan:?}");
                            found += 1;
                        }
                    }
                }
                assert_eq!(found, inner);
            }
        }
    }

    #[test]
    fn large_matrices_take_few_bytes() {
        let sizes = Sizes { rows: 512, inner: 512, columns: 512 };
        let plan = Plan::of(sizes, 64).expect("something to multiply");
        assert_eq!(plan.block, Sizes { rows: 512, inner: 8, columns: 4 });
        assert_eq!(plan.bytes(base(64)), 64 * 540_672 + 128 * (180_224 + 22 * 1024));
        let wide = Plan::of(sizes, 128).expect("something to multiply");
        assert_eq!(wide.bytes(base(128)), 98_041_856);
        // The smaller matrix is encrypted where there are few answers to it.
        let row = Plan::of(Sizes { rows: 1, inner: 1_000, columns: 10_000 }, 64).expect("something to multiply");
        assert!(!row.transposed && row.bytes(base(64)) < 200_000_000);
    }
}
