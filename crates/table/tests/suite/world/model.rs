//! A naive interpreter of plans on clear rows: SQL's semantics, row by row.

use std::collections::{BTreeSet, HashMap};

use tacit_table::Operator;
use tacit_table::operator::{AggregateFunction, Aggregation, Call, Expression, Function, SortKey};

use super::{Cell, Clear, Plan, windows};

/// Executes a plan; gives the released tables by step.
pub fn interpret(plan: &Plan, inputs: &HashMap<usize, Clear>) -> HashMap<usize, Clear> {
    let released = |operator: &&Operator| matches!(operator, Operator::Release(_));
    let released: Vec<usize> = plan.operators.iter().filter(released).map(Operator::id).collect();
    let mut tables = executed(plan, inputs);
    tables.retain(|step, _| released.contains(step));
    tables
}

/// Executes a plan; gives how many rows each step's table has.
pub fn rows(plan: &Plan, inputs: &HashMap<usize, Clear>) -> HashMap<usize, usize> {
    executed(plan, inputs).into_iter().map(|(step, table)| (step, table.rows.len())).collect()
}

fn executed(plan: &Plan, inputs: &HashMap<usize, Clear>) -> HashMap<usize, Clear> {
    let mut tables: HashMap<usize, Clear> = HashMap::new();
    for operator in &plan.operators {
        let from: Vec<&Clear> = operator.inputs().iter().map(|id| &tables[id]).collect();
        let out = step(operator, &from, inputs);
        tables.insert(operator.id(), out);
    }
    tables
}

fn step(operator: &Operator, from: &[&Clear], inputs: &HashMap<usize, Clear>) -> Clear {
    match operator {
        Operator::Input(x) => {
            let data = &inputs[&x.id];
            let columns: Vec<usize> = x.columns.iter().map(|column| data.index(&column.source)).collect();
            let names = x.columns.iter().map(|column| column.name.clone()).collect();
            Clear {
                names,
                rows: data.rows.iter().map(|row| columns.iter().map(|&j| row[j].clone()).collect()).collect(),
            }
        }
        Operator::Filter(x) => {
            let keep = |row: &&Vec<Cell>| evaluate(&x.predicate, &from[0].names, row) == Cell::Int(1);
            Clear { names: from[0].names.clone(), rows: from[0].rows.iter().filter(keep).cloned().collect() }
        }
        Operator::Project(x) => {
            let row = |row: &Vec<Cell>| x.columns.iter().map(|c| evaluate(&c.expr, &from[0].names, row)).collect();
            let names = x.columns.iter().map(|column| column.name.clone()).collect();
            Clear { names, rows: from[0].rows.iter().map(row).collect() }
        }
        Operator::Union(x) => {
            let names: Vec<String> = x.columns.iter().map(|column| column.name.clone()).collect();
            let rows = from.iter().flat_map(|table| select(table, &names).rows).collect();
            Clear { names, rows }
        }
        Operator::Join(x) => {
            let (l, r) = (select(from[0], &x.left_keys), select(from[1], &x.right_keys));
            let (left, right) = (select(from[0], &x.left_columns), select(from[1], &x.right_columns));
            let partners = |key: &Vec<Cell>, others: &[Vec<Cell>]| -> Vec<usize> {
                let equal = |i: &usize| others[*i] == *key && !key.contains(&Cell::Null);
                (0..others.len()).filter(equal).collect()
            };
            let row = |left: &[Cell], right: &[Cell], found: bool| -> Vec<Cell> {
                let mark = x.found.iter().map(|_| Cell::Int(found.into()));
                left.iter().chain(right).cloned().chain(mark).collect()
            };
            let none = |columns: &[String]| vec![Cell::Null; columns.len()];
            let mut rows = Vec::new();
            for (key, right) in r.rows.iter().zip(&right.rows) {
                let found = partners(key, &l.rows);
                assert!(found.len() <= x.repeats, "a key of {} left rows", found.len());
                rows.extend(found.iter().map(|&i| row(&left.rows[i], right, true)));
                if found.is_empty() && x.kept.right() {
                    rows.push(row(&none(&left.names), right, false));
                }
            }
            let alone = l.rows.iter().zip(&left.rows).filter(|(key, _)| partners(key, &r.rows).is_empty());
            if x.kept.left() {
                rows.extend(alone.map(|(_, left)| row(left, &none(&right.names), false)));
            }
            Clear { names: left.names.into_iter().chain(right.names).chain(x.found.clone()).collect(), rows }
        }
        Operator::Pairs(_) => {
            let beside = |left: &Vec<Cell>, right: &Vec<Cell>| left.iter().chain(right).cloned().collect();
            let rows = from[0].rows.iter().flat_map(|left| from[1].rows.iter().map(move |right| beside(left, right)));
            Clear { names: from[0].names.iter().chain(&from[1].names).cloned().collect(), rows: rows.collect() }
        }
        Operator::Broadcast(_) => {
            let nulls = vec![Cell::Null; from[1].names.len()];
            let scalar = from[1].rows.first().unwrap_or(&nulls);
            let rows = from[0].rows.iter().map(|row| row.iter().chain(scalar).cloned().collect()).collect();
            Clear { names: from[0].names.iter().chain(&from[1].names).cloned().collect(), rows }
        }
        Operator::GroupBy(x) => {
            let keys = select(from[0], &x.keys);
            let mut distinct: Vec<Vec<Cell>> = keys.rows.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
            distinct.sort_by_key(|key| key.iter().map(|cell| (*cell == Cell::Null, cell.clone())).collect::<Vec<_>>());
            let group = |key: Vec<Cell>| {
                let rows = from[0].rows.iter().zip(&keys.rows).filter(|(_, k)| **k == key).map(|(row, _)| row.clone());
                let rows = Clear { names: from[0].names.clone(), rows: rows.collect() };
                let aggregates: Vec<Cell> = x.aggregates.iter().map(|a| aggregated(a, &rows)).collect();
                key.into_iter().chain(aggregates).collect()
            };
            let names = x.keys.iter().cloned().chain(x.aggregates.iter().map(|a| a.name.clone())).collect();
            Clear { names, rows: distinct.into_iter().map(group).collect() }
        }
        Operator::GroupJoin(x) => {
            let (l, r) = (select(from[0], &x.left_keys), select(from[1], &x.right_keys));
            let left = select(from[0], &x.left_columns);
            let mut rows = Vec::new();
            for (key, left) in l.rows.iter().zip(&left.rows) {
                let equal = |other: &(&Vec<Cell>, &Vec<Cell>)| other.0 == key && !key.contains(&Cell::Null);
                let group = r.rows.iter().zip(&from[1].rows).filter(equal).map(|(_, row)| row.clone());
                let group = Clear { names: from[1].names.clone(), rows: group.collect() };
                if x.kept || !group.rows.is_empty() {
                    let aggregates = x.aggregates.iter().map(|a| aggregated(a, &group));
                    rows.push(left.iter().cloned().chain(aggregates).collect());
                }
            }
            Clear { names: left.names.into_iter().chain(x.aggregates.iter().map(|a| a.name.clone())).collect(), rows }
        }
        Operator::Aggregate(x) => {
            let names = x.aggregates.iter().map(|a| a.name.clone()).collect();
            Clear { names, rows: vec![x.aggregates.iter().map(|a| aggregated(a, from[0])).collect()] }
        }
        Operator::Window(x) => windows::interpret(x, from[0]),
        Operator::Sort(x) => {
            let mut out = from[0].clone();
            out.rows.sort_by(|a, b| compare(a, b, &from[0].names, &x.keys));
            out
        }
        Operator::Limit(x) => {
            let rows = from[0].rows.iter().skip(x.offset).take(x.count.unwrap_or(usize::MAX)).cloned().collect();
            Clear { names: from[0].names.clone(), rows }
        }
        Operator::Resize(_) => from[0].clone(),
        Operator::Psi(_) | Operator::CircuitPsi(_) | Operator::UniversalIds(_) => {
            unreachable!("these need an intersection protocol, which this room has none of")
        }
        Operator::Program(_) => unreachable!("programs have a model of their own"),
        Operator::Kept(_) | Operator::Keep(_) => unreachable!("these go through files, not through a plan alone"),
        Operator::Release(x) => select(from[0], &x.columns),
    }
}

