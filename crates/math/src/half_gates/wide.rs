//! Half-gates four rows to a 512-bit register, eight hashes in flight (x86-64 with AVX-512 and VAES).

use core::arch::x86_64::*;

use super::{Gate, GateKeys, Halves, Sum};
use crate::aes128::wide::{broadcast, expand_two, load, rounds, store};
use std::mem::MaybeUninit;

/// Half a gate's table that is being written.
type Unwritten<'a> = &'a mut [MaybeUninit<u128>];

/// Registers of rows that are garbled together: two hashes each.
const FLIGHT: usize = 4;

/// Proof that the processor has AES, AVX-512F and VAES, and that the build does not ask for software AES.
#[derive(Clone, Copy)]
pub(super) struct Wide(());

impl Wide {
    pub(super) fn detect() -> Option<Self> {
        let capable =
            is_x86_feature_detected!("aes") && is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx512f");
        (capable && aes::hardware_accelerated()).then_some(Self(()))
    }

    /// Writes both blocks of every row.
    pub(super) fn garble(
        self,
        keys: GateKeys,
        delta: u128,
        gate: Gate<'_>,
        out: &mut [u128],
        table: Halves<Unwritten<'_>>,
    ) {
        // SAFETY: self exists, so the processor has AES, AVX-512F and VAES.
        unsafe { garble(keys, delta, gate, out, table) }
    }

    pub(super) fn evaluate(self, keys: GateKeys, gate: Gate<'_>, table: [&[u128]; 2], out: &mut [u128]) {
        // SAFETY: self exists, so the processor has AES, AVX-512F and VAES.
        unsafe { evaluate(keys, gate, table, out) }
    }

    pub(super) fn add_offset(self, labels: &mut [u128], bits: &[u64], offset: u128) {
        // SAFETY: self exists, so the processor has AVX-512F.
        unsafe { add_offset(labels, bits, offset) }
    }
}

#[target_feature(enable = "aes,avx512f,vaes")]
fn garble(keys: GateKeys, delta: u128, gate: Gate<'_>, out: &mut [u128], table: Halves<Unwritten<'_>>) {
    let Halves { generator, evaluator } = table;
    let kernel = Garbler { keys: expand(keys), delta: everywhere(delta), spread: spread(everywhere(delta)) };
    let mut start = 0;
    while out.len() - start >= 4 * FLIGHT {
        let table = [&mut generator[start..], &mut evaluator[start..]];
        kernel.run::<FLIGHT>(Operands::gather(gate, start), &mut out[start..], table);
        start += 4 * FLIGHT;
    }
    while start < out.len() {
        let end = out.len().min(start + 4);
        let (mut labels, mut table) = ([0; 4], [[MaybeUninit::uninit(); 4]; 2]);
        let [first, second] = &mut table;
        kernel.run::<1>(Operands::last(gate, start), &mut labels, [first, second]);
        out[start..end].copy_from_slice(&labels[..end - start]);
        generator[start..end].copy_from_slice(&table[0][..end - start]);
        evaluator[start..end].copy_from_slice(&table[1][..end - start]);
        start = end;
    }
}

/// A mask of the halves of four labels from four bits, which are secret: no address depends on them.
#[inline]
fn halves(bits: u64) -> u8 {
    let bits = (bits & 15) as u8;
    let pairs = (bits | bits << 2) & 0x33;
    3 * ((pairs | pairs << 1) & 0x55)
}

#[target_feature(enable = "avx512f")]
fn add_offset(labels: &mut [u128], bits: &[u64], offset: u128) {
    let offset_everywhere = everywhere(offset);
    let (whole, rest) = labels.split_at_mut(labels.len() - labels.len() % 64);
    for (labels, word) in whole.as_chunks_mut::<64>().0.iter_mut().zip(bits) {
        for i in 0..16 {
            let [register] = gather(&labels[4 * i..]);
            let mask = halves(word >> (4 * i));
            put(labels, i, _mm512_mask_xor_epi64(register, mask, register, offset_everywhere));
        }
    }
    super::add_offset_portable(rest, &bits[whole.len() / 64..], offset);
}

/// Labels of 4 N rows.
struct Operands<const N: usize> {
    x: [__m512i; N],
    y: [__m512i; N],
    plus: [__m512i; N],
}

impl<const N: usize> Operands<N> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn gather(gate: Gate<'_>, start: usize) -> Self {
        let plus = match gate.plus {
            Some(plus) => gather(&plus[start..]),
            None => [_mm512_setzero_si512(); N],
        };
        Self { x: gather_sum(gate.x, start), y: gather_sum(gate.y, start), plus }
    }
}

