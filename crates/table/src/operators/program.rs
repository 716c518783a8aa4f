//! Programs on arrays: columns become arrays, and results become tables of one column.
//!
//! A column that is an array has no padding and no NULLs: its elements are all rows, in their order.

use std::sync::Arc;

use tacit_array::{Array, Instruction, Ring, Shares as Elements, execute};
use tacit_mpc::backends::{Costs, Tally};
use tacit_mpc::{Backend, Shape};

use crate::convert::to_kind;
use crate::encode;
use crate::error::Result;
use crate::operator::{ArrayInput, ArrayOutput, ArrayProgram, Encoding, InputColumn, Kind, Repr};
use crate::operators::input;
use crate::table::{Column, Shares, Table, Value};
use crate::wrong_input::WrongInput;

/// The tables of a program's results, by their ids. tables: one for each of its steps. Columns that nobody else has are
/// moved.
pub fn program<B: Backend>(b: &mut B, tables: Vec<Table<B>>, program: &ArrayProgram) -> Result<Vec<(usize, Table<B>)>> {
    let taken = program.inputs.iter().enumerate().map(|(index, input)| column(&tables, program, index, input));
    let taken = taken.collect::<Result<Vec<_>>>()?;
    drop(tables);
    let given = taken.into_iter().map(|(value, ring)| array(b, value, ring)).collect::<Result<Vec<_>>>()?;
    let nodes: Vec<usize> = program.outputs.iter().map(|output| output.node).collect();
    let results = execute(b, &program.nodes, given, &nodes)?;
    program.outputs.iter().zip(results).map(|(output, result)| made(b, program, output, result)).collect()
}

/// The column that is given as an array, and in what ring the instructions take it.
fn column<B: Backend>(
    tables: &[Table<B>],
    program: &ArrayProgram,
    index: usize,
    input: &ArrayInput,
) -> Result<(Arc<Value<B>>, Ring)> {
    let steps = program.steps();
    let table = &tables[steps.iter().position(|step| *step == input.step).expect("it is one of them")];
    let takers: Vec<&Instruction> =
        program.nodes.given().filter(|(taken, _)| *taken == index).map(|given| given.1).collect();
    let Some(taker) = takers.first() else {
        return Err(WrongInput::ArrayTaken { column: input.column.clone() }.into());
    };
    let values = takers.iter().map(|node| of_column(table, input, node)).collect::<Result<Vec<_>>>()?;
    Ok((Arc::clone(values[0]), taker.ring))
}

/// A column as an array.
fn array<B: Backend>(b: &mut B, value: Arc<Value<B>>, ring: Ring) -> Result<Array<B>> {
    let kind = kind_of(value.kind, ring);
    let value = if kind.repr == value.kind.repr {
        Arc::try_unwrap(value).unwrap_or_else(|value| Value::clone(&value))
    } else {
        to_kind(b, &value, kind)?
    };
    Ok(Array::new(&[value.rows()], elements(value)))
}

/// A column that can be an array of an instruction.
fn of_column<'a, B: Backend>(table: &'a Table<B>, input: &ArrayInput, node: &Instruction) -> Result<&'a Arc<Value<B>>> {
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
    Ok((output.id, in_order(rows, vec![Column::new(&output.column, value)])))
}

/// The probability, at most, that a result of a program is wrong on an engine. Zero of engines without such forms.
///
/// # Errors
/// As the engine's.
pub fn failure<E: Costs>(program: &ArrayProgram) -> Result<f64> {
    if !E::FAILS {
        return Ok(0.0);
    }
    let mut b = Tally::<E>::new(vec![]);
    let given = |index: usize| {
        let taker = program.nodes.given().find(|(taken, _)| *taken == index).map(|(_, node)| node);
        let (rows, ring) = taker.map_or((0, Ring::Bits), |node| (node.elements(), node.ring));
        let mut shared = b.columns(Shape { rows, bits: 1, r64: 1, r128: 1, r32: 0 });
        let elements = match ring {
            Ring::Bits => Elements::Bits(shared.bits.swap_remove(0)),
            Ring::Ring64 => Elements::Ring64(shared.r64.swap_remove(0)),
            Ring::Ring128 => Elements::Ring128(shared.r128.swap_remove(0)),
        };
        Array::new(&[rows], elements)
    };
    let given = (0..program.inputs.len()).map(given).collect();
    let nodes: Vec<usize> = program.outputs.iter().map(|output| output.node).collect();
    execute(&mut b, &program.nodes, given, &nodes)?;
    Ok(b.take_failure())
}

/// The tables of a program's results, of which only the columns are asked for.
pub fn promised<E: Costs>(b: &Tally<E>, program: &ArrayProgram) -> Vec<(usize, Table<Tally<E>>)> {
    let table = |output: &ArrayOutput| {
        let (name, rows) = (output.column.clone(), program.result(output).elements());
        let column = [InputColumn { source: name.clone(), name, encode: Encoding::Int, kind: output.kind }];
        let shared = b.columns(encode::shape(&column, rows, false));
        (output.id, in_order(rows, input::columns(&column, shared)))
    };
    program.outputs.iter().map(table).collect()
}

/// A table of an array: its rows' order is part of what the program says.
fn in_order<B: Backend>(rows: usize, columns: Vec<Column<B>>) -> Table<B> {
    let mut table = Table::new(rows, None, columns);
    table.order.stated = true;
    table
}

/// The kind of a result before it is converted: the bounds that its column declares, or a bit's own.
fn bounded(kind: Kind, node: &Instruction) -> Kind {
    if node.ring == Ring::Bits { Kind::TRUTH } else { kind }
}
