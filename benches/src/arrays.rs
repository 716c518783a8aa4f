//! Measures operations on arrays and prints each beside its target.

use crate::arguments::Kernels;
use crate::kernels::{self, Measurement};
use crate::nodes::Engine;
use crate::operation::Operation;
use crate::{Result, format};
use serde::Serialize;

/// Elements of an array.
const ELEMENTS: usize = 1_000_000;

/// The side of a matrix.
const SIDE: usize = 512;

/// Numbers that are compared by garbled circuits.
const COMPARED: usize = 100_000;

/// A measurement, and units a second that are wanted, if any are.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    measured: Measurement,
    target: Option<f64>,
}

/// Measures everything that was chosen.
///
/// # Errors
/// When a party fails.
pub fn run(chosen: &Kernels) -> Result<()> {
    if !chosen.json {
        println!("{} {:>12} {:>9} {:>6}", kernels::heading(), "target", "of it", "engine");
    }
    for &operation in &chosen.operations {
        let (rows, engines) = match operation {
            Operation::Matrix => (SIDE * SIDE, &[Engine::Rep3, Engine::Two][..]),
            Operation::MultiplyWide => (ELEMENTS, &[Engine::Rep3, Engine::Four][..]),
            Operation::LessWide => (COMPARED, &[Engine::Rep3, Engine::Four][..]),
            _ => (ELEMENTS, &[Engine::Rep3][..]),
        };
        for &engine in engines {
            for &transport in &chosen.transports {
                let on_engine = Kernels { engine, ..chosen.clone() };
                let measured = kernels::measure(&on_engine, operation, rows, transport)?;
                print(&on_engine, &Row { measured, target: target(operation, engine) })?;
            }
        }
    }
    Ok(())
}

/// Units a second, under TLS on two cores. Of three nodes none is wanted in the ring of 128 bits, of two none at all.
fn target(operation: Operation, engine: Engine) -> Option<f64> {
    match (operation, engine) {
        (Operation::MultiplyWide, Engine::Four) => Some(8e6),
        (Operation::LessWide, Engine::Four) => Some(0.15e6),
        (Operation::MultiplyWide | Operation::LessWide, _) | (_, Engine::Two) => None,
        (Operation::MultiplyDither, _) => Some(30e6),
        (Operation::MultiplyFloor, _) => Some(12e6),
        (Operation::LessNarrow, _) => Some(24e6),
        (Operation::Exp, _) => Some(5e6),
        (Operation::Sigmoid, _) => Some(2.5e6),
        (Operation::SigmoidBounded, _) => Some(4e6),
        (Operation::Divide, _) => Some(2.2e6),
        (Operation::Matrix, _) => Some((SIDE * SIDE * SIDE) as f64 / 0.04),
        _ => Some(14e6),
    }
}

fn print(chosen: &Kernels, row: &Row) -> Result<()> {
    let Row { measured, target } = row;
    if chosen.json {
        println!("{}", serde_json::to_string(row)?);
        return Ok(());
    }
    let rows = measured.rows.to_string();
    let [wanted, of_it] = match target {
        Some(target) => [format!("{}/s", format::count(*target)), format!("{:.0}%", 100.0 * measured.rate() / target)],
        None => ["-".into(), "-".into()],
    };
    println!("{} {wanted:>12} {of_it:>9} {:>6}", measured.line(&rows), chosen.engine.name());
    if chosen.steps {
        measured.print_steps();
    }
    Ok(())
}
