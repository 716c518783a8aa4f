//! Cutting the work of a call into batches, each of which uses a bounded number of OTs in one round.

use crate::backends::two::transfers::BATCH;

/// Rows of a job that are done together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backends::two) struct Segment {
    /// Which job.
    pub job: usize,
    /// Its first row: a multiple of 64.
    pub start: usize,
    /// How many rows.
    pub rows: usize,
}

/// Jobs of these numbers of rows, an OT for each row, in order: cut into batches of at most [`BATCH`] OTs, whole words
/// of them for every segment.
pub(in crate::backends::two) fn batches(jobs: &[usize]) -> Vec<Vec<Segment>> {
    let mut out: Vec<Vec<Segment>> = Vec::new();
    let mut left = 0;
    for (job, &all) in jobs.iter().enumerate() {
        let mut start = 0;
        while start < all {
            if left == 0 {
                out.push(vec![]);
                left = BATCH;
            }
            let rows = left.min(all - start);
            out.last_mut().expect("a batch is open").push(Segment { job, start, rows });
            left -= rows.next_multiple_of(64);
            start += rows;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{BATCH, batches};

    #[test]
    fn every_row_is_done_once_and_batches_are_bounded() {
        let jobs = [3, 0, 3 * BATCH + 5, 1000];
        let mut next = [0; 4];
        for batch in batches(&jobs) {
            assert!(batch.iter().map(|segment| segment.rows.next_multiple_of(64)).sum::<usize>() <= BATCH);
            for segment in batch {
                assert!(segment.start.is_multiple_of(64) && segment.start == next[segment.job] && segment.rows > 0);
                next[segment.job] += segment.rows;
            }
        }
        assert_eq!(next, jobs);
    }
}
