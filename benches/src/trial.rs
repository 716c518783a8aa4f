//! The sums of a trial, piece by piece: opportunities and arms are one party's, four times and values a subject another
//! one's.

use crate::Result;
use tacit_math::{Prg, Seed};
use tacit_mpc::backends::Networked;
use tacit_mpc::ops::{self, Moments, Subjects};
use tacit_mpc::{Block, Shape};
use tacit_net::PartyId;

/// Subjects that are summed up at a time.
const PIECE: usize = 1 << 16;

/// Events of a subject.
const EVENTS: usize = 4;

/// Bits of a time, and of a value.
const TIME: u32 = 32;
const VALUE: u32 = 20;

/// The shared sums over `rows` subjects, whose random data the parties draw on the way.
pub fn run<B: Networked>(b: &mut B, rows: usize) -> Result<Moments<B>> {
    let mut prg = Prg::new(&Seed::random()?);
    let mut sums: Option<Moments<B>> = None;
    for start in (0..rows).step_by(PIECE) {
        let piece = moments(b, PIECE.min(rows - start), &mut prg)?;
        sums = Some(match sums {
            Some(sums) => sums.plus(&piece),
            None => piece,
        });
    }
    sums.ok_or_else(|| "a trial without subjects".into())
}

fn moments<B: Networked>(b: &mut B, rows: usize, prg: &mut Prg) -> Result<Moments<B>> {
    let none = Shape { rows, ..Shape::default() };
    let (of_subjects, of_events) = (Shape { bits: 1, r64: 1, ..none }, Shape { r64: EVENTS, r128: EVENTS, ..none });
    let me = b.session().me();
    let subjects = (me == PartyId(0)).then(|| subjects(of_subjects, prg));
    let events = (me == PartyId(1)).then(|| events(of_events, prg));
    let subjects = b.input(PartyId(0), of_subjects, subjects)?;
    let events = b.input(PartyId(1), of_events, events)?;
    let subjects = Subjects {
        time_width: TIME as usize,
        opportunity: &subjects.r64[0],
        treated: &subjects.bits[0],
        times: &events.r64,
        added: &events.r128,
    };
    Ok(ops::moments(b, &subjects)?)
}

fn subjects(shape: Shape, prg: &mut Prg) -> Block {
    let mut block = Block::random(shape, prg);
    block.r64[0].iter_mut().for_each(|time| *time >>= u64::BITS - TIME);
    block
}

fn events(shape: Shape, prg: &mut Prg) -> Block {
    let mut block = Block::zeros(shape);
    for i in 0..shape.rows {
        let drawn: Vec<u64> = prg.vector(2 * EVENTS);
        let event = |k: usize| (drawn[2 * k] >> (u64::BITS - TIME), drawn[2 * k + 1] as u32 >> (u32::BITS - VALUE));
        for (k, (time, added)) in ops::events_of::<EVENTS>(std::array::from_fn(event)).into_iter().enumerate() {
            (block.r64[k][i], block.r128[k][i]) = (time, added);
        }
    }
    block
}
