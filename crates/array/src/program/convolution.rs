//! Sizes of convolutions, from the parameters and the shapes of an instruction's arguments.

use tacit_math::matrix::Convolution;
use tacit_mpc::Form;

use super::sizes::elements;
use super::{Convolved, Operation};

/// The map that a convolution is; None where its arguments do not fit its parameters.
pub(crate) fn form(operation: &Operation, shapes: &[&[usize]]) -> Option<Form> {
    let Operation::Convolve { gives, size, window, stride, padding, .. } = *operation else { return None };
    let [x, y] = *shapes else { return None };
    let sizes = |images, channels, filters| Convolution { images, channels, size, filters, window, stride, padding };
    let (sizes, outputs) = match gives {
        Convolved::Outputs => (sizes(*x.first()?, *x.get(1)?, *y.first()?), None),
        Convolved::Filters => (sizes(*x.first()?, *x.get(1)?, *y.get(1)?), Some(y)),
        Convolved::Images => {
            let pixels = window[0].checked_mul(window[1])?;
            (sizes(*y.first()?, x.get(1)?.checked_div(pixels)?, *x.first()?), Some(y))
        }
    };
    has_room(&sizes)?;
    let images = |of: &[usize]| of == [sizes.images, sizes.channels, size[0], size[1]];
    let filters = |of: &[usize]| of == filters(&sizes);
    let arguments_fit = outputs.is_none_or(|of| of == outputs_of(&sizes))
        && match gives {
            Convolved::Outputs => images(x) && filters(y),
            Convolved::Filters => images(x),
            Convolved::Images => filters(x),
        };
    let form = match gives {
        Convolved::Outputs => Form::Convolution(sizes),
        Convolved::Filters => Form::GradientOfFilters(sizes),
        Convolved::Images => Form::GradientOfImages(sizes),
    };
    arguments_fit.then_some(form)
}

/// The shape of what a convolution gives; None where its arguments do not fit its parameters.
pub(super) fn shape(operation: &Operation, shapes: &[&[usize]]) -> Option<Vec<usize>> {
    match form(operation, shapes)? {
        Form::Convolution(sizes) => Some(outputs_of(&sizes).to_vec()),
        Form::GradientOfFilters(sizes) => Some(filters(&sizes).to_vec()),
        Form::GradientOfImages(sizes) => Some(vec![sizes.images, sizes.channels, sizes.size[0], sizes.size[1]]),
        Form::Matrices(_) => None,
    }
}

fn filters(sizes: &Convolution) -> [usize; 2] {
    [sizes.filters, sizes.channels * sizes.window[0] * sizes.window[1]]
}

fn outputs_of(sizes: &Convolution) -> [usize; 4] {
    let [height, width] = sizes.output();
    [sizes.images, sizes.filters, height, width]
}

/// Whether filters fit into the padded images, and no array is too large. The size of images includes their padding,
/// and that of outputs the zeros between them in a gradient.
fn has_room(sizes: &Convolution) -> Option<()> {
    let Convolution { images, channels, size, filters, window, stride, padding } = *sizes;
    for side in 0..2 {
        let has_pixels = stride[side] > 0 && size[side] > 0 && window[side] > 0;
        (has_pixels && window[side] <= size[side].checked_add(padding[side].checked_mul(2)?)?).then_some(())?;
    }
    let around = |more: [usize; 2]| Some([size[0].checked_add(more[0])?, size[1].checked_add(more[1])?]);
    let padded = around([padding[0] * 2, padding[1] * 2])?;
    let spread = around([window[0] - 1, window[1] - 1])?;
    elements(&[filters, channels, window[0], window[1]])?;
    elements(&[images, channels, padded[0], padded[1]])?;
    elements(&[images, filters, spread[0], spread[1]])?;
    Some(())
}
