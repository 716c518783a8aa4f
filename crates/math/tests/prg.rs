//! The generator against known answers (computed with OpenSSL) and the laws of its stream.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tacit_math::{Prg, Seed};

fn generator() -> Prg {
    Prg::new(&Seed::from_bytes(std::array::from_fn(|i| i as u8)))
}

/// Block i of the stream is AES of i as a little-endian number.
#[test]
fn known_answers() {
    let blocks: Vec<[u8; 16]> = generator().vector(1001);
    assert_eq!(blocks[0], 0xc6a13b37878f5b826f4f8162a1c8d879_u128.to_be_bytes());
    assert_eq!(blocks[1], 0xe37cd363dd7c87a09aff0e3e60e09c82_u128.to_be_bytes());
    assert_eq!(blocks[2], 0xfb8ae31ba5db9cad97364d8722d47326_u128.to_be_bytes());
    assert_eq!(blocks[1000], 0x3e3ab7061e34d8bb56d9034efaf87df9_u128.to_be_bytes());
}

#[test]
fn derived_seeds_known_answers() {
    let derived = Seed::from_bytes([0; 16]).derive("rows");
    assert_eq!(*derived.expose(), 0xd756e1722d02f128d2e4df9333b97072_u128.to_be_bytes());
    let derived = Seed::from_bytes(std::array::from_fn(|i| i as u8)).derive("join/shuffle/step 3");
    assert_eq!(*derived.expose(), 0x6157ff24d720397b8c4d4e789e0936c9_u128.to_be_bytes());
}

#[test]
fn fresh_seeds_differ() {
    let (a, b) = (Seed::random().expect("randomness"), Seed::random().expect("randomness"));
    assert_ne!(a.expose(), b.expose());
    assert_ne!(a.derive("x").expose(), a.derive("y").expose());
    assert_ne!(a.derive("x").expose(), b.derive("x").expose());
}

#[test]
fn a_watched_generator_shows_what_it_gives() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let shown = Arc::clone(&seen);
    let seed = Seed::from_bytes(std::array::from_fn(|i| i as u8));
    let mut watched =
        Prg::watched(&seed, Arc::new(move |bytes| shown.lock().expect("no panic").extend_from_slice(bytes)));
    let mut same = generator();
    let given: Vec<u8> = [5, 16, 40].iter().flat_map(|&len| watched.vector::<u8>(len)).collect();
    assert_eq!(*seen.lock().expect("no panic"), given);
    assert_eq!([5, 16, 40].iter().flat_map(|&len| same.vector::<u8>(len)).collect::<Vec<_>>(), given);
}

#[test]
fn nothing_secret_is_printed() {
    assert_eq!(format!("{:?}", Seed::from_bytes([1; 16])), "Seed(secret)");
    assert_eq!(format!("{:?}", generator()), "Prg(secret)");
}

#[test]
fn words_of_every_width_are_the_same_bytes() {
    let bytes: Vec<u8> = generator().vector(4096);
    assert_eq!(bytemuck::cast_slice::<u32, u8>(&generator().vector::<u32>(1024)), bytes);
    assert_eq!(bytemuck::cast_slice::<u64, u8>(&generator().vector::<u64>(512)), bytes);
    assert_eq!(bytemuck::cast_slice::<u128, u8>(&generator().vector::<u128>(256)), bytes);
}

/// The number of one bits among 2^23 is binomial: six standard deviations around the mean.
#[test]
fn bits_are_balanced() {
    let ones: i64 = generator().vector::<u64>(1 << 17).iter().map(|w| i64::from(w.count_ones())).sum();
    assert!((ones - (1 << 22)).abs() < 6 * 1448, "{ones} ones among 2^23 bits");
}

proptest! {
    /// However requests cut it, the stream is the same as long as cuts fall between blocks; a request that ends within
    /// a block drops the rest of that block.
    #[test]
    fn requests_continue_one_stream(seed: [u8; 16], lengths in prop::collection::vec(0usize..9000, 1..8)) {
        let seed = Seed::from_bytes(seed);
        let total: usize = lengths.iter().map(|n| n.next_multiple_of(16)).sum();
        let stream: Vec<u8> = Prg::new(&seed).vector(total);
        let mut prg = Prg::new(&seed);
        let mut at = 0;
        for length in lengths {
            prop_assert_eq!(prg.vector::<u8>(length), &stream[at..at + length]);
            at += length.next_multiple_of(16);
        }
    }

    /// Buffers need no alignment.
    #[test]
    fn vectors_are_what_fills_give(length in 0usize..20_000, seed: [u8; 16]) {
        fn check<T: bytemuck::Pod + Eq + Send + std::fmt::Debug>(length: usize, seed: [u8; 16]) -> (Vec<T>, Vec<T>) {
            let [mut first, mut second] = [(); 2].map(|()| Prg::new(&Seed::from_bytes(seed)));
            let mut filled = vec![T::zeroed(); length];
            first.fill(&mut filled);
            let made = second.vector(length);
            assert_eq!(first.vector::<u64>(1), second.vector::<u64>(1), "both go on alike");
            (made, filled)
        }
        let (made, filled) = check::<u32>(length, seed);
        prop_assert_eq!(made, filled);
        let (made, filled) = check::<u128>(length, seed);
        prop_assert_eq!(made, filled);
        let (made, filled) = check::<[u8; 3]>(length, seed);
        prop_assert_eq!(made, filled);
    }

    #[test]
    fn fill_at_any_address(offset in 0usize..64, length in 0usize..5000) {
        let mut buffer = vec![0_u8; 64 + 5000 + 1];
        generator().fill(&mut buffer[offset..offset + length]);
        prop_assert_eq!(&buffer[offset..offset + length], generator().vector::<u8>(length));
        prop_assert!(buffer[..offset].iter().chain(&buffer[offset + length..]).all(|&b| b == 0), "writes within bounds");
    }
}
