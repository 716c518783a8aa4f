//! Whether the time of the wide kernels depends on secrets: `cargo run --release -p tacit-math --example timing`.
//!
//! Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?", DATE 2017. Each kernel runs many times on one
//! fixed secret or on a fresh random one, as a coin says, and Welch's t-test compares the times of both classes. It
//! compares all of them, and those below each of some percentiles, because a dependence may hide behind interruptions.
//! A |t| above 10 is a difference. One that comes three times in a row is none of chance, and the program ends with
//! exit status 1. A planted kernel that stops at the first difference must be found, so that a machine too busy to
//! measure on does not look like code without faults.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tacit_math::band::{self, Row};
use tacit_math::gf::{Field, Gf128};
use tacit_math::half_gates::{Gate, GateKeys, Halves, Sum, add_offset};
use tacit_math::matrix::{self, View};
use tacit_math::ntt::{self, Prime};
use tacit_math::{BlockCipher, Prg, Seed, TweakableCircularHash, transpose};

/// |t| from which two classes differ.
const DIFFERENT: f64 = 10.0;

/// How often a difference has to come.
const CONFIRMED: usize = 3;

/// Measurements of one kernel: as many as fit in `TIME`, and at least `LEAST`.
const TIME: Duration = Duration::from_secs(2);
const LEAST: usize = 4_000;

/// Percentiles below which times are compared besides all times.
const CROPS: i32 = 20;

/// Secrets that are made before any of them is measured.
const AT_ONCE: usize = 32;

/// Blocks of secret that a kernel gets.
const BLOCKS: usize = 256;

fn main() -> ExitCode {
    let mut prg = Prg::new(&Seed::random().expect("randomness"));
    let mut faults: Vec<&str> = Vec::new();
    println!("generator runs as: {}", prg.path());
    println!("{:<44} {:>12} {:>10}", "kernel", "measurements", "max |t|");
    let mut check = |name: &'static str, work: &mut dyn FnMut(&[u128])| {
        if !(0..CONFIRMED).all(|_| differs(name, &mut prg, work)) {
            return;
        }
        faults.push(name);
    };
    ciphers(&mut check);
    garbling(&mut check);
    algebra(&mut check);
    #[cfg(target_arch = "x86_64")]
    points(&mut check);
    let planted = "a planted comparison that stops early";
    check(planted, &mut |secret| {
        black_box(secret.iter().position(|&block| block != 0));
    });
    if !faults.contains(&planted) {
        println!("this machine is too busy to measure on: what was planted was not found");
        return ExitCode::FAILURE;
    }
    faults.retain(|&name| name != planted);
    faults.iter().for_each(|name| println!("the time of {name} depends on a secret"));
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Takes a kernel's name and the kernel, which gets a secret.
type Check<'a> = dyn FnMut(&'static str, &mut dyn FnMut(&[u128])) + 'a;

fn ciphers(check: &mut Check<'_>) {
    let mut stream = vec![0_u64; 1024];
    check("AES key schedule and counter mode", &mut |secret| {
        Prg::new(&Seed::from_bytes(secret[0].to_le_bytes())).fill(&mut stream);
    });
    let (cipher, mut blocks) = (BlockCipher::new(&Seed::from_bytes([1; 16])), vec![0; BLOCKS]);
    check("AES of blocks", &mut |secret| {
        blocks.copy_from_slice(secret);
        cipher.encrypt(&mut blocks);
    });
    let hash = TweakableCircularHash::new();
    check("tweakable hash of blocks", &mut |secret| {
        blocks.copy_from_slice(secret);
        hash.hash_blocks(&mut blocks, |i| i as u128);
    });
}

fn garbling(check: &mut Check<'_>) {
    const GATES: usize = BLOCKS / 2;
    fn gate(secret: &[u128]) -> Gate<'_> {
        let (x, y) = secret.split_at(GATES);
        Gate { x: Sum { first: x, second: None }, y: Sum { first: y, second: None }, plus: None }
    }
    let keys = GateKeys { x: 1, y: 2 };
    let (mut out, mut table) = (vec![0; GATES], vec![MaybeUninit::uninit(); 2 * GATES]);
    check("garbling of gates", &mut |secret| {
        black_box(keys.garble(secret[0] | 1, gate(secret), &mut out, &mut table));
    });
    let public: Vec<u128> = (0..2 * GATES as u128).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    check("evaluation of gates", &mut |secret| {
        let (generator, evaluator) = public.split_at(GATES);
        keys.evaluate(gate(secret), Halves { generator, evaluator }, &mut out);
    });
    let mut labels = vec![0; BLOCKS];
    check("labels of bits", &mut |secret| {
        add_offset(&mut labels, &bytemuck::cast_slice(secret)[..BLOCKS / 64], secret[BLOCKS / 2]);
    });
}

