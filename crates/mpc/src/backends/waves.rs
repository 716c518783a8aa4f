//! Long streams of messages whose content lanes compute: wave by wave.
//!
//! A stream consists of outputs, one behind the other. Outputs are cut into chunks, and chunks are put into messages,
//! by the outputs' lengths alone: any number of threads sends the same messages. As many messages as the threads have
//! work with are one wave, whose chunks are computed side by side; then they are sent in their order.

use std::mem;
use std::ops::Range;

use tacit_math::lanes::{self, Grow, Room};
use tacit_net::{PartyId, Session};

use crate::Result;

/// How many bytes are gathered into one message.
pub(in crate::backends) const MESSAGE: usize = 1 << 20;

/// Bytes of one chunk at most: what one thread computes at a time.
pub(in crate::backends) const CHUNK: usize = 128 << 10;

/// Fewer bytes are computed by one thread.
pub(in crate::backends) const WORTH_IT: usize = 2 * CHUNK;

/// Bytes that a generator gives at once.
const BLOCK: usize = 16;

/// A part of one output, in elements.
#[derive(Clone)]
pub(in crate::backends) struct Chunk {
    pub output: usize,
    pub range: Range<usize>,
}

/// Messages whose chunks are computed side by side.
pub(in crate::backends) struct Wave {
    /// In the order in which they are sent.
    chunks: Vec<Chunk>,
    /// The number of elements of each message.
    messages: Vec<usize>,
    /// Bytes of an element.
    size: usize,
}

/// Outputs of these lengths, of elements of `size` bytes, in waves.
pub(in crate::backends) fn waves(lengths: &[usize], size: usize) -> Vec<Wave> {
    waves_of_units(lengths, size, 1)
}

/// The same, where every chunk begins at a multiple of `unit` elements.
pub(in crate::backends) fn waves_of_units(lengths: &[usize], size: usize, unit: usize) -> Vec<Wave> {
    let most = unit * (CHUNK / size / unit).max(1);
    let chunks = lengths
        .iter()
        .enumerate()
        .flat_map(|(output, &length)| pieces(length, most).map(move |range| Chunk { output, range }));
    let mut messages: Vec<(usize, Vec<Chunk>)> = Vec::new();
    for chunk in chunks {
        let len = chunk.range.len();
        match messages.last_mut() {
            Some((sum, chunks)) if size * (*sum + len) <= MESSAGE => {
                *sum += len;
                chunks.push(chunk);
            }
            _ => messages.push((len, vec![chunk])),
        }
    }
    let wave = |messages: &[(usize, Vec<Chunk>)]| Wave {
        chunks: messages.iter().flat_map(|(_, chunks)| chunks.clone()).collect(),
        messages: messages.iter().map(|(len, _)| *len).collect(),
        size,
    };
    messages.chunks(lanes::threads().div_ceil(2)).map(wave).collect()
}

/// The positions of a vector, at most `most` at a time.
pub(in crate::backends) fn pieces(length: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    (0..length).step_by(most).map(move |at| at..length.min(at + most))
}

/// The positions of a chunk, at most `most` at a time.
pub(in crate::backends) fn pieces_of(chunk: &Chunk, most: usize) -> impl Iterator<Item = Range<usize>> {
    let start = chunk.range.start;
    pieces(chunk.range.len(), most).map(move |piece| start + piece.start..start + piece.end)
}

impl Wave {
    /// Bytes of all messages.
    pub fn bytes(&self) -> usize {
        self.size * self.messages.iter().sum::<usize>()
    }

    /// The positions of each chunk in its output.
    pub fn ranges(&self) -> impl Iterator<Item = &Range<usize>> {
        self.chunks.iter().map(|chunk| &chunk.range)
    }

    /// Bytes of as many elements.
    pub fn bytes_of(&self, elements: usize) -> usize {
        self.size * elements
    }

    /// Where each chunk begins among the bytes of the wave.
    pub fn starts(&self) -> Vec<usize> {
        let start = |next: &mut usize, len| Some(mem::replace(next, *next + self.size * len));
        self.lengths().scan(0, start).collect()
    }

    /// How many blocks each chunk takes of a generator that gives each of its elements `times` times.
    pub fn blocks(&self, times: u64) -> Vec<u64> {
        self.blocks_of(times, self.size)
    }

    /// How many blocks each chunk takes of a generator that gives `times` words of `size` bytes for each element, where
    /// a unit's words are whole blocks.
    pub fn blocks_of(&self, times: u64, size: usize) -> Vec<u64> {
        self.lengths().map(|len| times * (size * len).div_ceil(BLOCK) as u64).collect()
    }

    /// How many blocks each chunk takes of a generator that gives each of its elements words of these sizes, one size
    /// after the other.
    pub fn blocks_for(&self, sizes: &[usize]) -> Vec<u64> {
        let blocks = |len: usize| sizes.iter().map(|size| (size * len).div_ceil(BLOCK) as u64).sum();
        self.lengths().map(blocks).collect()
    }

