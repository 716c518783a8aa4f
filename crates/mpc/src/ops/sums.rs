//! Sums of columns over some of their rows, which secret bits choose.
//!
//! Functionality: for each column the sum of its values where a bit is one; without a column, how many bits are one.
//! All are vectors of one row. Discloses nothing: the sums stay shared.
//!
//! Method: each bit becomes a ring element once, however many columns it chooses of. A column is cut in pieces, and the
//! products of all pieces are added up before anything is sent, if a sum of products takes one word
//! ([`Backend::SUMS_PRODUCTS`]). Elsewhere each value is multiplied by its bit ([`Backend::select`]).

use tacit_math::Ring;

use crate::{Backend, Linear, Result, linear};

/// A column to be added up where a bit is one, by the bit's place; None: the bits themselves.
pub type Chosen<'a, V> = (usize, Option<&'a V>);

/// The sums. All columns and bits are of one length.
///
/// # Errors
/// Of the engine.
pub fn sums_where<R: Ring, B: Backend>(
    b: &mut B,
    bits: &[&B::Bits],
    sums: &[Chosen<'_, B::Vector<R>>],
) -> Result<Vec<B::Vector<R>>> {
    let needed = |sum: &&Chosen<'_, B::Vector<R>>| B::SUMS_PRODUCTS || sum.1.is_none();
    let mut used: Vec<usize> = sums.iter().filter(needed).map(|&(bit, _)| bit).collect();
    used.sort_unstable();
    used.dedup();
    let injected: Vec<B::Vector<R>> = match used.is_empty() {
        true => vec![],
        false => b.inject(&used.iter().map(|&bit| bits[bit]).collect::<Vec<_>>())?,
    };
    let factor = |bit: usize| &injected[used.partition_point(|&other| other < bit)];
    let columns: Vec<(usize, &B::Vector<R>)> = sums.iter().filter_map(|&(bit, x)| Some((bit, x?))).collect();
    let mut totals = match (columns.is_empty(), B::SUMS_PRODUCTS) {
        (true, _) => vec![],
        (false, true) => sums_of_products(b, &columns.iter().map(|&(bit, x)| (factor(bit), x)).collect::<Vec<_>>())?,
        (false, false) => {
            let (chosen, x): (Vec<_>, Vec<_>) = columns.iter().map(|&(bit, x)| (bits[bit], x)).unzip();
            b.select(&chosen, &x)?.iter().map(linear::total).collect()
        }
    }
    .into_iter();
    let lost = "as many sums as columns";
    Ok(sums
        .iter()
        .map(|&(bit, x)| x.map_or_else(|| linear::total(factor(bit)), |_| totals.next().expect(lost)))
        .collect())
}

/// The sum of the products of each pair, row by row.
fn sums_of_products<R: Ring, B: Backend>(
    b: &mut B,
    pairs: &[(&B::Vector<R>, &B::Vector<R>)],
) -> Result<Vec<B::Vector<R>>> {
    let cut: Vec<[Vec<B::Vector<R>>; 2]> = pairs.iter().map(|(x, y)| [pieces::<R, B>(x), pieces::<R, B>(y)]).collect();
    let terms: Vec<Vec<_>> = cut.iter().map(|[x, y]| x.iter().zip(y).collect()).collect();
    let whole: Vec<Vec<_>> = terms.iter().map(|terms| terms[1..].to_vec()).filter(|terms| !terms.is_empty()).collect();
    let rest: Vec<Vec<_>> = terms.iter().map(|terms| vec![terms[0]]).collect();
    let parts = b.inner_products(&[rest, whole].concat())?;
    let total = |number: usize| {
        let of = parts.iter().skip(number).step_by(pairs.len()).map(linear::total).collect::<Vec<B::Vector<R>>>();
        of[1..].iter().fold(of[0].clone(), |sum, part| linear::add(&sum, part))
    };
    Ok((0..pairs.len()).map(total).collect())
}

/// The rows that are left over, and then equally long pieces: about as many as each has rows, so that little is sent
/// and little is called.
fn pieces<R: Ring, B: Backend>(x: &B::Vector<R>) -> Vec<B::Vector<R>> {
    let count = x.rows().isqrt();
    let length = x.rows().checked_div(count).unwrap_or(0);
    let rest = x.rows() - count * length;
    let mut found = vec![x.map(rest, |x| x[..rest].to_vec())];
    if count > 0 {
        let all = |x: &[&Vec<R>]| x[0][rest..].chunks(length).map(<[R]>::to_vec).collect();
        found.extend(<B::Vector<R> as Linear<Vec<R>>>::map_many(&[x], count, length, all));
    }
    found
}
