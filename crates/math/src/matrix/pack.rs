//! Operands of products, and how panels are packed from them.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};

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

/// How elements become the words of a panel.
pub trait Store<R> {
    /// Words of an element.
    const WORDS: usize;

    /// Writes four elements of one depth to their places in a panel of W lines, which begin with the line `first`. Must
    /// be `#[inline(always)]`.
    fn store<const W: usize>(values: [R; FOUR], first: usize, elements: &mut [u64]);
}

/// The loop of [`MicroKernel::pack`](super::kernel::MicroKernel::pack).
pub struct Packing<'a, 'p, R, S> {
    operand: Operand<'a, R>,
    lines: Range<usize>,
    depth: &'a [usize],
    width: usize,
    panels: &'p mut [u64],
    store: PhantomData<S>,
}

impl<'a, 'p, R: Ring, S> Packing<'a, 'p, R, S> {
    /// Of what [`MicroKernel::pack`](super::kernel::MicroKernel::pack) gets.
    pub fn new(
        operand: Operand<'a, R>,
        lines: Range<usize>,
        depth: Range<usize>,
        width: usize,
        panels: &'p mut [u64],
    ) -> Self {
        Self { operand, lines, depth: &operand.depth[depth], width, panels, store: PhantomData }
    }
}

impl<R: Ring, S: Store<R>> Kernel for Packing<'_, '_, R, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.width {
            4 => self.pack::<4>(),
            8 => self.pack::<8>(),
            32 => self.pack::<32>(),
            width => unreachable!("no micro-kernel has panels of {width} lines"),
        }
    }
}

impl<R: Ring, S: Store<R>> Packing<'_, '_, R, S> {
    #[inline(always)]
    fn pack<const W: usize>(self) {
        let Self { operand, lines, depth, panels, .. } = self;
        let size = W * S::WORDS * depth.len();
        for (at, panel) in lines.clone().step_by(W).zip(panels.chunks_exact_mut(size)) {
            let fours = Fours::new(operand, at..lines.end.min(at + W));
            if fours.runs == W / FOUR {
                fours.pack::<W, S>(depth, panel, |i, deep| fours.run(i, deep));
            } else if fours.lines.len() == W {
                fours.pack::<W, S>(depth, panel, |i, deep| fours.whole(i, deep));
            } else {
                fours.pack::<W, S>(depth, panel, |i, deep| fours.some(i, deep));
            }
        }
    }
}

/// The lines of a panel, by fours.
struct Fours<'a, R> {
    operand: Operand<'a, R>,
    lines: &'a [usize],
    /// How many fours from the first one on lie one behind the other.
    runs: usize,
}

impl<'a, R: Ring> Fours<'a, R> {
    #[inline(always)]
    fn new(operand: Operand<'a, R>, lines: Range<usize>) -> Self {
        let lines = &operand.lines[lines];
        let is_run = |four: &&[usize; FOUR]| (0..FOUR).all(|i| four[i] == four[0] + i);
        Self { operand, lines, runs: lines.as_chunks().0.iter().take_while(is_run).count() }
    }

    #[inline(always)]
    fn pack<const W: usize, S: Store<R>>(
        &self,
        depth: &[usize],
        panel: &mut [u64],
        read: impl Fn(usize, usize) -> [R; FOUR],
    ) {
        for (elements, &deep) in panel.chunks_exact_mut(W * S::WORDS).zip(depth) {
            for i in 0..W / FOUR {
                S::store::<W>(read(FOUR * i, deep), FOUR * i, elements);
            }
        }
    }

    /// The elements of one depth of four lines that lie one behind the other.
    #[inline(always)]
    fn run(&self, line: usize, deep: usize) -> [R; FOUR] {
        *self.operand.data[self.lines[line] + deep..].first_chunk().expect("an operand lies within its data")
    }

    /// Of any four lines.
    #[inline(always)]
    fn whole(&self, line: usize, deep: usize) -> [R; FOUR] {
        std::array::from_fn(|i| self.operand.data[self.lines[line + i] + deep])
    }

    /// Of four lines that may not be there; zeros then.
    #[inline(always)]
    fn some(&self, line: usize, deep: usize) -> [R; FOUR] {
        std::array::from_fn(|i| self.lines.get(line + i).map_or(R::ZERO, |line| self.operand.data[line + deep]))
    }
}
