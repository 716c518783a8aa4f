//! Summaries of repeated measurements.

use crate::message::Run;

/// Median and range of repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The middle one; of an even number the mean of the middle two.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Summary {
    /// Of at least one value.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Self { median: (low + high) / 2.0, least: sorted[0], most: sorted[sorted.len() - 1] }
    }

    /// The range as a part of the median.
    pub fn spread(&self) -> f64 {
        (self.most - self.least) / self.median
    }
}

/// What several runs of two parties took.
pub struct Both {
    /// Seconds from the start to the later end.
    pub wall: Summary,
    /// Each party's processor seconds, the medians.
    pub cpu: [f64; 2],
    /// Each party's peak memory in bytes.
    pub peak: [u64; 2],
    /// Bytes that both sent in the first run.
    pub bytes: f64,
}

impl Both {
    /// Of at least one run.
    pub fn of(runs: &[[Run; 2]]) -> Self {
        let summary = |of: &dyn Fn(&[Run; 2]) -> f64| Summary::of(&runs.iter().map(of).collect::<Vec<_>>());
        Self {
            wall: summary(&|run| run[0].seconds.max(run[1].seconds)),
            cpu: [0, 1].map(|party| summary(&|run| run[party].cpu_seconds).median),
            peak: [0, 1].map(|party| runs.iter().map(|run| run[party].peak_memory).max().unwrap_or(0)),
            bytes: runs[0].iter().map(|run| run.bytes_sent as f64).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(Summary::of(&[3.0, 1.0, 2.0]), Summary { median: 2.0, least: 1.0, most: 3.0 });
        assert_eq!(Summary::of(&[4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(Summary::of(&[4.0, 1.0, 2.0, 3.0]).spread(), 3.0 / 2.5);
    }
}
