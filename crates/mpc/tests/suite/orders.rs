//! Rows that move, on every engine: sorts, merges, permutations and shuffles. As in `engines.rs`, all engines agree
//! with a model in clear Rust and send exactly what they declare.

use super::world::{Program, SIZES, check, check_with, numbers, shape};
use tacit_mpc::{Backend, Block, Result, Rows, Shape, ops};

/// Sorts a table of columns of every kind by its first planes.
struct Sort {
    width: usize,
}

impl Program for Sort {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let order = ops::sort_order(b, x.rows, &x.bits[..self.width])?;
        ops::apply(b, x, order)
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let keys = numbers(&x.bits[..self.width], x.rows);
        let mut old: Vec<u32> = (0..x.rows as u32).collect();
        old.sort_by_key(|&i| keys[i as usize]);
        Some(x.gather(&old))
    }
}

#[test]
fn sorting_is_stable_and_right() {
    for rows in SIZES {
        for width in [0, 1, 2, 3, 6, 11] {
            check(
                &format!("sort {width}"),
                &Sort { width },
                Shape { bits: 70, r32: 1, r64: 2, r128: 1, ..shape(rows) },
            );
        }
    }
    // Enough rows for digits to choose their places by lookups.
    check("long sort", &Sort { width: 3 }, Shape { bits: 4, ..shape(65_500) });
}

/// The first rows by the first planes of the bundle, whose numbers are all different.
struct First {
    width: usize,
    count: usize,
}

impl Program for First {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let key = x.bits[..self.width].to_vec();
        ops::first(b, self.count, &key, x)
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let keys = numbers(&x.bits[..self.width], x.rows);
        let mut old: Vec<u32> = (0..x.rows as u32).collect();
        old.sort_by_key(|&i| keys[i as usize]);
        old.truncate(self.count);
        Some(x.gather(&old))
    }
}

#[test]
fn the_first_rows_are_those_of_a_sort() {
    for (rows, count) in [(0, 0), (1, 1), (7, 3), (65, 1), (130, 130), (600, 1), (700, 10), (1500, 3), (1500, 1400)] {
        let shape = Shape { bits: 63, r32: 1, r64: 2, r128: 1, ..shape(rows) };
        check(&format!("first {count} of {rows}"), &First { width: 61, count }, shape);
    }
}

/// Keys that repeat: the answer has the smallest ones, whichever rows they stand in.
#[test]
fn the_first_rows_have_the_smallest_keys() {
    let (rows, count) = (3000, 20);
    for width in [1, 2, 5] {
        let program = First { width, count };
        check_with(&format!("first by {width} bits"), &program, |prg| {
            Block::random(Shape { bits: width, ..shape(rows) }, prg)
        });
    }
}

/// Merges two runs and takes them back. The bundle's first planes are the key, which both runs ascend by.
struct Merge {
    first: usize,
    width: usize,
}

impl Merge {
    fn keys(&self, x: &Block) -> Vec<u128> {
        numbers(&x.bits[..self.width], x.rows)
    }
}

impl Program for Merge {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let key = x.bits[..self.width].to_vec();
        let (merged, merging) = ops::merge(b, self.first, &key, x)?;
        let mut back = merging.back(b, merged.clone())?;
        back.bits.extend(merged.bits);
        back.r32.extend(merged.r32);
        back.r64.extend(merged.r64);
        back.r128.extend(merged.r128);
        Ok(back)
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let keys = self.keys(x);
        let mut old: Vec<u32> = (0..x.rows as u32).collect();
        old.sort_by_key(|&i| keys[i as usize]);
        let (mut out, merged) = (x.clone(), x.gather(&old));
        out.bits.extend(merged.bits);
        out.r32.extend(merged.r32);
        out.r64.extend(merged.r64);
        out.r128.extend(merged.r128);
        Some(out)
    }
}

#[test]
fn merging_two_runs_sorts_them() {
    for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (5, 60), (64, 64), (90, 10), (1, 130), (200, 313)] {
        for width in [1, 11, 63, 127] {
            let merge = Merge { first, width };
            check_with(&format!("merge {first} and {second}, {width}"), &merge, |prg| {
                let rows = first + second;
                let shape = Shape { bits: width + 1, r32: 1, r64: 2, r128: 1, ..shape(rows) };
                let mut block = Block::random(shape, prg);
                // Of rows with equal keys in one run the order is not defined: they are equal in all columns.
                let keys = merge.keys(&block);
                let mut order: Vec<u32> = (0..rows as u32).collect();
                order.sort_by_key(|&i| (i as usize >= first, keys[i as usize]));
                for at in 1..rows {
                    let [one, two] = [order[at - 1], order[at]];
                    let same_run = (one as usize >= first) == (two as usize >= first);
                    if same_run && keys[one as usize] == keys[two as usize] {
                        order[at] = one;
                    }
                }
                block = block.gather(&order);
                block
            });
        }
    }
}

/// Partition, inversion and shuffling by known permutations.
struct Permutations;

impl Program for Permutations {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let order = ops::partition(b, &x.bits[0])?;
        let inverse = ops::invert(b, order.clone())?;
        let moved = ops::apply(b, x.clone(), order)?;
        let back = ops::apply(b, moved.clone(), inverse.clone())?;
        // Of a number of a row the bits count that row numbers need; a position is whole.
        let positions = ops::invert(b, inverse)?;
        let mut out = Rows { r32: vec![positions], ..moved };
        out.bits.extend(back.bits);
        Ok(out)
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let mut old: Vec<u32> = (0..x.rows as u32).collect();
        old.sort_by_key(|&i| !x.bits[0].get(i as usize));
        let order = tacit_math::permutation::invert(&old).expect("a permutation");
        let mut moved = x.gather(&old);
        moved.bits.extend(x.bits.iter().cloned());
        moved.r32 = vec![order];
        Some(moved)
    }
}

#[test]
fn permutations_move_and_return() {
    for rows in SIZES {
        check("permutations", &Permutations, Shape { bits: 3, r64: 1, ..shape(rows) });
    }
}

/// A shuffle keeps the multiset of rows: the shuffled rows are sorted again by a row number.
struct ShuffleAndSort;

impl Program for ShuffleAndSort {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let rows = x.rows;
        let number = b.public_vector(rows, || (0..rows as u32).collect());
        let shuffled = b.shuffle(Rows { r32: vec![number], ..x })?;
        let order = shuffled.r32[0].clone();
        ops::apply(b, Rows { r32: vec![], ..shuffled }, order)
    }

    fn model(&self, x: &Block) -> Option<Block> {
        Some(x.clone())
    }
}

#[test]
fn shuffles_keep_rows() {
    for rows in SIZES {
        check("shuffle", &ShuffleAndSort, Shape { bits: 65, r64: 1, r128: 1, ..shape(rows) });
    }
    check("long shuffle", &ShuffleAndSort, Shape { bits: 2, ..shape(70_000) });
}
