//! Measures operations on arrays and prints each beside its target.

use crate::arguments::Kernels;
use crate::kernels::{self, Measurement};
use crate::operation::Operation;
use crate::{Result, format};
use serde::Serialize;

/// Elements of an array.
const ELEMENTS: usize = 1_000_000;

/// The side of a matrix.
const SIDE: usize = 512;

/// A measurement, and units a second that are wanted.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    measured: Measurement,
    target: f64,
}

/// Measures everything that was chosen.
///
/// # Errors
/// When a party fails.
pub fn run(chosen: &Kernels) -> Result<()> {
    if !chosen.json {
        println!("{} {:>12} {:>9}", kernels::heading(), "target", "of it");
    }
    for &operation in &chosen.operations {
        for &transport in &chosen.transports {
            let rows = if operation == Operation::Matrix { SIDE * SIDE } else { ELEMENTS };
            let measured = kernels::measure(chosen, operation, rows, transport)?;
            print(chosen, &Row { measured, target: target(operation) })?;
        }
    }
    Ok(())
}

/// Units a second, for three nodes under TLS on two cores.
fn target(operation: Operation) -> f64 {
    match operation {
        Operation::MultiplyDither => 30e6,
        Operation::MultiplyFloor => 12e6,
        Operation::LessNarrow => 24e6,
        Operation::Matrix => (SIDE * SIDE * SIDE) as f64 / 0.04,
        _ => 14e6,
    }
}

fn print(chosen: &Kernels, row: &Row) -> Result<()> {
    let Row { measured, target } = row;
    if chosen.json {
        println!("{}", serde_json::to_string(row)?);
        return Ok(());
    }
    let rows = measured.rows.to_string();
    println!("{} {:>10}/s {:>8.0}%", measured.line(&rows), format::count(*target), 100.0 * measured.rate() / target);
    if chosen.steps {
        measured.print_steps();
    }
    Ok(())
}
