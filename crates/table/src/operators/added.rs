//! Sums and counts of a whole table.
//!
//! The rows of each sum or count are decided first: valid rows where its condition is TRUE and its column is not NULL.
//! Aggregates over the same rows have one bit a row together. NULLs hold zeros, so that a sum over the rows of its
//! condition needs no bit of its own.

use tacit_math::Plane;
use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Linear, linear, ops};

use super::runs::column_name;
use super::totals::{Modulus, Totals};
use crate::error::{Result, TableError};
use crate::mask::keep_all;
use crate::operator::{AggregateFunction, Aggregation};
use crate::table::{Shares, Table, Value, slice_bits};
use crate::wrong_input::WrongInput;

/// Whether an aggregate is a sum or a count of rows.
pub(super) fn adds_up(aggregation: &Aggregation) -> bool {
    use AggregateFunction::{Count, CountRows, Sum};
    matches!(aggregation.function, Sum | Count | CountRows)
}

/// Their values, as many as aggregates.
pub(super) fn added<B: Backend>(b: &mut B, table: &Table<B>, listed: &[&Aggregation]) -> Result<Vec<Value<B>>> {
    let columns = columns(table, listed)?;
    let sets = RowSets::new(b, table, listed, &columns)?;
    let mut totals: Vec<Option<Totals<B>>> = listed.iter().map(|_| None).collect();
    converted(b, listed, &columns, &sets, &mut totals)?;
    let mut empty: Vec<Option<B::Bits>> = sets.bits.iter().map(|_| None).collect();
    for modulus in Modulus::ALL {
        chosen(b, table.rows, listed, &columns, &sets, modulus, &mut totals, &mut empty)?;
    }
    let nulls = nulls(b, table.rows, listed, &sets, empty)?;
    let lost = || TableError::Internal("a sum was not computed".into());
    let each = listed.iter().zip(totals).zip(nulls);
    each.map(|((aggregation, total), null)| total.ok_or_else(lost)?.into_value(b, aggregation.kind, null)).collect()
}

/// The column of each aggregate that has one; None: rows are counted.
fn columns<'a, B: Backend>(table: &'a Table<B>, listed: &[&Aggregation]) -> Result<Vec<Option<&'a Value<B>>>> {
    let column = |each: &&Aggregation| match each.function {
        AggregateFunction::CountRows => Ok(None),
        _ => Ok(Some(&**table.value(column_name(each)?)?)),
    };
    listed.iter().map(column).collect()
}

/// Sets of rows, one bit a row each. For each aggregate, by place: the rows of its condition, and of these the ones
/// where its column is not NULL. None: all rows.
struct RowSets<B: Backend> {
    bits: Vec<B::Bits>,
    kept: Vec<Option<usize>>,
    present: Vec<Option<usize>>,
}

impl<B: Backend> RowSets<B> {
    /// Two rounds at most.
    fn new(b: &mut B, table: &Table<B>, listed: &[&Aggregation], columns: &[Option<&Value<B>>]) -> Result<Self> {
        let mut sets = Self { bits: vec![], kept: vec![], present: vec![] };
        let valid = table.valid.as_ref();
        let asked = distinct(listed.iter().map(|each| each.condition.as_deref()));
        let mut places = vec![];
        let mut planes = vec![];
        for condition in &asked.found {
            let Some(name) = condition else {
                places.push(valid.map(|valid| sets.add(valid.clone())));
                continue;
            };
            places.push(None);
            planes.push(truth(table, name)?);
        }
        let both = narrowed(b, &planes.iter().map(|&plane| (valid, plane)).collect::<Vec<_>>())?;
        let conditional = (0..places.len()).filter(|&place| asked.found[place].is_some());
        for (place, bits) in conditional.collect::<Vec<_>>().into_iter().zip(both) {
            places[place] = Some(sets.add(bits));
        }
        sets.kept = asked.places.iter().map(|&place| places[place]).collect();
        sets.add_present(b, listed, columns)?;
        Ok(sets)
    }

    fn add_present(&mut self, b: &mut B, listed: &[&Aggregation], columns: &[Option<&Value<B>>]) -> Result<()> {
        self.present.clone_from(&self.kept);
        let nullable = (0..listed.len()).filter_map(|place| Some((place, columns[place]?.null.as_ref()?)));
        let (places, nulls): (Vec<usize>, Vec<&B::Bits>) = nullable.unzip();
        let asked = distinct(places.iter().map(|&place| (self.kept[place], listed[place].column.as_deref())));
        let firsts = asked.firsts();
        let filled: Vec<B::Bits> = firsts.iter().map(|&first| b.not(nulls[first])).collect();
        let within = firsts.iter().map(|&first| self.kept[places[first]].map(|kept| self.bits[kept].clone()));
        let within: Vec<Option<B::Bits>> = within.collect();
        let both = narrowed(b, &within.iter().map(Option::as_ref).zip(&filled).collect::<Vec<_>>())?;
        let added: Vec<usize> = both.into_iter().map(|bits| self.add(bits)).collect();
        for (place, found) in places.into_iter().zip(asked.places) {
            self.present[place] = Some(added[found]);
        }
        Ok(())
    }

