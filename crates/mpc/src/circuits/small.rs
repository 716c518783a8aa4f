//! Circuits with the fewest ANDs, for garbling: what counts there is gates, not levels.

use super::Gates;
use crate::Result;

/// x + y modulo 2^width: width - 1 ANDs.
///
/// # Errors
/// That of the gates.
pub fn add<G: Gates>(g: &mut G, x: &[G::Wire], y: &[G::Wire]) -> Result<Vec<G::Wire>, G::Error> {
    assert!(x.len() == y.len() && !x.is_empty(), "numbers of one positive width");
    let top = x.len() - 1;
    let mut carries = vec![None];
    for (x, y) in x[..top].iter().zip(y) {
        let next = match carries.last().and_then(Option::as_ref) {
            None => g.and(&[x], &[y])?,
            Some(carry) => {
                let [of_x, of_y] = [x, y].map(|bit| g.xor(bit, carry));
                g.and_xor(&[&of_x], &[&of_y], &[Some(carry)])?
            }
        };
        carries.extend(next.into_iter().map(Some));
    }
    let sums = x.iter().zip(y).zip(carries).map(|((x, y), carry)| {
        let sum = g.xor(x, y);
        carry.map_or(sum.clone(), |carry| g.xor(&sum, &carry))
    });
    Ok(sums.collect())
}

/// x < y as unsigned numbers: width ANDs.
///
/// From the lowest bit: where the bits of x and y differ, y's decides; where they are equal, those below do.
///
/// # Errors
/// That of the gates.
pub fn less_than<G: Gates>(g: &mut G, x: &[G::Wire], y: &[G::Wire]) -> Result<G::Wire, G::Error> {
    assert!(x.len() == y.len() && !x.is_empty(), "numbers of one positive width");
    let mut less: Option<G::Wire> = None;
    for (x, y) in x.iter().zip(y) {
        let differ = g.xor(x, y);
        let decided = match &less {
            None => g.and(&[&differ], &[y])?,
            Some(less) => {
                let change = g.xor(y, less);
                g.and_xor(&[&differ], &[&change], &[Some(less)])?
            }
        };
        less = decided.into_iter().next();
    }
    Ok(less.expect("at least one bit"))
}

/// AND of all of them: an AND for each but the first.
///
/// # Errors
/// That of the gates.
pub fn and_all<G: Gates>(g: &mut G, wires: &[G::Wire]) -> Result<G::Wire, G::Error> {
    let (first, others) = wires.split_first().expect("at least one");
    others.iter().try_fold(first.clone(), |all, wire| Ok(g.and(&[&all], &[wire])?.swap_remove(0)))
}

/// x / y of unsigned numbers, and behind it the remainder: 2 ANDs for each bit of x and each of y. Arbitrary where y is
/// 0.
///
/// From the highest bit of x on: what remains takes in the next bit, and y is taken away where that leaves no negative
/// number.
///
/// # Errors
/// That of the gates.
pub fn divide<G: Gates>(g: &mut G, x: &[G::Wire], y: &[G::Wire]) -> Result<Vec<G::Wire>, G::Error> {
    let zero = g.xor(&y[0], &y[0]);
    let divisor: Vec<G::Wire> = y.iter().cloned().chain([zero.clone()]).collect();
    let (mut rest, mut quotient) = (vec![zero; y.len()], Vec::new());
    for bit in x.iter().rev() {
        let taken: Vec<G::Wire> = std::iter::once(bit.clone()).chain(rest).collect();
        // t - y = not(not(t) + y)
        let complement: Vec<G::Wire> = taken.iter().map(|wire| g.not(wire)).collect();
        let negated = add(g, &complement, &divisor)?;
        let fits = negated[y.len()].clone();
        let changes: Vec<G::Wire> =
            std::iter::zip(&negated[..y.len()], &complement).map(|(x, y)| g.xor(x, y)).collect();
        let base: Vec<_> = taken[..y.len()].iter().map(Some).collect();
        rest = g.and_xor(&changes.iter().collect::<Vec<_>>(), &vec![&fits; y.len()], &base)?;
        quotient.push(fits);
    }
    Ok(quotient.into_iter().rev().chain(rest).collect())
}
