//! How many rows a second one core turns into tokens, by kind of key: the best of several passes.
//!
//! `cargo run --release -p tacit-linkage --example tokeniser`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use tacit_linkage::{KeyColumn, Normaliser, Tokeniser};
use tacit_math::Seed;

/// Rows of a batch, as DuckDB gives them.
const ROWS: i64 = 122_880;
const PASSES: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
    let numbers: ArrayRef = Arc::new((0..ROWS).map(number).collect::<Int64Array>());
    let texts = |text: &dyn Fn(i64) -> String| -> ArrayRef {
        Arc::new((0..ROWS).map(|i| Some(text(number(i)))).collect::<StringArray>())
    };
    let kinds = [
        ("64-bit integers", DataType::Int64, numbers, "exact"),
        ("texts of 16 bytes", DataType::Utf8, texts(&|i| format!("{i:016x}")), "exact"),
        ("texts of 64 bytes", DataType::Utf8, texts(&|i| format!("{i:064x}")), "exact"),
        ("names", DataType::Utf8, texts(&|i| format!("Ann-Marie  O'Neill {}", i % 9973)), "name"),
        ("e-mail addresses", DataType::Utf8, texts(&|i| format!("Ann.{i:x}@Example.org")), "email"),
    ];
    for (kind, stored, column, normaliser) in kinds {
        let schema = Arc::new(Schema::new(vec![Field::new("key", stored, true)]));
        let batch = RecordBatch::try_new(schema, vec![column])?;
        let key = KeyColumn { index: 0, normaliser: Normaliser::named(normaliser)? };
        let mut tokeniser = Tokeniser::new(&Seed::from_bytes([1; 16]), vec![key]);
        let mut tokens = Vec::new();
        let mut best = Duration::MAX;
        for _ in 0..PASSES {
            tokens.clear();
            let start = Instant::now();
            tokeniser.append(&batch, &mut tokens)?;
            best = best.min(start.elapsed());
            black_box(&tokens);
        }
        println!("{kind:20} {:7.2} M rows/s", ROWS as f64 / best.as_secs_f64() / 1e6);
    }
    Ok(())
}
