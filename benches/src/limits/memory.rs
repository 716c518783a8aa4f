//! Memory bandwidth, on buffers that no cache holds.

use super::Effort;
use std::hint::black_box;
use std::thread;

/// How many threads run at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Bytes a second that `threads` threads together read.
pub fn read(effort: Effort, threads: usize) -> f64 {
    together(threads, || {
        let buffer = vec![1u64; effort.buffer / size_of::<u64>()];
        effort.buffer as f64 * effort.best_rate(|| black_box(&buffer).iter().fold(0, |sum, word| sum ^ word))
    })
}

/// Bytes a second that `threads` threads together copy: each is read and written once.
pub fn copy(effort: Effort, threads: usize) -> f64 {
    together(threads, || {
        let from = vec![1u64; effort.buffer / size_of::<u64>()];
        let mut to = vec![0u64; from.len()];
        effort.buffer as f64 * effort.best_rate(|| to.copy_from_slice(black_box(&from)))
    })
}

fn together(threads: usize, rate: impl Fn() -> f64 + Sync) -> f64 {
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(&rate)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).sum()
    })
}
