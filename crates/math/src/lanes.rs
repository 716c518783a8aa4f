//! Lanes of rows: parts of a vector that the threads of one party compute side by side.
//!
//! How many lanes there are depends on row counts and on the number of threads alone. What is computed does not depend
//! on it: a lane draws its own part of a generator's stream ([`crate::Prg::parts`]) and writes its own part of a vector
//! ([`Grow`]).

use bytemuck::Pod;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Most lanes for each thread: a thread that is late, because another program has its core, leaves its lanes to others.
const LANES_PER_THREAD: usize = 4;

/// The stack of a thread, as that of a program's first one.
const STACK: usize = 8 << 20;

/// The threads of one party.
///
/// The default is one thread: that of whoever calls [`Self::run`].
#[derive(Default)]
pub struct Workers(Option<rayon_core::ThreadPool>);

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workers({})", self.threads())
    }
}

impl Workers {
    /// As many threads. Zero and one stand for the thread of whoever calls [`Self::run`].
    ///
    /// # Errors
    /// When the operating system gives no threads.
    pub fn new(threads: usize) -> io::Result<Self> {
        if threads <= 1 {
            return Ok(Self(None));
        }
        let builder = rayon_core::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK);
        let named = builder.thread_name(|number| format!("tacit-lane-{number}"));
        Ok(Self(Some(named.build().map_err(io::Error::other)?)))
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.0.as_ref().map_or(1, rayon_core::ThreadPool::current_num_threads)
    }

    /// Runs what one party does on one of these threads. Its lanes are computed by all of them.
    pub fn run<T: Send>(&self, body: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(body),
            None => body(),
        }
    }
}

/// How many threads compute the lanes of whoever calls this: one outside of [`Workers::run`].
pub fn threads() -> usize {
    if rayon_core::current_thread_index().is_some() { rayon_core::current_num_threads() } else { 1 }
}

/// The positions 0..len cut into lanes: each begins at a multiple of `unit` and has about `least` positions or more.
/// There is one lane at least, which is empty if len is zero.
pub fn cut(len: usize, least: usize, unit: usize) -> Vec<Range<usize>> {
    let threads = threads();
    let most = if threads == 1 { 1 } else { LANES_PER_THREAD * threads };
    let lanes = (len / least).clamp(1, most);
    let step = len.div_ceil(lanes).next_multiple_of(unit).max(1);
    (0..len.max(1)).step_by(step).map(|at| at..len.min(at + step)).collect()
}

/// Runs the body on every part, by all threads. Returns when all are done.
pub fn each<T: Send>(parts: Vec<T>, body: impl Fn(T) + Sync) {
    if parts.len() <= 1 || threads() == 1 {
        return parts.into_iter().for_each(body);
    }
    let body = &body;
    rayon_core::scope(|scope| parts.into_iter().for_each(|part| scope.spawn(move |_| body(part))));
}

/// As [`each`], by all threads if that is worth it, else one part after the other.
pub fn each_worth<T: Send>(worth_it: bool, parts: Vec<T>, body: impl Fn(T) + Sync) {
    if worth_it { each(parts, body) } else { parts.into_iter().for_each(body) }
}

/// The results of the body for all parts, in the order of the parts. All threads compute if that is worth it.
pub fn map<T: Send, U: Send>(worth_it: bool, parts: Vec<T>, body: impl Fn(T) -> U + Sync) -> Vec<U> {
    if !worth_it {
        return parts.into_iter().map(body).collect();
    }
    let mut made: Vec<Option<U>> = parts.iter().map(|_| None).collect();
    each(parts.into_iter().zip(&mut made).collect(), |(part, made)| *made = Some(body(part)));
    made.into_iter().map(|made| made.expect("every part is computed")).collect()
}

/// Rooms of these lengths for the new elements of several vectors, one behind the other.
///
/// # Panics
/// If the lengths are not those of the first rooms of one vector, the next rooms of the next vector, and so on.
pub fn rooms<'g, T: Copy>(vectors: &'g mut [Grow<'_, T>], lengths: &[usize]) -> Vec<Room<'g, T>> {
    let mut lengths = lengths.iter().copied();
    let room = |grow: &'g mut Grow<'_, T>| {
        let mut left = grow.more;
        let own = std::iter::from_fn(|| {
            let length = (left > 0).then(|| lengths.next().expect("rooms for all new elements"))?;
            left = left.checked_sub(length).expect("a room in one vector");
            Some(length)
        });
        grow.rooms(own)
    };
    vectors.iter_mut().flat_map(room).collect()
}

/// A vector of `len` elements, of which each lane writes its own.
pub fn vector<T: Copy + Send>(
    len: usize,
    least: usize,
    unit: usize,
    body: impl Fn(Range<usize>, &mut Room<'_, T>) + Sync,
) -> Vec<T> {
    let mut out = Vec::new();
    let lanes = cut(len, least, unit);
    let mut grow = Grow::new(&mut out, len);
    let rooms = grow.rooms(lanes.iter().map(ExactSizeIterator::len));
    each(lanes.into_iter().zip(rooms).collect(), |(lane, mut room)| body(lane, &mut room));
    grow.finish();
    out
}

/// New elements of a vector, which lanes write in parts. Nothing clears the memory first.
pub struct Grow<'a, T> {
    vector: &'a mut Vec<T>,
    more: usize,
    written: AtomicUsize,
}

impl<'a, T: Copy> Grow<'a, T> {
    /// As many elements behind those of the vector.
    pub fn new(vector: &'a mut Vec<T>, more: usize) -> Self {
        vector.reserve(more);
        Self { vector, more, written: AtomicUsize::new(0) }
    }

    /// Rooms of these lengths for the new elements, one behind the other.
    ///
    /// # Panics
    /// If they are longer than all new elements.
    pub fn rooms(&mut self, lengths: impl IntoIterator<Item = usize>) -> Vec<Room<'_, T>> {
        let Self { vector, more, written } = self;
        *written.get_mut() = 0;
        let (mut left, written) = (&mut vector.spare_capacity_mut()[..*more], &*written);
        let mut room = |length| {
            let (places, rest) = std::mem::take(&mut left).split_at_mut(length);
            left = rest;
            Room { places, used: 0, written }
        };
        lengths.into_iter().map(&mut room).collect()
    }

    /// How many new elements there are.
    pub fn more(&self) -> usize {
        self.more
    }

    /// The vector has the new elements, which are returned.
    ///
    /// # Panics
    /// If one of them has not been written.
    pub fn finish(self) -> &'a mut [T] {
        let before = self.vector.len();
        assert_eq!(self.written.into_inner(), self.more, "all new elements are written");
        // SAFETY: Rooms are disjoint parts of the unused capacity's first `more` places. Each has counted what it
        // wrote, one place behind the other, since rooms were last made; together that is all places.
        unsafe { self.vector.set_len(before + self.more) };
        &mut self.vector[before..]
    }
}