fn select(table: &Clear, names: &[String]) -> Clear {
    let columns: Vec<usize> = names.iter().map(|name| table.index(name)).collect();
    let rows = table.rows.iter().map(|row| columns.iter().map(|&j| row[j].clone()).collect()).collect();
    Clear { names: names.to_vec(), rows }
}

pub fn compare(a: &[Cell], b: &[Cell], names: &[String], keys: &[SortKey]) -> std::cmp::Ordering {
    let part = |key: &SortKey| {
        let j = names.iter().position(|name| *name == key.column).expect("a column");
        let null = |cell: &Cell| (*cell == Cell::Null) != key.nulls_first;
        let values = if key.descending { b[j].cmp(&a[j]) } else { a[j].cmp(&b[j]) };
        null(&a[j]).cmp(&null(&b[j])).then(values)
    };
    keys.iter().map(part).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
}

fn aggregated(aggregation: &Aggregation, table: &Clear) -> Cell {
    if let Some(condition) = &aggregation.condition {
        let place = table.index(condition);
        let rows = table.rows.iter().filter(|row| row[place] == Cell::Int(1)).cloned().collect();
        let some = Clear { names: table.names.clone(), rows };
        return aggregated(&Aggregation { condition: None, ..aggregation.clone() }, &some);
    }
    let values = || {
        let j = table.index(aggregation.column.as_ref().expect("a column"));
        table.rows.iter().map(move |row| row[j].clone()).filter(|cell| *cell != Cell::Null)
    };
    let integer = |n: usize| Cell::Int(n as i128);
    match aggregation.function {
        AggregateFunction::CountRows => integer(table.rows.len()),
        AggregateFunction::Count => integer(values().count()),
        AggregateFunction::CountDistinct => integer(values().collect::<BTreeSet<_>>().len()),
        AggregateFunction::Any => table.rows[0][table.index(aggregation.column.as_ref().expect("a column"))].clone(),
        AggregateFunction::Min => values().min().unwrap_or(Cell::Null),
        AggregateFunction::Max => values().max().unwrap_or(Cell::Null),
        AggregateFunction::Middle => {
            let mut values: Vec<i128> = values().map(|cell| int(&cell)).collect();
            values.sort_unstable();
            match values.len() {
                0 => Cell::Null,
                count => Cell::Int(values[(count - 1) / 2] + values[count / 2]),
            }
        }
        AggregateFunction::Ranked => {
            let mut values: Vec<Cell> = values().collect();
            values.sort_unstable();
            let rank = aggregation.rank.expect("a rank");
            let [a, b, t, n] =
                [i64::from(rank.numerator), i64::from(rank.denominator), i64::from(rank.shift), values.len() as i64];
            match values.len() {
                0 => Cell::Null,
                _ => values[(a * n + t + b - 1).div_euclid(b) as usize - 1].clone(),
            }
        }
        AggregateFunction::SumDistinct => {
            let distinct: BTreeSet<Cell> = values().collect();
            distinct.iter().map(int).reduce(|a, b| a + b).map_or(Cell::Null, Cell::Int)
        }
        AggregateFunction::Sum => values().map(|cell| int(&cell)).reduce(|a, b| a + b).map_or(Cell::Null, Cell::Int),
    }
}