impl Operands<1> {
    /// The last rows, fewer than a register holds.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn last(gate: Gate<'_>, start: usize) -> Self {
        let rows = |labels: &[u128]| gather(&padded(&labels[start..labels.len().min(start + 4)]));
        let sum = |Sum { first, second }: Sum<'_>| match second {
            Some(second) => [_mm512_xor_si512(rows(first)[0], rows(second)[0])],
            None => rows(first),
        };
        Self { x: sum(gate.x), y: sum(gate.y), plus: gate.plus.map_or([_mm512_setzero_si512()], rows) }
    }
}

struct Garbler {
    keys: [[__m512i; 11]; 2],
    delta: __m512i,
    spread: __m512i,
}

impl Garbler {
    /// Garbles 4 N rows. Writes zero labels, generator's and evaluator's halves.
    #[inline]
    #[target_feature(enable = "aes,avx512f,vaes")]
    fn run<const N: usize>(&self, operands: Operands<N>, out: &mut [u128], [generator, evaluator]: [Unwritten<'_>; 2]) {
        let Operands { x, y, plus } = operands;
        let (zero, difference) = self.hash_both(&self.keys[0], x);
        let mut labels = plus;
        for i in 0..N {
            labels[i] = _mm512_xor_si512(labels[i], zero[i]);
            let half = _mm512_mask_xor_epi64(difference[i], colours(y[i]), difference[i], self.delta);
            labels[i] = _mm512_mask_xor_epi64(labels[i], colours(x[i]), labels[i], half);
            write(generator, i, half);
        }
        let (zero, difference) = self.hash_both(&self.keys[1], y);
        for i in 0..N {
            write(evaluator, i, _mm512_xor_si512(difference[i], x[i]));
            let label = _mm512_xor_si512(labels[i], zero[i]);
            put(out, i, _mm512_mask_xor_epi64(label, colours(y[i]), label, difference[i]));
        }
    }

    /// The hashes of zero labels, and their sums with those of the one labels.
    #[inline]
    #[target_feature(enable = "aes,avx512f,vaes")]
    fn hash_both<const N: usize>(&self, keys: &[__m512i; 11], labels: [__m512i; N]) -> ([__m512i; N], [__m512i; N]) {
        let nothing = _mm512_setzero_si512();
        let (mut zeros, mut ones) = ([nothing; N], [nothing; N]);
        for i in 0..N {
            zeros[i] = spread(labels[i]);
            ones[i] = _mm512_xor_si512(zeros[i], self.spread);
        }
        let [zero_images, one_images] = pairs_of_rounds(keys, [zeros, ones]);
        let (mut hashes, mut sums) = ([nothing; N], [nothing; N]);
        for i in 0..N {
            hashes[i] = _mm512_xor_si512(zero_images[i], zeros[i]);
            let one = _mm512_xor_si512(one_images[i], ones[i]);
            sums[i] = _mm512_xor_si512(hashes[i], one);
        }
        (hashes, sums)
    }
}

#[target_feature(enable = "aes,avx512f,vaes")]
fn evaluate(keys: GateKeys, gate: Gate<'_>, table: [&[u128]; 2], out: &mut [u128]) {
    let keys = expand(keys);
    let mut start = 0;
    while out.len() - start >= 4 * FLIGHT {
        let table = table.map(|half| gather(&half[start..]));
        evaluate_registers::<FLIGHT>(&keys, Operands::gather(gate, start), table, &mut out[start..]);
        start += 4 * FLIGHT;
    }
    while start < out.len() {
        let end = out.len().min(start + 4);
        let table = table.map(|half| gather(&padded(&half[start..end])));
        let mut labels = [0; 4];
        evaluate_registers::<1>(&keys, Operands::last(gate, start), table, &mut labels);
        out[start..end].copy_from_slice(&labels[..end - start]);
        start = end;
    }
}

#[inline]
#[target_feature(enable = "aes,avx512f,vaes")]
fn evaluate_registers<const N: usize>(
    keys: &[[__m512i; 11]; 2],
    Operands { x, y, plus }: Operands<N>,
    [generator, evaluator]: [[__m512i; N]; 2],
    out: &mut [u128],
) {
    let of_x = hash(&keys[0], x);
    let of_y = hash(&keys[1], y);
    for i in 0..N {
        let label = _mm512_xor_si512(_mm512_xor_si512(of_x[i], of_y[i]), plus[i]);
        let label = _mm512_xor_si512(label, where_coloured(x[i], generator[i]));
        let half = _mm512_xor_si512(evaluator[i], x[i]);
        put(out, i, _mm512_xor_si512(label, where_coloured(y[i], half)));
    }
}

#[inline]
#[target_feature(enable = "aes,avx512f,vaes")]
fn hash<const N: usize>(keys: &[__m512i; 11], labels: [__m512i; N]) -> [__m512i; N] {
    let mut inputs = labels;
    for input in &mut inputs {
        *input = spread(*input);
    }
    let mut images = rounds(keys, inputs);
    for (image, input) in images.iter_mut().zip(inputs) {
        *image = _mm512_xor_si512(*image, input);
    }
    images
}

/// [`rounds`] for twice as many registers.
#[inline]
#[target_feature(enable = "aes,avx512f,vaes")]
fn pairs_of_rounds<const N: usize>(keys: &[__m512i; 11], [mut a, mut b]: [[__m512i; N]; 2]) -> [[__m512i; N]; 2] {
    for i in 0..N {
        a[i] = _mm512_xor_si512(a[i], keys[0]);
        b[i] = _mm512_xor_si512(b[i], keys[0]);
    }
    for key in &keys[1..10] {
        for i in 0..N {
            a[i] = _mm512_aesenc_epi128(a[i], *key);
            b[i] = _mm512_aesenc_epi128(b[i], *key);
        }
    }
    for i in 0..N {
        a[i] = _mm512_aesenclast_epi128(a[i], keys[10]);
        b[i] = _mm512_aesenclast_epi128(b[i], keys[10]);
    }
    [a, b]
}

/// Swapped halves, plus the high half in its place: the orthomorphism s.
#[inline]
#[target_feature(enable = "avx512f")]
fn spread(x: __m512i) -> __m512i {
    _mm512_xor_si512(_mm512_shuffle_epi32::<0b01_00_11_10>(x), _mm512_maskz_mov_epi64(0xaa, x))
}

/// Both halves of those labels whose colour is one.
#[inline]
#[target_feature(enable = "avx512f")]
fn colours(labels: __m512i) -> __mmask8 {
    _mm512_test_epi64_mask(_mm512_shuffle_epi32::<0b01_00_01_00>(labels), _mm512_set1_epi64(1))
}

/// Blocks beside labels whose colour is one, zero beside the others. The blocks come from memory, and the garbler, who
/// knows which colours mean what, may see how long this takes. Under a mask the compiler would join the addition with
/// the load, and a masked load takes less time where its mask is zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn where_coloured(labels: __m512i, blocks: __m512i) -> __m512i {
    let lowest = _mm512_slli_epi64::<63>(_mm512_shuffle_epi32::<0b01_00_01_00>(labels));
    _mm512_and_si512(_mm512_srai_epi64::<63>(lowest), blocks)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn everywhere(block: u128) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x((block >> 64) as i64, block as i64))
}

