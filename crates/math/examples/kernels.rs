//! Rates of the kernels on one core, as a table: `cargo run --release -p tacit-math --example kernels`.
//!
//! Every figure is the best of several timed passes, so that other work on the machine disturbs it least.

use std::hint::black_box;
use std::time::{Duration, Instant};

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use tacit_math::matrix::{self, Convolution, Element, View};
use tacit_math::{
    CorrelationRobustHash, KeyedHash, Plane, Prg, Seed, TweakableCircularHash, permutation, ring, transpose,
};

/// Rows of the vectors that live in DRAM.
const LARGE: usize = 1 << 20;
/// Passes per kernel; the best one counts.
const PASSES: usize = 12;

fn main() {
    let mut prg = Prg::new(&Seed::from_bytes([7; 16]));
    println!("generator runs as: {}", prg.path());
    encryption();
    hashes(&mut prg);
    generator(&mut prg);
    transposes(&mut prg);
    permutations(&mut prg);
    planes(&mut prg);
    rings(&mut prg);
    products::<u64>("2^64", &mut prg);
    products::<u128>("2^128", &mut prg);
}

/// Prints what a kernel that handles `items` a call reaches, in millions of units a second.
fn rate<R>(name: &str, unit: &str, items: usize, mut kernel: impl FnMut() -> R) {
    let mut best = Duration::MAX;
    for _ in 0..PASSES {
        let mut calls = 0;
        let start = Instant::now();
        while calls == 0 || start.elapsed() < Duration::from_millis(8) {
            black_box(kernel());
            calls += 1;
        }
        best = best.min(start.elapsed() / calls);
    }
    let seconds = best.as_secs_f64();
    println!("{name:<44} {:>10.1} M {unit}/s {:>12.3} us/call", items as f64 / seconds / 1e6, seconds * 1e6);
}

fn encryption() {
    let seed = Seed::from_bytes([1; 16]);
    let cipher = aes::Aes128::new(&[1; 16].into());
    for batch in [1, 8, 64, 512, 1024] {
        let mut blocks = vec![aes::Block::default(); batch];
        rate(&format!("`aes` crate, batches of {batch}"), "blocks", batch, || cipher.encrypt_blocks(&mut blocks));
    }
    rate("new generator", "keys", 1, || Prg::new(black_box(&seed)));
}

fn hashes(prg: &mut Prg) {
    let (cr, tccr) = (CorrelationRobustHash::new(), TweakableCircularHash::new());
    for batch in [8, 64, 1024] {
        let mut blocks: Vec<u128> = prg.vector(batch);
        rate(&format!("CR hash, batches of {batch}"), "hashes", batch, || cr.hash_blocks(&mut blocks));
        rate(&format!("TCCR hash, batches of {batch}"), "hashes", batch, || {
            tccr.hash_blocks(&mut blocks, |i| i as u128)
        });
    }
    let keyed = KeyedHash::new(&[3; 32]);
    for len in [8, 32, 64] {
        let text = vec![b'x'; len];
        rate(&format!("keyed hash of {len} B strings"), "hashes", 1, || keyed.hash(black_box(&text)));
    }
}

fn generator(prg: &mut Prg) {
    for (name, bytes) in [("PRG, 64 B", 64), ("PRG, 8 KiB (L1)", 8 << 10), ("PRG, 256 MiB (DRAM)", 256 << 20)] {
        let mut words = vec![0_u64; bytes / 8];
        rate(name, "bytes", bytes, || prg.fill(&mut words));
    }
}

fn transposes(prg: &mut Prg) {
    let rows: Vec<u64> = prg.vector(LARGE);
    let mut block: [u64; 64] = std::array::from_fn(|i| rows[i]);
    rate("64 x 64 transpose in place", "rows", 64, || transpose::square(black_box(&mut block)));
    for (name, len) in [("L2", 1 << 14), ("DRAM", LARGE)] {
        for width in [17, 64] {
            let planes = transpose::planes_of_rows(&rows[..len], width);
            let views: Vec<&Plane> = planes.iter().collect();
            rate(&format!("planes of rows, width {width}, {name}"), "rows", len, || {
                transpose::planes_of_rows(&rows[..len], width)
            });
            rate(&format!("rows of planes, width {width}, {name}"), "rows", len, || {
                transpose::rows_of_planes(&views, len)
            });
        }
    }
    let wide: Vec<u128> = prg.vector(1 << 14);
    let planes = transpose::planes_of_wide_rows(&wide, 128);
    let views: Vec<&Plane> = planes.iter().collect();
    rate("planes of wide rows, width 128, L2", "rows", 1 << 14, || transpose::planes_of_wide_rows(&wide, 128));
    rate("wide rows of planes, width 128, L2", "rows", 1 << 14, || transpose::wide_rows_of_planes(&views, 1 << 14));
}

