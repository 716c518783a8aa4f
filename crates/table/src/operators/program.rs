//! Programs on arrays: columns become arrays, and results become tables of one column.
//!
//! A column that is an array has no padding and no NULLs: its elements are all rows, in their order.

use tacit_array::{Array, Instruction, Ring, Shares as Elements, execute};
use tacit_mpc::Backend;

use crate::convert::to_kind;
use crate::error::Result;
use crate::operator::{ArrayInput, ArrayOutput, ArrayProgram, Encoding, Kind, Repr};
use crate::table::{Column, Shares, Table, Value};
use crate::wrong_input::WrongInput;

/// The tables of a program's results, by their ids. tables: one for each of its steps.
pub fn program<B: Backend>(
    b: &mut B,
    tables: &[Table<B>],
    program: &ArrayProgram,
) -> Result<Vec<(usize, Table<B>)>> {
    let steps = program.steps();
    let table = |input: &ArrayInput| &tables[steps.iter().position(|step| *step == input.step).expect("it is one")];
    let mut given = vec![];
    for (index, input) in program.inputs.iter().enumerate() {
        let takers = program.nodes.given().filter(|(taken, _)| *taken == index).map(|(_, node)| node);
        let checked = takers.map(|node| of_column(table(input), input, node).map(|value| (value, node)));
        let checked = checked.collect::<Result<Vec<_>>>()?;
        let alike = checked.windows(2).all(|pair| pair[0].1.ring == pair[1].1.ring);
        let Some((value, node)) = checked.first().filter(|_| alike) else {
            return Err(WrongInput::ArrayTaken { column: input.column.clone() }.into());
        };
        let value = to_kind(b, value, kind_of(value.kind, node.ring))?;
        given.push(Array::new(&[value.rows()], elements(value)));
    }
    let nodes: Vec<usize> = program.outputs.iter().map(|output| output.node).collect();
    let results = execute(b, &program.nodes, given, &nodes)?;
    program.outputs.iter().zip(results).map(|(output, result)| made(b, program, output, result)).collect()
}

/// A column that can be an array of an instruction.
fn of_column<'a, B: Backend>(table: &'a Table<B>, input: &ArrayInput, node: &Instruction) -> Result<&'a Value<B>> {
    let column = || input.column.clone();
    let value = table.value(&input.column)?;
    if table.valid.is_some() || value.null.is_some() {
        return Err(WrongInput::ArrayGaps { column: column() }.into());
    }
    if value.encoding != Encoding::Int || node.ring == Ring::Bits && !value.kind.is_boolean() {
        return Err(WrongInput::ArrayColumn { column: column() }.into());
    }
    if table.rows != node.elements() {
        return Err(WrongInput::ArrayRows { column: column(), rows: table.rows, elements: node.elements() }.into());
    }
    Ok(value)
}

/// A value's kind in an array's ring.
fn kind_of(kind: Kind, ring: Ring) -> Kind {
    match ring {
        Ring::Bits => kind,
        Ring::Ring64 => Kind { repr: Repr::Ring64, width: kind.width.min(64), ..kind },
        Ring::Ring128 => Kind { repr: Repr::Ring128, width: kind.width.min(128), ..kind },
    }
}

fn elements<B: Backend>(value: Value<B>) -> Elements<B> {
    match value.shares {
        Shares::Bits(mut planes) => Elements::Bits(planes.swap_remove(0)),
        Shares::Ring64(x) => Elements::Ring64(x),
        Shares::Ring128(x) => Elements::Ring128(x),
    }
}

/// The table of a result.
fn made<B: Backend>(
    b: &mut B,
    program: &ArrayProgram,
    output: &ArrayOutput,
    result: Array<B>,
) -> Result<(usize, Table<B>)> {
    let rows = result.elements();
    let shares = match result.into_shares() {
        Elements::Bits(plane) => Shares::Bits(vec![plane]),
        Elements::Ring64(x) => Shares::Ring64(x),
        Elements::Ring128(x) => Shares::Ring128(x),
    };
    let value = Value::new(bounded(output.kind, program.result(output)), Encoding::Int, None, shares);
    let value = to_kind(b, &value, output.kind)?;
    let mut table = Table::new(rows, None, vec![Column::new(&output.column, value)]);
    // An array's order is part of what the program says.
    table.order.stated = true;
    Ok((output.id, table))
}

/// The kind of a result before it is converted: the bounds that its column declares, or a bit's own.
fn bounded(kind: Kind, node: &Instruction) -> Kind {
    if node.ring == Ring::Bits { Kind::TRUTH } else { kind }
}
