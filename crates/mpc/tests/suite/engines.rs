//! One generic test for all engines: every program gives the same on `rep3` and `two` as on `clear`, equals a model in
//! clear Rust, and sends exactly what it declares.

use super::world::{Program, SIZES, check, check_with, numbers, shape};
use tacit_math::{Plane, Prg, Seed, ring};
use tacit_mpc::circuits;
use tacit_mpc::{Backend, Block, Linear, Result, Rows, Shape, linear, ops};

fn bits<B: Backend>(rows: usize, bits: Vec<B::Bits>) -> Rows<B> {
    Rows { bits, ..Rows::empty(rows) }
}

fn signed(value: u128, width: usize) -> i128 {
    let shift = 128 - width as u32;
    (value << shift) as i128 >> shift
}

/// Two numbers in, planes out.
struct Circuit {
    width: usize,
    which: Which,
}

#[derive(Clone, Copy, Debug)]
enum Which {
    And,
    Add,
    Less,
    LessSigned,
    Equal,
    Mux,
}

impl Program for Circuit {
    fn run<B: Backend>(&self, b: &mut B, input: Rows<B>) -> Result<Rows<B>> {
        let (x, rest) = input.bits.split_at(self.width);
        let (y, choice) = rest.split_at(self.width);
        let out = match self.which {
            Which::And => b.and(&x.iter().collect::<Vec<_>>(), &y.iter().collect::<Vec<_>>())?,
            Which::Add => circuits::add(b, x, y)?,
            Which::Less => vec![circuits::less_than(b, x, y, false)?],
            Which::LessSigned => vec![circuits::less_than(b, x, y, true)?],
            Which::Equal => vec![circuits::equal(b, input.rows, x, y)?],
            Which::Mux => circuits::mux(b, &choice[0], x, y)?,
        };
        Ok(bits(input.rows, out))
    }

    fn model(&self, input: &Block) -> Option<Block> {
        let (rows, width) = (input.rows, self.width);
        let (x, y) = (numbers(&input.bits[..width], rows), numbers(&input.bits[width..2 * width], rows));
        let modulus = |v: u128| if width == 128 { v } else { v & ((1 << width) - 1) };
        let one = |i: usize| -> u128 {
            let (x, y) = (x[i], y[i]);
            match self.which {
                Which::And => x & y,
                Which::Add => modulus(x.wrapping_add(y)),
                Which::Less => u128::from(x < y),
                Which::LessSigned => u128::from(signed(x, width) < signed(y, width)),
                Which::Equal => u128::from(x == y),
                Which::Mux => {
                    if input.bits[2 * width].get(i) {
                        x
                    } else {
                        y
                    }
                }
            }
        };
        let planes = match self.which {
            Which::And | Which::Add | Which::Mux => width,
            _ => 1,
        };
        let bits = (0..planes).map(|j| Plane::from_fn(rows, |i| one(i) >> j & 1 == 1)).collect();
        Some(Block { rows, bits, ..Block::default() })
    }
}

#[test]
fn circuits_agree_with_integers() {
    for which in [Which::And, Which::Add, Which::Less, Which::LessSigned, Which::Equal, Which::Mux] {
        for width in [1, 2, 3, 7, 17, 32, 64, 128] {
            for rows in [1, 65, 300] {
                check(
                    &format!("{which:?} {width}"),
                    &Circuit { width, which },
                    Shape { bits: 2 * width + 1, ..shape(rows) },
                );
            }
        }
    }
    for rows in SIZES.into_iter().chain([26_300]) {
        check("less than", &Circuit { width: 9, which: Which::Less }, Shape { bits: 19, ..shape(rows) });
    }
}

#[test]
fn close_numbers_compare_right() {
    let rows = 256;
    let block = |prg: &mut Prg| {
        let mut block = Block::random(Shape { bits: 25, ..shape(rows) }, prg);
        for j in 1..12 {
            block.bits[12 + j] = block.bits[j].clone();
        }
        block
    };
    for which in [Which::Less, Which::LessSigned, Which::Equal] {
        check_with(&format!("{which:?}"), &Circuit { width: 12, which }, block);
    }
}

