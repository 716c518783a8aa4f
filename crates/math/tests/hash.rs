//! Known answers of the hashes. The block hashes were computed with OpenSSL's AES, the string hashes with an
//! implementation of BLAKE3 written from its specification.

use proptest::prelude::*;
use tacit_math::{CorrelationRobustHash, KeyedHash, TweakableCircularHash};

const INPUTS: [u128; 4] = [0, 1, 0x0123456789abcdef0123456789abcdef, u128::MAX];

#[test]
fn correlation_robust_hash_known_answers() {
    let mut blocks = INPUTS;
    CorrelationRobustHash::new().hash_blocks(&mut blocks);
    let expected = [
        0xd3f5a90dea275fd975f67fea7aa5892d,
        0x95698369960f2b91837854e495629a7b,
        0xf849b4acff04662d53f0756a2aeda0d4,
        0x03dc1eb259e074347bae199993181c11,
    ];
    assert_eq!(blocks, expected);
}

#[test]
fn tweakable_hash_known_answers() {
    let (mut untweaked, mut tweaked) = (INPUTS, INPUTS);
    TweakableCircularHash::new().hash_blocks(&mut untweaked, |_| 0);
    TweakableCircularHash::new().hash_blocks(&mut tweaked, |i| 5 + i as u128);
    let expected = [
        0x18c4f12fd9ae44ec333f96c3fa8ea5a8,
        0xd1460d8aab9667701f3ef231c5142528,
        0xdf1af77e200f39f2245f322f4a0aec27,
        0x43f0b697c38465631287c7cd43ac324b,
    ];
    assert_eq!(untweaked, expected);
    let expected = [
        0x4c023dae11ee3de70ac47671db107ac2,
        0xdae879d41e0f095628fd467704453f5d,
        0x51e13f09186a15320c5db293c732e678,
        0x5dbda16b31b25577948bad02cb371605,
    ];
    assert_eq!(tweaked, expected);
}

#[test]
fn keyed_hash_known_answers() {
    let hash = KeyedHash::new(&std::array::from_fn(|i| i as u8));
    assert_eq!(hash.hash(b""), 0x0998c0ec4dd7e9b1cd715d99192b4973);
    assert_eq!(hash.hash("Zurich".as_bytes()), 0xb2795fd0d9ad522bcf2b9682b9ffd0a3);
    assert_eq!(hash.hash(&[b'a'; 64]), 0x1cff88208df8b2845d996753d16bd3d2);
}

/// The vector of the BLAKE3 project for an empty input.
#[test]
fn keyed_hash_is_blake3() {
    let number = KeyedHash::new(b"whats the Elvish word for friend").hash(b"");
    assert_eq!(number.to_le_bytes(), 0x92b2b75604ed3c761f9d6f62392c8a92_u128.to_be_bytes());
}

#[test]
fn nothing_of_the_key_is_printed() {
    assert_eq!(format!("{:?}", KeyedHash::new(&[7; 32])), "KeyedHash(secret)");
    assert_eq!(
        format!("{:?} {:?}", CorrelationRobustHash::default(), TweakableCircularHash::default()),
        "CorrelationRobustHash TweakableCircularHash"
    );
}

proptest! {
    #[test]
    fn batches_do_not_matter(blocks in prop::collection::vec(any::<u128>(), 0..400), cut in 0usize..400) {
        let (cr, tccr) = (CorrelationRobustHash::new(), TweakableCircularHash::new());
        let (mut whole, mut parts, mut single) = (blocks.clone(), blocks.clone(), blocks.clone());
        cr.hash_blocks(&mut whole);
        let (left, right) = parts.split_at_mut(cut.min(blocks.len()));
        cr.hash_blocks(left);
        cr.hash_blocks(right);
        single.chunks_mut(1).for_each(|one| cr.hash_blocks(one));
        prop_assert_eq!(&whole, &parts);
        prop_assert_eq!(&whole, &single);

        let (mut whole, mut single) = (blocks.clone(), blocks);
        tccr.hash_blocks(&mut whole, |i| i as u128 * 3);
        for (i, one) in single.chunks_mut(1).enumerate() {
            tccr.hash_blocks(one, |_| i as u128 * 3);
        }
        prop_assert_eq!(&whole, &single);
    }
}
