//! AES-128 four blocks to a 512-bit register, eight registers at a time (x86-64 with AVX-512 and VAES).

use core::arch::x86_64::*;

use zeroize::Zeroize;

/// Four blocks: what one register holds.
type Four = [[u8; 16]; 4];

/// Registers in flight: they hide the latency of a round.
const FLIGHT: usize = 8;

/// Expanded keys. A value exists only on a processor with AES, AVX-512F and VAES: [`RoundKeys::expand`] makes sure.
pub(crate) struct RoundKeys([u128; 11]);

impl Drop for RoundKeys {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl RoundKeys {
    /// The round keys of a key; None when the processor lacks the instructions.
    pub(crate) fn expand(key: &[u8; 16]) -> Option<Self> {
        let capable =
            is_x86_feature_detected!("aes") && is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx512f");
        // SAFETY: the processor has AES and SSE2 (part of x86-64).
        capable.then(|| Self(unsafe { expand(u128::from_le_bytes(*key)) }))
    }

    /// Block i becomes the encryption of first + i as a 128-bit little-endian number.
    pub(crate) fn encrypt_counters(&self, first: u64, blocks: &mut [[u8; 16]]) {
        // SAFETY: self exists, so the processor has AVX-512F and VAES.
        unsafe { encrypt_counters(&self.0, first, blocks) }
    }

    /// Every block becomes its encryption.
    pub(crate) fn encrypt(&self, blocks: &mut [[u8; 16]]) {
        // SAFETY: self exists, so the processor has AVX-512F and VAES.
        unsafe { encrypt(&self.0, blocks) }
    }

    /// The hashes that [`super::Aes128::hash`] defines.
    pub(crate) fn hash(&self, blocks: &[u128], offset: u128, out: &mut [u128]) {
        // SAFETY: self exists, so the processor has AVX-512F and VAES.
        unsafe { hash(&self.0, blocks, offset, out) }
    }

    /// The hashes that [`super::Aes128::hash_numbered`] defines.
    pub(crate) fn hash_numbered(&self, prefix: u64, first: u64, blocks: &mut [u128]) {
        // SAFETY: self exists, so the processor has AVX-512F and VAES.
        unsafe { hash_numbered(&self.0, prefix, first, blocks) }
    }

    /// The children of every parent as [`super::Aes128::double`] defines them, and the sum of the left ones.
    pub(crate) fn double(&self, parents: &[u128], tweak: u128, children: &mut [[u128; 2]]) -> u128 {
        // SAFETY: self exists, so the processor has AVX-512F and VAES.
        unsafe { double(&self.0, parents, tweak, children) }
    }

    /// The bits that [`super::Aes128::hash_bits`] defines.
    pub(crate) fn hash_bits<const BITS: usize>(&self, blocks: &[[u128; 64]], offset: u128, words: [&mut [u64]; BITS]) {
        // SAFETY: self exists, so the processor has AVX-512F and VAES.
        unsafe { hash_bits(&self.0, blocks, offset, words) }
    }

