//! Everything that is written once above the engines: circuits, conversions, fixed-point arithmetic, operations.

use tacit_math::Prg;
use tacit_mpc::backends::Rep3;
use tacit_mpc::circuits::Reciprocal;
use tacit_mpc::fixed::{self, Format};
use tacit_mpc::ops::{self, Narrowing, Subjects};
use tacit_mpc::{Backend, Block, Result, Rows, Shape, circuits};

use crate::world::{Effort, LARGE, Program, SIZES, SMALL, Source, Told, check, shape};

/// One function on some columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Add,
    Sign,
    AndAll,
    OrAll,
    Equal,
    LessThan,
    LeadingOne,
    Quotient,
    Floor,
    Mux,
    MaskAll,
    ToPlanes,
    ToRingNarrow,
    ToRingWide,
    ToRingOfFew,
    Truncate,
    Multiply,
    LessFixed,
    EqualFixed,
    Divide,
    DivideBySteps,
    SortShort,
    SortLong,
    Invert,
    Partition,
    PlaceByLabels,
    Merge,
    First,
    Narrowed,
    Moments,
    SumsWhere,
    RoundedDown,
}

impl Function {
    /// All of them.
    pub const ALL: [Self; 32] = [
        Self::Add,
        Self::Sign,
        Self::AndAll,
        Self::OrAll,
        Self::Equal,
        Self::LessThan,
        Self::LeadingOne,
        Self::Quotient,
        Self::Floor,
        Self::Mux,
        Self::MaskAll,
        Self::ToPlanes,
        Self::ToRingNarrow,
        Self::ToRingWide,
        Self::ToRingOfFew,
        Self::Truncate,
        Self::Multiply,
        Self::LessFixed,
        Self::EqualFixed,
        Self::Divide,
        Self::DivideBySteps,
        Self::SortShort,
        Self::SortLong,
        Self::Invert,
        Self::Partition,
        Self::PlaceByLabels,
        Self::Merge,
        Self::First,
        Self::Narrowed,
        Self::Moments,
        Self::SumsWhere,
        Self::RoundedDown,
    ];
}

/// Numbers of few bits, so that circuits are small.
const FORMAT: Format = Format { width: 6, fraction: 2 };
const NARROW: Format = Format { width: 3, fraction: 1 };

/// Of as few bits as take a step towards the reciprocal.
const STEPPED: Format = Format { width: 5, fraction: 2 };

/// Of so few rows that the rows that are kept may be any.
const FEW: Narrowing = Narrowing { sample: 3, rank: 2, divisor: 2, at_most: 3 };

impl Program for Function {
    fn shape(&self, rows: usize) -> Shape {
        let of = |bits, r32, r64, r128| Shape { bits, r32, r64, r128, ..shape(rows) };
        match self {
            Self::Add | Self::Equal | Self::LessThan => of(8, 0, 0, 0),
            Self::AndAll | Self::OrAll | Self::LeadingOne | Self::ToRingNarrow | Self::ToRingOfFew => of(5, 0, 0, 0),
            Self::Quotient => of(5, 0, 0, 0),
            Self::Mux => of(5, 0, 0, 0),
            Self::MaskAll => of(4, 0, 0, 0),
            Self::Sign | Self::ToPlanes | Self::Truncate | Self::Floor | Self::RoundedDown => of(0, 1, 0, 0),
            Self::ToRingWide => of(9, 0, 0, 0),
            Self::Multiply | Self::LessFixed | Self::EqualFixed => of(0, 2, 0, 0),
            Self::Divide | Self::DivideBySteps => of(0, 2, 0, 0),
            Self::SortShort | Self::Invert => of(3, 1, 1, 0),
            Self::SortLong | Self::PlaceByLabels => of(5, 0, 1, 0),
            Self::Partition => of(2, 1, 0, 0),
            Self::Merge | Self::First | Self::Narrowed => of(3, 0, 1, 0),
            Self::Moments => of(1, 0, 3, 2),
            Self::SumsWhere => of(2, 0, 2, 1),
        }
    }

    fn input(&self, shape: Shape, prg: &mut Prg) -> Block {
        let mut block = Block::random(shape, prg);
        if let Self::Moments = self {
            block.r64.iter_mut().flatten().for_each(|time| *time >>= 56);
        }
        block
    }

