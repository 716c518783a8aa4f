//! Divisions on every engine against integers.

use super::world::{Program, check, check_with, numbers, shape};
use tacit_math::{Plane, Prg};
use tacit_mpc::circuits::{self, Reciprocal};
use tacit_mpc::{Backend, Block, Result, Rows, Shape};

/// Two numbers in, quotient and remainder out.
struct BySecret {
    dividend: usize,
    divisor: usize,
}

impl Program for BySecret {
    fn run<B: Backend>(&self, b: &mut B, input: Rows<B>) -> Result<Rows<B>> {
        let (x, y) = input.bits.split_at(self.dividend);
        let bits = circuits::divide(b, x, y)?.into_iter().flatten().collect();
        Ok(Rows { bits, ..Rows::empty(input.rows) })
    }

    fn model(&self, input: &Block) -> Option<Block> {
        let rows = input.rows;
        let (x, y) = input.bits.split_at(self.dividend);
        let (x, y) = (numbers(x, rows), numbers(y, rows));
        let plane = |of: fn(u128, u128) -> u128, j: usize| Plane::from_fn(rows, |i| of(x[i], y[i]) >> j & 1 == 1);
        let quotient = (0..self.dividend).map(|j| plane(|x, y| x / y, j));
        let bits = quotient.chain((0..self.divisor).map(|j| plane(|x, y| x % y, j))).collect();
        Some(Block { rows, bits, ..Block::default() })
    }
}

/// Random numbers, of which none is divided by 0; some divisors are the largest and the smallest.
fn dividable(dividend: usize, divisor: usize, rows: usize, prg: &mut Prg) -> Block {
    let mut block = Block::random(Shape { bits: dividend + divisor, ..shape(rows) }, prg);
    let of_divisor = block.bits.split_off(dividend);
    let none = Plane::from_fn(rows, |i| i % 7 == 1 || of_divisor.iter().all(|plane| !plane.get(i)));
    let all = Plane::from_fn(rows, |i| i % 7 == 2);
    for (j, plane) in of_divisor.into_iter().enumerate() {
        let bit = |i: usize| all.get(i) || if none.get(i) { j == 0 } else { plane.get(i) };
        block.bits.push(Plane::from_fn(rows, bit));
    }
    block
}

#[test]
fn quotients_by_secret_numbers_agree_with_integers() {
    for (dividend, divisor) in [(1, 1), (2, 1), (1, 3), (3, 3), (8, 8), (9, 4), (5, 12), (17, 10), (64, 20), (31, 32)] {
        for rows in [1, 70] {
            let name = format!("{dividend} by {divisor} bits, {rows} rows");
            check_with(&name, &BySecret { dividend, divisor }, |prg| dividable(dividend, divisor, rows, prg));
        }
    }
}

#[test]
fn many_quotients_by_secret_numbers_agree_with_integers() {
    check_with("many", &BySecret { dividend: 7, divisor: 5 }, |prg| dividable(7, 5, 5_000, prg));
}

/// Numbers of 40 bits, with a sign, by a public number.
struct ByPublic(i128);

const WIDTH: u32 = 40;

impl Program for ByPublic {
    fn run<B: Backend>(&self, b: &mut B, input: Rows<B>) -> Result<Rows<B>> {
        let found = Reciprocal::new(-(1 << 39), (1 << 39) - 1, self.0).expect("few bits");
        let x: B::Vector<u128> = circuits::to_ring(b, &input.bits, true)?;
        let bits = found.floor(b, &x)?;
        Ok(Rows { bits: circuits::resize(b, &bits, WIDTH as usize, true), ..Rows::empty(input.rows) })
    }

    fn model(&self, input: &Block) -> Option<Block> {
        let x = numbers(&input.bits, input.rows);
        let signed = |x: u128| (x << (128 - WIDTH)) as i128 >> (128 - WIDTH);
        let quotient = |i: usize| signed(x[i]).div_euclid(self.0);
        let bits = (0..WIDTH).map(|j| Plane::from_fn(input.rows, |i| quotient(i) >> j & 1 == 1)).collect();
        Some(Block { rows: input.rows, bits, ..Block::default() })
    }
}

#[test]
fn quotients_by_public_numbers_agree_with_integers() {
    for by in [1, 2, 3, 7, 10, 153, 1461, 146_097, 1_000_000, 86_400_000_000, (1 << 39) - 1, 1 << 45] {
        for rows in [1, 70] {
            check(&format!("by {by}"), &ByPublic(by), Shape { bits: WIDTH as usize, ..shape(rows) });
        }
    }
}
