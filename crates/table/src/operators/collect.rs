//! What a sorted table carries to the front of its groups, and what becomes of it there.

use std::collections::HashMap;
use std::ops::Range;

use tacit_math::Plane;
use tacit_mpc::circuits::Planes;
use tacit_mpc::{Backend, Linear, Rows, ops};

use super::order::from_key_planes;
use super::picks::{Pick, Picks};
use super::runs::{Run, column_name};
use super::sorted::Sorted;
use super::totals::{Modulus, Place, Totals};
use crate::convert::to_kind;
use crate::error::{Result, TableError};
use crate::operator::{AggregateFunction, Aggregation};
use crate::table::{Shares, Value};

/// What is summed up over the rows of a group.
#[derive(Clone, PartialEq, Eq)]
enum Summand {
    /// One for each row.
    Rows,
    /// One for each value that is not NULL.
    Present(String),
    /// The values.
    Values(String),
    /// One for each distinct value, not NULL, of the ordering column.
    Distinct,
    /// One for each value, not NULL, of the ordering column.
    Ordered,
    /// The ordering column in chosen rows.
    Picked(Pick),
}

/// How an aggregate's column is made once the groups are at the front.
enum Answer {
    /// A sum, by its place among the summands; NULL where the count, if any, is zero.
    Sum { total: usize, count: Option<usize> },
    /// The ordering column at each group's last row.
    Last,
    /// The ordering column at each group's first row.
    First,
    /// A column at each group's last row, where all rows of a group agree: where its parts are.
    Any { name: String, planes: Range<usize>, vector: Option<Place> },
}

/// Gathers what one sort's aggregates need.
pub(crate) struct Collector<'a, B: Backend> {
    run: &'a Run<'a, B>,
    sorted: &'a Sorted<B>,
    picks: &'a Picks<B>,
    payload: &'a HashMap<String, Value<B>>,
    summands: Vec<(Summand, Modulus)>,
    /// Where each summand's prefix sums are; behind each group's last row, the sum up to there.
    places: Vec<Place>,
    answers: Vec<Answer>,
    /// The planes of the ordering column at last rows, and at first rows.
    last: Range<usize>,
    first: Range<usize>,
}

impl<'a, B: Backend> Collector<'a, B> {
    /// An empty collection. The payload are the sorted columns by name.
    pub fn new(
        run: &'a Run<'a, B>,
        sorted: &'a Sorted<B>,
        picks: &'a Picks<B>,
        payload: &'a HashMap<String, Value<B>>,
    ) -> Self {
        let (summands, places, answers) = (vec![], vec![], vec![]);
        Self { run, sorted, picks, payload, summands, places, answers, last: 0..0, first: 0..0 }
    }

    /// What has to move to the front: sums and, as planes, columns whose value at a group's end is the answer.
    pub fn collect(&mut self, b: &mut B, aggregates: &[Aggregation]) -> Result<Rows<B>> {
        let rows = self.sorted.rows;
        let mut moving = Rows::empty(rows);
        for &place in &self.run.aggregates {
            let answer = self.answer(&aggregates[place], &mut moving)?;
            self.answers.push(answer);
        }
        if self.answers.iter().any(|answer| matches!(answer, Answer::Last)) {
            self.last = append(&mut moving.bits, self.sorted.value.iter().cloned());
        }
        if self.answers.iter().any(|answer| matches!(answer, Answer::First)) {
            let next = self.sorted.value.iter().map(|plane| plane.map(rows, Plane::shift_up));
            self.first = append(&mut moving.bits, next);
        }
        for totals in self.totals(b)? {
            self.places.push(totals.prefix_sums().push(&mut moving));
        }
        Ok(moving)
    }

    fn answer(&mut self, aggregate: &Aggregation, moving: &mut Rows<B>) -> Result<Answer> {
        let count = Modulus::of_count(aggregate.kind);
        Ok(match aggregate.function {
            AggregateFunction::CountRows => Answer::Sum { total: self.place(Summand::Rows, count), count: None },
            AggregateFunction::Count => {
                let summand = self.present(column_name(aggregate)?);
                Answer::Sum { total: self.place(summand, count), count: None }
            }
            AggregateFunction::CountDistinct => {
                Answer::Sum { total: self.place(Summand::Distinct, count), count: None }
            }
            AggregateFunction::Sum => self.sum(aggregate)?,
            AggregateFunction::SumDistinct | AggregateFunction::Middle | AggregateFunction::Ranked => {
                self.picked(aggregate)?
            }
            AggregateFunction::Min if !self.run.direction.descending => Answer::First,
            AggregateFunction::Min | AggregateFunction::Max => Answer::Last,
            AggregateFunction::Any => self.any(column_name(aggregate)?, moving),
        })
    }

