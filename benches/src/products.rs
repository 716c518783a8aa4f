//! Products of matrices and convolutions in one process, beside the most that the processor multiplies and the memory
//! gives.

use crate::arguments::Products;
use crate::format::{count, seconds};
use crate::statistics::Summary;
use crate::{Result, limits, machine};
use serde::Serialize;
use std::time::{Duration, Instant};
use tacit_math::matrix::{self, Convolution, Element, View};
use tacit_math::{Prg, Seed, Workers};

/// One line of the table.
#[derive(Serialize)]
struct Measurement {
    product: String,
    /// Bits of an element.
    bits: u32,
    /// How the processor multiplies.
    path: &'static str,
    threads: usize,
    multiply_adds: usize,
    /// Wall clock of each repetition.
    seconds: Vec<f64>,
    /// Multiply-adds a second: what as many cores multiply in their first-level caches, or read from memory.
    limit: f64,
    load: f64,
}

/// m x k times k x n. Products with one column are read from memory.
const SHAPES: [[usize; 3]; 5] = [[512; 3], [1024; 3], [1000, 784, 625], [1, 784, 625], [LONG, LONG, 1]];

const LONG: usize = 4096;

/// LeNet-5's second layer, and a deep layer.
const CONVOLUTIONS: [Convolution; 2] = [
    Convolution { images: 1000, channels: 6, size: [12, 12], filters: 16, ..FIVE },
    Convolution { images: 4, channels: 64, size: [56, 56], filters: 64, ..FIVE },
];

const FIVE: Convolution =
    Convolution { images: 0, channels: 0, size: [5, 5], filters: 0, window: [5, 5], stride: [1, 1], padding: [0, 0] };

/// Measures all products with each number of threads and prints each.
///
/// # Errors
/// When the operating system gives no threads.
pub fn run(chosen: &Products) -> Result<()> {
    if !chosen.json {
        println!(
            "{:<44} {:>4} {:>12} {:>7} {:>10} {:>7} {:>10} {:>8} {:>6}",
            "product", "bits", "path", "threads", "median", "spread", "rate", "of limit", "load"
        );
    }
    for &threads in &chosen.threads {
        let workers = Workers::new(threads)?;
        let memory = limits::memory_read(threads);
        of_ring::<u64>(chosen, &workers, memory)?;
        of_ring::<u128>(chosen, &workers, memory)?;
    }
    Ok(())
}

fn of_ring<R: Element>(chosen: &Products, workers: &Workers, memory: f64) -> Result<()> {
    let mut prg = Prg::new(&Seed::from_bytes([1; 16]));
    let (tiles, memory) = (workers.threads() as f64 * tile_rate::<R>(), memory / size_of::<R>() as f64);
    for [m, k, n] in SHAPES {
        let (a, b, mut c) = (prg.vector::<R>(m * k), prg.vector::<R>(k * n), vec![R::ZERO; m * n]);
        let limit = if m == 1 || n == 1 { tiles.min(memory) } else { tiles };
        let name = format!("{m} x {k} x {n}");
        measure::<R>(chosen, workers, name, m * k * n, limit, || {
            matrix::product(View::new(&a, m, k), View::new(&b, k, n), &mut c);
        })?;
    }
    for sizes in CONVOLUTIONS {
        let [mut x, mut f, mut y] = sizes.lengths().map(|len| prg.vector::<R>(len));
        let [height, width] = sizes.size;
        let name = format!("{} x {} x {height} x {width}, {} filters", sizes.images, sizes.channels, sizes.filters);
        let work = y.len() * f.len() / sizes.filters;
        measure::<R>(chosen, workers, name.clone(), work, tiles, || sizes.forward(&x, &f, &mut y))?;
        let filters = format!("{name}, their gradient");
        measure::<R>(chosen, workers, filters, work, tiles, || sizes.gradient_of_filters(&x, &y, &mut f))?;
        let images = format!("{name}, the images'");
        measure::<R>(chosen, workers, images, work, tiles, || sizes.gradient_of_images(&f, &y, &mut x))?;
    }
    Ok(())
}

/// Multiply-adds a second of one core that waits for no memory: the best of several passes.
fn tile_rate<R: Element>() -> f64 {
    const TIMES: usize = 1000;
    let pass = || {
        let start = Instant::now();
        matrix::tiles::<R>(TIMES) as f64 / start.elapsed().as_secs_f64()
    };
    (0..20).map(|_| pass()).fold(0.0, f64::max)
}

fn measure<R: Element>(
    chosen: &Products,
    workers: &Workers,
    product: String,
    multiply_adds: usize,
    limit: f64,
    mut work: impl FnMut() + Send,
) -> Result<()> {
    workers.run(&mut work);
    let seconds = (0..chosen.repeats).map(|_| workers.run(|| pass(&mut work))).collect();
    print(
        chosen,
        &Measurement {
            product,
            bits: R::BITS,
            path: matrix::path::<R>(),
            threads: workers.threads(),
            multiply_adds,
            seconds,
            limit,
            load: machine::load(),
        },
    )
}

/// Seconds of one call, of as many as take ten milliseconds.
fn pass(mut work: impl FnMut()) -> f64 {
    let (mut calls, start) = (0, Instant::now());
    while calls == 0 || start.elapsed() < Duration::from_millis(10) {
        work();
        calls += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

fn print(chosen: &Products, measured: &Measurement) -> Result<()> {
    if chosen.json {
        println!("{}", serde_json::to_string(measured)?);
        return Ok(());
    }
    let time = Summary::of(&measured.seconds);
    let rate = measured.multiply_adds as f64 / time.median;
    println!(
        "{:<44} {:>4} {:>12} {:>7} {:>10} {:>6.0}% {:>10} {:>7.0}% {:>6.2}",
        measured.product,
        measured.bits,
        measured.path,
        measured.threads,
        seconds(time.median),
        100.0 * time.spread(),
        format!("{}/s", count(rate)),
        100.0 * rate / measured.limit,
        measured.load,
    );
    Ok(())
}