fn int(cell: &Cell) -> i128 {
    if let Cell::Int(x) = cell { *x } else { panic!("a number") }
}

/// An expression's value in one row.
pub fn evaluate(expression: &Expression, names: &[String], row: &[Cell]) -> Cell {
    match expression {
        Expression::Column(name) => row[names.iter().position(|known| known == name).expect("a column")].clone(),
        Expression::Integer { bits, kind, .. } => {
            let sign = kind.signed && bits[bits.len() - 1];
            let bit = |j: usize| bits.get(j).copied().unwrap_or(sign);
            Cell::Int((0..128).fold(0, |number, j| number | i128::from(bit(j)) << j))
        }
        Expression::Text { text, .. } => Cell::Text(text.clone()),
        Expression::Null(_) => Cell::Null,
        Expression::Call(call) => {
            let arguments: Vec<Cell> = call.arguments.iter().map(|part| evaluate(part, names, row)).collect();
            applied(call, &arguments)
        }
    }
}

fn applied(call: &Call, arguments: &[Cell]) -> Cell {
    let truth = |bit: bool| Cell::Int(bit.into());
    let known = |wanted: i128| arguments.contains(&Cell::Int(wanted));
    match call.function {
        Function::And if known(0) => return truth(false),
        Function::Or if known(1) => return truth(true),
        Function::IsNull => return truth(arguments[0] == Cell::Null),
        Function::If => return arguments[if arguments[0] == Cell::Int(1) { 1 } else { 2 }].clone(),
        _ => {}
    }
    if arguments.contains(&Cell::Null) {
        return Cell::Null;
    }
    match call.function {
        Function::Add => Cell::Int(int(&arguments[0]) + int(&arguments[1])),
        Function::Sub => Cell::Int(int(&arguments[0]) - int(&arguments[1])),
        Function::Mul => Cell::Int(int(&arguments[0]) * int(&arguments[1])),
        Function::Neg => Cell::Int(-int(&arguments[0])),
        Function::Scale => Cell::Int(int(&arguments[0]) * call.by),
        Function::Quotient | Function::Remainder if int(&arguments[1]) == 0 => Cell::Null,
        Function::Quotient => Cell::Int(int(&arguments[0]) / int(&arguments[1])),
        Function::Remainder => Cell::Int(int(&arguments[0]) % int(&arguments[1])),
        Function::Floor => Cell::Int(int(&arguments[0]).div_euclid(call.by)),
        Function::Ceil => Cell::Int(-(-int(&arguments[0])).div_euclid(call.by)),
        Function::Round => {
            let x = int(&arguments[0]);
            let away = (x.abs() + call.by / 2) / call.by;
            Cell::Int(if x < 0 { -away } else { away })
        }
        Function::Eq => truth(arguments[0] == arguments[1]),
        Function::Ne => truth(arguments[0] != arguments[1]),
        Function::Lt => truth(arguments[0] < arguments[1]),
        Function::Le => truth(arguments[0] <= arguments[1]),
        Function::Gt => truth(arguments[0] > arguments[1]),
        Function::Ge => truth(arguments[0] >= arguments[1]),
        Function::Not => truth(arguments[0] == Cell::Int(0)),
        Function::And => truth(true),
        Function::Or => truth(false),
        Function::Convert => arguments[0].clone(),
        Function::IsNull | Function::If => unreachable!("decided above"),
    }
}
