//! How much memory shares take, as an engine without data adds it up: of all columns that there are at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of all columns of one tally.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(Arc<Bytes>);

#[derive(Debug, Default)]
struct Bytes {
    now: AtomicU64,
    most: AtomicU64,
}

impl Memory {
    /// A column of this size.
    pub fn column(&self, bytes: u64) -> Stored {
        let now = self.0.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.0.most.fetch_max(now, Ordering::Relaxed);
        Stored { bytes, of: self.clone() }
    }

    /// Bytes that are there for a moment, beside all columns.
    pub fn pass(&self, bytes: u64) {
        self.0.most.fetch_max(self.now() + bytes, Ordering::Relaxed);
    }

    /// The bytes of all columns at present.
    pub fn now(&self) -> u64 {
        self.0.now.load(Ordering::Relaxed)
    }

    /// The most that was there at a time since this was last asked.
    pub fn take_most(&self) -> u64 {
        self.0.most.swap(self.now(), Ordering::Relaxed)
    }
}

/// The bytes of one column, which are there until it is dropped. A copy takes as many again.
#[derive(Debug)]
pub(super) struct Stored {
    bytes: u64,
    of: Memory,
}

impl Stored {
    /// The tally's other columns.
    pub fn memory(&self) -> &Memory {
        &self.of
    }
}

impl Clone for Stored {
    fn clone(&self) -> Self {
        self.of.column(self.bytes)
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        self.of.0.now.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn the_most_is_of_what_is_there_at_a_time() {
        let memory = Memory::default();
        let first = memory.column(10);
        let copy = first.clone();
        drop(copy);
        assert_eq!((memory.now(), memory.take_most(), memory.take_most()), (10, 20, 10));
        memory.pass(5);
        drop(first);
        assert_eq!((memory.now(), memory.take_most(), memory.take_most()), (0, 15, 0));
    }
}