/// The first registers of rows.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather<const N: usize>(rows: &[u128]) -> [__m512i; N] {
    let mut registers = [_mm512_setzero_si512(); N];
    for (register, four) in registers.iter_mut().zip(rows[..4 * N].as_chunks::<4>().0) {
        *register = load(bytemuck::cast_ref(four));
    }
    registers
}

/// The first registers of rows from `start` of one vector or of the sum of two.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather_sum<const N: usize>(sum: Sum<'_>, start: usize) -> [__m512i; N] {
    let mut registers = gather(&sum.first[start..]);
    if let Some(second) = sum.second {
        for (register, second) in registers.iter_mut().zip(gather::<N>(&second[start..])) {
            *register = _mm512_xor_si512(*register, second);
        }
    }
    registers
}

/// Writes the i-th four rows.
#[inline]
#[target_feature(enable = "avx512f")]
fn put(rows: &mut [u128], i: usize, register: __m512i) {
    store(bytemuck::cast_mut(&mut rows.as_chunks_mut::<4>().0[i]), register);
}

/// As [`put`], where nothing was written before.
#[inline]
#[target_feature(enable = "avx512f")]
fn write(rows: Unwritten<'_>, i: usize, register: __m512i) {
    let four = &mut rows.as_chunks_mut::<4>().0[i];
    // SAFETY: writes the 64 bytes behind the exclusive reference; the instruction needs no alignment.
    unsafe { _mm512_storeu_si512(four.as_mut_ptr().cast(), register) }
}

fn padded(rows: &[u128]) -> [u128; 4] {
    let mut four = [0; 4];
    four[..rows.len()].copy_from_slice(rows);
    four
}

/// The round keys of both halves: two key schedules side by side.
#[inline]
#[target_feature(enable = "aes,avx512f,vaes")]
fn expand(keys: GateKeys) -> [[__m512i; 11]; 2] {
    let [of_x, of_y] = expand_two([keys.x, keys.y]);
    [broadcast(&of_x), broadcast(&of_y)]
}
