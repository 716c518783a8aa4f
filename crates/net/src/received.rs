//! Bytes of a peer as they lie in its messages.

use std::ops::Range;

/// Bytes of a peer, one behind the other, in as many pieces as messages brought them. Several threads may read them.
#[derive(Default)]
pub struct Received {
    pieces: Vec<Piece>,
}

/// A message of which the first bytes are used, and how many bytes lie in the pieces before it.
struct Piece {
    payload: Vec<u8>,
    used: usize,
    before: usize,
}

impl Piece {
    fn end(&self) -> usize {
        self.before + self.payload.len() - self.used
    }
}

impl Received {
    pub(crate) fn push(&mut self, payload: Vec<u8>, used: usize) {
        let before = self.len();
        self.pieces.push(Piece { payload, used, before });
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.pieces.last().map_or(0, Piece::end)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a range, piece by piece.
    pub fn slices(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let first = self.pieces.partition_point(|piece| piece.end() <= range.start);
        let pieces = self.pieces[first..].iter().take_while(move |piece| piece.before < range.end);
        pieces.map(move |piece| {
            let [start, end] = [range.start.max(piece.before), range.end.min(piece.end())];
            &piece.payload[piece.used..][start - piece.before..end - piece.before]
        })
    }

    /// Copies the bytes from `at` on.
    ///
    /// # Panics
    /// If there are fewer than `out` takes.
    pub fn read(&self, at: usize, out: &mut [u8]) {
        let mut filled = 0;
        for slice in self.slices(at..at + out.len()) {
            out[filled..filled + slice.len()].copy_from_slice(slice);
            filled += slice.len();
        }
        assert_eq!(filled, out.len(), "as many bytes as are read");
    }

    pub(crate) fn into_payloads(self) -> impl Iterator<Item = Vec<u8>> {
        self.pieces.into_iter().map(|piece| piece.payload)
    }
}

#[cfg(test)]
mod tests {
    use super::Received;

    #[test]
    fn ranges_run_over_messages() {
        let mut received = Received::default();
        let messages = [(vec![9, 0, 1, 2], 1), (vec![3], 0), (vec![8, 8, 4, 5, 6, 7], 2)];
        messages.into_iter().for_each(|(payload, used)| received.push(payload, used));
        assert_eq!(received.len(), 8);
        for (start, end) in (0..=8).flat_map(|start| (start..=8).map(move |end| (start, end))) {
            let mut out = vec![0; end - start];
            received.read(start, &mut out);
            assert!(out.into_iter().eq(start as u8..end as u8));
        }
    }

    #[test]
    #[should_panic(expected = "as many bytes as are read")]
    fn what_was_not_received_is_not_read() {
        let mut received = Received::default();
        received.push(vec![1, 2], 0);
        received.read(1, &mut [0, 0]);
    }
}
