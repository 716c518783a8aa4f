//! What instructions give, on plain integers and index by index.

use tacit_array::program::Convolved;
use tacit_array::{Instruction, Instructions, Operation, Ring};

/// An array of plain integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    pub shape: Vec<usize>,
    pub values: Vec<i128>,
}

impl Plain {
    pub fn new(shape: &[usize], values: Vec<i128>) -> Self {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "as many values as the shape says");
        Self { shape: shape.to_vec(), values }
    }

    /// The element at an index of a shape to which the array is repeated.
    fn at(&self, index: &[usize]) -> i128 {
        let own = &index[index.len() - self.shape.len()..];
        let place =
            own.iter().zip(&self.shape).fold(0, |place, (&i, &size)| place * size + if size == 1 { 0 } else { i });
        self.values[place]
    }

    /// The elements along an axis through an index without it.
    fn line(&self, index: &[usize], axis: usize) -> Vec<i128> {
        let at = |i: usize| [&index[..axis], &[i], &index[axis..]].concat();
        (0..self.shape[axis]).map(|i| self.at(&at(i))).collect()
    }
}

/// All indices of a shape, in order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let next = |all: Vec<Vec<usize>>, &size: &usize| {
        all.iter().flat_map(|index| (0..size).map(move |i| [&index[..], &[i]].concat())).collect()
    };
    shape.iter().fold(vec![vec![]], next)
}

/// All results of a program.
pub fn results(program: &Instructions, given: &[Plain]) -> Vec<Plain> {
    let mut all: Vec<Plain> = vec![];
    for each in program.all() {
        let args: Vec<&Plain> = each.args.iter().map(|&arg| &all[arg]).collect();
        let values = match each.operation {
            Operation::Input { index } => given[index].values.clone(),
            _ => values(each, &args),
        };
        let bounded = values.iter().all(|value| (each.low..=each.high).contains(value));
        assert!(bounded, "{:?} leaves its bounds {} to {}: {values:?}", each.operation, each.low, each.high);
        all.push(Plain::new(&each.shape, values));
    }
    all
}

fn values(each: &Instruction, args: &[&Plain]) -> Vec<i128> {
    if let Some(found) = moved(each, args) {
        return found;
    }
    indices(&each.shape).iter().map(|index| element(each, args, index)).collect()
}

/// Results of which elements are not computed each by itself.
fn moved(each: &Instruction, args: &[&Plain]) -> Option<Vec<i128>> {
    Some(match &each.operation {
        Operation::Constant { values } => values.iter().map(|value| value.0).collect(),
        Operation::Reshape {} => args[0].values.clone(),
        _ => return None,
    })
}

fn element(each: &Instruction, args: &[&Plain], index: &[usize]) -> i128 {
    let of = |arg: usize| args[arg].at(index);
    let bit = i128::from;
    match &each.operation {
        Operation::Add {} => of(0) + of(1),
        Operation::Subtract {} => of(0) - of(1),
        Operation::Negate {} => -of(0),
        Operation::Multiply { cut, .. } => (of(0) * of(1)) >> cut,
        Operation::Matmul { cut, .. } => inner(args, index) >> cut,
        Operation::Convolve { cut, .. } => convolved(&each.operation, args, index) >> cut,
        Operation::Truncate { bits, .. } | Operation::Floor { bits } => of(0) >> bits,
        Operation::Shift { bits } => of(0) << bits,
        Operation::Widen {} | Operation::Narrow {} | Operation::Count {} | Operation::Broadcast {} => of(0),
        Operation::Less {} => bit(of(0) < of(1)),
        Operation::Equal {} => bit(of(0) == of(1)),
        Operation::Outside { from, to } => bit(of(0) < from.0 || of(0) > to.0),
        Operation::Not {} => 1 - of(0),
        Operation::Both {} => of(0) & of(1),
        Operation::Either {} => of(0) | of(1),
        Operation::Differ {} => of(0) ^ of(1),
        Operation::Select {} => of(if of(0) == 1 { 1 } else { 2 }),
        Operation::Maximum {} => of(0).max(of(1)),
        Operation::Minimum {} => of(0).min(of(1)),
        Operation::Clip {} => of(0).max(of(1)).min(of(2)),
        Operation::Absolute {} => of(0).abs(),
        Operation::FloorDivide {} => of(0).div_euclid(of(1)),
        Operation::Function { .. } | Operation::Divide {} | Operation::Sample { .. } => {
            unreachable!("their results are compared with real numbers")
        }
        operation => along(operation, args, index),
    }
}

