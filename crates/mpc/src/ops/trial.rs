//! The inner loop of a randomised trial: what subjects did after their opportunity, summed up by arm.
//!
//! Functionality: a subject's outcome is the sum of the values of those of its events that came later than its
//! opportunity. The result, for the treated arm and for both, is the sum of outcomes and of their squares. Discloses
//! nothing: the sums stay shared. Source of the computation: Movahedi et al., "Private randomized controlled trials"
//! (2021). A subject without opportunity has the greatest time as its own.
//!
//! Who knows a subject's events puts them in order, latest first ([`events_of`]). Then the later ones are the first
//! few, however many. With S_j the sum of the first j values, outcome and square are sums over the later events of
//! S_j - S_(j-1) and S_j^2 - S_(j-1)^2, which their owner computes in clear. No shared number is multiplied by another.
//! Both go in one number of 128 bits, the square in its high half, so that a bit selects both at once.
//!
//! For k events a subject, times of w bits: k signs of w + 1 bits, k + 1 bits times numbers of 128 bits.

use crate::circuits::sign;
use crate::{Backend, Linear, Result, linear};

/// What is known of some subjects, in shares: equally long vectors.
pub struct Subjects<'a, B: Backend> {
    /// Bits of a time; at most 62.
    pub time_width: usize,
    /// When each subject had its opportunity.
    pub opportunity: &'a B::Vector<u64>,
    /// Whether it is in the treated arm.
    pub treated: &'a B::Bits,
    /// For each event of every subject, as many of all, its time.
    pub times: &'a [B::Vector<u64>],
    /// What each event adds, as [`events_of`] has it.
    pub added: &'a [B::Vector<u128>],
}

/// Sums over subjects, vectors of one row: the sum of outcomes, which is below 2^64, and 2^64 times the sum of their
/// squares modulo 2^64.
pub struct Moments<B: Backend> {
    /// Over the treated arm.
    pub treated: B::Vector<u128>,
    /// Over both arms.
    pub all: B::Vector<u128>,
}

impl<B: Backend> Moments<B> {
    /// Those of these and of other subjects together. Local.
    pub fn plus(&self, other: &Self) -> Self {
        Self { treated: linear::add(&self.treated, &other.treated), all: linear::add(&self.all, &other.all) }
    }
}

/// One subject's events, time and value, in the order in which they are shared: latest first, each with what it adds.
/// In clear, at their owner.
pub fn events_of<const N: usize>(mut events: [(u64, u32); N]) -> [(u64, u128); N] {
    events.sort_unstable_by_key(|&(time, _)| std::cmp::Reverse(time));
    let mut before = 0;
    events.map(|(time, value)| {
        let sum = before + u64::from(value);
        let square = |x: u64| u128::from(x.wrapping_mul(x)) << 64;
        let added = u128::from(value).wrapping_add(square(sum)).wrapping_sub(square(before));
        before = sum;
        (time, added)
    })
}

/// The sums over some subjects. To bound memory, over a piece of them at a time.
pub fn moments<B: Backend>(b: &mut B, subjects: &Subjects<'_, B>) -> Result<Moments<B>> {
    b.step("moments", |b| {
        let times: Vec<_> = subjects.times.iter().map(|time| linear::sub(subjects.opportunity, time)).collect();
        let late = sign(b, &linear::concat_vectors(&times.iter().collect::<Vec<_>>()), subjects.time_width + 1)?;
        let added = linear::concat_vectors(&subjects.added.iter().collect::<Vec<_>>());
        let counted = b.select(&[&late], &[&added])?.swap_remove(0);
        let rows = subjects.opportunity.rows();
        let of_subject = counted.map(rows, |x| {
            (0..rows).map(|i| x.iter().skip(i).step_by(rows).fold(0, |sum: u128, &x| sum.wrapping_add(x))).collect()
        });
        let of_treated = b.select(&[subjects.treated], &[&of_subject])?.swap_remove(0);
        Ok(Moments { treated: linear::total(&of_treated), all: linear::total(&of_subject) })
    })
}