    /// A column without NULLs needs no count of its own: every group has a row.
    fn sum(&mut self, aggregate: &Aggregation) -> Result<Answer> {
        let name = column_name(aggregate)?;
        let total = self.place(Summand::Values(name.into()), Modulus::of_sum(aggregate.kind));
        let present = self.present(name);
        if present == Summand::Rows {
            return Ok(Answer::Sum { total, count: None });
        }
        let known = self.summands.iter().find(|(summand, _)| *summand == present).map(|&(_, modulus)| modulus);
        let count = self.place(present, known.unwrap_or(Modulus::M32));
        Ok(Answer::Sum { total, count: Some(count) })
    }

    /// NULL where no value is: only of a column with NULLs.
    fn picked(&mut self, aggregate: &Aggregation) -> Result<Answer> {
        let lost = || TableError::Internal("an aggregate chooses no rows".into());
        let pick = Pick::of(aggregate, self.sorted.rows)?.ok_or_else(lost)?;
        let total = self.place(Summand::Picked(pick), Modulus::of_sum(aggregate.kind));
        let count = self.sorted.present(self.run).map(|_| self.place(Summand::Ordered, Modulus::M32));
        Ok(Answer::Sum { total, count })
    }

    fn any(&self, name: &str, moving: &mut Rows<B>) -> Answer {
        let value = &self.payload[name];
        let (planes, vector) = match &value.shares {
            Shares::Bits(planes) => (planes.as_slice(), None),
            Shares::Ring64(x) => (&[][..], Some(Totals::M64(x.clone()).push(moving))),
            Shares::Ring128(x) => (&[][..], Some(Totals::M128(x.clone()).push(moving))),
        };
        let planes = append(&mut moving.bits, planes.iter().chain(&value.null).cloned());
        Answer::Any { name: name.into(), planes, vector }
    }

    fn present(&self, name: &str) -> Summand {
        let nullable = self.payload.get(name).is_some_and(|value| value.null.is_some());
        if nullable { Summand::Present(name.into()) } else { Summand::Rows }
    }

    /// The place of a summand among all; each is computed once.
    fn place(&mut self, summand: Summand, modulus: Modulus) -> usize {
        let known = self.summands.iter().position(|(known, ring)| *known == summand && *ring == modulus);
        known.unwrap_or_else(|| {
            self.summands.push((summand, modulus));
            self.summands.len() - 1
        })
    }

    /// All summands: bits are injected together, columns converted together.
    fn totals(&self, b: &mut B) -> Result<Vec<Totals<B>>> {
        let rows = self.sorted.rows;
        let mut out: Vec<Option<Totals<B>>> = self.summands.iter().map(|_| None).collect();
        for modulus in Modulus::ALL {
            let (mut bits, mut values) = (vec![], vec![]);
            for (place, (summand, _)) in self.summands.iter().enumerate().filter(|(_, (_, ring))| *ring == modulus) {
                match summand {
                    Summand::Rows => out[place] = Some(Totals::public(b, rows, |_| 1, modulus)),
                    Summand::Values(name) => values.push((place, &self.payload[name])),
                    Summand::Distinct => bits.push((place, self.picks.bits(Pick::Distinct)?[0].clone())),
                    Summand::Ordered => bits.extend(self.sorted.present(self.run).map(|bit| (place, bit.clone()))),
                    Summand::Picked(pick) => out[place] = Some(self.picked_values(b, *pick, modulus)?),
                    Summand::Present(name) => {
                        let null = self.payload[name].null.as_ref();
                        bits.extend(null.map(|null| (place, b.not(null))));
                    }
                }
            }
            let planes: Vec<&B::Bits> = bits.iter().map(|(_, bit)| bit).collect();
            let columns: Vec<&Value<B>> = values.iter().map(|&(_, value)| value).collect();
            let (of_bits, of_values) =
                (Totals::of_bits(b, &planes, modulus)?, Totals::of_values(b, &columns, modulus)?);
            bits.iter().map(|(place, _)| *place).zip(of_bits).for_each(|(place, x)| out[place] = Some(x));
            values.iter().map(|(place, _)| *place).zip(of_values).for_each(|(place, x)| out[place] = Some(x));
        }
        let lost = || TableError::Internal("a summand was not computed".into());
        out.into_iter().map(|totals| totals.ok_or_else(lost)).collect()
    }