fn permutations(prg: &mut Prg) {
    let values: Vec<u64> = prg.vector(LARGE);
    let p = permutation::random(LARGE, prg);
    rate("random permutation, 2^20", "rows", LARGE, || permutation::random(LARGE, prg));
    rate("scatter, 2^20 u64", "rows", LARGE, || permutation::scatter(&values, &p));
    rate("gather, 2^20 u64", "rows", LARGE, || permutation::gather(&values, &p));
    rate("invert, 2^20", "rows", LARGE, || permutation::invert(&p));
}

fn planes(prg: &mut Prg) {
    for (name, rows) in [("L1", 1 << 16), ("DRAM", 1 << 28)] {
        let a = Plane::from_words(rows, prg.vector(rows / 64));
        let b = Plane::from_words(rows, prg.vector(rows / 64));
        rate(&format!("plane AND, {name}"), "rows", rows, || a.and(&b));
        rate(&format!("plane XOR in place, {name}"), "rows", rows, {
            let mut sum = a.clone();
            move || sum.xor_assign(&b)
        });
    }
    let a = Plane::from_words(LARGE, prg.vector(LARGE / 64));
    let p = permutation::random(LARGE, prg);
    rate("plane gather, 2^20", "rows", LARGE, || a.gather(&p));
    rate("plane shift down, 2^20", "rows", LARGE, || a.shift_down());
    rate("plane shift up, 2^20", "rows", LARGE, || a.shift_up());
    rate("plane slice, 2^20", "rows", LARGE, || a.slice(3, LARGE - 3));
    rate("plane concat of three, 2^20", "rows", LARGE + 6, || Plane::concat(&[&Plane::zeros(3), &a, &Plane::zeros(3)]));
    rate("plane prefix XOR, 2^20", "rows", LARGE, || a.prefix_xor());
}

fn rings(prg: &mut Prg) {
    let x: Vec<u64> = prg.vector(LARGE);
    let y: Vec<u64> = prg.vector(LARGE);
    rate("ring add, 2^20 u64", "rows", LARGE, || ring::add(&x, &y));
    rate("ring prefix sum, 2^20 u64", "rows", LARGE, || ring::prefix_sum(&x));
}

/// Multiply-adds of products, convolutions and their gradients.
fn products<R: Element>(ring: &str, prg: &mut Prg) {
    println!("products modulo {ring} run as: {}", matrix::path::<R>());
    let shapes = [[64; 3], [512; 3], [1024; 3], [16, 150, 1024], [1000, 784, 625], [1000, 625, 10], [8, 784, 625]];
    for [m, k, n] in shapes.into_iter().chain([[4096, 4096, 1], [1, 4096, 4096], [4096, 4096, 3]]) {
        let (a, b, mut c) = (prg.vector::<R>(m * k), prg.vector::<R>(k * n), vec![R::ZERO; m * n]);
        for (name, b) in [("", View::new(&b, k, n)), (" B^T", View::new(&b, n, k).transposed())] {
            rate(&format!("{m} x {k} x {n}{name}"), "multiply-adds", m * k * n, || {
                matrix::product(View::new(&a, m, k), b, &mut c);
            });
        }
    }
    for (size, channels, filters) in [([28, 28], 1, 6), ([12, 12], 6, 16), ([56, 56], 64, 64)] {
        let (images, window, padding) = (if filters == 64 { 4 } else { 100 }, [5, 5], [0, 0]);
        let sizes = Convolution { images, channels, size, filters, window, stride: [1, 1], padding };
        let [mut x, mut f, mut y] = sizes.lengths().map(|len| prg.vector::<R>(len));
        let work = y.len() * channels * 25;
        let name = format!("{images} x {channels} x {size:?}, {filters} filters of 5 x 5");
        rate(&name, "multiply-adds", work, || sizes.forward(&x, &f, &mut y));
        rate("  its gradient of filters", "multiply-adds", work, || sizes.gradient_of_filters(&x, &y, &mut f));
        rate("  its gradient of images", "multiply-adds", work, || sizes.gradient_of_images(&f, &y, &mut x));
    }
}