    fn run<B: Backend>(&self, b: &mut B, mut x: Rows<B>) -> Result<Rows<B>> {
        let empty = Rows::empty(x.rows);
        let planes = |bits| Rows { bits, ..Rows::empty(x.rows) };
        let half = x.bits.len() / 2;
        Ok(match self {
            Self::Add => planes(circuits::add(b, &x.bits[..half], &x.bits[half..])?),
            Self::Sign => planes(vec![circuits::sign(b, &x.r32[0], 7)?]),
            Self::AndAll => planes(vec![circuits::and_all(b, x.rows, x.bits)?]),
            Self::OrAll => planes(vec![circuits::or_all(b, x.rows, &x.bits)?]),
            Self::Equal => planes(vec![circuits::equal(b, x.rows, &x.bits[..half], &x.bits[half..])?]),
            Self::LessThan => planes(vec![circuits::less_than(b, &x.bits[..half], &x.bits[half..], true)?]),
            Self::LeadingOne => planes(circuits::leading_one(b, &x.bits)?),
            Self::Quotient => {
                let quotient = circuits::divide(b, &x.bits[..3], &x.bits[3..])?;
                planes(quotient.into_iter().flatten().collect())
            }
            Self::Floor => {
                let thirds = Reciprocal::new(-64, 63, 3).expect("few bits");
                planes(thirds.floor(b, &x.r32[0])?)
            }
            Self::Mux => planes(circuits::mux(b, &x.bits[0], &x.bits[1..3], &x.bits[3..])?),
            Self::MaskAll => planes(circuits::mask_all(b, &x.bits[0], &x.bits[1..])?),
            Self::ToPlanes => planes(circuits::to_planes(b, &x.r32[0], 7)?),
            Self::ToRingNarrow => Rows { r64: vec![circuits::to_ring(b, &x.bits, true)?], ..empty },
            Self::ToRingOfFew => Rows { r64: vec![circuits::narrow_to_ring(b, &x.bits, true)?], ..empty },
            Self::ToRingWide => Rows { r32: vec![circuits::to_ring(b, &x.bits, true)?], ..empty },
            Self::Truncate => Rows { r32: vec![fixed::truncate(b, &x.r32[0], 9, 3)?], ..empty },
            Self::Multiply => Rows { r32: vec![fixed::multiply(b, &x.r32[0], &x.r32[1], FORMAT)?], ..empty },
            Self::RoundedDown => Rows { r32: vec![circuits::floor(b, &x.r32[0], 4)?], ..empty },
            Self::LessFixed => planes(vec![fixed::less_than(b, &x.r32[0], &x.r32[1], 7)?]),
            Self::EqualFixed => planes(vec![fixed::equal(b, &x.r32[0], &x.r32[1], 7)?]),
            Self::Divide => Rows { r32: vec![fixed::divide(b, &x.r32[0], &x.r32[1], NARROW)?], ..empty },
            Self::DivideBySteps => Rows { r32: vec![fixed::divide(b, &x.r32[0], &x.r32[1], STEPPED)?], ..empty },
            Self::SortShort | Self::SortLong => {
                let order = ops::sort_order(b, x.rows, &x.bits)?;
                ops::apply(b, x, order)?
            }
            Self::Invert => {
                let order = ops::sort_order(b, x.rows, &x.bits)?;
                Rows { r32: vec![ops::invert(b, order)?], ..empty }
            }
            Self::Partition => {
                let front = ops::partition(b, &x.bits[0])?;
                ops::apply(b, x, front)?
            }
            Self::PlaceByLabels => {
                let width = ops::label_width(x.rows);
                let labels = ops::sorted_labels(b, &x.bits[..4], width, |row| row)?;
                x.bits.truncate(1);
                ops::place_by_labels(b, x, labels, |label| Some(label as u32))?
            }
            Self::Merge => {
                let key = x.bits[..2].to_vec();
                let (merged, merging) = ops::merge(b, x.rows / 3, &key, x)?;
                merging.back(b, merged)?
            }
            Self::First => {
                let key = x.bits[..2].to_vec();
                ops::first(b, x.rows.div_ceil(3), &key, x)?
            }
            Self::Narrowed => ops::narrowed(b, x, 2, FEW)?,
            Self::Moments => {
                let (opportunity, treated) = (&x.r64[0], &x.bits[0]);
                let (times, added) = (&x.r64[1..], &x.r128);
                let sums = ops::moments(b, &Subjects { time_width: 8, opportunity, treated, times, added })?;
                let sums =
                    sums.plus(&ops::moments(b, &Subjects { time_width: 8, opportunity, treated, times, added })?);
                Rows { r128: vec![sums.treated, sums.all], ..Rows::empty(1) }
            }
            Self::SumsWhere => {
                let bits = [&x.bits[0], &x.bits[1]];
                let r64 = ops::sums_where(b, &bits, &[(1, None), (0, Some(&x.r64[0])), (1, Some(&x.r64[1]))])?;
                let r128 = ops::sums_where(b, &bits, &[(1, Some(&x.r128[0]))])?;
                Rows { r64, r128, ..Rows::empty(1) }
            }
        })
    }
}

