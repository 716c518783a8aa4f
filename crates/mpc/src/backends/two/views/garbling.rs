//! Garbled circuits: what the evaluator receives, and what the garbler is asked.

use super::{Protocol, Source, Strings, check, shape};
use crate::backends::two::garbled::Input;
use crate::backends::two::{Two, choice};
use crate::circuits::Function;
use crate::{Result, Rows};

fn evaluated(b: &mut Two, x: Rows<Two>, function: Function) -> Result<Rows<Two>> {
    let inputs: Vec<Input<'_>> = x.bits.iter().map(Input::Shared).collect();
    let bits = b.garbled(&choice::circuit(function), &inputs)?;
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

fn compared(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    evaluated(b, x, Function::LessThan { width: 2 })
}

fn added(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    evaluated(b, x, Function::Sum { width: 2 })
}

/// Node 0 knows the first input; node 1 part of the others.
fn conjoined(b: &mut Two, mut x: Rows<Two>) -> Result<Rows<Two>> {
    if b.me() == 1 {
        x.bits[0].0 = tacit_math::Plane::zeros(x.rows);
    }
    let inputs = [Input::OfGarbler(&x.bits[0]), Input::Shared(&x.bits[1]), Input::Shared(&x.bits[2])];
    let bits = b.garbled(&choice::circuit(Function::All { planes: 3 }), &inputs)?;
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

// views: Two::whole
// views: crates/mpc/src/backends/two/garbled.rs
#[test]
fn garbled_circuits_tell_nothing() {
    let of = |name, bits, run| Protocol { name, shape: shape(bits, 0), strings: Strings::None, used: None, run };
    check(&of("garbled comparison", 4, &compared), 1, Source::Dealt, None);
    check(&of("garbled conjunction", 3, &conjoined), 1, Source::Slice, None);
}

#[test]
#[ignore = "minutes: make nightly"]
fn garbled_circuits_of_more_rows_tell_nothing() {
    let added = Protocol { name: "garbled sum", shape: shape(4, 0), strings: Strings::None, used: None, run: &added };
    check(&added, 3, Source::Slice, None);
    check(&added, 65, Source::Kept, None);
}
