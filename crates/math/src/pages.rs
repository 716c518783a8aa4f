//! Large vectors on large pages.

/// Vectors of fewer bytes are not worth the call.
const WORTH_IT: usize = 4 << 20;

/// An empty vector with a capacity, for which the operating system is asked to use large pages. Memory that is read in
/// random order then costs fewer translations, and new memory fewer page faults. The wish may be refused; nothing else
/// depends on it.
pub fn vector_on_large_pages<T>(capacity: usize) -> Vec<T> {
    let vector = Vec::<T>::with_capacity(capacity);
    let bytes = capacity * size_of::<T>();
    if bytes >= WORTH_IT {
        advise(vector.as_ptr().cast(), bytes);
    }
    vector
}

/// Makes room for `more` further elements, as [`Vec::reserve`] does, on large pages. A vector that grows again and
/// again soon grows no more.
pub fn reserve_on_large_pages<T: Copy>(vector: &mut Vec<T>, more: usize) {
    let needed = vector.len() + more;
    if vector.capacity() < needed {
        let mut larger = vector_on_large_pages(needed.max(2 * vector.capacity()));
        larger.extend_from_slice(vector);
        *vector = larger;
    }
}

/// The whole pages of 4 KiB inside the range.
#[cfg(target_os = "linux")]
fn advise(start: *const u8, bytes: usize) {
    const PAGE: usize = 4096;
    let skipped = start.align_offset(PAGE);
    if skipped < bytes {
        // SAFETY: the pages belong to an allocation that the caller holds, and the advice changes no content and no
        // right of access.
        unsafe { libc::madvise(start.add(skipped).cast_mut().cast(), bytes - skipped, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_start: *const u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::{reserve_on_large_pages, vector_on_large_pages};

    #[test]
    fn is_an_ordinary_vector() {
        for capacity in [0, 1, 1 << 20, (1 << 20) + 12_345] {
            let mut vector = vector_on_large_pages::<u64>(capacity);
            assert!(vector.is_empty() && vector.capacity() >= capacity);
            vector.extend(0..capacity as u64);
            assert!(vector.iter().copied().eq(0..capacity as u64));
            reserve_on_large_pages(&mut vector, capacity + 3);
            assert!(vector.iter().copied().eq(0..capacity as u64) && vector.capacity() >= 2 * capacity + 3);
            vector.truncate(capacity / 2);
            vector.shrink_to_fit();
            assert_eq!(vector.len(), capacity / 2);
        }
    }
}
