//! How fast one core makes pseudorandomness, the only cryptography inside the honest-majority protocols.

use super::Effort;
use tacit_math::{Prg, Seed};

const BLOCK: usize = 16;

/// Blocks a second that stay in the first-level cache.
pub fn aes_in_cache(effort: Effort) -> f64 {
    blocks(effort, 16 << 10)
}

/// Blocks a second that are written to memory.
pub fn aes_to_memory(effort: Effort) -> f64 {
    blocks(effort, effort.buffer)
}

fn blocks(effort: Effort, bytes: usize) -> f64 {
    let mut prg = Prg::new(&Seed::from_bytes([1; BLOCK]));
    let mut buffer = vec![0u64; bytes / size_of::<u64>()];
    (bytes / BLOCK) as f64 * effort.best_rate(|| prg.fill(&mut buffer))
}
