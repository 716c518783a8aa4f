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
