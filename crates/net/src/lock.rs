//! Locking that outlives a panicking thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lock, ignoring poison. Every critical section in this crate leaves its data valid at each step, and the session has
/// to stay able to tell its peers that this party fails.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