/// ANDs of enough rows for engines to choose other protocols than for few: of pairs and with a common factor, then of
/// their results.
struct ManyAnds;

impl Program for ManyAnds {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let planes: Vec<_> = x.bits.iter().collect();
        let [p, q, r, s, t, u, v] = planes[..] else { unreachable!("seven planes") };
        let first = b.and(&[p, q, t, t, v], &[r, s, u, q, t])?;
        let second = b.and(&[&first[0], &first[2], &first[4]], &[&first[1], &first[3], p])?;
        Ok(bits(x.rows, first.into_iter().chain(second).collect()))
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let and = |a: &Plane, b: &Plane| Plane::from_fn(x.rows, |i| a.get(i) && b.get(i));
        let [p, q, r, s, t, u, v] = &x.bits[..] else { unreachable!("seven planes") };
        let mut out = vec![and(p, r), and(q, s), and(t, u), and(t, q), and(v, t)];
        out.extend([and(&out[0], &out[1]), and(&out[2], &out[3]), and(&out[4], p)]);
        Some(Block { rows: x.rows, bits: out, ..Block::default() })
    }
}

/// Products of enough rows for engines to choose other protocols than for few, in several batches, and conversions.
struct ManyProducts;

impl Program for ManyProducts {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let r32 = b.mul(&[&x.r32[0]], &[&x.r32[1]])?;
        let r64 =
            b.inner_products(&[vec![(&x.r64[0], &x.r64[1]), (&x.r64[1], &x.r64[1])], vec![(&x.r64[0], &x.r64[0])]])?;
        let r128 = b.mul(&[&x.r128[0]], &[&x.r128[1]])?;
        Ok(Rows { r32, r64, r128, ..Rows::empty(x.rows) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let r32 = (0..x.rows).map(|i| x.r32[0][i].wrapping_mul(x.r32[1][i])).collect();
        let [a, b] = [&x.r64[0], &x.r64[1]];
        let first = |i: usize| a[i].wrapping_mul(b[i]).wrapping_add(b[i].wrapping_mul(b[i]));
        let square = |i: usize| a[i].wrapping_mul(a[i]);
        let r64 = vec![(0..x.rows).map(first).collect(), (0..x.rows).map(square).collect()];
        let r128 = (0..x.rows).map(|i| x.r128[0][i].wrapping_mul(x.r128[1][i])).collect();
        Some(Block { rows: x.rows, r32: vec![r32], r64, r128: vec![r128], ..Block::default() })
    }
}

#[test]
fn many_products_agree_with_few() {
    // An odd number of 32-bit products does not fill its last word of transfers.
    check("8195 rows of products", &ManyProducts, Shape { r32: 2, r64: 2, r128: 2, ..shape(8195) });
}

/// Injections and selections of enough rows for engines to choose other protocols than for few.
struct ManyBits;

impl Program for ManyBits {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let bits: Vec<_> = x.bits.iter().collect();
        let r64 = b.inject::<u64>(&bits)?;
        let r32 = b.select(&bits[..2], &[&x.r32[0], &x.r32[1]])?;
        Ok(Rows { r32, r64, ..Rows::empty(x.rows) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let r64 = x.bits.iter().map(|p| (0..x.rows).map(|i| u64::from(p.get(i))).collect()).collect();
        let chosen = |j: usize| (0..x.rows).map(|i| u32::from(x.bits[j].get(i)) * x.r32[j][i]).collect();
        Some(Block { rows: x.rows, r64, r32: vec![chosen(0), chosen(1)], ..Block::default() })
    }
}

#[test]
fn many_bits_agree_with_few() {
    check("300 001 rows of bits", &ManyBits, Shape { bits: 3, r32: 2, ..shape(300_001) });
}

/// Sums over rows that bits choose, and how many these are.
struct SumsWhere;

impl Program for SumsWhere {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let bits: Vec<_> = x.bits.iter().collect();
        let r32 = ops::sums_where::<u32, B>(b, &bits, &[(2, None), (0, None), (2, None)])?;
        let r64 = ops::sums_where(b, &bits, &[(0, Some(&x.r64[0])), (1, None), (0, Some(&x.r64[1]))])?;
        let r128 = ops::sums_where(b, &bits, &[(2, Some(&x.r128[0]))])?;
        Ok(Rows { r32, r64, r128, ..Rows::empty(1) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let rows = |bit: usize| (0..x.rows).filter(move |&row| x.bits[bit].get(row));
        let count = |bit| rows(bit).count() as u32;
        let sum = |bit, of: usize| rows(bit).fold(0_u64, |sum, row| sum.wrapping_add(x.r64[of][row]));
        let r32 = [2, 0, 2].map(|bit| vec![count(bit)]).to_vec();
        let r64 = vec![vec![sum(0, 0)], vec![count(1).into()], vec![sum(0, 1)]];
        let r128 = vec![vec![rows(2).fold(0_u128, |sum, row| sum.wrapping_add(x.r128[0][row]))]];
        Some(Block { rows: 1, r32, r64, r128, ..Block::default() })
    }
}

#[test]
fn sums_are_over_the_rows_that_bits_choose() {
    for rows in [0, 1, 2, 3, 65, 256, 1000] {
        check("sums", &SumsWhere, Shape { bits: 3, r64: 2, r128: 1, ..shape(rows) });
    }
}

#[test]
fn many_ands_agree_with_few() {
    for rows in [87_381, 87_425] {
        check(&format!("{rows} rows of ANDs"), &ManyAnds, Shape { bits: 7, ..shape(rows) });
    }
}

/// A bit of ring vectors: the signs of numbers of `width` bits.
struct Signs {
    width: usize,
}

impl Program for Signs {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let of_64 = circuits::sign(b, &x.r64[0], self.width)?;
        let of_128 = circuits::sign(b, &x.r128[0], 2 * self.width)?;
        Ok(bits(x.rows, vec![of_64, of_128]))
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let of_64 = Plane::from_fn(x.rows, |i| x.r64[0][i] >> (self.width - 1) & 1 == 1);
        let of_128 = Plane::from_fn(x.rows, |i| x.r128[0][i] >> (2 * self.width - 1) & 1 == 1);
        Some(Block { rows: x.rows, bits: vec![of_64, of_128], ..Block::default() })
    }
}

#[test]
fn signs_are_bits_of_numbers() {
    // Few rows, which go gate by gate, and enough for carries to come from lookups; digits that are full and that are
    // not.
    for (rows, width) in [(1, 1), (65, 2), (300, 64), (6000, 33), (5999, 34), (16_500, 33), (16_449, 35)] {
        check(&format!("signs {width}"), &Signs { width }, Shape { r64: 1, r128: 1, ..shape(rows) });
    }
}

/// The conjunction of all planes.
struct Conjunction;

impl Program for Conjunction {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let all = circuits::and_all(b, x.rows, x.bits)?;
        Ok(bits(x.rows, vec![all]))
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let all = Plane::from_fn(x.rows, |i| x.bits.iter().all(|plane| plane.get(i)));
        Some(Block { rows: x.rows, bits: vec![all], ..Block::default() })
    }
}

#[test]
fn conjunctions_are_of_all_planes() {
    // Few and many rows, of which engines may make different things; a third are ones, a third lack one of them.
    for (rows, planes) in [(0, 4), (1, 61), (1, 3100), (65, 1540), (65_536, 3), (65_540, 4), (20_001, 12), (40_001, 15)]
    {
        let block = |prg: &mut Prg| {
            let random = Block::random(Shape { bits: planes, ..shape(rows) }, prg);
            let bit = |j: usize, i: usize| match i % 3 {
                0 => true,
                1 => i / 3 % planes != j,
                _ => random.bits[j].get(i),
            };
            let bits = (0..planes).map(|j| Plane::from_fn(rows, |i| bit(j, i))).collect();
            Block { rows, bits, ..Block::default() }
        };
        check_with(&format!("conjunction of {planes} planes of {rows} rows"), &Conjunction, block);
    }
}

/// Products and sums of products over the three rings, as vectors.
struct Products;

impl Program for Products {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let r32 = b.mul(&[&x.r32[0], &x.r32[1]], &[&x.r32[1], &x.r32[1]])?;
        let r64 =
            b.inner_products(&[vec![(&x.r64[0], &x.r64[1]), (&x.r64[1], &x.r64[2])], vec![(&x.r64[2], &x.r64[2])]])?;
        let r128 = b.mul(&[&x.r128[0]], &[&x.r128[0]])?;
        Ok(Rows { r32, r64, r128, ..Rows::empty(x.rows) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let each = |f: &dyn Fn(usize) -> u64| (0..x.rows).map(f).collect::<Vec<_>>();
        let mul32 = |a: usize, b: usize| (0..x.rows).map(|i| x.r32[a][i].wrapping_mul(x.r32[b][i])).collect::<Vec<_>>();
        let [a, b, c] = [&x.r64[0], &x.r64[1], &x.r64[2]];
        Some(Block {
            rows: x.rows,
            r32: vec![mul32(0, 1), mul32(1, 1)],
            r64: vec![
                each(&|i| a[i].wrapping_mul(b[i]).wrapping_add(b[i].wrapping_mul(c[i]))),
                each(&|i| c[i].wrapping_mul(c[i])),
            ],
            r128: vec![x.r128[0].iter().map(|v| v.wrapping_mul(*v)).collect()],
            ..Block::default()
        })
    }
}

#[test]
fn products_agree_with_integers() {
    for rows in SIZES {
        check("products", &Products, Shape { r32: 2, r64: 3, r128: 1, ..shape(rows) });
    }
}

/// Conversions there and back, at full and at narrow width.
struct Conversions;

/// Planes of numbers that are narrower than a ring, and whether they have a sign.
const NARROW: [(usize, bool); 7] =
    [(1, false), (3, true), (20, true), (20, false), (31, true), (61, true), (64, false)];

impl Program for Conversions {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let mut out = Rows::empty(x.rows);
        out.bits.extend(circuits::to_planes(b, &x.r32[0], 32)?);
        out.bits.extend(circuits::to_planes(b, &x.r64[0], 64)?);
        out.bits.extend(circuits::to_planes(b, &x.r64[0], 17)?);
        out.bits.extend(circuits::to_planes(b, &x.r128[0], 128)?);
        out.r64.push(circuits::to_ring(b, &x.bits[..5], true)?);
        out.r64.push(circuits::to_ring(b, &x.bits[..20], false)?);
        out.r64.push(circuits::to_ring(b, &x.bits[..20], true)?);
        out.r64.push(circuits::to_ring(b, &x.bits[..64], false)?);
        out.r128.push(circuits::to_ring(b, &x.bits[..20], true)?);
        out.r128.push(circuits::to_ring(b, &x.bits[..70], true)?);
        for (width, signed) in NARROW {
            out.r64.push(circuits::narrow_to_ring(b, &x.bits[..width], signed)?);
            out.r128.push(circuits::narrow_to_ring(b, &x.bits[..width], signed)?);
        }
        out.r32.extend(b.inject(&[&x.bits[0], &x.bits[1]])?);
        Ok(out)
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let rows = x.rows;
        let planes = |v: Vec<u128>, width: usize| {
            (0..width).map(move |j| Plane::from_fn(rows, |i| v[i] >> j & 1 == 1)).collect::<Vec<_>>()
        };
        let wide = |v: &[u64]| v.iter().map(|&v| u128::from(v)).collect::<Vec<_>>();
        let number = |width: usize, is_signed: bool| -> Vec<u128> {
            let values = numbers(&x.bits[..width], rows);
            values.into_iter().map(|v| if is_signed { signed(v, width) as u128 } else { v }).collect()
        };
        let narrow = |v: Vec<u128>| v.into_iter().map(|v| v as u64).collect::<Vec<_>>();
        let of_narrow = NARROW.map(|(width, signed)| number(width, signed));
        let mut r64 = vec![
            narrow(number(5, true)),
            narrow(number(20, false)),
            narrow(number(20, true)),
            narrow(number(64, false)),
        ];
        r64.extend(of_narrow.iter().cloned().map(narrow));
        let mut r128 = vec![number(20, true), number(70, true)];
        r128.extend(of_narrow);
        let mut bits = planes(x.r32[0].iter().map(|&v| v.into()).collect(), 32);
        bits.extend(planes(wide(&x.r64[0]), 64));
        bits.extend(planes(wide(&x.r64[0]), 17));
        bits.extend(planes(x.r128[0].clone(), 128));
        Some(Block {
            rows,
            bits,
            r32: (0..2).map(|j| (0..rows).map(|i| x.bits[j].get(i).into()).collect()).collect(),
            r64,
            r128,
        })
    }
}

#[test]
fn conversions_keep_values() {
    for rows in SIZES {
        check("conversions", &Conversions, Shape { bits: 70, r32: 1, r64: 1, r128: 1, ..shape(rows) });
    }
}

#[test]
fn long_vectors_go_in_batches() {
    check("long products", &Products, Shape { r32: 2, r64: 3, r128: 1, ..shape(9000) });
    check("long and", &Circuit { width: 1, which: Which::And }, Shape { bits: 3, ..shape((1 << 20) + 70) });
    check("long injections", &Injections, Shape { bits: 1, ..shape((1 << 20) + 70) });
}

/// Bits to ring elements and times ring elements.
struct Injections;

impl Program for Injections {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let r64 = b.inject(&[&x.bits[0]])?;
        let r64 = b.select(&[&x.bits[0]], &[&linear::scale(&r64[0], 5)])?;
        Ok(Rows { r64, ..Rows::empty(x.rows) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let r64 = vec![x.bits[0].to_bools().into_iter().map(|bit| 5 * u64::from(bit)).collect()];
        Some(Block { rows: x.rows, r64, ..Block::default() })
    }
}

/// Local maps: prefix sums, differences, slices, padding, concatenation, totals, complements, constants.
struct Local;

impl Program for Local {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let half = x.rows / 2;
        let back = x.prefix_sums().differences().slice(0, half).pad_zeros(x.rows - half);
        let total = linear::total(&x.r64[0]);
        let rest = x.slice(half, x.rows - half);
        let whole = linear::concat_bits(&[&x.slice(0, half).bits[0], &rest.bits[0]]);
        let vectors = linear::concat_vectors(&[&x.slice(0, half).r64[0], &rest.r64[0]]);
        let constant = b.public_vector(x.rows, || vec![7u64; x.rows]);
        let mut out = back;
        out.bits.push(b.not(&whole));
        out.r64.push(linear::add(&vectors, &linear::scale(&constant, 3)));
        out.r64.push(total.map(x.rows, |t| vec![t[0]; x.rows]));
        Ok(out)
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let (rows, half) = (x.rows, x.rows / 2);
        let mut out = x.clone();
        out.bits = x.bits.iter().map(|p| Plane::from_fn(rows, |i| i < half && p.get(i))).collect();
        out.r64.iter_mut().for_each(|c| c[half..].fill(0));
        out.bits.push(x.bits[0].not());
        out.r64.push(x.r64[0].iter().map(|v| v.wrapping_add(21)).collect());
        out.r64.push(vec![ring::sum(&x.r64[0]); rows]);
        Some(out)
    }
}

#[test]
fn local_maps_need_no_message() {
    for rows in SIZES {
        check("local", &Local, Shape { bits: 2, r64: 1, ..shape(rows) });
    }
}

#[test]
fn seeds_are_fresh() {
    let seeds: Vec<_> = (0..4).map(|_| *Seed::random().expect("randomness").expose()).collect();
    assert!((1..4).all(|i| seeds[0] != seeds[i]));
}