fn algebra(check: &mut Check<'_>) {
    check("inner product over GF(2^128)", &mut |secret| {
        let (scalars, elements) = secret.split_at(BLOCKS / 2);
        black_box(Gf128::inner_product(bytemuck::cast_slice(scalars), elements));
    });
    check("product over GF(2^128)", &mut |secret| {
        let products = secret.chunks_exact(2).map(|pair| Gf128(pair[0]).multiply(Gf128(pair[1])).0);
        black_box(products.fold(0, |sum, product| sum ^ product));
    });
    let prime = Prime::new(PRIME);
    let mut polynomial = vec![0; ntt::DEGREE];
    let mut load = |secret: &[u128]| -> Vec<u64> {
        let words: &[u64] = bytemuck::cast_slice(secret);
        polynomial.iter_mut().zip(words.iter().cycle()).for_each(|(number, &word)| *number = word >> 22);
        polynomial.clone()
    };
    check("number-theoretic transform", &mut |secret| prime.forward(&mut load(secret)));
    check("transpose of rows", &mut |secret| {
        black_box(transpose::planes_of_rows(bytemuck::cast_slice(secret), 64));
    });
    let mut products = vec![0_u128; 64];
    check("products of a band matrix", &mut |secret| {
        let row = |i: usize| Row { start: i as u32, bits: [secret[i] as u64, (secret[i] >> 64) as u64] };
        let rows: Vec<Row<2>> = (0..64).map(row).collect();
        band::products(&rows, &secret[..64 + 128], &mut products);
    });
    let (mut words, mut elements) = (vec![0; 16 * 16], vec![0; 8 * 8]);
    check("product of matrices modulo 2^64", &mut |secret| {
        let (a, b) = bytemuck::cast_slice(secret).split_at(16 * 16);
        matrix::product(View::<u64>::new(a, 16, 16), View::new(b, 16, 16), &mut words);
    });
    check("product of matrices modulo 2^128", &mut |secret| {
        let (a, b) = secret.split_at(BLOCKS / 2);
        matrix::product(View::new(a, 8, 16), View::new(b, 16, 8), &mut elements);
    });
    check("matrix times vector modulo 2^64", &mut |secret| {
        let (a, b) = bytemuck::cast_slice(secret).split_at(16 * 30);
        matrix::product(View::<u64>::new(a, 16, 30), View::new(&b[..30], 30, 1), &mut words[..16]);
    });
}

/// A prime of the transform: 2^15 divides p - 1.
const PRIME: u64 = 0xfff_ffdf_8001;

#[cfg(target_arch = "x86_64")]
fn points(check: &mut Check<'_>) {
    use tacit_math::ristretto::Wide;

    let Some(wide) = Wide::detect() else {
        println!("{:<44} this processor lacks the instructions", "points by one scalar");
        return;
    };
    let mut uniform = [[0_u8; 64]; 8];
    (0..8).for_each(|i| uniform[i][i] = 9);
    let (mut points, mut out) = ([[0; 32]; 8], [[0; 32]; 8]);
    let one = std::array::from_fn(|i| u8::from(i == 0));
    wide.map_and_multiply(&one, &uniform, &mut points);
    check("points by one scalar", &mut |secret| {
        let mut scalar: [u8; 32] = bytemuck::cast([secret[0], secret[1]]);
        scalar[31] &= 0x0f;
        wide.multiply(&scalar, &points, &mut out).expect("points");
    });
    check("points of uniform bytes by a scalar", &mut |secret| {
        let given: &[[u8; 64]] = bytemuck::cast_slice(secret);
        wide.map_and_multiply(&one, &given[..8], &mut out);
    });
}

/// Whether the times of the two classes differ, in this many measurements.
fn differs(name: &str, prg: &mut Prg, work: &mut dyn FnMut(&[u128])) -> bool {
    let mut secrets = vec![0_u128; BLOCKS * AT_ONCE];
    let mut times: Vec<(bool, f64)> = Vec::new();
    let begin = Instant::now();
    while times.len() < LEAST || begin.elapsed() < TIME {
        prg.fill(&mut secrets);
        let classes: Vec<bool> = prg.vector::<u8>(AT_ONCE).into_iter().map(|coin| coin & 1 == 1).collect();
        // Both classes are written alike, and before any is measured: neither caches nor stores that wait tell them
        // apart.
        for (secret, &class) in secrets.chunks_exact_mut(BLOCKS).zip(&classes) {
            let mask = black_box(u128::from(class).wrapping_neg());
            secret.iter_mut().for_each(|block| *block &= mask);
        }
        for (secret, class) in secrets.chunks_exact(BLOCKS).zip(classes) {
            let start = Instant::now();
            work(black_box(secret));
            times.push((class, start.elapsed().as_nanos() as f64));
        }
    }
    let mut sorted: Vec<f64> = times.iter().map(|&(_, time)| time).collect();
    sorted.sort_by(f64::total_cmp);
    let below = |crop: i32| sorted[((sorted.len() - 1) as f64 * (1.0 - 0.5_f64.powf(f64::from(crop) / 2.0))) as usize];
    let limits = (1..=CROPS).map(below).chain([f64::INFINITY]);
    let t = limits.map(|limit| welch(times.iter().filter(|&&(_, time)| time <= limit)).abs()).fold(0.0, f64::max);
    println!("{name:<44} {:>12} {t:>10.2}", times.len());
    t > DIFFERENT
}

/// Welch's statistic of the difference of means of two classes.
fn welch<'a>(times: impl Iterator<Item = &'a (bool, f64)>) -> f64 {
    let mut classes = [(0.0, 0.0, 0.0); 2];
    for &(class, time) in times {
        let (count, mean, squares) = &mut classes[usize::from(class)];
        *count += 1.0;
        let difference = time - *mean;
        *mean += difference / *count;
        *squares += difference * (time - *mean);
    }
    let [a, b] = classes;
    if a.0 < 100.0 || b.0 < 100.0 {
        return 0.0;
    }
    let variance = |(count, _, squares): (f64, f64, f64)| squares / (count - 1.0) / count;
    (a.1 - b.1) / (variance(a) + variance(b)).sqrt().max(1e-9)
}