/// Elements that come from elsewhere.
fn along(operation: &Operation, args: &[&Plain], index: &[usize]) -> i128 {
    let without = |axis: usize| [&index[..axis], &index[axis + 1..]].concat();
    let places = |line: &[i128]| {
        let mut places: Vec<usize> = (0..line.len()).collect();
        places.sort_by_key(|&place| line[place]);
        places
    };
    match operation {
        Operation::Sum { axis } => args[0].line(index, *axis).iter().sum(),
        Operation::CumulativeSum { axis } => args[0].line(&without(*axis), *axis)[..=index[*axis]].iter().sum(),
        Operation::Largest { axis } => args[0].line(index, *axis).into_iter().max().expect("an element"),
        Operation::Smallest { axis } => args[0].line(index, *axis).into_iter().min().expect("an element"),
        Operation::Place { axis, largest } => {
            let line = args[0].line(index, *axis);
            let best = if *largest { line.iter().max() } else { line.iter().min() };
            line.iter().position(|value| Some(value) == best).expect("an element") as i128
        }
        Operation::Sort { axis } => {
            let line = args[0].line(&without(*axis), *axis);
            line[places(&line)[index[*axis]]]
        }
        Operation::Order { axis } => places(&args[0].line(&without(*axis), *axis))[index[*axis]] as i128,
        Operation::Transpose { axes } => {
            let mut from = vec![0; index.len()];
            axes.iter().zip(index).for_each(|(&axis, &i)| from[axis] = i);
            args[0].at(&from)
        }
        Operation::Slice { ranges } => {
            let from = ranges.iter().zip(index).map(|((start, _, step), &i)| (start + i as i64 * step) as usize);
            args[0].at(&from.collect::<Vec<_>>())
        }
        Operation::Take { positions, axis } => {
            let mut from = index.to_vec();
            from[*axis] = positions[index[*axis]];
            args[0].at(&from)
        }
        Operation::Concatenate { axis } => {
            let mut from = index.to_vec();
            let part = args.iter().find(|part| {
                let is_here = from[*axis] < part.shape[*axis];
                from[*axis] -= if is_here { 0 } else { part.shape[*axis] };
                is_here
            });
            part.expect("a part").at(&from)
        }
        _ => unreachable!("all operations are there"),
    }
}

/// An element of a product of matrices.
fn inner(args: &[&Plain], index: &[usize]) -> i128 {
    let [x, y] = [args[0], args[1]];
    let (row, column) = (x.shape.len() > 1, y.shape.len() > 1);
    let stack = &index[..index.len() - usize::from(row) - usize::from(column)];
    let i = if row { vec![index[stack.len()]] } else { vec![] };
    let j = if column { vec![index[index.len() - 1]] } else { vec![] };
    let length = x.shape[x.shape.len() - 1];
    let term = |t: usize| {
        let left = if row { [stack, &i[..], &[t]].concat() } else { vec![t] };
        let right = if column { [stack, &[t], &j[..]].concat() } else { vec![t] };
        part(x, &left) * part(y, &right)
    };
    (0..length).map(term).sum()
}

