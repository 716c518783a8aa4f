//! Summaries of repeated measurements.

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