    /// The sums that [`super::Aes128::add_masked_hashes`] defines.
    pub(crate) fn add_masked_hashes<const N: usize>(
        &self,
        blocks: &[[u128; 64]; N],
        offset: u128,
        masks: &[u64; N],
        rows: &mut [u64; 64],
    ) {
        // SAFETY: self exists, so the processor has AVX-512F and VAES.
        unsafe { add_masked_hashes(&self.0, blocks, offset, masks, rows) }
    }
}

/// The key schedule of FIPS 197, section 5.2.
#[target_feature(enable = "aes")]
fn expand(key: u128) -> [u128; 11] {
    expand_two([key; 2])[0]
}

/// The key schedules of two keys, side by side because each step waits for the one before.
#[inline]
#[target_feature(enable = "aes")]
pub(crate) fn expand_two(keys: [u128; 2]) -> [[u128; 11]; 2] {
    let mut out = [[keys[0]; 11], [keys[1]; 11]];
    next_keys::<0x01>(&mut out, 1);
    next_keys::<0x02>(&mut out, 2);
    next_keys::<0x04>(&mut out, 3);
    next_keys::<0x08>(&mut out, 4);
    next_keys::<0x10>(&mut out, 5);
    next_keys::<0x20>(&mut out, 6);
    next_keys::<0x40>(&mut out, 7);
    next_keys::<0x80>(&mut out, 8);
    next_keys::<0x1b>(&mut out, 9);
    next_keys::<0x36>(&mut out, 10);
    out
}

/// One step of the schedules: the instruction gives RotWord, SubWord and the round constant in its top word.
#[inline]
#[target_feature(enable = "aes")]
fn next_keys<const ROUND: i32>(schedules: &mut [[u128; 11]; 2], step: usize) {
    for schedule in schedules {
        let key: __m128i = bytemuck::cast(schedule[step - 1]);
        let word = _mm_shuffle_epi32::<0xff>(_mm_aeskeygenassist_si128::<ROUND>(key));
        // The sum of the key moved by no, one, two and three words.
        let key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
        let key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
        schedule[step] = bytemuck::cast(_mm_xor_si128(key, word));
    }
}

#[target_feature(enable = "avx512f,vaes")]
fn encrypt_counters(keys: &[u128; 11], first: u64, blocks: &mut [[u8; 16]]) {
    let keys = broadcast(keys);
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let first = _mm512_set_epi64(0, first as i64, 0, first as i64, 0, first as i64, 0, first as i64);
    let mut counter = _mm512_add_epi64(first, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
    let mut next = || {
        let now = counter;
        counter = _mm512_add_epi64(counter, four);
        now
    };
    let (fours, rest) = blocks.as_chunks_mut::<4>();
    let (flights, tail) = fours.as_chunks_mut::<FLIGHT>();
    for flight in flights {
        let mut state = [_mm512_setzero_si512(); FLIGHT];
        for lane in &mut state {
            *lane = next();
        }
        store_all(flight, rounds(&keys, state));
    }
    for out in tail {
        store(out, rounds(&keys, [next()])[0]);
    }
    if !rest.is_empty() {
        let mut last = [[0; 16]; 4];
        store(&mut last, rounds(&keys, [next()])[0]);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[target_feature(enable = "avx512f,vaes")]
fn encrypt(keys: &[u128; 11], blocks: &mut [[u8; 16]]) {
    let keys = broadcast(keys);
    let (fours, rest) = blocks.as_chunks_mut::<4>();
    let (flights, tail) = fours.as_chunks_mut::<FLIGHT>();
    for flight in flights {
        let mut state = [_mm512_setzero_si512(); FLIGHT];
        for (lane, four) in state.iter_mut().zip(flight.iter()) {
            *lane = load(four);
        }
        store_all(flight, rounds(&keys, state));
    }
    for four in tail {
        let lane = load(four);
        store(four, rounds(&keys, [lane])[0]);
    }
    if !rest.is_empty() {
        let mut last = [[0; 16]; 4];
        last[..rest.len()].copy_from_slice(rest);
        let lane = load(&last);
        store(&mut last, rounds(&keys, [lane])[0]);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[target_feature(enable = "avx512f,vaes")]
fn hash(keys: &[u128; 11], blocks: &[u128], offset: u128, out: &mut [u128]) {
    let keys = broadcast(keys);
    let offset = _mm512_broadcast_i32x4(bytemuck::cast(offset));
    let (fours, rest) = blocks.as_chunks::<4>();
    let (outs, rest_out) = out.as_chunks_mut::<4>();
    let (flights, tail) = fours.as_chunks::<FLIGHT>();
    let (flights_out, tail_out) = outs.as_chunks_mut::<FLIGHT>();
    for (flight, out) in flights.iter().zip(flights_out) {
        hash_registers(&keys, flight, offset, out);
    }
    for (four, out) in tail.iter().zip(tail_out) {
        hash_registers(&keys, &[*four], offset, core::array::from_mut(out));
    }
    if !rest.is_empty() {
        let (mut last, mut out) = ([0; 4], [[0; 4]]);
        last[..rest.len()].copy_from_slice(rest);
        hash_registers(&keys, &[last], offset, &mut out);
        rest_out.copy_from_slice(&out[0][..rest.len()]);
    }
}

/// The hashes of four blocks a register.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn hash_registers<const N: usize>(
    keys: &[__m512i; 11],
    blocks: &[[u128; 4]; N],
    offset: __m512i,
    out: &mut [[u128; 4]; N],
) {
    let mut inputs = [_mm512_setzero_si512(); N];
    for (input, four) in inputs.iter_mut().zip(blocks) {
        *input = _mm512_xor_si512(load(bytemuck::cast_ref(four)), offset);
    }
    let images = rounds(keys, inputs);
    for i in 0..N {
        store(bytemuck::cast_mut(&mut out[i]), _mm512_xor_si512(images[i], inputs[i]));
    }
}

#[target_feature(enable = "avx512f,vaes")]
fn hash_numbered(keys: &[u128; 11], prefix: u64, first: u64, blocks: &mut [u128]) {
    let keys = broadcast(keys);
    let (prefix, first) = (prefix as i64, first as i64);
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let first = _mm512_set_epi64(prefix, first, prefix, first, prefix, first, prefix, first);
    let mut number = _mm512_add_epi64(first, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
    let (fours, rest) = blocks.as_chunks_mut::<4>();
    let (flights, tail) = fours.as_chunks_mut::<FLIGHT>();
    for flight in flights {
        number = hash_numbered_registers(&keys, number, four, flight);
    }
    for one in tail {
        number = hash_numbered_registers(&keys, number, four, core::array::from_mut(one));
    }
    if !rest.is_empty() {
        let mut last = [[0; 4]];
        last[0][..rest.len()].copy_from_slice(rest);
        hash_numbered_registers(&keys, number, four, &mut last);
        rest.copy_from_slice(&last[0][..rest.len()]);
    }
}

/// The hashes of four blocks a register; returns the numbers of the blocks behind them.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn hash_numbered_registers<const N: usize>(
    keys: &[__m512i; 11],
    mut number: __m512i,
    four: __m512i,
    blocks: &mut [[u128; 4]; N],
) -> __m512i {
    let mut inputs = [_mm512_setzero_si512(); N];
    for (input, block) in inputs.iter_mut().zip(blocks.iter()) {
        *input = load(bytemuck::cast_ref(block));
    }
    let images = rounds(keys, inputs);
    for (input, image) in inputs.iter_mut().zip(images) {
        *input = _mm512_xor_si512(image, number);
        number = _mm512_add_epi64(number, four);
    }
    let outer = rounds(keys, inputs);
    for i in 0..N {
        store(bytemuck::cast_mut(&mut blocks[i]), _mm512_xor_si512(outer[i], images[i]));
    }
    number
}

#[target_feature(enable = "avx512f,vaes")]
fn double(keys: &[u128; 11], parents: &[u128], tweak: u128, children: &mut [[u128; 2]]) -> u128 {
    let keys = broadcast(keys);
    let tweak = _mm512_broadcast_i32x4(bytemuck::cast(super::orthomorphism(tweak)));
    let mut sum = _mm512_setzero_si512();
    let (fours, rest) = parents.as_chunks::<4>();
    let (outs, rest_out) = children.as_chunks_mut::<4>();
    let (flights, tail) = fours.as_chunks::<FLIGHT>();
    let (flights_out, tail_out) = outs.as_chunks_mut::<FLIGHT>();
    for (flight, out) in flights.iter().zip(flights_out) {
        sum = _mm512_xor_si512(sum, double_registers(&keys, tweak, flight, out));
    }
    for (four, out) in tail.iter().zip(tail_out) {
        sum = _mm512_xor_si512(sum, double_registers(&keys, tweak, &[*four], core::array::from_mut(out)));
    }
    if !rest.is_empty() {
        let (mut last, mut out) = ([0; 4], [[[0; 2]; 4]]);
        last[..rest.len()].copy_from_slice(rest);
        double_registers(&keys, tweak, &[last], &mut out);
        rest_out.copy_from_slice(&out[0][..rest.len()]);
    }
    let mut lanes = [[0; 16]; 4];
    store(&mut lanes, sum);
    let sum = lanes.iter().fold(0, |sum, &lane| sum ^ u128::from_le_bytes(lane));
    rest_out.iter().fold(sum, |sum, pair| sum ^ pair[0])
}

/// The children of four parents a register, `tweak` mapped as their parents are; returns the sum of the left ones, lane
/// by lane.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn double_registers<const N: usize>(
    keys: &[__m512i; 11],
    tweak: __m512i,
    parents: &[[u128; 4]; N],
    children: &mut [[[u128; 2]; 4]; N],
) -> __m512i {
    let zero = _mm512_setzero_si512();
    let (mut own, mut inputs) = ([zero; N], [zero; N]);
    for ((own, input), four) in own.iter_mut().zip(&mut inputs).zip(parents) {
        *own = load(bytemuck::cast_ref(four));
        // Swapped halves, plus the high half in its place.
        let mapped = _mm512_xor_si512(_mm512_shuffle_epi32::<0b01_00_11_10>(*own), _mm512_maskz_mov_epi64(0xaa, *own));
        *input = _mm512_xor_si512(mapped, tweak);
    }
    let images = rounds(keys, inputs);
    let (first, second) = (_mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0), _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4));
    let mut sum = zero;
    for i in 0..N {
        let left = _mm512_xor_si512(images[i], inputs[i]);
        let right = _mm512_xor_si512(left, own[i]);
        sum = _mm512_xor_si512(sum, left);
        let out: &mut [Four; 2] = bytemuck::cast_mut(&mut children[i]);
        store(&mut out[0], _mm512_permutex2var_epi64(left, first, right));
        store(&mut out[1], _mm512_permutex2var_epi64(left, second, right));
    }
    sum
}

#[target_feature(enable = "avx512f,vaes")]
fn hash_bits<const BITS: usize>(keys: &[u128; 11], blocks: &[[u128; 64]], offset: u128, mut words: [&mut [u64]; BITS]) {
    let keys = broadcast(keys);
    let offset = _mm512_broadcast_i32x4(bytemuck::cast(offset));
    let halves = [_mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1)];
    let one = _mm512_set1_epi64(1);
    for (row, blocks) in blocks.iter().enumerate() {
        let fours: &[Four; 2 * FLIGHT] = bytemuck::cast_ref(blocks);
        let mut bits = [0; BITS];
        for (half, flight) in fours.as_chunks::<FLIGHT>().0.iter().enumerate() {
            let inputs = flight.each_ref().map(|four| _mm512_xor_si512(load(four), offset));
            let images = rounds(&keys, inputs);
            for pair in 0..FLIGHT / 2 {
                let hash = |i: usize| _mm512_xor_si512(images[i], inputs[i]);
                let (first, second) = (hash(2 * pair), hash(2 * pair + 1));
                for (word, &half_of_block) in bits.iter_mut().zip(&halves) {
                    let parts = _mm512_permutex2var_epi64(first, half_of_block, second);
                    *word |= u64::from(_mm512_test_epi64_mask(parts, one)) << (32 * half + 8 * pair);
                }
            }
        }
        for (words, bits) in words.iter_mut().zip(bits) {
            words[row] = bits;
        }
    }
}

#[target_feature(enable = "avx512f,vaes")]
fn add_masked_hashes<const N: usize>(
    keys: &[u128; 11],
    blocks: &[[u128; 64]; N],
    offset: u128,
    masks: &[u64; N],
    rows: &mut [u64; 64],
) {
    let keys = broadcast(keys);
    let offset = _mm512_broadcast_i32x4(bytemuck::cast(offset));
    let low_halves = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    for (half, rows) in rows.as_chunks_mut::<{ 4 * FLIGHT }>().0.iter_mut().enumerate() {
        let mut sums = [_mm512_setzero_si512(); FLIGHT];
        for (blocks, &mask) in blocks.iter().zip(masks) {
            let fours: &[Four; 2 * FLIGHT] = bytemuck::cast_ref(blocks);
            let flight = &fours.as_chunks::<FLIGHT>().0[half];
            let inputs = flight.each_ref().map(|four| _mm512_xor_si512(load(four), offset));
            let images = rounds(&keys, inputs);
            let mask = _mm512_set1_epi64(mask as i64);
            for i in 0..FLIGHT {
                let hash = _mm512_xor_si512(images[i], inputs[i]);
                sums[i] = _mm512_xor_si512(sums[i], _mm512_and_si512(hash, mask));
            }
        }
        for (pair, rows) in sums.as_chunks::<2>().0.iter().zip(rows.as_chunks_mut::<8>().0) {
            let low = _mm512_permutex2var_epi64(pair[0], low_halves, pair[1]);
            let rows: &mut Four = bytemuck::cast_mut(rows);
            let sum = _mm512_xor_si512(load(rows), low);
            store(rows, sum);
        }
    }
}

/// Every round key in all four lanes of a register.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn broadcast(keys: &[u128; 11]) -> [__m512i; 11] {
    let mut everywhere = [_mm512_setzero_si512(); 11];
    for (lanes, &key) in everywhere.iter_mut().zip(keys) {
        *lanes = _mm512_broadcast_i32x4(bytemuck::cast(key));
    }
    everywhere
}

/// The ten rounds (FIPS 197, section 5.1) on registers side by side.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(crate) fn rounds<const N: usize>(keys: &[__m512i; 11], mut state: [__m512i; N]) -> [__m512i; N] {
    for lane in &mut state {
        *lane = _mm512_xor_si512(*lane, keys[0]);
    }
    for key in &keys[1..10] {
        for lane in &mut state {
            *lane = _mm512_aesenc_epi128(*lane, *key);
        }
    }
    for lane in &mut state {
        *lane = _mm512_aesenclast_epi128(*lane, keys[10]);
    }
    state
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load(blocks: &Four) -> __m512i {
    // SAFETY: reads the 64 bytes behind the reference; the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(blocks.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store(blocks: &mut Four, lane: __m512i) {
    // SAFETY: writes the 64 bytes behind the exclusive reference; the instruction needs no alignment.
    unsafe { _mm512_storeu_si512(blocks.as_mut_ptr().cast(), lane) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_all(out: &mut [Four; FLIGHT], state: [__m512i; FLIGHT]) {
    for (blocks, lane) in out.iter_mut().zip(state) {
        store(blocks, lane);
    }
}
