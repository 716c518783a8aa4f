//! Appending to a message what a kernel computes, written once: nothing clears the room first, and nothing of what lay
//! in memory before can be sent.

use std::mem::MaybeUninit;
use std::ptr;

/// Appends `count` blocks to `bytes`: those that `write` makes of the room which it is given, and gives back. A block's
/// bytes are in the machine's order.
///
/// That each of them has been written is what the type of `write` says: initialised blocks come only of a kernel that
/// wrote them.
///
/// # Panics
/// If `write` gives back other blocks than those of its room.
pub fn blocks(
    bytes: &mut Vec<u8>,
    count: usize,
    write: impl for<'a> FnOnce(&'a mut [MaybeUninit<u128>]) -> &'a mut [u128],
) {
    let length = size_of::<u128>() * count;
    bytes.reserve(length);
    let start: *mut MaybeUninit<u128> = bytes.spare_capacity_mut().as_mut_ptr().cast();
    if !start.is_aligned() {
        let mut room = vec![MaybeUninit::uninit(); count];
        let written = write(&mut room);
        assert_eq!(written.len(), count, "as many blocks as there is room for");
        return bytes.extend_from_slice(bytemuck::cast_slice(written));
    }
    // SAFETY: at least `length` bytes of the vector's unused capacity, aligned for blocks; nobody else has it while
    // `bytes` is borrowed.
    let room = unsafe { std::slice::from_raw_parts_mut(start, count) };
    let written = write(room);
    assert!(ptr::eq(written.as_ptr(), start.cast()) && written.len() == count, "the blocks of the room");
    // SAFETY: these are the room's bytes, at the end of the used ones and within the capacity; a slice of blocks is
    // initialised.
    unsafe { bytes.set_len(bytes.len() + length) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(room: &mut [MaybeUninit<u128>]) -> &mut [u128] {
        for (block, number) in room.iter_mut().zip(1..) {
            block.write(number);
        }
        // SAFETY: all of them were just written.
        unsafe { &mut *(ptr::from_mut(room) as *mut [u128]) }
    }

    #[test]
    fn blocks_follow_what_is_there_at_any_alignment() {
        for before in 0..40 {
            for count in [0, 1, 5] {
                let mut bytes = vec![7; before];
                blocks(&mut bytes, count, numbers);
                let expected: Vec<u8> = (1..=count as u128).flat_map(u128::to_ne_bytes).collect();
                assert_eq!((&bytes[..before], &bytes[before..]), (vec![7; before].as_slice(), expected.as_slice()));
            }
        }
    }

    #[test]
    fn what_an_earlier_message_left_is_overwritten() {
        let mut bytes = vec![0xee; 160];
        bytes.clear();
        blocks(&mut bytes, 3, numbers);
        blocks(&mut bytes, 7, numbers);
        assert!(bytes.len() == 160 && !bytes.contains(&0xee));
    }

    #[test]
    #[should_panic(expected = "the blocks of the room")]
    fn fewer_blocks_than_there_is_room_for_are_no_message() {
        blocks(&mut Vec::with_capacity(64), 4, |room| &mut numbers(room)[..3]);
    }
}
