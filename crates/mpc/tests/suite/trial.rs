//! The sums of a trial are those of a model in clear, on every engine, and cost what is declared.

use super::world::{Program, check_with};
use tacit_math::Prg;
use tacit_mpc::ops::{self, Moments, Subjects};
use tacit_mpc::{Backend, Block, Result, Rows, Shape};

const TIME_WIDTH: usize = 32;

/// A trial of subjects with two events each, in two pieces. Inputs are opportunities, arms, and times and values as
/// they are; what is shared of the latter is what their owner makes of them.
struct Trial;

impl Trial {
    fn moments<B: Backend>(b: &mut B, x: &Rows<B>) -> Result<Moments<B>> {
        let (opportunity, treated) = (&x.r64[0], &x.bits[0]);
        ops::moments(b, &Subjects { time_width: TIME_WIDTH, opportunity, treated, times: &x.r64[1..], added: &x.r128 })
    }
}

impl Program for Trial {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let half = x.rows / 2;
        let (first, second) = (x.slice(0, half), x.slice(half, x.rows - half));
        let sums = Self::moments(b, &first)?.plus(&Self::moments(b, &second)?);
        Ok(Rows { r128: vec![sums.treated, sums.all], ..Rows::empty(1) })
    }

    fn model(&self, x: &Block) -> Option<Block> {
        let mut sums = [[0u64; 2]; 2];
        for i in 0..x.rows {
            let late = (0..x.r128.len()).filter(|&event| x.r64[1 + event][i] > x.r64[0][i]);
            // Modulo 2^64 what an event adds to the outcome is its value.
            let outcome = late.fold(0, |sum: u64, event| sum + u64::from(x.r128[event][i] as u32));
            for [sum, squares] in &mut sums[usize::from(!x.bits[0].get(i))..] {
                *sum += outcome;
                *squares = squares.wrapping_add(outcome.wrapping_mul(outcome));
            }
        }
        let packed = sums.map(|[sum, squares]| vec![u128::from(squares) << 64 | u128::from(sum)]);
        Some(Block { rows: 1, r128: packed.to_vec(), ..Block::default() })
    }
}

/// Events and opportunities, some at the same time.
fn drawn(rows: usize, prg: &mut Prg) -> Block {
    let mut block = Block::random(Shape { rows, bits: 1, r64: 4, r128: 3, ..Shape::default() }, prg);
    block.r64.iter_mut().flatten().for_each(|time| *time >>= 64 - TIME_WIDTH);
    block.r64[1][0] = block.r64[0][0];
    for i in 0..rows {
        let events = [0, 1, 2].map(|event| (block.r64[1 + event][i], block.r128[event][i] as u32));
        for (event, (time, added)) in ops::events_of(events).into_iter().enumerate() {
            (block.r64[1 + event][i], block.r128[event][i]) = (time, added);
        }
    }
    block
}

#[test]
fn trials_are_summed_up_by_arm() {
    for rows in [2, 65, 12_001] {
        check_with(&format!("trial of {rows}"), &Trial, |prg| drawn(rows, prg));
    }
}
