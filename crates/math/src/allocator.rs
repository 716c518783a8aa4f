//! How the system's allocator treats large vectors.

/// Keep the memory of large vectors for the next ones, instead of giving it back to the operating system with each.
/// Taking it again would cost a page fault every 4 KiB, which is more than computing on it. For the whole process; to
/// be called once at its start. Without effect where the allocator is not glibc's.
pub fn keep_large_vectors() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Vectors below this size come from the heap; glibc takes no larger threshold.
        const FROM_HEAP: i32 = 32 << 20;
        /// Unused memory at the heap's end that is kept.
        const KEPT: i32 = 1 << 30;
        /// By how much the heap grows at a time.
        const GROWTH: i32 = 64 << 20;
        /// All threads take memory from the one heap that is kept. Heaps of threads are smaller than large vectors.
        const HEAPS: i32 = 1;
        for (option, bytes) in [
            (libc::M_MMAP_THRESHOLD, FROM_HEAP),
            (libc::M_TRIM_THRESHOLD, KEPT),
            (libc::M_TOP_PAD, GROWTH),
            (libc::M_ARENA_MAX, HEAPS),
        ] {
            // SAFETY: mallopt takes any values, and locks the heap for itself. It gives 0 where it does not know an
            // option, which leaves the allocator as it is.
            unsafe { libc::mallopt(option, bytes) };
        }
    }
}
