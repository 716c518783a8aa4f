//! Buffers used again, so that large messages do not fault in fresh pages each time.

use crate::lock::lock;
use std::sync::Mutex;

/// Buffers smaller than this are cheaper to allocate than to keep.
const WORTH_KEEPING: usize = 4 << 10;

/// What one session keeps at most while unused, in bytes and in buffers (searching them must stay cheap).
const KEPT_BYTES: usize = 64 << 20;
const KEPT_BUFFERS: usize = 64;

/// Unused buffers of one session.
#[derive(Default)]
pub(crate) struct Pool {
    unused: Mutex<Unused>,
}

#[derive(Default)]
struct Unused {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

impl Pool {
    /// An empty buffer with at least `capacity`.
    pub fn take(&self, capacity: usize) -> Vec<u8> {
        let mut buffer = self.find(capacity);
        buffer.clear();
        buffer
    }

    /// A buffer of exactly `length` bytes of arbitrary content, to be overwritten. Zeroing what is about to be read
    /// from a socket would cost a tenth of the time of reading it.
    pub fn take_filled(&self, length: usize) -> Vec<u8> {
        let mut buffer = self.find(length);
        buffer.resize(length, 0);
        buffer
    }

    /// The tightest kept buffer that is not more than four times too large, or a fresh one. Among equals it is the one
    /// used last, because that may still be in the cache.
    fn find(&self, capacity: usize) -> Vec<u8> {
        if capacity >= WORTH_KEEPING {
            let mut unused = lock(&self.unused);
            let fitting =
                unused.buffers.iter().enumerate().filter(|(_, b)| (capacity..=4 * capacity).contains(&b.capacity()));
            if let Some((index, _)) = fitting.rev().min_by_key(|(_, b)| b.capacity()) {
                let buffer = unused.buffers.remove(index);
                unused.bytes -= buffer.capacity();
                return buffer;
            }
        }
        Vec::with_capacity(capacity)
    }

    /// Keep `buffer` for later if it is worth it. Its content is not wiped: what was sent or received is a share or
    /// masked, and what masks are made of, a pair's secrets, is never sent.
    pub fn give(&self, buffer: Vec<u8>) {
        let capacity = buffer.capacity();
        let mut unused = lock(&self.unused);
        let fits = unused.bytes + capacity <= KEPT_BYTES && unused.buffers.len() < KEPT_BUFFERS;
        if capacity >= WORTH_KEEPING && fits {
            unused.bytes += capacity;
            unused.buffers.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_buffer_comes_back_empty() {
        let pool = Pool::default();
        let mut buffer = Vec::with_capacity(10_000);
        buffer.extend_from_slice(&[7; 100]);
        let address = buffer.as_ptr();
        pool.give(buffer);
        let again = pool.take(9_000);
        assert_eq!((again.len(), again.as_ptr()), (0, address));
        assert!(pool.take(9_000).capacity() >= 9_000);
        pool.give(again);
        assert_eq!(pool.take_filled(9_500).len(), 9_500);
    }

    #[test]
    fn a_far_too_large_buffer_is_not_spent_on_a_small_message() {
        let pool = Pool::default();
        pool.give(Vec::with_capacity(1 << 20));
        assert!(pool.take(5_000).capacity() < 1 << 20);
    }
}