    fn add(&mut self, bits: B::Bits) -> usize {
        self.bits.push(bits);
        self.bits.len() - 1
    }
}

/// What several ask for, each once, and for each who asks its place.
struct Distinct<T> {
    found: Vec<T>,
    places: Vec<usize>,
}

impl<T> Distinct<T> {
    /// Who asked first for each.
    fn firsts(&self) -> Vec<usize> {
        let first = |place| self.places.iter().position(|&other| other == place).expect("somebody asked");
        (0..self.found.len()).map(first).collect()
    }
}

fn distinct<T: PartialEq>(asked: impl Iterator<Item = T>) -> Distinct<T> {
    let mut found: Vec<T> = vec![];
    let places = asked.map(|each| match found.iter().position(|known| *known == each) {
        Some(place) => place,
        None => {
            found.push(each);
            found.len() - 1
        }
    });
    let places = places.collect();
    Distinct { found, places }
}

/// The plane of a truth value. One that is NULL is no TRUE.
fn truth<'a, B: Backend>(table: &'a Table<B>, name: &str) -> Result<&'a B::Bits> {
    match &table.value(name)?.shares {
        Shares::Bits(planes) if planes.len() == 1 => Ok(&planes[0]),
        _ => Err(WrongInput::NoTruth { column: name.to_owned() }.into()),
    }
}

/// Planes, each within another one if there is one. One round.
fn narrowed<B: Backend>(b: &mut B, planes: &[(Option<&B::Bits>, &B::Bits)]) -> Result<Planes<B>> {
    let both: Vec<(&B::Bits, &B::Bits)> = planes.iter().filter_map(|&(outer, plane)| Some((outer?, plane))).collect();
    let (outer, inner): (Vec<_>, Vec<_>) = both.into_iter().unzip();
    let mut found = if outer.is_empty() { vec![] } else { b.and(&outer, &inner)? }.into_iter();
    let lost = "as many planes as before";
    Ok(planes
        .iter()
        .map(|&(outer, plane)| outer.map_or_else(|| plane.clone(), |_| found.next().expect(lost)))
        .collect())
}

/// For each aggregate that is a sum, whether it is NULL, as one row. There is a plane also where the number of rows
/// decides, so that kinds do not depend on it. empty: of sets of rows that were counted, whether they have no row.
fn nulls<B: Backend>(
    b: &mut B,
    rows: usize,
    listed: &[&Aggregation],
    sets: &RowSets<B>,
    mut empty: Vec<Option<B::Bits>>,
) -> Result<Vec<Option<B::Bits>>> {
    let never = b.public_bits(1, || if rows == 0 { Plane::ones(1) } else { Plane::zeros(1) });
    let open: Vec<usize> = asked_for(listed, sets).into_iter().filter(|&place| empty[place].is_none()).collect();
    let found = match rows {
        0 => vec![never.clone(); open.len()],
        _ => none(b, open.iter().map(|&place| b.not(&sets.bits[place])).collect())?,
    };
    open.into_iter().zip(found).for_each(|(place, found)| empty[place] = Some(found));
    let null = |at: usize| sets.present[at].and_then(|place| empty[place].clone()).unwrap_or_else(|| never.clone());
    let sums = |at: usize| listed[at].function == AggregateFunction::Sum;
    Ok((0..listed.len()).map(|at| sums(at).then(|| null(at))).collect())
}

/// The sets of rows of which sums ask whether they have a row, each once.
fn asked_for<B: Backend>(listed: &[&Aggregation], sets: &RowSets<B>) -> Vec<usize> {
    let sums = (0..listed.len()).filter(|&at| listed[at].function == AggregateFunction::Sum);
    distinct(sums.filter_map(|at| sets.present[at])).found
}

