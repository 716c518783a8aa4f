//! Fixed-point arithmetic on every engine against exact arithmetic, within the errors that it states.

use super::world::{Program, check_with, open_clear};
use tacit_math::{Plane, Prg, Seed};
use tacit_mpc::backends::Clear;
use tacit_mpc::fixed::{self, Format};
use tacit_mpc::{Backend, Block, Result, Rows, Shape};
use tacit_net::PartyId;

#[derive(Clone, Copy, Debug)]
enum Which {
    Truncate,
    Multiply,
    Less,
    Equal,
}

/// Two columns of 64 bits in.
struct Operation {
    which: Which,
    format: Format,
}

fn signed(value: u64) -> i128 {
    i128::from(value as i64)
}

impl Program for Operation {
    fn run<B: Backend>(&self, b: &mut B, input: Rows<B>) -> Result<Rows<B>> {
        let (x, y, Format { width, fraction }) = (&input.r64[0], &input.r64[1], self.format);
        let empty = Rows::empty(input.rows);
        Ok(match self.which {
            Which::Truncate => Rows { r64: vec![fixed::truncate(b, x, width, fraction)?], ..empty },
            Which::Multiply => Rows { r64: vec![fixed::multiply(b, x, y, self.format)?], ..empty },
            Which::Less => Rows { bits: vec![fixed::less_than(b, x, y, width)?], ..empty },
            Which::Equal => Rows { bits: vec![fixed::equal(b, x, y, width)?], ..empty },
        })
    }

    fn model(&self, input: &Block) -> Option<Block> {
        let pairs: Vec<_> = input.r64[0].iter().zip(&input.r64[1]).map(|(&x, &y)| (signed(x), signed(y))).collect();
        let bits = |of: fn(i128, i128) -> bool| vec![Plane::from_fn(input.rows, |i| of(pairs[i].0, pairs[i].1))];
        let numbers = |of: &dyn Fn(i128, i128) -> i128| vec![pairs.iter().map(|&(x, y)| of(x, y) as u64).collect()];
        let (fraction, empty) = (self.format.fraction, Block::zeros(Shape { rows: input.rows, ..Shape::default() }));
        Some(match self.which {
            Which::Truncate => Block { r64: numbers(&|x, _| x >> fraction), ..empty },
            Which::Multiply => Block { r64: numbers(&|x, y| (x * y) >> fraction), ..empty },
            Which::Less => Block { bits: bits(|x, y| x < y), ..empty },
            Which::Equal => Block { bits: bits(|x, y| x == y), ..empty },
        })
    }
}

/// Columns of numbers below 2^(bits - 1) in size, the ends among them; every fourth row has two equal ones.
fn numbers(rows: usize, bits: [usize; 2], prg: &mut Prg) -> Block {
    let mut column = |bits: usize| -> Vec<u64> {
        let number = |(i, x): (usize, u64)| match i {
            0 => 1 << (bits - 1),
            1 => (1 << (bits - 1)) - 1,
            2 => 0,
            _ => x,
        };
        let sign_extended = |x: u64| ((x << (64 - bits)) as i64 >> (64 - bits)) as u64;
        prg.vector::<u64>(rows).into_iter().enumerate().map(number).map(sign_extended).collect()
    };
    let (x, mut y) = (column(bits[0]), column(bits[1]));
    (0..rows).filter(|i| i % 4 == 3 && bits[0] == bits[1]).for_each(|i| y[i] = x[i]);
    Block { r64: vec![x, y], ..Block::zeros(Shape { rows, ..Shape::default() }) }
}

#[test]
fn truncation_products_and_comparisons_are_exact() {
    for rows in [1, 2, 70] {
        for (which, format, bits) in [
            (Which::Truncate, Format { width: 64, fraction: 16 }, [64, 64]),
            (Which::Truncate, Format { width: 20, fraction: 19 }, [20, 20]),
            (Which::Truncate, Format { width: 20, fraction: 0 }, [20, 20]),
            (Which::Multiply, Format { width: 48, fraction: 16 }, [32, 32]),
            (Which::Multiply, Format { width: 40, fraction: 12 }, [40, 12]),
            (Which::Less, Format { width: 63, fraction: 16 }, [63, 63]),
            (Which::Less, Format { width: 2, fraction: 0 }, [2, 2]),
            (Which::Equal, Format { width: 40, fraction: 16 }, [40, 40]),
        ] {
            let name = format!("{which:?} in {format:?}, {rows} rows");
            check_with(&name, &Operation { which, format }, |prg| numbers(rows, bits, prg));
        }
    }
}

/// Quotients of two columns of a ring; the model is the engine without security, which other tests hold against exact
/// arithmetic.
struct Quotient(Format);

impl Program for Quotient {
    fn run<B: Backend>(&self, b: &mut B, input: Rows<B>) -> Result<Rows<B>> {
        let quotient = fixed::divide(b, &input.r128[0], &input.r128[1], self.0)?;
        Ok(Rows { r128: vec![quotient], ..Rows::empty(input.rows) })
    }

