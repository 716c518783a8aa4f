//! Operands of products, and how panels are packed from them.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::kernel::WIDEST;
use crate::Ring;
use crate::simd::Kernel;

/// One side of a product: rows of A, or columns of B. Element k of a line is `data[lines[line] + depth[k]]`. So views
/// with strides are operands, and so are the windows of an image.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, R> {
    data: &'a [R],
    lines: &'a [usize],
    depth: &'a [usize],
}

impl<'a, R> Operand<'a, R> {
    /// Places of lines and, from there, of their elements.
    ///
    /// # Panics
    /// If an element lies outside.
    pub fn new(data: &'a [R], lines: &'a [usize], depth: &'a [usize]) -> Self {
        let last = lines.iter().max().zip(depth.iter().max()).map_or(0, |(line, deep)| line + deep + 1);
        assert!(last <= data.len(), "an operand lies within its data");
        Self { data, lines, depth }
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Elements of a line.
    pub fn depth(&self) -> usize {
        self.depth.len()
    }
}

/// Lines that are read together.
pub const FOUR: usize = 4;

/// A cache line, so that no register is loaded from two of them.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Aligned([u64; 8]);

/// Memory of packed panels.
pub struct Panels(Vec<Aligned>);

impl Panels {
    /// Room for as many words.
    pub fn new(words: usize) -> Self {
        Self(vec![Aligned::zeroed(); words.div_ceil(8)])
    }

    /// The words.
    pub fn words(&mut self) -> &mut [u64] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// The loop of [`MicroKernel::pack`](super::kernel::MicroKernel::pack).
pub struct Packing<'a, 'p, R, S> {
    /// What is packed.
    pub operand: Operand<'a, R>,
    /// Which of its lines.
    pub lines: Range<usize>,
    /// Which elements of each.
    pub depth: Range<usize>,
    /// Lines of a panel.
    pub width: usize,
    /// Words of an element.
    pub words: usize,
    /// The panels.
    pub panels: &'p mut [u64],
    /// Writes four elements of one depth to their places in a panel that begin with the given line; the panel's width is
    /// the other number.
    pub store: S,
}

impl<R: Ring, S: Fn([R; FOUR], usize, usize, &mut [u64])> Kernel for Packing<'_, '_, R, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { operand, lines, depth, width, words, panels, store } = self;
        let (each, depth) = (width * words, &operand.depth[depth]);
        for (at, panel) in lines.clone().step_by(width).zip(panels.chunks_exact_mut(each * depth.len())) {
            let mut fours = [Four::default(); WIDEST / FOUR];
            let places = &operand.lines[at..lines.end.min(at + width)];
            fours.iter_mut().zip(places.chunks(FOUR)).for_each(|(four, places)| *four = Four::new(places));
            for (elements, &deep) in panel.chunks_exact_mut(each).zip(depth) {
                for (i, four) in fours[..width / FOUR].iter().enumerate() {
                    store(four.read(operand.data, deep), i * FOUR, width, elements);
                }
            }
        }
    }
}

/// Up to four lines.
#[derive(Clone, Copy, Default)]
struct Four {
    places: [usize; FOUR],
    count: usize,
    /// They lie one behind the other.
    run: bool,
}

impl Four {
    #[inline(always)]
    fn new(lines: &[usize]) -> Self {
        let mut places = [0; FOUR];
        places[..lines.len()].copy_from_slice(lines);
        let run = (0..FOUR).all(|i| places[i] == places[0] + i);
        Self { places, count: lines.len(), run }
    }

    /// Their elements of one depth, or zeros.
    #[inline(always)]
    fn read<R: Ring>(&self, data: &[R], deep: usize) -> [R; FOUR] {
        if self.run {
            return *data[self.places[0] + deep..].first_chunk().expect("an operand lies within its data");
        }
        let element = |i| if i < self.count { data[self.places[i] + deep] } else { R::ZERO };
        std::array::from_fn(element)
    }
}