/// For each plane whether all of its rows, at least one, are one; as one row: halves are joined until one row is left.
fn none<B: Backend>(b: &mut B, mut planes: Planes<B>) -> Result<Planes<B>> {
    while planes.first().is_some_and(|plane| plane.rows() > 1) {
        let rows = planes[0].rows();
        let (half, odd) = (rows / 2, rows % 2);
        let part = |start, rows| planes.iter().map(|plane| slice_bits::<B>(plane, start, rows)).collect::<Planes<B>>();
        let (low, high, rest) = (part(0, half), part(half, half), part(2 * half, odd));
        let both = b.and(&low.iter().collect::<Vec<_>>(), &high.iter().collect::<Vec<_>>())?;
        planes = both.iter().zip(&rest).map(|(both, rest)| linear::concat_bits(&[both, rest])).collect();
    }
    Ok(planes)
}

/// Sums of columns that are not in their ring yet: masked together, and then converted together.
fn converted<B: Backend>(
    b: &mut B,
    listed: &[&Aggregation],
    columns: &[Option<&Value<B>>],
    sets: &RowSets<B>,
    totals: &mut [Option<Totals<B>>],
) -> Result<()> {
    let others = (0..listed.len()).filter_map(|at| Some((at, columns[at]?))).filter(|&(at, value)| {
        listed[at].function == AggregateFunction::Sum && !Totals::is_in(value, Modulus::of_sum(listed[at].kind))
    });
    let others: Vec<(usize, &Value<B>)> = others.collect();
    let masked = others.iter().filter_map(|&(at, value)| Some((sets.kept[at]?, &value.shares)));
    let bits: Vec<&B::Bits> = sets.bits.iter().collect();
    let mut kept = keep_all(b, &bits, &masked.collect::<Vec<_>>())?.into_iter();
    let values: Vec<Value<B>> = others
        .iter()
        .map(|&(at, value)| match sets.kept[at] {
            None => value.clone(),
            Some(_) => Value::new(value.kind, value.encoding, None, kept.next().expect("as many columns as before")),
        })
        .collect();
    for modulus in Modulus::ALL {
        let its = |place: &usize| Modulus::of_sum(listed[others[*place].0].kind) == modulus;
        let places: Vec<usize> = (0..others.len()).filter(its).collect();
        let found = Totals::of_values(b, &places.iter().map(|&place| &values[place]).collect::<Vec<_>>(), modulus)?;
        for (place, total) in places.into_iter().zip(found) {
            totals[others[place].0] = Some(total.sum());
        }
    }
    Ok(())
}

/// Counts, and sums of columns that are in their ring, modulo one number. Sets of rows whose bits become numbers for
/// these are counted where a sum asks whether they have a row: that takes one test of a number more.
#[expect(clippy::too_many_arguments, reason = "what is known of the aggregates, and two results by place")]
fn chosen<B: Backend>(
    b: &mut B,
    rows: usize,
    listed: &[&Aggregation],
    columns: &[Option<&Value<B>>],
    sets: &RowSets<B>,
    modulus: Modulus,
    totals: &mut [Option<Totals<B>>],
    empty: &mut [Option<B::Bits>],
) -> Result<()> {
    let mut asked = vec![];
    for (at, aggregation) in listed.iter().enumerate() {
        if aggregation.function != AggregateFunction::Sum {
            match sets.present[at] {
                _ if Modulus::of_count(aggregation.kind) != modulus => {}
                None => totals[at] = Some(Totals::public(b, 1, |_| rows, modulus)),
                Some(place) => asked.push((at, (place, None))),
            }
        } else if let Some(value) = columns[at].filter(|value| Totals::is_in(value, modulus)) {
            match sets.kept[at] {
                _ if Modulus::of_sum(aggregation.kind) != modulus => {}
                None => totals[at] = Totals::as_is(value, modulus).map(|all| all.sum()),
                Some(place) => asked.push((at, (place, Some(&value.shares)))),
            }
        }
    }
    let (places, mut sums): (Vec<usize>, Vec<(usize, Option<&Shares<B>>)>) = asked.into_iter().unzip();
    let numbers = |place: usize| sums.iter().any(|&(other, x)| other == place && (B::SUMS_PRODUCTS || x.is_none()));
    let open = |&place: &usize| empty[place].is_none() && numbers(place);
    let counted: Vec<usize> = asked_for(listed, sets).into_iter().filter(open).collect();
    sums.extend(counted.iter().map(|&place| (place, None)));
    let bits: Vec<&B::Bits> = sets.bits.iter().collect();
    let mut found = Totals::sums_where(b, &bits, &sums, modulus)?;
    let counts = found.split_off(places.len());
    for (place, none) in counted.into_iter().zip(Totals::are_zero(b, &counts, ops::label_width(rows + 1))?) {
        empty[place] = Some(none);
    }
    places.into_iter().zip(found).for_each(|(at, total)| totals[at] = Some(total));
    Ok(())
}