    fn model(&self, input: &Block) -> Option<Block> {
        let mut b = Clear::new().ok()?;
        let rows = b.input(PartyId(0), input.shape(), Some(input.clone())).ok()?;
        let out = self.run(&mut b, rows).ok()?;
        Some(open_clear(&mut b, &out))
    }
}

/// Dividends and divisors of all sizes, no divisor zero.
fn fractions(rows: usize, width: usize, prg: &mut Prg) -> Block {
    let mut column = || -> Vec<u128> {
        let shift = prg.vector::<u64>(rows);
        let size = |(x, shift): (u128, u64)| {
            let bits = 2 + (shift % (width as u64 - 1)) as u32;
            ((x << (128 - bits)) as i128 >> (128 - bits)) as u128
        };
        prg.vector::<u128>(rows).into_iter().zip(shift).map(size).collect()
    };
    let (mut x, mut y) = (column(), column());
    let (least, most) = ((-1i128 << (width - 1)) as u128, (1u128 << (width - 1)) - 1);
    let mut ends = vec![(least + 1, 1), (most, most), (most, 1), (1, most), (0, 1), (least + 1, most)];
    ends.extend([(1, least), (most, least), (least, least), (least, most), (least, 1)]);
    for (i, (a, b)) in ends.into_iter().enumerate().take(rows) {
        (x[i], y[i]) = (a, b);
    }
    y.iter_mut().filter(|y| **y == 0).for_each(|y| *y = 1);
    Block { r128: vec![x, y], ..Block::zeros(Shape { rows, ..Shape::default() }) }
}

#[test]
fn quotients_are_the_same_on_every_engine() {
    let format = Format { width: 30, fraction: 14 };
    check_with("quotients", &Quotient(format), |prg| fractions(40, format.width, prg));
}

#[test]
fn quotients_are_within_the_stated_error() {
    for (width, fraction) in [(43, 20), (43, 42), (30, 0), (21, 10), (8, 3), (4, 1), (2, 0)] {
        let format = Format { width, fraction };
        let mut prg = Prg::new(&Seed::from_bytes([width as u8; 16]));
        assert_stated_error(format, &fractions(3000, width, &mut prg));
    }
}

fn assert_stated_error(format: Format, input: &Block) {
    let Format { width, fraction } = format;
    let output = Quotient(format).model(input).expect("a result");
    for ((&x, &y), &quotient) in input.r128[0].iter().zip(&input.r128[1]).zip(&output.r128[0]) {
        let (x, y, quotient) = (x as i128, y as i128, quotient as i128);
        // The stated error times |y|, in units of 2^-fraction.
        let p = width - 1;
        let off = (quotient * y - (x << fraction)).unsigned_abs();
        let allowed = ((5 * x.unsigned_abs()) << fraction).div_ceil(1 << p) + y.unsigned_abs();
        assert!(off <= allowed, "{x} / {y} in {format:?} gives {quotient}");
    }
}

#[test]
fn all_quotients_of_few_bits_are_within_the_stated_error() {
    for (width, fraction) in [(2, 0), (2, 1), (3, 1), (5, 4), (9, 0), (9, 4)] {
        let numbers = -1i128 << (width - 1)..1 << (width - 1);
        let divisors = || numbers.clone().filter(|y| *y != 0);
        let pairs: Vec<_> = numbers.clone().flat_map(|x| divisors().map(move |y| (x, y))).collect();
        let columns =
            vec![pairs.iter().map(|pair| pair.0 as u128).collect(), pairs.iter().map(|pair| pair.1 as u128).collect()];
        let rows = pairs.len();
        assert_stated_error(
            Format { width, fraction },
            &Block { r128: columns, ..Block::zeros(Shape { rows, ..Shape::default() }) },
        );
    }
}

#[test]
fn narrow_rings_divide_too() {
    let format = Format { width: 21, fraction: 8 };
    let mut b = Clear::new().expect("an engine");
    let input = Block {
        r64: vec![vec![700 << 8, (-700i64 << 8) as u64], vec![7 << 8, 3 << 8]],
        ..Block::zeros(Shape { rows: 2, ..Shape::default() })
    };
    let rows = b.input(PartyId(0), input.shape(), Some(input)).expect("input");
    let quotient = fixed::divide::<u64, _>(&mut b, &rows.r64[0], &rows.r64[1], format).expect("a result");
    let opened = open_clear(&mut b, &Rows { r64: vec![quotient], ..Rows::empty(2) });
    let value = |i: usize| opened.r64[0][i] as i64 as f64 / 256.0;
    assert!((value(0) - 100.0).abs() < 0.01 && (value(1) + 700.0 / 3.0).abs() < 0.01, "{} {}", value(0), value(1));
}
