//! Programs on arrays: columns become arrays, and results become columns of tables.
//!
//! A column that is an array has no NULLs: its elements are all rows, in their order. Those of rows that are not valid
//! are zero, whatever the table holds there. Which rows are valid is an array of bits.

use std::sync::Arc;

use tacit_array::{Array, Instruction, Ring, Shares as Elements, execute};
use tacit_math::Plane;
use tacit_mpc::backends::{Costs, Tally};
use tacit_mpc::{Backend, Shape};

use crate::convert::to_kind;
use crate::encode;
use crate::error::Result;
use crate::mask;
use crate::operator::{ArrayInput, ArrayOutput, ArrayProgram, Encoding, InputColumn, Kind, Repr};
use crate::operators::input;
use crate::table::{Column, Shares, Table, Value};
use crate::wrong_input::WrongInput;

/// A column that is given as an array, and in what ring the instructions take it. masked: the table whose valid rows
/// alone have its values; None where all of them do.
struct Given<B: Backend> {
    value: Arc<Value<B>>,
    ring: Ring,
    masked: Option<usize>,
}

/// The tables of a program's results, by their ids. tables: one for each of its steps. Columns that nobody else has are
/// moved.
pub fn program<B: Backend>(b: &mut B, tables: Vec<Table<B>>, program: &ArrayProgram) -> Result<Vec<(usize, Table<B>)>> {
    let taken = program.inputs.iter().enumerate().map(|(index, input)| given(b, &tables, program, index, input));
    let mut taken = taken.collect::<Result<Vec<_>>>()?;
    let valid: Vec<Option<B::Bits>> = tables.into_iter().map(|table| table.valid).collect();
    zero_invalid(b, &valid, &mut taken)?;
    let given = taken.into_iter().map(|each| array(b, each.value, each.ring)).collect::<Result<Vec<_>>>()?;
    let nodes: Vec<usize> = program.outputs.iter().map(|output| output.node).collect();
    let results = execute(b, &program.nodes, given, &nodes)?;
    let made = program.outputs.iter().zip(results).map(|(output, result)| made(b, program, output, result));
    Ok(tables_of(program, made.collect::<Result<Vec<_>>>()?))
}

/// What is given as an array, before anything is computed of it.
fn given<B: Backend>(
    b: &B,
    tables: &[Table<B>],
    program: &ArrayProgram,
    index: usize,
    input: &ArrayInput,
) -> Result<Given<B>> {
    let place = program.steps().iter().position(|step| *step == input.step).expect("it is one of them");
    let table = &tables[place];
    let takers: Vec<&Instruction> =
        program.nodes.given().filter(|(taken, _)| *taken == index).map(|given| given.1).collect();
    let Some(taker) = takers.first() else {
        return Err(WrongInput::ArrayTaken { column: input.name() }.into());
    };
    let value = match &input.column {
        Some(column) => Arc::clone(table.value(column)?),
        None => {
            let all = || b.public_bits(table.rows, || Plane::ones(table.rows));
            Arc::new(Value::truth(table.valid.clone().unwrap_or_else(all), None))
        }
    };
    takers.iter().try_for_each(|node| check(table.rows, &value, input, node))?;
    let masked = (input.column.is_some() && table.valid.is_some()).then_some(place);
    Ok(Given { value, ring: taker.ring, masked })
}

/// Makes what stands in rows that are not valid zero. valid: of all tables.
fn zero_invalid<B: Backend>(b: &mut B, valid: &[Option<B::Bits>], taken: &mut [Given<B>]) -> Result<()> {
    let bits: Vec<&B::Bits> = valid.iter().flatten().collect();
    let bit = |place: usize| valid[..place].iter().flatten().count();
    let columns: Vec<_> = taken.iter().filter_map(|each| Some((bit(each.masked?), &each.value.shares))).collect();
    let mut kept = mask::keep_all(b, &bits, &columns)?.into_iter();
    for each in taken.iter_mut().filter(|each| each.masked.is_some()) {
        let shares = kept.next().expect("as many as before");
        each.value = Arc::new(Value::new(each.value.kind, each.value.encoding, None, shares));
    }
    Ok(())
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

/// Refuses a column that is no array of an instruction.
fn check<B: Backend>(rows: usize, value: &Value<B>, input: &ArrayInput, node: &Instruction) -> Result<()> {
    if value.null.is_some() {
        return Err(WrongInput::ArrayNulls { column: input.name() }.into());
    }
    if value.encoding != Encoding::Int || node.ring == Ring::Bits && !value.kind.is_boolean() {
        return Err(WrongInput::ArrayColumn { column: input.name() }.into());
    }
    if rows != node.elements() {
        return Err(WrongInput::ArrayRows { column: input.name(), rows, elements: node.elements() }.into());
    }
    Ok(())
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

/// A result as a column, with its number of rows.
fn made<B: Backend>(
    b: &mut B,
    program: &ArrayProgram,
    output: &ArrayOutput,
    result: Array<B>,
) -> Result<(usize, Column<B>)> {
    let rows = result.elements();
    let shares = match result.into_shares() {
        Elements::Bits(plane) => Shares::Bits(vec![plane]),
        Elements::Ring64(x) => Shares::Ring64(x),
        Elements::Ring128(x) => Shares::Ring128(x),
    };
    let value = Value::new(bounded(output.kind, program.result(output)), Encoding::Int, None, shares);
    let value = to_kind(b, &value, output.kind)?;
    Ok((rows, Column::new(&output.column, value)))
}

/// The tables of columns: those of one id side by side.
fn tables_of<B: Backend>(program: &ArrayProgram, columns: Vec<(usize, Column<B>)>) -> Vec<(usize, Table<B>)> {
    let mut found: Vec<(usize, Table<B>)> = vec![];
    for (output, (rows, column)) in program.outputs.iter().zip(columns) {
        match found.last_mut().filter(|(id, _)| *id == output.id) {
            Some((_, table)) => table.columns.push(column),
            None => found.push((output.id, in_order(rows, vec![column]))),
        }
    }
    found
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
    let column = |output: &ArrayOutput| {
        let (name, rows) = (output.column.clone(), program.result(output).elements());
        let column = [InputColumn { source: name.clone(), name, encode: Encoding::Int, kind: output.kind }];
        let shared = b.columns(encode::shape(&column, rows, false));
        (rows, input::columns(&column, shared).swap_remove(0))
    };
    tables_of(program, program.outputs.iter().map(column).collect())
}

/// A table of arrays: its rows' order is part of what the program says.
fn in_order<B: Backend>(rows: usize, columns: Vec<Column<B>>) -> Table<B> {
    let mut table = Table::new(rows, None, columns);
    table.order.stated = true;
    table
}

/// The kind of a result before it is converted: the bounds that its column declares, or a bit's own.
fn bounded(kind: Kind, node: &Instruction) -> Kind {
    if node.ring == Ring::Bits { Kind::TRUTH } else { kind }
}