    /// The ordering column in chosen rows, in each as often as it is chosen, and zero elsewhere.
    fn picked_values(&self, b: &mut B, pick: Pick, modulus: Modulus) -> Result<Totals<B>> {
        let lost = || TableError::Internal("chosen values without an ordering column".into());
        let column = self.run.column.as_ref().ok_or_else(lost)?;
        let value = from_key_planes(b, self.sorted.value.clone(), column, self.run.direction);
        Totals::selected(b, &value, self.picks.bits(pick)?, modulus)
    }

    /// The aggregates' columns, from what moved to the front, which is at most as many rows as before.
    pub fn finish(self, b: &mut B, aggregates: &[Aggregation], moved: Rows<B>) -> Result<Vec<(usize, Value<B>)>> {
        let sums = Rows { bits: vec![], ..moved.clone() }.differences();
        let mut out = Vec::new();
        for (&place, answer) in self.run.aggregates.iter().zip(&self.answers) {
            let aggregate = &aggregates[place];
            let value = match answer {
                Answer::Sum { total, count } => {
                    let width = ops::label_width(self.sorted.rows + 1);
                    let null = count.map(|count| self.places[count].get(&sums).is_zero(b, width)).transpose()?;
                    self.places[*total].get(&sums).into_value(b, aggregate.kind, null)?
                }
                Answer::Last => self.extreme(b, moved.bits[self.last.clone()].to_vec(), aggregate)?,
                Answer::First => {
                    let behind = moved.bits[self.first.clone()].iter().zip(&self.sorted.value);
                    let first = behind.map(|(behind, sorted)| at_first_rows::<B>(behind, sorted)).collect();
                    self.extreme(b, first, aggregate)?
                }
                Answer::Any { name, planes, vector } => {
                    let vector = vector.map(|place| place.get(&moved));
                    self.agreed(b, &self.payload[name], moved.bits[planes.clone()].to_vec(), vector, aggregate)?
                }
            };
            out.push((place, value));
        }
        Ok(out)
    }

    fn extreme(&self, b: &mut B, key: Planes<B>, aggregate: &Aggregation) -> Result<Value<B>> {
        let lost = || TableError::Internal("a smallest or largest value without an ordering column".into());
        let column = self.run.column.as_ref().ok_or_else(lost)?;
        let value = from_key_planes(b, key, column, self.run.direction);
        to_kind(b, &value, aggregate.kind)
    }

    fn agreed(
        &self,
        b: &mut B,
        of: &Value<B>,
        mut planes: Planes<B>,
        vector: Option<Totals<B>>,
        aggregate: &Aggregation,
    ) -> Result<Value<B>> {
        let null = if of.null.is_some() { planes.pop() } else { None };
        let shares = match vector {
            Some(Totals::M64(x)) => Shares::Ring64(x),
            Some(Totals::M128(x)) => Shares::Ring128(x),
            _ => Shares::Bits(planes),
        };
        to_kind(b, &Value::new(of.kind, of.encoding, null, shares), aggregate.kind)
    }
}

/// Appends planes; gives where they are.
fn append<S>(to: &mut Vec<S>, planes: impl Iterator<Item = S>) -> Range<usize> {
    let start = to.len();
    to.extend(planes);
    start..to.len()
}

/// For every group the plane's bit at its first row, from the bits behind each group's last row, which are the next
/// group's first. The first row of the sorted plane starts the first group. Local.
fn at_first_rows<B: Backend>(behind_last: &B::Bits, sorted: &B::Bits) -> B::Bits {
    let rows = behind_last.rows();
    let map = |planes: &[&Plane]| {
        let first = Plane::from_fn(rows, |i| i == 0 && planes[1].get(0));
        vec![planes[0].shift_down().xor(&first)]
    };
    B::Bits::map_many(&[behind_last, sorted], 1, rows, map).swap_remove(0)
}