/// An element of a convolution or of one of its gradients, from all triples of a pixel, one of a filter and an output.
fn convolved(operation: &Operation, args: &[&Plain], index: &[usize]) -> i128 {
    let &Operation::Convolve { gives, size, window, stride, padding, .. } = operation else {
        unreachable!("a convolution")
    };
    let outputs = [0, 1].map(|side| (size[side] + 2 * padding[side] - window[side]) / stride[side] + 1);
    // The pixel of an image that an output and a filter's pixel meet.
    let met = |output: [usize; 2], of: [usize; 2]| {
        let at = [0, 1].map(|side| (output[side] * stride[side] + of[side]).checked_sub(padding[side]));
        let inside = |side: usize| at[side].filter(|&at| at < size[side]);
        Some([inside(0)?, inside(1)?])
    };
    let pixels =
        |[height, width]: [usize; 2]| (0..height).flat_map(move |row| (0..width).map(move |column| [row, column]));
    let weight = |[channel, i, j]: [usize; 3]| (channel * window[0] + i) * window[1] + j;
    let [x, y] = [args[0], args[1]];
    let mut sum = 0;
    match gives {
        Convolved::Outputs => {
            let &[image, filter, row, column] = index else { unreachable!("four axes") };
            for channel in 0..x.shape[1] {
                for [i, j] in pixels(window) {
                    if let Some([r, c]) = met([row, column], [i, j]) {
                        sum += x.at(&[image, channel, r, c]) * y.at(&[filter, weight([channel, i, j])]);
                    }
                }
            }
        }
        Convolved::Filters => {
            let (filter, place) = (index[0], index[1]);
            let [channel, i, j] = [place / (window[0] * window[1]), place / window[1] % window[0], place % window[1]];
            for image in 0..x.shape[0] {
                for [row, column] in pixels(outputs) {
                    if let Some([r, c]) = met([row, column], [i, j]) {
                        sum += x.at(&[image, channel, r, c]) * y.at(&[image, filter, row, column]);
                    }
                }
            }
        }
        Convolved::Images => {
            let &[image, channel, r, c] = index else { unreachable!("four axes") };
            for filter in 0..x.shape[0] {
                for [row, column] in pixels(outputs) {
                    for [i, j] in pixels(window).filter(|&of| met([row, column], of) == Some([r, c])) {
                        sum += x.at(&[filter, weight([channel, i, j])]) * y.at(&[image, filter, row, column]);
                    }
                }
            }
        }
    }
    sum
}

/// An element at an index that may have more axes in front.
fn part(x: &Plain, index: &[usize]) -> i128 {
    x.at(&index[index.len() - x.shape.len()..])
}

/// Whether a result is what an instruction may give: exactly, or for a truncation up or down, one more where something
/// is cut off.
pub fn may_be(each: &Instruction, expected: &Plain, cut: &[bool], found: &[i128]) -> bool {
    let dithers = match each.operation {
        Operation::Multiply { cut, floor }
        | Operation::Matmul { cut, floor }
        | Operation::Convolve { cut, floor, .. } => cut > 0 && !floor,
        Operation::Truncate { floor, .. } => !floor,
        _ => false,
    };
    let one = |((&expected, &cut), &found): ((&i128, &bool), &i128)| {
        found == expected || dithers && cut && found == expected + 1
    };
    expected.values.len() == found.len() && expected.values.iter().zip(cut).zip(found).all(one)
}

/// A ring's integer as one with a sign.
pub fn signed(ring: Ring, value: u128) -> i128 {
    match ring {
        Ring::Bits => value as i128,
        Ring::Ring64 => i128::from(value as u64 as i64),
        Ring::Ring128 => value as i128,
    }
}

/// The elements of an instruction with another operation.
pub fn exact(each: &Instruction, operation: Operation, all: &[Plain]) -> Vec<i128> {
    let args: Vec<&Plain> = each.args.iter().map(|&arg| &all[arg]).collect();
    values(&Instruction { operation, ..each.clone() }, &args)
}