impl Function {
    /// Whether it makes many calls, which say enough of a few rows.
    pub fn is_long(self) -> bool {
        let merges = matches!(self, Self::Merge | Self::First | Self::Narrowed);
        merges || matches!(self, Self::Divide | Self::DivideBySteps | Self::Moments)
    }

    /// How many rows it takes at least: a sample is of rows.
    fn least_rows(self) -> usize {
        if self == Self::Narrowed { FEW.sample } else { 0 }
    }
}

/// Divisions by steps, which make the most calls, have a test of their own.
fn functions<B: Told + 'static>(long: bool, rows: &[usize], effort: Effort) {
    let functions = Function::ALL.into_iter().filter(|function| *function != Function::DivideBySteps);
    for function in functions.filter(|function| function.is_long() == long) {
        for &rows in rows.iter().filter(|&&rows| rows >= function.least_rows()) {
            check::<B>(&format!("{function:?}"), &function, rows, Source::Worked, effort);
        }
    }
}

// views: crates/mpc/src/circuits/arithmetic.rs
// views: crates/mpc/src/circuits/compare.rs
// views: crates/mpc/src/circuits/whole.rs
// views: crates/mpc/src/circuits/convert.rs
// views: crates/mpc/src/circuits/division.rs
// views: crates/mpc/src/circuits/leading.rs
// views: crates/mpc/src/circuits/reciprocal.rs
// views: crates/mpc/src/circuits/rounding.rs
// views: crates/mpc/src/circuits/select.rs
// views: crates/mpc/src/fixed.rs
// views: crates/mpc/src/ops/permute.rs
// views: crates/mpc/src/ops/sort.rs
// views: crates/mpc/src/ops/sums.rs
#[test]
fn functions_over_three_nodes_tell_nothing() {
    functions::<Rep3>(false, &[10], SMALL);
}

// views: crates/mpc/src/ops/first.rs
// views: crates/mpc/src/ops/merge.rs
// views: crates/mpc/src/ops/trial.rs
#[test]
fn long_functions_over_three_nodes_tell_nothing() {
    check::<Rep3>("merge", &Function::Merge, 6, Source::Worked, SMALL);
    check::<Rep3>("first", &Function::First, 6, Source::Worked, SMALL);
    check::<Rep3>("narrowed", &Function::Narrowed, 6, Source::Worked, SMALL);
    check::<Rep3>("moments", &Function::Moments, 2, Source::Worked, SMALL);
}

/// Of so few bits that the reciprocal is its first approximation.
#[test]
fn divisions_over_three_nodes_tell_nothing() {
    check::<Rep3>("divide", &Function::Divide, 1, Source::Worked, SMALL);
}

#[test]
#[ignore = "minutes: make nightly"]
fn divisions_by_steps_over_three_nodes_tell_nothing() {
    check::<Rep3>("divide by steps", &Function::DivideBySteps, 1, Source::Worked, SMALL);
}

#[test]
#[ignore = "minutes: make nightly"]
fn functions_over_three_nodes_tell_nothing_at_any_size() {
    functions::<Rep3>(false, &SIZES, LARGE);
}

#[test]
#[ignore = "minutes: make nightly"]
fn long_functions_over_three_nodes_tell_nothing_at_any_size() {
    functions::<Rep3>(true, &[1, 3, 10], LARGE);
}
