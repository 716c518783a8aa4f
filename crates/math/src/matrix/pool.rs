//! Sums over windows of planes, and what spreads a gradient back over them.

use crate::{Ring, lanes};

/// Elements that are worth a lane of their own.
const LEAST: usize = 1 << 15;

/// Windows on planes of height x width, row after row: the channels of images, one behind the other. A window that does
/// not fit as a whole is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Height and width of a plane.
    pub size: [usize; 2],
    /// Height and width of a window.
    pub window: [usize; 2],
    /// Rows and columns from one window to the next.
    pub stride: [usize; 2],
}

impl Pool {
    /// How many windows lie one below the other, and side by side.
    ///
    /// # Panics
    /// If a window is larger than a plane, or a side or a stride is zero.
    pub fn output(&self) -> [usize; 2] {
        assert!(self.window.iter().all(|&side| side > 0), "windows have pixels");
        [0, 1].map(|side| {
            let room = self.size[side].checked_sub(self.window[side]);
            room.expect("a window fits in the plane") / self.stride[side] + 1
        })
    }

    /// Adds to `out` the sum of each window.
    ///
    /// # Panics
    /// Unless both have equally many planes.
    pub fn sums<R: Ring>(&self, planes: &[R], out: &mut [R]) {
        let [plane, sums] = self.areas(planes.len(), out.len());
        self.each_plane(planes.chunks_exact(plane).zip(out.chunks_exact_mut(sums)).collect(), |(plane, out)| {
            self.pixels(|sum, pixel| out[sum] = out[sum].add(plane[pixel]));
        });
    }

    /// Adds to each pixel of `planes` the gradients of all windows that it is in.
    ///
    /// # Panics
    /// As [`Self::sums`].
    pub fn gradient<R: Ring>(&self, gradient: &[R], planes: &mut [R]) {
        let [plane, sums] = self.areas(planes.len(), gradient.len());
        self.each_plane(
            gradient.chunks_exact(sums).zip(planes.chunks_exact_mut(plane)).collect(),
            |(gradient, plane)| {
                self.pixels(|sum, pixel| plane[pixel] = plane[pixel].add(gradient[sum]));
            },
        );
    }

    /// Elements of a plane, and windows on it.
    fn areas(&self, planes: usize, sums: usize) -> [usize; 2] {
        let areas @ [plane, windows] = [self.size, self.output()].map(|[height, width]| height * width);
        let whole = planes.is_multiple_of(plane) && sums.is_multiple_of(windows);
        assert!(whole && planes / plane == sums / windows, "equally many planes");
        areas
    }

    fn each_plane<T: Send>(&self, mut planes: Vec<T>, body: impl Fn(T) + Sync) {
        let least = LEAST.div_ceil(self.size[0] * self.size[1]);
        let lanes = lanes::cut(planes.len(), least, 1);
        let lanes = lanes.into_iter().map(|lane| planes.drain(..lane.len()).collect::<Vec<_>>()).collect();
        lanes::each(lanes, |planes| planes.into_iter().for_each(&body));
    }

    /// All windows with their pixels, as numbers on one plane.
    #[inline(always)]
    fn pixels(&self, mut each: impl FnMut(usize, usize)) {
        let ([height, width], [_, columns]) = (self.output(), self.size);
        for (y, i) in (0..height).flat_map(|y| (0..self.window[0]).map(move |i| (y, i))) {
            let row = (y * self.stride[0] + i) * columns;
            for (x, j) in (0..width).flat_map(|x| (0..self.window[1]).map(move |j| (x, j))) {
                each(y * width + x, row + x * self.stride[1] + j);
            }
        }
    }
}
