//! A network of switches that permutes n wires, and its routing.
//!
//! Every switch passes or crosses two wires. A network for n wires is a layer of n/2 switches, two networks side by
//! side for the upper wires and the lower ones, and a layer of n/2 switches. For odd n the last wire goes to the lower
//! network by itself. Sources: Beneš, "Mathematical Theory of Connecting Networks and Telephone Traffic" (1965), for
//! any n as in Chang and Melhem, "Arbitrary Size Benes Networks" (Parallel Processing Letters 7, 1997). Switches are
//! numbered as [`pass`] meets them.

/// How many switches a network for n wires has: about n log2 n - n/2.
pub fn switches(n: usize) -> usize {
    match n {
        0 | 1 => 0,
        2 => 1,
        _ => 2 * (n / 2) + switches(n / 2) + switches(n - n / 2),
    }
}

/// Leads values through a network: `switch` is called for each switch in order with its two wires, and crosses them or
/// not.
///
/// # Errors
/// The first that `switch` returns.
pub fn pass<T: Copy, E>(
    wires: &mut [T],
    scratch: &mut [T],
    switch: &mut impl FnMut(&mut T, &mut T) -> Result<(), E>,
) -> Result<(), E> {
    let n = wires.len();
    if n < 2 {
        return Ok(());
    }
    if let [a, b] = wires {
        return switch(a, b);
    }
    let half = n / 2;
    for (k, pair) in wires.chunks_exact_mut(2).enumerate() {
        let [a, b] = pair else { unreachable!("two wires") };
        switch(a, b)?;
        (scratch[k], scratch[half + k]) = (*a, *b);
    }
    scratch[n - 1] = if n % 2 == 1 { wires[n - 1] } else { scratch[n - 1] };
    let (upper, lower) = scratch.split_at_mut(half);
    pass(upper, &mut wires[..half], switch)?;
    pass(lower, &mut wires[half..], switch)?;
    for (k, pair) in wires.chunks_exact_mut(2).enumerate() {
        let [a, b] = pair else { unreachable!("two wires") };
        (*a, *b) = (scratch[k], scratch[half + k]);
        switch(a, b)?;
    }
    if n % 2 == 1 {
        wires[n - 1] = scratch[n - 1];
    }
    Ok(())
}

/// Bits of a network's switches, 64 to a word, lowest first: 1 crosses.
pub struct Settings {
    bits: Vec<u64>,
    next: usize,
}

impl Settings {
    /// The settings that bring wire `order[i]` to position i. Whoever applies an order addresses memory by it, but
    /// transfers must not show it: from here on it is secret.
    pub fn route(order: &[u32]) -> Vec<u64> {
        let mut settings = Self { bits: vec![0; switches(order.len()).div_ceil(64)], next: 0 };
        settings.route_part(order);
        tacit_marks::secret(&mut settings.bits);
        settings.bits
    }

    fn push(&mut self, crosses: bool) {
        self.bits[self.next / 64] |= u64::from(crosses) << (self.next % 64);
        self.next += 1;
    }

    fn route_part(&mut self, order: &[u32]) {
        let n = order.len();
        match n {
            0 | 1 => return,
            2 => return self.push(order[0] == 1),
            _ => {}
        }
        let half = n / 2;
        let lower = sides(order);
        (0..half).for_each(|k| self.push(lower.of_input[2 * k]));
        let mut parts = [vec![0; half], vec![0; n - half]];
        for (place, &from) in order.iter().enumerate() {
            parts[usize::from(lower.of_input[from as usize])][place / 2] = from / 2;
        }
        parts.iter().for_each(|part| self.route_part(part));
        (0..half).for_each(|k| self.push(lower.of_input[order[2 * k] as usize]));
    }
}

/// Which wires take the lower network.
struct Sides {
    of_input: Vec<bool>,
}

/// Chooses sides so that the two wires of every switch of both outer layers take different ones.
fn sides(order: &[u32]) -> Sides {
    let n = order.len();
    let mut place_of = vec![0; n];
    order.iter().zip(0u32..).for_each(|(&from, place)| place_of[from as usize] = place);
    let mut of_input = vec![false; n];
    let mut known = vec![false; n];
    let mut follow = |start: usize, side: bool| {
        let mut place = start;
        while !known[place] {
            known[place] = true;
            let from = order[place] as usize;
            of_input[from] = side;
            let partner = from ^ 1;
            if partner >= n {
                break;
            }
            of_input[partner] = !side;
            let partners_place = place_of[partner] as usize;
            known[partners_place] = true;
            if partners_place ^ 1 >= n {
                break;
            }
            place = partners_place ^ 1;
        }
    };
    if n % 2 == 1 {
        follow(n - 1, true);
    }
    (0..n).step_by(2).for_each(|place| follow(place, false));
    Sides { of_input }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tacit_math::{Prg, Seed, permutation};

    /// The places of wires after a network with these settings.
    fn apply(n: usize, settings: &[u64]) -> Vec<u32> {
        let (mut wires, mut number): (Vec<u32>, _) = ((0..n as u32).collect(), 0);
        let mut switch = |a: &mut u32, b: &mut u32| {
            if settings[number / 64] >> (number % 64) & 1 == 1 {
                std::mem::swap(a, b);
            }
            number += 1;
            Ok::<(), std::convert::Infallible>(())
        };
        let Ok(()) = pass(&mut wires, &mut vec![0; n], &mut switch);
        assert_eq!(number, switches(n));
        wires
    }

    #[test]
    fn every_permutation_of_few_wires_is_routed() {
        fn permutations(n: u32) -> Vec<Vec<u32>> {
            if n == 0 {
                return vec![vec![]];
            }
            let smaller = permutations(n - 1);
            let insert =
                |p: &Vec<u32>| (0..=p.len()).map(|at| [&p[..at], &[n - 1], &p[at..]].concat()).collect::<Vec<_>>();
            smaller.iter().flat_map(insert).collect()
        }
        for n in 0..=6 {
            for order in permutations(n) {
                assert_eq!(apply(n as usize, &Settings::route(&order)), order);
            }
        }
    }

    proptest! {
        #[test]
        fn random_permutations_are_routed(n in 0usize..600, seed: [u8; 16]) {
            let order = permutation::random(n, &mut Prg::new(&Seed::from_bytes(seed)));
            prop_assert_eq!(apply(n, &Settings::route(&order)), order);
        }
    }
}