    /// The wave's elements of the outputs, to be written behind those of earlier waves.
    pub fn in_outputs<'a, T: Copy>(&self, outputs: &'a mut [Vec<T>]) -> Vec<Grow<'a, T>> {
        let first = self.first();
        self.of_outputs().into_iter().zip(&mut outputs[first..]).map(|(len, out)| Grow::new(out, len)).collect()
    }

    /// A room for each chunk's elements.
    pub fn rooms<'g, T: Copy>(&self, in_outputs: &'g mut [Grow<'_, T>]) -> Vec<Room<'g, T>> {
        lanes::rooms(in_outputs, &self.lengths().collect::<Vec<_>>())
    }

    /// Each chunk's elements of outputs that are complete.
    pub fn slices<'a, T>(&self, outputs: impl IntoIterator<Item = &'a mut [T]>) -> Vec<&'a mut [T]> {
        let mut chunks = self.chunks.iter().peekable();
        let mut slices = Vec::new();
        for (output, mut left) in outputs.into_iter().enumerate() {
            let mut at = 0;
            while let Some(chunk) = chunks.next_if(|chunk| chunk.output == output) {
                let (slice, rest) = left[chunk.range.start - at..].split_at_mut(chunk.range.len());
                (left, at) = (rest, chunk.range.end);
                slices.push(slice);
            }
        }
        slices
    }

    /// A room for each chunk's elements of every column: of vectors that are one output each, side by side.
    pub fn rooms_of_columns<'g, T: Copy>(&self, columns: &'g mut [Vec<Grow<'_, T>>]) -> Vec<Vec<Room<'g, T>>> {
        let mut of_chunks: Vec<Vec<Room<'g, T>>> = self.chunks.iter().map(|_| Vec::new()).collect();
        for column in columns {
            self.rooms(column).into_iter().zip(&mut of_chunks).for_each(|(room, chunk)| chunk.push(room));
        }
        of_chunks
    }

    /// The wave's messages, empty.
    pub fn buffers(&self, session: &mut Session) -> Vec<Vec<u8>> {
        self.messages.iter().map(|len| session.buffer(self.size * len)).collect()
    }

    /// The content of the messages, to be written.
    pub fn in_messages<'a>(&self, buffers: &'a mut [Vec<u8>]) -> Vec<Grow<'a, u8>> {
        buffers.iter_mut().zip(&self.messages).map(|(buffer, len)| Grow::new(buffer, self.size * len)).collect()
    }

    /// A room for each chunk's bytes.
    pub fn message_rooms<'g>(&self, in_messages: &'g mut [Grow<'_, u8>]) -> Vec<Room<'g, u8>> {
        lanes::rooms(in_messages, &self.lengths().map(|len| self.size * len).collect::<Vec<_>>())
    }

    /// The number of elements of each chunk.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        self.chunks.iter().map(|chunk| chunk.range.len())
    }

    /// The first output of which there are chunks.
    fn first(&self) -> usize {
        self.chunks.first().map_or(0, |chunk| chunk.output)
    }

    /// The number of elements of each output from the first one on.
    fn of_outputs(&self) -> Vec<usize> {
        let mut lengths = Vec::new();
        for chunk in &self.chunks {
            lengths.resize(chunk.output - self.first() + 1, 0);
            *lengths.last_mut().expect("an output") += chunk.range.len();
        }
        lengths
    }

    /// Computes the chunks, each with what `parts` has for it.
    pub fn compute<T: Send>(&self, parts: impl Iterator<Item = T>, body: impl Fn(&Chunk, T) + Sync) {
        let work = self.chunks.iter().zip(parts).collect();
        lanes::each_worth(self.bytes() >= WORTH_IT, work, |(chunk, part)| body(chunk, part));
    }
}

/// Sends messages that look random to the receiver, in their order.
pub(in crate::backends) fn send_all_masked(session: &mut Session, to: PartyId, messages: Vec<Vec<u8>>) -> Result<()> {
    messages.into_iter().try_for_each(|message| Ok(session.send(to, message)?))
}

/// Sends components of what the receiver will have in clear, in their order.
pub(in crate::backends) fn send_all_open(session: &mut Session, to: PartyId, messages: Vec<Vec<u8>>) -> Result<()> {
    messages.into_iter().try_for_each(|message| Ok(session.send(to, message)?))
}

#[cfg(test)]
mod tests {
    use tacit_math::Workers;

    use super::{CHUNK, MESSAGE, waves, waves_of_units};

    #[test]
    fn waves_have_all_outputs_in_order() {
        let lengths = [0, 1, 100_000, 3, 0, 700_000, 5];
        let mut messages = Vec::new();
        for threads in [1, 2, 5] {
            Workers::new(threads).expect("threads").run(|| {
                let waves = waves(&lengths, 8);
                let mut found = lengths.map(|_| 0);
                for chunk in waves.iter().flat_map(|wave| &wave.chunks) {
                    assert!(chunk.range.start == found[chunk.output] && !chunk.range.is_empty());
                    found[chunk.output] = chunk.range.end;
                }
                assert_eq!(found, lengths);
                messages.push(waves.iter().flat_map(|wave| wave.messages.clone()).collect::<Vec<_>>());
            });
        }
        assert!(messages.iter().all(|same| *same == messages[0]), "the same messages by any number of threads");
        assert!(messages[0].iter().all(|len| 8 * len <= MESSAGE));
    }

    #[test]
    fn chunks_are_whole_units() {
        for (size, unit) in [(21, 512), (1, 512), (3, 2048), (CHUNK, 2)] {
            let waves = waves_of_units(&[0, 5, 100_000], size, unit);
            let chunks = || waves.iter().flat_map(|wave| &wave.chunks);
            assert!(chunks().all(|chunk| chunk.range.start.is_multiple_of(unit)));
            assert_eq!(chunks().map(|chunk| chunk.range.len()).sum::<usize>(), 100_005);
        }
    }
}
