//! Prices from equations: each price of an engine is a number of the table, under its path.

use serde_json::Value;

/// What a step took is the sum of the prices, each times how often the step does what it is of.
pub struct Equation {
    /// How often, by the paths of the table.
    pub coefficients: Vec<f64>,
    /// Seconds.
    pub taken: f64,
}

/// How much a price counts that no step decides: then it is as far from the former one as all are in the median.
const PULL: f64 = 0.02;

/// Passes over all prices. Each halves what is wrong many times over.
const PASSES: usize = 400;

/// The paths of the engines' prices in a table of prices.
pub fn paths(table: &Value) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for engine in ["rep3", "two"] {
        collect(&table[engine], &mut vec![engine.to_owned()], &mut found);
    }
    found
}

fn collect(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            path.push(name.clone());
            collect(member, path, found);
            path.pop();
        }),
        _ => found.push(path.clone()),
    }
}

/// A price of a table.
pub fn price(table: &Value, path: &[String]) -> f64 {
    path.iter().fold(table, |value, name| &value[name]).as_f64().expect("a price")
}

fn with(table: &Value, path: &[String], price: u64) -> Value {
    let mut changed = table.clone();
    *path.iter().fold(&mut changed, |value, name| &mut value[name]) = price.into();
    changed
}

/// The table with one price a sixteenth higher, and by how much: little, so that no other protocol is chosen.
pub fn raised(table: &Value, path: &[String]) -> (Value, f64) {
    let before = price(table, path);
    let difference = (before / 16.0).ceil().max(1.0);
    (with(table, path, (before + difference) as u64), difference)
}

/// The table with the prices that fit the equations best: relative errors of steps count, and prices are not negative.
/// By coordinate descent on factors of the former prices.
pub fn fitted(before: &Value, equations: &[Equation]) -> Value {
    let paths = paths(before);
    let former: Vec<f64> = paths.iter().map(|path| price(before, path)).collect();
    let predicted = |each: &Equation| each.coefficients.iter().zip(&former).map(|(a, b)| a * b).sum::<f64>();
    let scale = median(equations.iter().map(|each| each.taken / predicted(each)).collect());
    // Of each step, what share of its time a price is at the factor one.
    let shares: Vec<Vec<f64>> = equations
        .iter()
        .map(|each| each.coefficients.iter().zip(&former).map(|(count, price)| count * price / each.taken).collect())
        .collect();
    let mut factors = vec![scale; former.len()];
    let mut rest: Vec<f64> = shares.iter().map(|row| 1.0 - row.iter().sum::<f64>() * scale).collect();
    let pull = PULL / (scale * scale);
    for _ in 0..PASSES {
        for price in 0..factors.len() {
            let (mut above, mut below) = (pull * (scale - factors[price]), pull);
            for (row, rest) in shares.iter().zip(&rest) {
                above += row[price] * rest;
                below += row[price] * row[price];
            }
            let change = (factors[price] + above / below).max(0.0) - factors[price];
            factors[price] += change;
            for (row, rest) in shares.iter().zip(&mut rest) {
                *rest -= row[price] * change;
            }
        }
    }
    paths
        .iter()
        .zip(former.iter().zip(&factors))
        .fold(before.clone(), |table, (path, (price, factor))| with(&table, path, (price * factor).round() as u64))
}

/// The middle of some numbers; one of none.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(1.0)
}
