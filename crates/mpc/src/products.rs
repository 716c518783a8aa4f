//! Products with a common factor, which some engines compute for less.

use std::collections::HashMap;

/// Products x[k] y[k] that have one factor in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// The place of a product, and whether its first factor is the common one (else its second one is).
    at: (usize, bool),
    /// The positions of the products, and for each whether its first factor is the other one (else its second one is).
    pub outputs: Vec<(usize, bool)>,
}

impl Group {
    /// The common factor.
    pub fn common<'a, T>(&self, x: &[&'a T], y: &[&'a T]) -> &'a T {
        if self.at.1 { x[self.at.0] } else { y[self.at.0] }
    }

    /// The other factors, one for each output.
    pub fn others<'a, T>(&self, x: &[&'a T], y: &[&'a T]) -> Vec<&'a T> {
        self.outputs.iter().map(|&(k, first)| if first { x[k] } else { y[k] }).collect()
    }
}

/// Most products in a group: as many bits as a transferred block has.
pub const GROUP_LIMIT: usize = 128;

/// Puts products x[k] y[k] in groups: each goes to that of its factors which more products have, where a factor is the
/// same if the reference is. A function of which references are equal, thus of public things.
pub fn common_factors<T>(x: &[&T], y: &[&T]) -> Vec<Group> {
    assert_eq!(x.len(), y.len(), "pairs of factors");
    let mut count: HashMap<*const T, usize> = HashMap::new();
    for &factor in x.iter().chain(y) {
        *count.entry(std::ptr::from_ref(factor)).or_default() += 1;
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut open: HashMap<*const T, usize> = HashMap::new();
    for (k, (&x, &y)) in x.iter().zip(y).enumerate() {
        let [of_x, of_y] = [x, y].map(std::ptr::from_ref);
        let first = count[&of_x] >= count[&of_y];
        let common = if first { of_x } else { of_y };
        let group = *open.entry(common).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Group { at: (k, first), outputs: vec![] });
        }
        groups[group].outputs.push((k, !first));
        if groups[group].outputs.len() == GROUP_LIMIT {
            open.remove(&common);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{GROUP_LIMIT, common_factors};

    #[test]
    fn a_common_factor_on_either_side_makes_one_group() {
        let [a, b, c, d] = [1, 2, 3, 4];
        let (x, y) = ([&a, &b, &c, &d], [&b, &c, &b, &d]);
        let groups = common_factors(&x, &y);
        assert_eq!(groups.iter().map(|g| *g.common(&x, &y)).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(groups[0].others(&x, &y), [&1, &3, &3]);
        assert_eq!(groups[0].outputs.iter().map(|&(k, _)| k).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(groups[1].others(&x, &y), [&4]);
    }

    #[test]
    fn groups_are_limited() {
        let (a, many) = (0, vec![1; GROUP_LIMIT + 1]);
        let y: Vec<&i32> = many.iter().collect();
        let sizes: Vec<_> = common_factors(&vec![&a; y.len()], &y).iter().map(|g| g.outputs.len()).collect();
        assert_eq!(sizes, [GROUP_LIMIT, 1]);
    }
}