/// All vectors have their new elements.
///
/// # Panics
/// If one of them has not been written.
pub fn finish<T: Copy>(vectors: Vec<Grow<'_, T>>) {
    vectors.into_iter().for_each(|vector| {
        vector.finish();
    });
}

/// A part of a vector's new elements, to be written from its first place on.
pub struct Room<'a, T> {
    places: &'a mut [MaybeUninit<T>],
    used: usize,
    written: &'a AtomicUsize,
}

impl<T: Copy> Room<'_, T> {
    /// Writes the next element.
    ///
    /// # Panics
    /// If there is no room for it.
    #[inline(always)]
    pub fn push(&mut self, element: T) {
        self.places[self.used].write(element);
        self.used += 1;
    }

    /// Writes the next elements.
    ///
    /// # Panics
    /// If there is no room for them.
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        let places = &mut self.places[self.used..][..elements.len()];
        places.iter_mut().zip(elements).for_each(|(place, &element)| {
            place.write(element);
        });
        self.used += elements.len();
    }

    /// Writes the next elements, given by their bytes.
    ///
    /// # Panics
    /// If there is no room for them, or the last one is not whole.
    pub fn extend_from_bytes<'b>(&mut self, pieces: impl Iterator<Item = &'b [u8]>)
    where
        T: Pod,
    {
        let places = &mut self.places[self.used..];
        let (room, start) = (size_of_val(places), places.as_mut_ptr().cast::<u8>());
        let mut filled = 0;
        for piece in pieces {
            assert!(piece.len() <= room - filled, "room for all bytes");
            // SAFETY: within the places, which nobody else has. Any bytes are elements.
            unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), start.add(filled), piece.len()) };
            filled += piece.len();
        }
        assert!(filled.is_multiple_of(size_of::<T>()), "whole elements");
        self.used += filled / size_of::<T>();
    }

    /// Writes the next elements, as many as there is room for.
    pub fn extend(&mut self, elements: impl Iterator<Item = T>) {
        let mut count = 0;
        for (place, element) in self.places[self.used..].iter_mut().zip(elements) {
            place.write(element);
            count += 1;
        }
        self.used += count;
    }
}

impl<T> Drop for Room<'_, T> {
    fn drop(&mut self) {
        self.written.fetch_add(self.used, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Grow, Workers, cut, each, threads, vector};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[test]
    fn lanes_are_all_positions_in_order() {
        for workers in [1, 2, 5].map(|threads| Workers::new(threads).expect("threads")) {
            workers.run(|| {
                assert_eq!(threads(), workers.threads());
                for (len, least, unit) in [(0, 1, 1), (1, 4, 4), (1000, 1, 64), (1000, 300, 1), (64, 64, 64)] {
                    let lanes = cut(len, least, unit);
                    assert!(lanes.iter().cloned().flatten().eq(0..len));
                    assert!(lanes.iter().all(|lane| lane.start % unit == 0) && lanes.len() <= 4 * workers.threads());
                    assert!(workers.threads() > 1 || lanes.len() == 1);
                }
            });
        }
        assert_eq!(threads(), 1, "outside of a party's threads");
    }

    #[test]
    fn every_part_is_computed_once() {
        let sum = AtomicU64::new(0);
        Workers::new(3).expect("threads").run(|| {
            each((0..100).collect(), |part: u64| {
                sum.fetch_add(1 << (part % 50), Relaxed);
            });
        });
        assert_eq!(sum.into_inner(), 2 * ((1 << 50) - 1));
    }

    #[test]
    fn lanes_write_one_vector() {
        for threads in [1, 3] {
            let doubled = Workers::new(threads).expect("threads").run(|| {
                vector(10_000, 64, 8, |lane, room| {
                    room.extend_from_slice(&[2 * lane.start]);
                    room.extend(lane.skip(1).map(|i| 2 * i));
                })
            });
            assert!(doubled.into_iter().eq((0..10_000).map(|i| 2 * i)));
        }
    }

    #[test]
    #[should_panic(expected = "all new elements are written")]
    fn a_place_that_nobody_wrote_is_no_element() {
        let mut out = vec![7];
        let mut grow = Grow::new(&mut out, 5);
        grow.rooms([2, 3]).into_iter().for_each(|mut room| room.extend([1, 1].into_iter()));
        grow.finish();
    }
}
